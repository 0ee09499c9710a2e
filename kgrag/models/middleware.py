"""One way to put something around any model: retries, limits, a meter, each written once for all three seams.

model = around(model, Retries(attempts=5), ConcurrencyCap(8), Timeout(60))      # the first is the outermost
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, Protocol, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from kgrag.common.retry import RetryPolicy
from kgrag.errors import ModelUnavailable
from kgrag.models.base import ChatModel, Embedder, Message, Reply, Reranker, Vectors
from kgrag.models.per_loop import PerLoop
from kgrag.models.tokens import estimate_tokens
from kgrag.models.wrapped import Wrapped, WrappedEmbedder

__all__ = ["Call", "ConcurrencyCap", "Middleware", "Retries", "Timeout", "around"]

T = TypeVar("T")
MESSAGE_TOKENS = 4
"""What a chat format adds to each message (OpenAI's cookbook, "How to count tokens with tiktoken")."""


@dataclass(frozen=True)
class Call:
    """One request that is about to be made."""

    model: str
    """The model's name."""
    kind: Literal["chat", "embed", "rerank"]
    texts: tuple[str, ...]
    """All that is sent to be read."""

    @cached_property
    def tokens(self) -> int:
        """Estimated tokens of `texts`."""
        extra = MESSAGE_TOKENS * len(self.texts) if self.kind == "chat" else 0
        return extra + sum(map(estimate_tokens, self.texts))


class Middleware(Protocol):
    """Does something before, after or instead of a request."""

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request by `send()`, once, several times or not at all."""
        ...


class Retries:
    """Makes a request up to `attempts` times while it ends in `ModelUnavailable`; no other error would go away by asking again."""

    def __init__(self, attempts: int, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._policy = RetryPolicy(attempts=attempts, sleep=sleep)

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request."""
        return await self._policy.acall(send, what=call.model, again_on=ModelUnavailable)


class ConcurrencyCap:
    """Lets at most `limit` requests be under way at once; the others wait in order. A cancelled one gives its place back."""

    def __init__(self, limit: int) -> None:
        self._places = PerLoop(lambda: asyncio.Semaphore(limit))

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request when there is a place."""
        async with await self._places.get():
            return await send()


class Timeout:
    """Gives a request `seconds` from its sending to the end of its reply, then raises `ModelUnavailable`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request."""
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                return await send()
        except TimeoutError:
            if not limit.expired():
                raise
            raise ModelUnavailable(
                f"{call.model}: no reply within {self._seconds:g} s. A slow model needs a higher timeout_s (KGRAG_TIMEOUT_S)."
            ) from None


@overload
def around(model: ChatModel, *middleware: Middleware) -> ChatModel: ...
@overload
def around(model: Embedder, *middleware: Middleware) -> Embedder: ...
@overload
def around(model: Reranker, *middleware: Middleware) -> Reranker: ...
def around(model: ChatModel | Embedder | Reranker, *middleware: Middleware) -> ChatModel | Embedder | Reranker:
    """Return the model with these around each of its requests, the first outermost."""
    # Not isinstance: a protocol with properties reads them, and an endpoint may not know its `dimensions` yet.
    if hasattr(type(model), "reply"):
        return ChatModelWithMiddleware(cast(ChatModel, model), middleware)
    if hasattr(type(model), "embed_documents"):
        return EmbedderWithMiddleware(cast(Embedder, model), middleware)
    return RerankerWithMiddleware(cast(Reranker, model), middleware)


class ChatModelWithMiddleware(Wrapped[ChatModel]):
    """A `ChatModel` with middleware around its requests."""

    def __init__(self, model: ChatModel, middleware: Sequence[Middleware]) -> None:
        super().__init__(model)
        self._middleware = tuple(middleware)

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Answer as the model does; see `ChatModel.reply`."""
        call = Call(self.name, "chat", tuple(message.content for message in messages))
        return await _through(self._middleware, call, partial(self._model.reply, messages, schema=schema))


class EmbedderWithMiddleware(WrappedEmbedder):
    """An `Embedder` with middleware around its requests."""

    def __init__(self, model: Embedder, middleware: Sequence[Middleware]) -> None:
        super().__init__(model)
        self._middleware = tuple(middleware)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed as the model does; see `Embedder.embed_documents`."""
        call = Call(self.name, "embed", tuple(texts))
        return await _through(self._middleware, call, partial(self._model.embed_documents, texts))

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed as the model does; see `Embedder.embed_queries`."""
        call = Call(self.name, "embed", tuple(texts))
        return await _through(self._middleware, call, partial(self._model.embed_queries, texts))


class RerankerWithMiddleware(Wrapped[Reranker]):
    """A `Reranker` with middleware around its requests."""

    def __init__(self, model: Reranker, middleware: Sequence[Middleware]) -> None:
        super().__init__(model)
        self._middleware = tuple(middleware)

    async def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Score as the model does; see `Reranker.score`."""
        call = Call(self.name, "rerank", (query, *passages))
        return await _through(self._middleware, call, partial(self._model.score, query, passages))


def _through(middleware: Sequence[Middleware], call: Call, send: Callable[[], Awaitable[T]]) -> Awaitable[T]:
    for policy in reversed(middleware):
        send = partial(policy, call, send)
    return send()
