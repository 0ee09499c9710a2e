"""Embedders for corpora that would take too long to embed: mixes of real vectors, and sums of seeded vectors of words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kgrag.models.base import Vectors
from kgrag.models.minilm import MiniLM

__all__ = ["MixedMiniLM", "WordVectors"]

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


class WordVectors:
    """An `Embedder` that takes next to nothing: the sum of a text's distinct words, each a seeded random vector, at unit length.

    Texts are near that share words, so there are neighbours to find, as there are none among random vectors; what words mean counts for
    nothing. As long as MiniLM's.
    """

    name = "words"
    dimensions = 384
    max_tokens = 254

    def __init__(self) -> None:
        self._known: dict[str, NDArray[np.float32]] = {}

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: [len(texts), 384]."""
        return self.embed(texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries as documents."""
        return self.embed(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts of either kind."""
        made = np.array([self._sum(text) for text in texts], dtype=np.float32).reshape(len(texts), self.dimensions)
        unit: Vectors = made / np.linalg.norm(made, axis=1, keepdims=True)
        return unit

    def _sum(self, text: str) -> NDArray[np.float32]:
        words = set(re.findall(r"\w+", text.casefold())) or {""}
        total: NDArray[np.float32] = np.sum([self._vector(word) for word in sorted(words)], axis=0)
        return total

    def _vector(self, word: str) -> NDArray[np.float32]:
        known = self._known.get(word)
        if known is None:
            seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "big")
            known = self._known[word] = np.random.default_rng(seed).standard_normal(self.dimensions).astype(np.float32)
        return known
