"""The graph of chunks, and questions attached to it: who is near whom by cosine, and what the authors linked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array, hstack, vstack

__all__ = [
    "BLOCK_ROWS",
    "Attachment",
    "ChunkGraph",
    "Neighbours",
    "attached",
    "highest",
    "mutual_neighbours",
    "nearest",
    "with_questions",
]

Attachment = Literal["all", "topn", "none"]
"""How a question that the graph does not have is joined to it: to every chunk (as the paper has it), to the nearest, or not at all."""

STEPS = 2
"""Of the diffusion that positions are made of."""
BLOCK_ROWS = 1024
"""Rows whose cosines with everything are held at once."""

Vectors = NDArray[np.float32]
Indexes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The k nearest others of each vector by cosine, the nearest first; equal ones by their place, which is that of their ids."""

    indexes: Indexes
    """[vectors, k]."""
    cosines: Vectors
    """[vectors, k]."""


@dataclass(frozen=True)
class ChunkGraph:
    """Nodes with their vectors and weighted undirected edges; the first `chunks` nodes are chunks, the others questions."""

    vectors: Vectors
    """[nodes, dimensions], each of length 1."""
    adjacency: csr_array
    """[nodes, nodes], symmetric, weights of at least 0, nothing on the diagonal."""
    chunks: int

    @cached_property
    def normalised(self) -> csr_array:
        """D^-1/2 (A + I) D^-1/2, degrees with the node itself: what a graph convolution multiplies by."""
        with_self = self.adjacency + diags_array(np.ones(len(self.vectors), dtype=np.float32), format="csr")
        scale = diags_array((1.0 / np.sqrt(with_self.sum(axis=1))).astype(np.float32), format="csr")
        return csr_array(scale @ with_self @ scale)

    @cached_property
    def pattern(self) -> csr_array:
        """Which nodes are neighbours: the adjacency with every weight 1."""
        pattern = self.adjacency.copy()
        pattern.data = np.ones_like(pattern.data)
        return pattern

    @cached_property
    def positions(self) -> csr_array:
        """Where each node stands, as a diffusion map of the chunks' graph (Coifman and Lafon, 2006): [nodes, chunks], sparse.

        A chunk's coordinates are its row of the normalised adjacency to the power STEPS, a question's the weighted mean of its
        neighbours'. The distance of two rows is that of all eigenvectors, each times its eigenvalue to that power: unlike single
        eigenvectors it has no sign and no order, and is the same however the nodes are numbered.
        """
        inner = ChunkGraph(self.vectors[: self.chunks], self.adjacency[: self.chunks, : self.chunks], self.chunks)
        chunks = inner.normalised
        for _ in range(STEPS - 1):
            chunks = csr_array(chunks @ inner.normalised)
        edges = self.adjacency[self.chunks :, : self.chunks]
        shares = diags_array(1.0 / np.maximum(edges.sum(axis=1), np.float32(1e-9)), format="csr")
        return csr_array(vstack([chunks, shares @ edges @ chunks], format="csr"))

    @property
    def degrees(self) -> NDArray[np.float32]:
        """Neighbours of each node."""
        return np.asarray(np.diff(self.adjacency.indptr), dtype=np.float32)

    def common(self, pairs: Indexes) -> csr_array:
        """Return which nodes are neighbours of both nodes of each pair: [pairs, nodes], 1 or 0."""
        return csr_array(self.pattern[pairs[:, 0]].multiply(self.pattern[pairs[:, 1]]))

    def without(self, pairs: Indexes) -> ChunkGraph:
        """Return it without the edges between these pairs, in either direction; pairs without an edge change nothing."""
        size = len(self.vectors)
        ends = np.concatenate([pairs, pairs[:, ::-1]])
        gone = csr_array(coo_array((np.ones(len(ends), dtype=np.float32), ends.T), shape=(size, size)))
        adjacency = self.adjacency - csr_array(self.adjacency.multiply(gone.sign()))
        adjacency.eliminate_zeros()
        return replace(self, adjacency=csr_array(adjacency))


def nearest(vectors: Vectors, k: int) -> Neighbours:
    """Find the k nearest others of each vector; at most as many as there are others."""
    k = max(min(k, len(vectors) - 1), 0)
    indexes = np.zeros((len(vectors), k), dtype=np.intp)
    cosines = np.zeros((len(vectors), k), dtype=np.float32)
    for start in range(0, len(vectors) if k else 0, BLOCK_ROWS):
        near = _cosines(vectors[start : start + BLOCK_ROWS], vectors)
        for place, row in enumerate(near, start=start):
            row[place] = -np.inf
            indexes[place] = highest(row, k)
            cosines[place] = row[indexes[place]]
    return Neighbours(indexes, cosines)


def highest(scores: NDArray[np.float32], count: int) -> Indexes:
    """Return the places of the highest scores, the highest first; equal ones by their place."""
    if count >= len(scores):
        return np.argsort(-scores, kind="stable")
    among = np.flatnonzero(scores >= np.partition(scores, -count)[-count])
    return among[np.lexsort((among, -scores[among]))][:count]


def mutual_neighbours(near: Neighbours) -> csr_array:
    """Join two vectors where each is among the nearest of the other, by their cosine (0 where it is negative): [vectors, vectors]."""
    count, k = near.indexes.shape
    ends = (np.repeat(np.arange(count), k), near.indexes.ravel())
    shape = (count, count)
    # One more than the cosine, so that a weight of 0 is an edge and not the lack of one until both directions were compared.
    directed = csr_array(coo_array((np.maximum(near.cosines.ravel(), 0.0) + 1.0, ends), shape=shape))
    both = csr_array(directed.minimum(directed.T))
    both.data -= 1.0
    return both


def attached(
    vectors: Vectors, questions: Vectors, attach: Attachment, *, nearest_chunks: int, weight: float | None = 1.0
) -> csr_array:
    """Return the edges that join questions to chunks: [questions, chunks]; `weight` None: their cosines, 0 where they are negative."""
    shape = (len(questions), len(vectors))
    if attach == "none" or not len(vectors):
        return csr_array(shape, dtype=np.float32)
    count = len(vectors) if attach == "all" else min(nearest_chunks, len(vectors))
    order = np.zeros((len(questions), count), dtype=np.intp)
    cosines = np.zeros((len(questions), count), dtype=np.float32)
    for start in range(0, len(questions), BLOCK_ROWS):
        for place, row in enumerate(_cosines(questions[start : start + BLOCK_ROWS], vectors), start=start):
            order[place] = highest(row, count)
            cosines[place] = row[order[place]]
    rows = np.repeat(np.arange(len(questions)), count)
    weights = np.full(rows.size, weight) if weight is not None else np.maximum(cosines.ravel(), 0.0)
    return csr_array(coo_array((weights.astype(np.float32), (rows, order.ravel())), shape=shape))


def with_questions(graph: ChunkGraph, questions: Vectors, edges: csr_array) -> ChunkGraph:
    """Return the graph with further nodes, questions, and what joins each to the nodes that there are: [questions, nodes]."""
    corner = csr_array((len(questions), len(questions)), dtype=np.float32)
    adjacency = vstack([hstack([graph.adjacency, edges.T]), hstack([edges, corner])], format="csr")
    return ChunkGraph(np.concatenate([graph.vectors, questions]), csr_array(adjacency), graph.chunks)


def _cosines(some: Vectors, others: Vectors) -> Vectors:
    return np.asarray(some @ others.T, dtype=np.float32)
