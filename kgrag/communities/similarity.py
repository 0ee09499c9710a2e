"""Which entities are near each other in meaning: the k nearest by cosine, above a cutoff."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from kgrag.models.base import Vectors

__all__ = ["EXACT_ENTITIES", "Pairs", "similar_pairs"]

EXACT_ENTITIES = 25_000
"""Up to so many every pair is compared; the time grows with the square."""
DECIMALS = 3
"""Of a score. The last bits of a vector depend on what it was embedded together with, and must not decide who is a neighbour."""
BLOCK_VALUES = 32_000_000
"""Scores that are held at a time, 4 bytes each."""
SPARE_CANDIDATES = 8
"""How many more than wanted are proposed: one is the vector itself, others fall below the cutoff or come after better ones."""
QUANTISATION_ERROR = 0.03
"""By how much a cosine of 8-bit vectors may be off (with 384 dimensions 0.003 on average): who is farther below is left out."""
APPROXIMATE_BLOCK = 4096
"""Vectors that are added, and asked for, at a time."""

Directed = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Sources, targets and scores."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Undirected pairs of places with a score: `first[i]` < `second[i]`, sorted, each pair once."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    score: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)


def similar_pairs(
    vectors: Vectors,
    *,
    neighbours: int = 15,
    cutoff: float = 0.80,
    exact_entities: int = EXACT_ENTITIES,
    on_done: Callable[[int], None] = lambda count: None,
) -> Pairs:
    """Join each vector with its `neighbours` nearest whose cosine is at least `cutoff`; a pair is there if one of both has the other.

    `vectors`: [n, dimensions], float32, unit length. Scores are cosines rounded to three decimals; among equals the first by place is the
    nearer one. Up to `exact_entities` vectors every pair is compared, above that an approximate index proposes candidates whose
    cosines are then computed exactly. `on_done` is told how many vectors are done. The defaults are the thesis's (chapter 3.4.5).
    """
    if len(vectors) < 2 or neighbours < 1:
        return _unique(*(np.zeros(0, dtype=np.int64),) * 2, np.zeros(0))
    search = _exact if len(vectors) <= exact_entities else _approximate
    return _unique(*search(vectors, neighbours, cutoff, on_done))


def _exact(vectors: Vectors, neighbours: int, cutoff: float, on_done: Callable[[int], None]) -> Directed:
    found: list[Directed] = []
    step = max(1, BLOCK_VALUES // len(vectors))
    lowest = cutoff - 0.5 * 10**-DECIMALS
    for start in range(0, len(vectors), step):
        scores = vectors[start : start + step] @ vectors.T
        scores[np.arange(len(scores)), np.arange(start, start + len(scores))] = -2.0
        rows, columns = np.nonzero(scores >= lowest)
        found.append(_nearest(rows + start, columns, scores[rows, columns], neighbours))
        on_done(len(scores))
    return _joined(found)


def _nearest(
    sources: NDArray[np.int64], targets: NDArray[np.int64], scores: NDArray[np.float32], neighbours: int
) -> Directed:
    """Keep the best of each source; the rounded score decides, then the place."""
    rounded = np.asarray(np.round(scores.astype(np.float64), DECIMALS), dtype=np.float64)
    order = np.lexsort((targets, -rounded, sources))
    sources, targets, rounded = sources[order], targets[order], rounded[order]
    begins = np.searchsorted(sources, sources, side="left")
    kept = np.arange(len(sources)) - begins < neighbours
    return sources[kept], targets[kept], rounded[kept]


def _unique(sources: NDArray[np.int64], targets: NDArray[np.int64], scores: NDArray[np.float64]) -> Pairs:
    """Make directed neighbours undirected, each pair once."""
    first, second = np.minimum(sources, targets), np.maximum(sources, targets)
    _, kept = np.unique(first * (second.max(initial=0) + 1) + second, return_index=True)
    return Pairs(first[kept], second[kept], scores[kept])


def _approximate(vectors: Vectors, neighbours: int, cutoff: float, on_done: Callable[[int], None]) -> Directed:
    """Have candidates proposed by an HNSW index over 8-bit vectors, and compute their cosines.

    One thread adds, always in the same order: with two the index, and so the communities, would come out differently each time.
    """
    from usearch.index import BatchMatches, Index

    index = Index(
        ndim=vectors.shape[1], metric="ip", dtype="i8", connectivity=16, expansion_add=64, expansion_search=64
    )
    for start in range(0, len(vectors), APPROXIMATE_BLOCK):
        block = vectors[start : start + APPROXIMATE_BLOCK]
        index.add(np.arange(start, start + len(block)), block, threads=1)
        on_done(len(block) // 2)
    lowest = cutoff - 0.5 * 10**-DECIMALS
    found: list[Directed] = []
    for start in range(0, len(vectors), APPROXIMATE_BLOCK):
        block = vectors[start : start + APPROXIMATE_BLOCK]
        proposed = cast(BatchMatches, index.search(block, neighbours + SPARE_CANDIDATES))
        there = np.arange(proposed.keys.shape[1])[None, :] < proposed.counts[:, None]
        there &= 1.0 - proposed.distances >= lowest - QUANTISATION_ERROR
        rows, ranks = np.nonzero(there)
        columns = proposed.keys[rows, ranks].astype(np.int64)
        scores = np.einsum("ij,ij->i", block[rows], vectors[columns])
        good = (scores >= lowest) & (columns != rows + start)
        found.append(_nearest(rows[good] + start, columns[good], scores[good], neighbours))
        on_done(len(block) - len(block) // 2)
    return _joined(found)


def _joined(found: Sequence[Directed]) -> Directed:
    sources, targets, scores = zip(*found, strict=True)
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(scores)
