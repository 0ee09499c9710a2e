"""An embedder for corpora that would take too long to embed: mixes of real vectors, chosen by the text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kgrag.models.base import Vectors
from kgrag.models.minilm import MiniLM

__all__ = ["MixedMiniLM"]

POOL_TEXTS = 1000
NOISE = 0.35
"""Length of the noise that is added to a mix of unit length: neighbours stay neighbours, nothing is an exact copy."""


class MixedMiniLM:
    """An `Embedder` whose document vectors are deterministic mixes of real MiniLM vectors; queries are embedded for real.

    The distribution is that of the real vectors, the speed is not: a benchmark that uses it has to say so.
    """

    name = "minilm-mixed"

    def __init__(self, texts: Sequence[str]) -> None:
        """Embed the first texts of a corpus for real: the pool that the mixes are made of."""
        self._real = MiniLM()
        self.dimensions = self._real.dimensions
        self.max_tokens = self._real.max_tokens
        self._pool = self._real.embed(list(texts[:POOL_TEXTS]))

    def count_tokens(self, text: str) -> int:
        """Count tokens as MiniLM does."""
        return self._real.count_tokens(text)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Mix vectors: [len(texts), dimensions], unit length; the same text gives the same vector."""
        return (
            np.stack([self._mix(text) for text in texts]) if texts else np.zeros((0, self.dimensions), dtype=np.float32)
        )

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries with MiniLM itself."""
        return await self._real.embed_queries(texts)

    def _mix(self, text: str) -> NDArray[np.float32]:
        chance = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))
        first, second = self._pool[chance.integers(len(self._pool), size=2)]
        share = chance.uniform(0.6, 1.0)
        noise = chance.standard_normal(self.dimensions)
        vector = share * first + (1 - share) * second + NOISE * noise / np.linalg.norm(noise)
        unit: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return unit
