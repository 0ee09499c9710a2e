"""What a `ModelServer` was asked, as its script sees it and as it is recorded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

__all__ = ["ModelRequest"]

Endpoint = Literal["chat", "embeddings", "rerank", "models", "other"]


@dataclass
class ModelRequest:
    """One request: what a script decides by, and what a test looks at afterwards."""

    number: int
    """From 0, in the order of arrival, since the server was made."""
    endpoint: Endpoint
    path: str
    headers: Mapping[str, str] = field(repr=False)
    """Names in lower case."""
    body: Mapping[str, Any]
    at: float = 0.0
    """Seconds on the machine's monotonic clock, which its processes share."""
    ended_at: float = 0.0
    """When the reply was handed to the operating system, or the connection was gone."""
    state: Literal["open", "completed", "failed", "dropped"] = "open"
    """`completed`: a whole reply of status 200 was sent. `failed`: another status, or the server closed the connection.
    `dropped`: the caller went away, or the server stopped, before the reply."""
    behaviour: str = ""
    """`Behaviour.kind` of what the script chose."""

    @property
    def model(self) -> str:
        """The model that is asked for."""
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        """The conversation."""
        return list(self.body.get("messages", ()))

    @property
    def prompt(self) -> str:
        """All that the messages say, one below the other."""
        return "\n".join(_text(message.get("content")) for message in self.messages)

    @property
    def last(self) -> str:
        """What the last message says."""
        return _text(self.messages[-1].get("content")) if self.messages else ""

    @property
    def texts(self) -> list[str]:
        """What is to be embedded, or the passages that are to be ranked."""
        given = self.body.get("input", self.body.get("texts", self.body.get("documents", [])))
        return [given] if isinstance(given, str) else list(given)

    @property
    def tools(self) -> list[Mapping[str, Any]]:
        """The functions that the model may call, by name, description and parameters."""
        return [tool["function"] for tool in self.body.get("tools") or () if "function" in tool]

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema that the reply must follow, if any was sent."""
        wanted = self.body.get("response_format") or {}
        return wanted.get("json_schema", {}).get("schema") if wanted.get("type") == "json_schema" else None

    @cached_property
    def key(self) -> str:
        """Of path and body: equal requests have equal keys."""
        text = json.dumps([self.path, self.body], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _text(content: Any) -> str:
    """Return the text of a message, which may come in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content or ""
