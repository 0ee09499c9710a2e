"""Models and a model server for tests, ours and yours: they do what a script says, need no weights, no key and no network."""

from __future__ import annotations

from kgrag.testing.behaviours import (
    FAULTS,
    TROUBLES,
    Behaviour,
    answer,
    closed,
    empty,
    fenced,
    hanging,
    in_prose,
    rate_limited,
    refused,
    server_error,
    slowly,
    tool_call,
    truncated,
    wrong_arity,
    wrong_content_type,
    wrong_types,
)
from kgrag.testing.process import ModelServerProcess
from kgrag.testing.requests import ModelRequest
from kgrag.testing.scripted import HashingEmbedder, ScriptedChatModel, ScriptedReranker
from kgrag.testing.server import ModelServer

__all__ = [
    "FAULTS",
    "TROUBLES",
    "Behaviour",
    "HashingEmbedder",
    "ModelRequest",
    "ModelServer",
    "ModelServerProcess",
    "ScriptedChatModel",
    "ScriptedReranker",
    "answer",
    "closed",
    "empty",
    "fenced",
    "hanging",
    "in_prose",
    "rate_limited",
    "refused",
    "server_error",
    "slowly",
    "tool_call",
    "truncated",
    "wrong_arity",
    "wrong_content_type",
    "wrong_types",
]
