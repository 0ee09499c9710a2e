"""What a predictor is trained on: batches of chunks for questions, and negatives."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from kgrag.link_prediction.graph import ChunkGraph, Vectors

__all__ = ["Sampler", "batches", "negatives"]

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


def negatives(
    graph: ChunkGraph, ends: Indexes, linked: csr_array, sampler: Sampler, generator: np.random.Generator
) -> Indexes:
    """Draw for each node of `ends` a chunk that it is neither linked to nor is: [ends]; -1 where none was found in TRIES draws.

    `linked` holds the true edges, [nodes, nodes], symmetric: those that are to be predicted as well as those that are seen.
    """
    drawn = np.full(len(ends), -1, dtype=np.intp)
    waiting = np.arange(len(ends))
    weights = np.cumsum(graph.degrees[: graph.chunks].astype(np.float64)) if sampler == "degree" else None
    near = _near(graph, ends) if sampler == "near" else None
    for _ in range(TRIES):
        if not waiting.size:
            break
        if near is not None:
            found = near[waiting, generator.integers(0, near.shape[1], waiting.size)]
        elif weights is not None and weights[-1] > 0.0:
            found = np.searchsorted(weights, generator.random(waiting.size) * weights[-1], side="right")
        else:
            found = generator.integers(0, graph.chunks, waiting.size)
        wrong = (found == ends[waiting]) | _are_linked(linked, ends[waiting], found)
        drawn[waiting[~wrong]] = found[~wrong]
        waiting = waiting[wrong]
    return drawn


def _near(graph: ChunkGraph, ends: Indexes) -> Indexes:
    different, place = np.unique(ends, return_inverse=True)
    count = min(NEAR, graph.chunks)
    found = np.empty((len(different), count), dtype=np.intp)
    chunks: Vectors = graph.vectors[: graph.chunks]
    for start in range(0, len(different), 1024):
        cosines = graph.vectors[different[start : start + 1024]] @ chunks.T
        found[start : start + 1024] = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
    return found[place]


def _are_linked(linked: csr_array, some: Indexes, others: Indexes) -> NDArray[np.bool_]:
    # The greatest key of all true edges is small enough for 64 bits up to some three thousand million nodes.
    size = linked.shape[0]
    keys = np.repeat(np.arange(size), np.diff(linked.indptr)) * size + linked.indices
    return np.isin(some * size + others, keys)
