"""SEAL: the subgraph around a pair, its nodes labelled by where they stand in it (Zhang and Chen, NeurIPS 2018), read by DGCNN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, coo_array, csr_array

from kgrag.link_prediction.graph import ChunkGraph
from kgrag.link_prediction.layers import Dropout, Parameters, linear, new_linear, relu, spread
from kgrag.link_prediction.predictors.base import Predictor, new_cosine, with_cosine

__all__ = ["SEAL", "enclosing", "labels"]

Dense = NDArray[np.float32]

MOST_NEIGHBOURS = 20
"""Of each end: those with the heaviest edges. A question that is joined to every chunk would have the whole graph around it."""
LABELS = 12
"""Different ones that are told apart; greater ones count as the greatest."""
SORTED = 10
"""Nodes that sort pooling keeps of each subgraph."""
CHANNELS = 16


@dataclass(frozen=True)
class SEAL(Predictor):
    """Graph convolutions over each pair's subgraph; its nodes, sorted by the last channel, go through a convolution and two layers."""

    kind: ClassVar[str] = "seal"

    def initial(self, generator: np.random.Generator) -> Parameters:
        """Return parameters to begin with."""
        hidden = self.shape.hidden
        parameters = new_linear("encode", self.shape.dimensions, hidden, generator)
        parameters |= new_linear("label", LABELS + 1, hidden, generator)
        for layer in range(self.shape.layers):
            parameters |= new_linear(f"layer.{layer}", hidden, hidden, generator)
        parameters |= new_linear("last", hidden, 1, generator)
        parameters |= new_linear("convolution", hidden * self.shape.layers + 1, CHANNELS, generator)
        parameters |= new_linear("out.1", CHANNELS * (SORTED // 2), hidden, generator)
        return parameters | new_linear("out.2", hidden, 1, generator) | new_cosine()

    def logits(self, parameters: Parameters, graph: ChunkGraph, pairs: NDArray[np.intp], dropout: Dropout) -> Any:
        """Return one logit for each pair of nodes."""
        around = [enclosing(graph.adjacency, *map(int, pair)) for pair in pairs]
        nodes = np.concatenate([one for one, _, _ in around])
        sizes = np.array([len(one) for one, _, _ in around])
        known = np.zeros((len(nodes), LABELS + 1), dtype=np.float32)
        marks = np.concatenate([labels(edges, *ends) for _, edges, ends in around])
        known[np.arange(len(nodes)), np.minimum(marks, LABELS)] = 1.0
        # A subgraph is a graph of its own: degrees count only what is inside.
        inside = ChunkGraph(known, csr_array(block_diag([edges for _, edges, _ in around], format="csr")), 0).normalised
        vectors = dropout(graph.vectors[nodes], self.shape.input_dropout)
        x = linear(parameters, "encode", vectors) + linear(parameters, "label", known)
        layers = []
        for layer in range(self.shape.layers):
            x = anp.tanh(linear(parameters, f"layer.{layer}", spread(inside, x)))
            layers.append(x)
        last = anp.tanh(linear(parameters, "last", spread(inside, x)))
        every = anp.concatenate([*layers, last], axis=1)
        kept = spread(_sorted_nodes(last, sizes), every)
        channels = anp.reshape(relu(linear(parameters, "convolution", kept)), (len(pairs), SORTED // 2, 2, CHANNELS))
        pooled = anp.reshape(anp.max(channels, axis=2), (len(pairs), -1))
        out = dropout(relu(linear(parameters, "out.1", pooled)), self.shape.dropout)
        return with_cosine(parameters, self.shape, linear(parameters, "out.2", out)[:, 0], graph, pairs)


def enclosing(adjacency: csr_array, one: int, other: int) -> tuple[NDArray[np.intp], Dense, tuple[int, int]]:
    """Return the nodes within one hop of either end, sorted, the edges among them but for that of the pair, and where the ends stand."""
    nodes = np.unique(np.concatenate([[one, other], _heaviest(adjacency, one), _heaviest(adjacency, other)]))
    place = (int(np.searchsorted(nodes, one)), int(np.searchsorted(nodes, other)))
    edges = np.zeros((len(nodes), len(nodes)), dtype=np.float32)
    for row, node in enumerate(nodes):
        begin, end = adjacency.indptr[node], adjacency.indptr[node + 1]
        neighbours = adjacency.indices[begin:end]
        column = np.minimum(np.searchsorted(nodes, neighbours), len(nodes) - 1)
        inside = nodes[column] == neighbours
        edges[row, column[inside]] = adjacency.data[begin:end][inside]
    edges[place, place[::-1]] = 0.0
    return nodes.astype(np.intp), edges, place


def labels(edges: Dense, one: int, other: int) -> NDArray[np.intp]:
    """Double-radius labels: 1 for the ends, for others 1 + min(a, b) + h (h + r - 1), distances a and b, h = (a + b) // 2, r the remainder.

    The distance to one end is taken with the other end removed; 0 for a node that cannot reach both. `edges`: [nodes, nodes].
    """
    a, b = _steps_from(edges, one, removed=other), _steps_from(edges, other, removed=one)
    half, rest = np.divmod(a + b, 2)
    marks = np.where((a >= 0) & (b >= 0), 1 + np.minimum(a, b) + half * (half + rest - 1), 0)
    marks[[one, other]] = 1
    return marks.astype(np.intp)


def _steps_from(edges: Dense, end: int, *, removed: int) -> NDArray[np.intp]:
    """Return the fewest edges from `end` to each node without passing `removed`, -1 where there is no way."""
    joined = edges > 0.0
    joined[removed] = joined[:, removed] = False
    steps = np.full(len(edges), -1, dtype=np.intp)
    steps[end], at, count = 0, np.array([end]), 0
    while at.size:
        count += 1
        at = np.flatnonzero(joined[at].any(axis=0) & (steps < 0))
        steps[at] = count
    return steps


def _heaviest(adjacency: csr_array, node: int) -> NDArray[np.intp]:
    begin, end = adjacency.indptr[node], adjacency.indptr[node + 1]
    neighbours, weights = adjacency.indices[begin:end], adjacency.data[begin:end]
    return np.asarray(neighbours[np.lexsort((neighbours, -weights))[:MOST_NEIGHBOURS]], dtype=np.intp)


def _sorted_nodes(last: Any, sizes: NDArray[np.intp]) -> csr_array:
    """Return which node stands at which place after sort pooling: [pairs * SORTED, nodes]; places beyond a subgraph's size stay empty."""
    values = np.asarray(getattr(last, "_value", last))[:, 0]
    rows: list[int] = []
    columns: list[int] = []
    start = 0
    for pair, size in enumerate(sizes):
        order = np.argsort(-values[start : start + size], kind="stable")[:SORTED]
        rows.extend(range(pair * SORTED, pair * SORTED + len(order)))
        columns.extend((start + order).tolist())
        start += int(size)
    ones = np.ones(len(rows), dtype=np.float32)
    return csr_array(coo_array((ones, (rows, columns)), shape=(len(sizes) * SORTED, len(values))))
