"""What a link predictor is: for pairs of nodes of a graph, the logit of there being a link between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kgrag.link_prediction.graph import ChunkGraph
from kgrag.link_prediction.layers import Dropout, Parameters, cosine

__all__ = ["Predictor", "Shape", "new_cosine", "with_cosine"]

COSINE_FACTOR = 10.0
"""Of the cosine in the logit, before training."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a predictor's network."""

    dimensions: int
    """Of the vectors."""
    hidden: int = 64
    layers: int = 1
    input_dropout: float = 0.0
    dropout: float = 0.05
    residual: bool = True
    """Add the cosine of the two vectors, times a learnt factor, to the logit: training then begins with the order of dense retrieval."""


@dataclass(frozen=True)
class Predictor(ABC):
    """A network that scores pairs; `logits` is the same for (u, v) and (v, u), and does not depend on the order of nodes."""

    shape: Shape
    """The size of the network."""
    kind: ClassVar[str]

    @abstractmethod
    def initial(self, generator: np.random.Generator) -> Parameters:
        """Return parameters to begin with."""

    @abstractmethod
    def logits(self, parameters: Parameters, graph: ChunkGraph, pairs: NDArray[np.intp], dropout: Dropout) -> Any:
        """Return one logit for each pair of nodes: [pairs]."""

    def penalty(self, parameters: Parameters, graph: ChunkGraph) -> Any:
        """Return what training adds to the loss besides (a regularisation of its own): nothing, unless a predictor has one."""
        return 0.0


def new_cosine() -> Parameters:
    """Make the factor of the cosine."""
    return {"cosine": np.full(1, COSINE_FACTOR, dtype=np.float32)}


def with_cosine(parameters: Parameters, shape: Shape, logits: Any, graph: ChunkGraph, pairs: NDArray[np.intp]) -> Any:
    """Return the logits, with the cosine of each pair's vectors times its factor added where the shape says so."""
    return logits + parameters["cosine"] * cosine(graph.vectors, pairs) if shape.residual else logits
