"""What a predictor is trained on: batches of chunks for questions, and negatives."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kgrag.link_prediction.graph import BLOCK_ROWS, ChunkGraph, Vectors

__all__ = ["NEAR", "Negatives", "Sampler", "batches"]

Sampler = Literal["uniform", "degree", "near"]
"""Which chunks are drawn as negatives: each alike, in proportion to their neighbours, or such as are near the other end by cosine."""

NEAR = 50
"""Nearest chunks that `near` draws from."""
TRIES = 20

Indexes = NDArray[np.intp]


def batches(adjacency: csr_array, generator: np.random.Generator, *, most: int | None = None) -> list[Indexes]:
    """Return for each chunk in turn itself and some of its neighbours: how many is uniform from 0 to all (or `most`), which ones too.

    What questions are written about, as LP-RAG draws it: connected chunks give questions of several hops.
    """
    found = []
    for chunk in range(adjacency.shape[0]):
        neighbours = adjacency.indices[adjacency.indptr[chunk] : adjacency.indptr[chunk + 1]]
        greatest = len(neighbours) if most is None else min(len(neighbours), most)
        count = int(generator.integers(0, greatest + 1))
        found.append(np.concatenate([[chunk], generator.choice(neighbours, size=count, replace=False)]).astype(np.intp))
    return found


class Negatives:
    """Draws chunks that a node is not linked to. What it works out once, it keeps: true edges as keys, and who is near whom."""

    def __init__(self, graph: ChunkGraph, linked: csr_array, sampler: Sampler) -> None:
        """`linked` holds the true edges, [nodes, nodes], symmetric: those that are to be predicted as well as those that are seen."""
        self._graph, self._sampler = graph, sampler
        # The greatest key of all true edges is small enough for 64 bits up to some three thousand million nodes.
        size = linked.shape[0]
        self._linked = np.sort(np.repeat(np.arange(size), np.diff(linked.indptr)) * size + linked.indices)
        self._weights = np.cumsum(graph.degrees[: graph.chunks].astype(np.float64))
        self._near = np.full((size if sampler == "near" else 0, min(NEAR, graph.chunks)), -1, dtype=np.int32)

    def draw(self, ends: Indexes, generator: np.random.Generator) -> Indexes:
        """Draw for each node of `ends` a chunk that it is neither linked to nor is: [ends]; -1 where none was found in TRIES draws."""
        drawn = np.full(len(ends), -1, dtype=np.intp)
        waiting = np.arange(len(ends))
        if self._sampler == "near":
            self._find_near(np.unique(ends))
        for _ in range(TRIES):
            if not waiting.size:
                break
            found = self._some(ends[waiting], generator)
            wrong = (found == ends[waiting]) | self._are_linked(ends[waiting], found)
            drawn[waiting[~wrong]] = found[~wrong]
            waiting = waiting[wrong]
        return drawn

    def _some(self, ends: Indexes, generator: np.random.Generator) -> Indexes:
        if self._sampler == "near":
            return self._near[ends, generator.integers(0, self._near.shape[1], ends.size)].astype(np.intp)
        if self._sampler == "degree" and self._weights[-1] > 0.0:
            return np.asarray(
                np.searchsorted(self._weights, generator.random(ends.size) * self._weights[-1], side="right")
            )
        return generator.integers(0, self._graph.chunks, ends.size)

    def _find_near(self, nodes: Indexes) -> None:
        nodes = nodes[self._near[nodes, 0] < 0]
        count = self._near.shape[1]
        chunks: Vectors = self._graph.vectors[: self._graph.chunks]
        for start in range(0, len(nodes), BLOCK_ROWS):
            some = nodes[start : start + BLOCK_ROWS]
            cosines = self._graph.vectors[some] @ chunks.T
            self._near[some] = np.argpartition(-cosines, count - 1, axis=1)[:, :count]

    def _are_linked(self, some: Indexes, others: Indexes) -> NDArray[np.bool_]:
        if not self._linked.size:
            return np.zeros(len(some), dtype=np.bool_)
        keys = some * len(self._graph.vectors) + others
        places = np.minimum(np.searchsorted(self._linked, keys), len(self._linked) - 1)
        return np.asarray(self._linked[places] == keys)
