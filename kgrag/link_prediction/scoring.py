"""Scoring a question that the graph does not have: it is joined to the graph, every chunk gets its logit, and nothing of it is kept."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgrag.link_prediction.graph import ChunkGraph, highest, with_questions
from kgrag.link_prediction.layers import Dropout, layer_norm, linear, relu
from kgrag.link_prediction.training import Trained, question_edges

__all__ = ["Scorer", "full_pass"]

CANDIDATES = 200
"""Nearest chunks that are scored: another one with no neighbour near the question has nothing that speaks for it."""

Floats = NDArray[np.float32]
Indexes = NDArray[np.intp]


def full_pass(trained: Trained, graph: ChunkGraph, question: Floats, chunks: Indexes) -> Floats:
    """Return the logit of each of these chunks for a question (vector of length 1), by one pass of the network over the whole graph."""
    one = question[None].astype(np.float32)
    joined = with_questions(graph, one, question_edges(graph.vectors, one, trained.options))
    pairs = np.column_stack([np.full(len(chunks), graph.chunks, dtype=np.intp), chunks])
    return np.asarray(trained.predictor.logits(trained.parameters, joined, pairs, Dropout()), dtype=np.float32)


class Scorer:
    """Logits of a graph's chunks for one question after another. Safe to use from several threads."""

    def __init__(self, trained: Trained, graph: ChunkGraph) -> None:
        self.trained, self.graph = trained, graph

    def candidates(self, question: Floats) -> Indexes:
        """Return the CANDIDATES nearest chunks and the neighbours of the very nearest, sorted."""
        near = highest(self.graph.vectors @ question, CANDIDATES)
        first = near[: self.trained.options.nearest_chunks]
        return np.union1d(near, self.graph.adjacency[first].indices).astype(np.intp)

    def logits(self, question: Floats, chunks: Indexes) -> Floats:
        """Return the logits of these chunks, equal to those of `full_pass`: [len(chunks)]."""
        if self.trained.options.predictor == "ncn" and self.trained.options.layers == 1:
            return self._fast.logits(question, chunks)
        return full_pass(self.trained, self.graph, question, chunks)

    def best(self, question: Floats, count: int) -> list[tuple[int, float]]:
        """Return the chunks that are likeliest linked to a question, with the probability of it, likeliest first; equal ones in order."""
        chunks = self.candidates(question)
        probabilities = self.trained.calibration.probabilities(self.logits(question, chunks))
        order = np.argsort(-probabilities, kind="stable")[:count]
        return [(int(chunks[place]), float(probabilities[place])) for place in order]

    @cached_property
    def _fast(self) -> _FastNCN:
        return _FastNCN(self.trained, self.graph)


class _Joined(NamedTuple):
    """How a question changes the graph."""

    chunks: Indexes
    """That it is joined to."""
    weights: Floats
    scale: Floats
    """1 / √degree of every chunk, the new edges counted."""
    own_scale: float
    """The question's."""
    share: Floats
    """What of the question's embedding comes to each chunk: [chunks of the graph]."""
    neighbour: NDArray[np.bool_]
    """Whether it is joined to each chunk: [chunks of the graph]."""


class _FastNCN:
    """NCN of one layer, with everything worked out beforehand that no question changes.

    A question's common neighbours with a chunk are those of the chunk's neighbours that it is joined to; degrees and embeddings change
    for these and their neighbours alone. What is left for a question are sums over them, and the last layers for the chunks asked for.
    """

    def __init__(self, trained: Trained, graph: ChunkGraph) -> None:
        self._options, self._graph, self._parameters = trained.options, graph, trained.parameters
        self._x = np.asarray(linear(self._parameters, "encode", graph.vectors), dtype=np.float32)
        self._degree = 1.0 + np.asarray(graph.adjacency.sum(axis=1), dtype=np.float32)
        self._scale = 1.0 / np.sqrt(self._degree)
        self._around = np.asarray(graph.adjacency @ (self._x * self._scale[:, None]))

    def logits(self, question: Floats, chunks: Indexes) -> Floats:
        """Return the logits of these chunks."""
        parameters = self._parameters
        joined = self._join(question)
        x = np.asarray(linear(parameters, "encode", question[None].astype(np.float32)), dtype=np.float32)[0]
        pattern = self._graph.pattern[chunks]
        shared = np.unique(pattern.indices[joined.neighbour[pattern.indices]])
        rows = np.union1d(chunks, shared)
        h = self._embedded(joined, x, rows)
        shares = joined.weights * joined.scale[joined.chunks]
        convolved = joined.own_scale * (shares @ self._x[joined.chunks]) + joined.own_scale**2 * x
        asked = parameters["jump"][0] * x + parameters["jump"][1] * convolved
        both = linear(parameters, "own", h[np.searchsorted(rows, chunks)] * asked)
        own = relu(layer_norm(parameters, "own", both))
        pooled = h[np.searchsorted(rows, shared)]
        pooled = pooled + linear(parameters, "pool.2", relu(linear(parameters, "pool.1", pooled)))
        inner = linear(parameters, "common.1", np.asarray(pattern[:, shared] @ pooled))
        common = linear(parameters, "common.2", relu(layer_norm(parameters, "common.1", inner)))
        out = linear(parameters, "out.1", parameters["beta"] * common + own)
        out = linear(parameters, "out.2", relu(layer_norm(parameters, "out.1", out)))
        logits = np.asarray(out, dtype=np.float32)[:, 0]
        return (
            logits + parameters["cosine"] * (self._graph.vectors[chunks] @ question)
            if self._options.residual
            else logits
        )

    def _join(self, question: Floats) -> _Joined:
        edges = question_edges(self._graph.vectors, question[None], self._options)
        scale, share = self._scale.copy(), np.zeros_like(self._scale)
        scale[edges.indices] = 1.0 / np.sqrt(self._degree[edges.indices] + edges.data)
        own = float(1.0 / np.sqrt(1.0 + edges.data.sum()))
        share[edges.indices] = edges.data * scale[edges.indices] * own
        neighbour = np.zeros(len(scale), dtype=np.bool_)
        neighbour[edges.indices] = True
        return _Joined(edges.indices, edges.data, scale, own, share, neighbour)

    def _embedded(self, joined: _Joined, question: Floats, rows: Indexes) -> Floats:
        """Return the embeddings of these chunks: [len(rows), hidden]."""
        jump, x, scale = self._parameters["jump"], self._x[rows], joined.scale[rows, None]
        changed = self._x[joined.chunks] * (joined.scale - self._scale)[joined.chunks, None]
        around = self._around[rows] + self._graph.adjacency[rows][:, joined.chunks] @ changed
        convolved = scale * (around + x * scale) + joined.share[rows, None] * question
        return np.asarray(jump[0] * x + jump[1] * convolved, dtype=np.float32)
