"""The length of a hosted embedder's vectors, found out like any other reply: once, through cache, retries, limits and meter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from kgrag.common.waiting import wait_for
from kgrag.models.base import Embedder, Vectors
from kgrag.models.wrapped import WrappedEmbedder

__all__ = ["SizedEmbedder"]

PROBE = "dimensions"


class SizedEmbedder(WrappedEmbedder):
    """An `Embedder` around a stack: where the length of its vectors is not `known`, the first who asks for it has a word embedded.

    `found` is told that length: whoever reads the replies refuses vectors of another one from then on.
    """

    def __init__(self, model: Embedder, *, known: int | None, found: Callable[[int], None]) -> None:
        super().__init__(model)
        self._known = known
        self._found = found

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector. Raises `ModelError` where it must be found out and cannot."""
        if self._known:
            return self._known
        length = int(wait_for(self._model.embed_documents([PROBE])).shape[1])
        self._found(length)
        return length

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found: [len(texts), dimensions]."""
        return await self._model.embed_documents(texts) if texts else self._nothing()

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with: the same shape."""
        return await self._model.embed_queries(texts) if texts else self._nothing()

    def _nothing(self) -> Vectors:
        return np.zeros((0, self.dimensions), dtype=np.float32)
