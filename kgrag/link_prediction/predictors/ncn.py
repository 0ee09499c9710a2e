"""NCN: neural common neighbours (Wang, Yang and Zhang, ICLR 2024), the predictor that LP-RAG takes by default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kgrag.link_prediction.graph import ChunkGraph
from kgrag.link_prediction.layers import (
    Dropout,
    Parameters,
    layer_norm,
    linear,
    new_linear,
    new_norm,
    pick,
    relu,
    spread,
)
from kgrag.link_prediction.predictors.base import Predictor, Shape, new_cosine, with_cosine

__all__ = ["NCN", "encoded"]


@dataclass(frozen=True)
class NCN(Predictor):
    """Embeddings of both nodes, and those of their common neighbours, added up.

    h: the vectors through a linear layer and graph convolutions without weights of their own, layers' outputs in a learnt sum.
    logit = out(β · common(Σ h_w + g(h_w)) + own(h_u ⊙ h_v)), w over the common neighbours; g, common and out have two layers, own has one.
    """

    kind: ClassVar[str] = "ncn"

    def initial(self, generator: np.random.Generator) -> Parameters:
        """Return parameters to begin with."""
        hidden = self.shape.hidden
        return {
            **new_linear("encode", self.shape.dimensions, hidden, generator),
            "jump": np.full(self.shape.layers + 1, 1.0 / (self.shape.layers + 1), dtype=np.float32),
            **new_linear("own", hidden, hidden, generator),
            **new_norm("own", hidden),
            **new_linear("pool.1", hidden, hidden, generator),
            **new_linear("pool.2", hidden, hidden, generator),
            **new_linear("common.1", hidden, hidden, generator),
            **new_norm("common.1", hidden),
            **new_linear("common.2", hidden, hidden, generator),
            **new_linear("out.1", hidden, hidden, generator),
            **new_norm("out.1", hidden),
            **new_linear("out.2", hidden, 1, generator),
            "beta": np.ones(1, dtype=np.float32),
            **new_cosine(),
        }

    def logits(self, parameters: Parameters, graph: ChunkGraph, pairs: NDArray[np.intp], dropout: Dropout) -> Any:
        """Return one logit for each pair of nodes."""
        rate = self.shape.dropout
        h = encoded(parameters, graph, self.shape, dropout)
        both = pick(h, pairs[:, 0]) * pick(h, pairs[:, 1])
        own = relu(dropout(layer_norm(parameters, "own", linear(parameters, "own", both)), rate))
        pooled = h + linear(parameters, "pool.2", relu(linear(parameters, "pool.1", h)))
        summed = linear(parameters, "common.1", spread(graph.common(pairs), pooled))
        common = linear(parameters, "common.2", relu(dropout(layer_norm(parameters, "common.1", summed), rate)))
        joined = linear(parameters, "out.1", parameters["beta"] * common + own)
        out = linear(parameters, "out.2", relu(dropout(layer_norm(parameters, "out.1", joined), rate)))
        return with_cosine(parameters, self.shape, out[:, 0], graph, pairs)


def encoded(parameters: Parameters, graph: ChunkGraph, shape: Shape, dropout: Dropout) -> Any:
    """Return an embedding of each node: [nodes, hidden]."""
    x = linear(parameters, "encode", dropout(graph.vectors, shape.input_dropout))
    h = parameters["jump"][0] * x
    for layer in range(shape.layers):
        x = spread(graph.normalised, x)
        h = h + parameters["jump"][layer + 1] * x
    return h
