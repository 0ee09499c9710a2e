"""One way to put something around any model: retries, limits, a meter, each written once for all three seams.

model = around(model, Retries(attempts=5), ConcurrencyCap(8), Timeout(60))      # the first is the outermost
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, Protocol, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from kgrag.models.base import ChatModel, Embedder, Message, Reply, Reranker, Vectors
from kgrag.models.tokens import estimate_tokens
from kgrag.models.wrapped import Wrapped, WrappedEmbedder

__all__ = ["Around", "Call", "around"]

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


class Around(Protocol):
    """Does something before, after or instead of a request."""

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request by `send()`, once, several times or not at all."""
        ...


@overload
def around(model: ChatModel, *policies: Around) -> ChatModel: ...
@overload
def around(model: Embedder, *policies: Around) -> Embedder: ...
@overload
def around(model: Reranker, *policies: Around) -> Reranker: ...
def around(model: ChatModel | Embedder | Reranker, *policies: Around) -> ChatModel | Embedder | Reranker:
    """Return the model with these around each of its requests, the first outermost."""
    # Not isinstance: a protocol with properties reads them, and an endpoint may not know its `dimensions` yet.
    if hasattr(type(model), "reply"):
        return AroundChatModel(cast(ChatModel, model), policies)
    if hasattr(type(model), "embed_documents"):
        return AroundEmbedder(cast(Embedder, model), policies)
    return AroundReranker(cast(Reranker, model), policies)


class AroundChatModel(Wrapped[ChatModel]):
    """A `ChatModel` with policies around its requests."""

    def __init__(self, model: ChatModel, policies: Sequence[Around]) -> None:
        super().__init__(model)
        self._policies = tuple(policies)

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Answer as the model does; see `ChatModel.reply`."""
        call = Call(self.name, "chat", tuple(message.content for message in messages))
        return await _through(self._policies, call, partial(self._model.reply, messages, schema=schema))


class AroundEmbedder(WrappedEmbedder):
    """An `Embedder` with policies around its requests."""

    def __init__(self, model: Embedder, policies: Sequence[Around]) -> None:
        super().__init__(model)
        self._policies = tuple(policies)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed as the model does; see `Embedder.embed_documents`."""
        call = Call(self.name, "embed", tuple(texts))
        return await _through(self._policies, call, partial(self._model.embed_documents, texts))

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed as the model does; see `Embedder.embed_queries`."""
        call = Call(self.name, "embed", tuple(texts))
        return await _through(self._policies, call, partial(self._model.embed_queries, texts))


class AroundReranker(Wrapped[Reranker]):
    """A `Reranker` with policies around its requests."""

    def __init__(self, model: Reranker, policies: Sequence[Around]) -> None:
        super().__init__(model)
        self._policies = tuple(policies)

    async def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Score as the model does; see `Reranker.score`."""
        call = Call(self.name, "rerank", (query, *passages))
        return await _through(self._policies, call, partial(self._model.score, query, passages))


def _through(policies: Sequence[Around], call: Call, send: Callable[[], Awaitable[T]]) -> Awaitable[T]:
    for policy in reversed(policies):
        send = partial(policy, call, send)
    return send()
