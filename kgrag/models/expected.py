"""What calls are expected to use before they are made: for an estimate, and to hold a real run against it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kgrag.errors import ModelReplyError, ModelUnavailable
from kgrag.models.base import ChatModel, Message, Reply
from kgrag.models.cached import chat_key
from kgrag.models.middleware import Call
from kgrag.models.reply_cache import ReplyCache
from kgrag.models.wrapped import Wrapped, identity_of
from kgrag.types import Usage

__all__ = ["CountingChatModel", "ExpectingChatModel", "NotAsked", "expected_prompt_tokens"]


def expected_prompt_tokens(model: str, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> int:
    """Estimate the tokens of a prompt; the schema of the reply is read by the model, too."""
    texts = [message.content for message in messages]
    return Call(model, "chat", (*texts, *([json.dumps(schema)] if schema else []))).tokens


class NotAsked(ModelUnavailable):
    """A call that was only counted."""


class CountingChatModel:
    """Stands in for a `ChatModel`: counts what that would be asked, and raises `NotAsked` instead of asking."""

    def __init__(self, name: str, *, asked: ChatModel | None = None, cache: ReplyCache | None = None) -> None:
        """Count for the model of that name; where `asked` and `cache` are given, calls that the cache answers count as `cached`."""
        self.name = name
        self.expected = Usage()
        self.cached = 0
        self._identity = identity_of(asked) if asked else name
        self._cache = cache if asked else None

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Count, and raise `NotAsked`."""
        key = chat_key(self._identity, messages, schema)
        if self._cache is not None and self._cache.get([key]):
            self.cached += 1
        else:
            self.expected += Usage(calls=1, prompt_tokens=expected_prompt_tokens(self.name, messages, schema))
        raise NotAsked(f"{self.name} was not asked: its calls are only counted.")


class ExpectingChatModel(Wrapped[ChatModel]):
    """A `ChatModel` that also counts what was to be expected of the calls that it makes; what the cache answers is none."""

    def __init__(self, model: ChatModel) -> None:
        super().__init__(model)
        self.expected = Usage()

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Answer as the model does."""
        try:
            reply = await self._model.reply(messages, schema=schema)
        except ModelReplyError as error:
            self._count(error.usage, messages, schema)
            raise
        self._count(reply.usage, messages, schema)
        return reply

    def _count(self, usage: Usage, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> None:
        # A conversation that goes on is a repair: no estimate foresees it.
        if usage.calls and not any(message.role == "assistant" for message in messages):
            self.expected += Usage(calls=1, prompt_tokens=expected_prompt_tokens(self.name, messages, schema))
