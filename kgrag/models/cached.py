"""Models that ask nothing twice: replies come from a `ReplyCache` where they are there.

Only usable replies are kept: a model inside that raises leaves no entry. Equal requests that are under way at the same time are made once.
Inside `fresh_replies()` every request is made and its reply replaces what was kept: for a reply that turned out to be of no use, and to
find out whether a model is there. Inside `nth_reply(n)` the reply is one of its own for each n: what asks the same thing several times,
to see how much replies vary, gets no copies. Inside `replies_in_use()` a chat reply is kept once the caller says that it was of use.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.models.base import ChatModel, Embedder, Message, Reply, Reranker, Vectors, expect_scores
from kgrag.models.meter import Meter
from kgrag.models.per_loop import PerLoop
from kgrag.models.reply_cache import ReplyCache
from kgrag.models.wrapped import Wrapped, WrappedEmbedder
from kgrag.types import content_id

__all__ = [
    "Asking",
    "CachedChatModel",
    "CachedEmbedder",
    "CachedReranker",
    "RepliesInUse",
    "asked_how",
    "chat_key",
    "fresh_replies",
    "nth_reply",
    "replies_in_use",
]

KEY_VERSION = "1"
"""Counts up when the same key would mean another reply."""

_FRESH: ContextVar[bool] = ContextVar("fresh", default=False)
_NTH: ContextVar[int] = ContextVar("nth", default=0)


class RepliesInUse:
    """Chat replies that were given and are not kept yet; whoever uses them says so by `keep`."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[ReplyCache, str], tuple[str, bytes]] = {}

    def get(self, cache: ReplyCache, key: str) -> bytes | None:
        """Return a reply that waits here."""
        found = self._waiting.get((cache, key))
        return found[1] if found else None

    def put(self, cache: ReplyCache, key: str, model: str, value: bytes) -> None:
        """Let a reply wait."""
        self._waiting[cache, key] = model, value

    def keep(self) -> None:
        """Put the replies into their cache: they were of use."""
        for (cache, key), (model, value) in self._waiting.items():
            cache.put("chat", model, {key: value})
        self._waiting.clear()


_IN_USE: ContextVar[RepliesInUse | None] = ContextVar("in_use", default=None)


@contextmanager
def replies_in_use() -> Iterator[RepliesInUse]:
    """Keep no chat reply that is given in this block, and in the tasks that it starts, before `keep` is called."""
    replies = RepliesInUse()
    token = _IN_USE.set(replies)
    try:
        yield replies
    finally:
        _IN_USE.reset(token)


@contextmanager
def fresh_replies() -> Iterator[None]:
    """Ask models anew in this block, and in the tasks that it starts."""
    token = _FRESH.set(True)
    try:
        yield
    finally:
        _FRESH.reset(token)


@contextmanager
def nth_reply(n: int) -> Iterator[None]:
    """Take the n-th reply (from 0) to whatever is asked in this block, and in the tasks that it starts."""
    token = _NTH.set(n)
    try:
        yield
    finally:
        _NTH.reset(token)


@dataclass(frozen=True, slots=True)
class Asking:
    """How models are asked in a block (`fresh_replies`, `nth_reply`), to be taken to another process."""

    fresh: bool
    nth: int

    @contextmanager
    def again(self) -> Iterator[None]:
        """Ask so in this block."""
        with fresh_replies() if self.fresh else nullcontext(), nth_reply(self.nth):
            yield


def asked_how() -> Asking:
    """Say how models are asked here."""
    return Asking(_FRESH.get(), _NTH.get())


def chat_key(identity: str, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> str:
    """Return the key of a chat reply: of model, endpoint and options (`identity`), prompt and schema."""
    asked = [[message.role, message.content] for message in messages]
    again = (str(_NTH.get()),) if _NTH.get() else ()
    return content_id("chat", KEY_VERSION, identity, json.dumps(asked), json.dumps(schema, sort_keys=True), *again)


class CachedChatModel(Wrapped[ChatModel]):
    """A `ChatModel` whose replies are kept."""

    def __init__(self, model: ChatModel, cache: ReplyCache, *, meter: Meter | None = None) -> None:
        super().__init__(model)
        self._cache = cache
        self._meter = meter
        self._under_way = _UnderWay()

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Answer from the cache (with a usage of nothing), or as the model does."""
        key = chat_key(self.identity, messages, schema)
        async with self._under_way.alone(key):
            in_use = _IN_USE.get()
            kept = in_use.get(self._cache, key) if in_use else None
            if kept is None and not _FRESH.get():
                kept = self._cache.get([key]).get(key)
            if kept is not None:
                if self._meter is not None:
                    self._meter.note_cached(self.name)
                value = json.loads(kept)
                return Reply(text=value["text"], data=value["data"], mended=value.get("mended", ""))
            reply = await self._model.reply(messages, schema=schema)
            value = json.dumps({"text": reply.text, "data": reply.data, "mended": reply.mended}).encode()
            if in_use is None:
                self._cache.put("chat", self.name, {key: value})
            else:
                in_use.put(self._cache, key, self.name, value)
            return reply


class CachedEmbedder(WrappedEmbedder):
    """An `Embedder` whose vectors are kept, each text for itself."""

    def __init__(self, model: Embedder, cache: ReplyCache, *, meter: Meter | None = None) -> None:
        super().__init__(model)
        self._cache = cache
        self._meter = meter

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed those texts that are new; the others come from the cache."""
        return await self._embed("document", texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed those queries that are new; the others come from the cache."""
        return await self._embed("query", texts)

    async def _embed(self, kind: str, texts: Sequence[str]) -> Vectors:
        keys = [content_id("embed", KEY_VERSION, self.identity, kind, text) for text in texts]
        kept = {} if _FRESH.get() else self._cache.get(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in kept}
        if self._meter is not None and kept:
            self._meter.note_cached(self.name, len(kept))
        found = {key: np.frombuffer(value, dtype="<f4") for key, value in kept.items()}
        if missing:
            embed = self._model.embed_documents if kind == "document" else self._model.embed_queries
            vectors = await embed(list(missing.values()))
            new = dict(zip(missing, vectors, strict=True))
            self._cache.put("embed", self.name, {key: row.astype("<f4").tobytes() for key, row in new.items()})
            found |= new
        if not found:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        result: Vectors = np.stack([found[key] for key in keys]).astype(np.float32)
        return result


class CachedReranker(Wrapped[Reranker]):
    """A `Reranker` whose scores are kept, one list for each query and its passages: only scores of one call compare."""

    def __init__(self, model: Reranker, cache: ReplyCache, *, meter: Meter | None = None) -> None:
        super().__init__(model)
        self._cache = cache
        self._meter = meter

    async def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Score, or return the scores that are kept."""
        key = content_id("rerank", KEY_VERSION, self.identity, query, *passages)
        if not _FRESH.get() and (kept := self._cache.get([key]).get(key)):
            if self._meter is not None:
                self._meter.note_cached(self.name)
            return np.frombuffer(kept, dtype="<f4").astype(np.float32)
        scores = expect_scores(await self._model.score(query, passages), len(passages), model=self.name)
        self._cache.put("rerank", self.name, {key: scores.astype("<f4").tobytes()})
        return scores


class _UnderWay:
    """Lets equal requests of one event loop go one after the other: the second finds what the first has put into the cache."""

    def __init__(self) -> None:
        self._locks: PerLoop[dict[str, tuple[asyncio.Lock, int]]] = PerLoop(dict)

    @asynccontextmanager
    async def alone(self, key: str) -> AsyncIterator[None]:
        locks = await self._locks.get()
        lock, users = locks.get(key, (asyncio.Lock(), 0))
        locks[key] = lock, users + 1
        try:
            async with lock:
                yield
        finally:
            lock, users = locks[key]
            if users == 1:
                del locks[key]
            else:
                locks[key] = lock, users - 1
