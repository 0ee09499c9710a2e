"""No graph: what the two vectors say by themselves. The control beside the others, trained on the same questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kgrag.link_prediction.graph import ChunkGraph
from kgrag.link_prediction.layers import Dropout, Parameters, linear, new_linear, pick, relu
from kgrag.link_prediction.predictors.base import Predictor, new_cosine, with_cosine

__all__ = ["MLP"]


@dataclass(frozen=True)
class MLP(Predictor):
    """Two layers over the product of both embeddings."""

    kind: ClassVar[str] = "mlp"

    def initial(self, generator: np.random.Generator) -> Parameters:
        """Return parameters to begin with."""
        hidden = self.shape.hidden
        return {
            **new_linear("encode", self.shape.dimensions, hidden, generator),
            **new_linear("out.1", hidden, hidden, generator),
            **new_linear("out.2", hidden, 1, generator),
            **new_cosine(),
        }

    def logits(self, parameters: Parameters, graph: ChunkGraph, pairs: NDArray[np.intp], dropout: Dropout) -> Any:
        """Return one logit for each pair of nodes."""
        x = linear(parameters, "encode", dropout(graph.vectors, self.shape.input_dropout))
        both = dropout(
            relu(linear(parameters, "out.1", pick(x, pairs[:, 0]) * pick(x, pairs[:, 1]))), self.shape.dropout
        )
        return with_cosine(parameters, self.shape, linear(parameters, "out.2", both)[:, 0], graph, pairs)
