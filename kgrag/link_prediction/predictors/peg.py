"""PEG: positions of nodes beside their features (Wang, Yin, Zhang and Li, ICLR 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from kgrag.link_prediction.graph import ChunkGraph
from kgrag.link_prediction.layers import Dropout, Parameters, linear, new_linear, pick, relu, spread
from kgrag.link_prediction.predictors.base import Predictor, new_cosine, with_cosine

__all__ = ["PEG"]

DISTANCE_HIDDEN = 8


@dataclass(frozen=True)
class PEG(Predictor):
    """Graph convolutions whose edges weigh by the distance of their ends' positions; a pair is scored by product and distance.

    The paper takes eigenvectors or DeepWalk for positions; ours are `ChunkGraph.positions`.
    """

    kind: ClassVar[str] = "peg"

    def initial(self, generator: np.random.Generator) -> Parameters:
        """Return parameters to begin with."""
        hidden = self.shape.hidden
        parameters = new_linear("encode", self.shape.dimensions, hidden, generator)
        for layer in range(self.shape.layers):
            parameters |= new_linear(f"layer.{layer}", hidden, hidden, generator)
            parameters |= new_linear(f"edge.{layer}.1", 1, DISTANCE_HIDDEN, generator)
            parameters |= new_linear(f"edge.{layer}.2", DISTANCE_HIDDEN, 1, generator)
        return parameters | new_linear("out", hidden + 1, 1, generator) | new_cosine()

    def logits(self, parameters: Parameters, graph: ChunkGraph, pairs: NDArray[np.intp], dropout: Dropout) -> Any:
        """Return one logit for each pair of nodes."""
        x = linear(parameters, "encode", dropout(graph.vectors, self.shape.input_dropout))
        edges = coo_array(graph.normalised)
        ends = np.column_stack(edges.coords).astype(np.intp)
        to = csr_array(coo_array((edges.data, (ends[:, 0], np.arange(len(ends)))), shape=(len(x), len(ends))))
        apart = _distances(graph.positions, ends)
        for layer in range(self.shape.layers):
            near = linear(parameters, f"edge.{layer}.2", relu(linear(parameters, f"edge.{layer}.1", apart)))
            weights = 1.0 / (1.0 + anp.exp(-near))
            x = linear(parameters, f"layer.{layer}", spread(to, weights * pick(x, ends[:, 1])))
            x = dropout(relu(x), self.shape.dropout) if layer + 1 < self.shape.layers else x
        both = pick(x, pairs[:, 0]) * pick(x, pairs[:, 1])
        joined = anp.concatenate([both, _distances(graph.positions, pairs)], axis=1)
        return with_cosine(parameters, self.shape, linear(parameters, "out", joined)[:, 0], graph, pairs)


def _distances(positions: csr_array, pairs: NDArray[np.intp]) -> NDArray[np.float32]:
    away = csr_array(positions[pairs[:, 0]] - positions[pairs[:, 1]])
    return np.asarray(away.multiply(away).sum(axis=1), dtype=np.float32)[:, None]
