"""Models that do what a script says, in this process: no weights and no network."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.errors import ModelReplyError
from kgrag.models.base import Message, Reply, Vectors
from kgrag.types import Usage

__all__ = ["HashingEmbedder", "ScriptedChatModel", "ScriptedReranker"]

Script = Callable[[Sequence[Message]], str]


class ScriptedChatModel:
    """A `ChatModel` that answers from a script.

    `replies` is a sequence of raw replies, taken in order, or a function from messages to a raw reply; an exception in the sequence
    is raised. `calls` keeps what it was asked.

        model = ScriptedChatModel(["Paris", ModelError("the endpoint is away"), '{"answer": 42}'])
    """

    def __init__(self, replies: Sequence[str | Exception] | Script, *, name: str = "scripted") -> None:
        self.name = name
        self.calls: list[tuple[Message, ...]] = []
        self._replies = replies

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Answer with the script's next reply. Raises `ModelReplyError` where a schema was asked for and the reply is not JSON."""
        self.calls.append(tuple(messages))
        if callable(self._replies):
            text = self._replies(messages)
        elif len(self.calls) > len(self._replies):
            raise ModelReplyError(f"The script has {len(self._replies)} replies and was asked for one more.")
        else:
            scripted = self._replies[len(self.calls) - 1]
            if isinstance(scripted, Exception):
                raise scripted
            text = scripted
        usage = Usage(
            calls=1, prompt_tokens=sum(len(m.content.split()) for m in messages), completion_tokens=len(text.split())
        )
        if schema is None:
            return Reply(text=text, usage=usage)
        try:
            return Reply(text=text, data=json.loads(text), usage=usage)
        except (ValueError, RecursionError) as error:
            raise ModelReplyError(f"Expected JSON by schema: {error}.", reply=text, usage=usage) from error


class ScriptedReranker:
    """A `Reranker` whose scores a function of (query, passage) gives."""

    name = "scripted"

    def __init__(self, score: Callable[[str, str], float]) -> None:
        self._score = score

    async def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Score each passage by the function."""
        return np.array([self._score(query, passage) for passage in passages], dtype=np.float32)


class HashingEmbedder:
    """An `Embedder` without weights: a bag of words hashed into `dimensions` signed buckets. Texts that share words are near."""

    max_tokens = 254

    def __init__(self, *, dimensions: int = 64) -> None:
        self.name = f"hashing-{dimensions}"
        self.dimensions = dimensions

    def count_tokens(self, text: str) -> int:
        """Count words and punctuation marks."""
        return len(re.findall(r"\w+|[^\w\s]", text))

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: [len(texts), dimensions]."""
        return self.embed(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, blocking: [len(texts), dimensions]."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()) or [""]:
                value = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
                vectors[row, value % self.dimensions] += 1.0 if value >> 63 else -1.0
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries as documents."""
        return self.embed(texts)
