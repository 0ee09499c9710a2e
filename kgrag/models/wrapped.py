"""What every wrapper of a model hands on: whoever asks a wrapped model for its name, its identity or its window asks the model."""

from __future__ import annotations

from typing import Generic, TypeVar

from kgrag.models.base import ChatModel, Embedder, Reranker, share_read

__all__ = ["Wrapped", "WrappedEmbedder", "identity_of"]

M = TypeVar("M", bound=ChatModel | Embedder | Reranker)


def identity_of(model: ChatModel | Embedder | Reranker) -> str:
    """Return all that a reply depends on besides the request: `model.identity` where it has one, else its name."""
    return str(getattr(model, "identity", model.name))


class Wrapped(Generic[M]):
    """A model around another one."""

    def __init__(self, model: M) -> None:
        self._model: M = model

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._model.name

    @property
    def identity(self) -> str:
        """The model's own identity."""
        return identity_of(self._model)


class WrappedEmbedder(Wrapped[Embedder]):
    """An embedder around another one."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._model.dimensions

    @property
    def max_tokens(self) -> int:
        """Tokens of one window."""
        return self._model.max_tokens

    def count_tokens(self, text: str) -> int:
        """Count as the model does."""
        return self._model.count_tokens(text)

    def share_read(self, text: str) -> float:
        """Say what the model says."""
        return share_read(self._model, text)
