"""VGAE: the variational graph auto-encoder (Kipf and Welling, 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np
from numpy.typing import NDArray

from kgrag.link_prediction.graph import ChunkGraph
from kgrag.link_prediction.layers import Dropout, Parameters, linear, new_linear, pick, relu, spread
from kgrag.link_prediction.predictors.base import Predictor, new_cosine, with_cosine

__all__ = ["VGAE"]


@dataclass(frozen=True)
class VGAE(Predictor):
    """Graph convolutions give a mean and a variance for each node; a pair's logit is the inner product of two samples."""

    kind: ClassVar[str] = "vgae"

    def initial(self, generator: np.random.Generator) -> Parameters:
        """Return parameters to begin with."""
        hidden = self.shape.hidden
        return {
            **new_linear("encode", self.shape.dimensions, hidden, generator),
            **{
                key: one
                for i in range(1, self.shape.layers)
                for key, one in new_linear(f"layer.{i}", hidden, hidden, generator).items()
            },
            **new_linear("mean", hidden, hidden, generator),
            **new_linear("deviation", hidden, hidden, generator),
            **new_cosine(),
        }

    def logits(self, parameters: Parameters, graph: ChunkGraph, pairs: NDArray[np.intp], dropout: Dropout) -> Any:
        """Return one logit for each pair of nodes: of samples while training, of means afterwards."""
        mean, log_deviation = self._distributions(parameters, graph, dropout)
        if dropout.generator is not None:
            noise = dropout.generator.standard_normal(mean.shape, dtype=np.float32)
            mean = mean + noise * anp.exp(log_deviation)
        logits = anp.sum(pick(mean, pairs[:, 0]) * pick(mean, pairs[:, 1]), axis=1)
        return with_cosine(parameters, self.shape, logits, graph, pairs)

    def penalty(self, parameters: Parameters, graph: ChunkGraph) -> Any:
        """Return the divergence of all nodes' distributions from the standard normal one, by node and squared number of nodes."""
        mean, log_deviation = self._distributions(parameters, graph, Dropout())
        divergence = -0.5 * anp.sum(1.0 + 2.0 * log_deviation - mean**2 - anp.exp(2.0 * log_deviation), axis=1)
        return anp.mean(divergence) / np.float32(len(graph.vectors))

    def _distributions(self, parameters: Parameters, graph: ChunkGraph, dropout: Dropout) -> tuple[Any, Any]:
        x = relu(
            spread(graph.normalised, linear(parameters, "encode", dropout(graph.vectors, self.shape.input_dropout)))
        )
        for layer in range(1, self.shape.layers):
            x = relu(spread(graph.normalised, linear(parameters, f"layer.{layer}", x)))
        around = spread(graph.normalised, x)
        return linear(parameters, "mean", around), linear(parameters, "deviation", around)
