"""Layers of the predictors, as functions of parameters that autograd differentiates; names of parameters are prefix and part."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

__all__ = [
    "Dropout",
    "Parameters",
    "cosine",
    "layer_norm",
    "linear",
    "new_linear",
    "new_norm",
    "pick",
    "relu",
    "spread",
]

Array = NDArray[np.float32]
Parameters = dict[str, Array]

EPSILON = 1e-5


@dataclass(frozen=True)
class Dropout:
    """Sets a share of entries to 0 and scales the others up, during training; without a generator it changes nothing."""

    generator: np.random.Generator | None = None

    def __call__(self, x: Any, rate: float) -> Any:
        """Return x with entries dropped at this rate."""
        if self.generator is None or rate <= 0.0:
            return x
        kept = self.generator.random(x.shape, dtype=np.float32) >= rate
        return x * (kept / np.float32(1.0 - rate))


def _times(matrix: csr_array, x: Array) -> Array:
    return np.asarray(matrix @ x)


spread: Any = primitive(_times)
"""A sparse matrix, which is constant, times a dense one."""
defvjp(spread, lambda _, matrix, __: lambda above: matrix.T @ above, argnums=(1,))


def pick(x: Any, rows: NDArray[np.intp]) -> Any:
    """Return rows of x. As a product, whose gradient adds up equal rows faster than that of indexing does."""
    ones = np.ones(len(rows), dtype=np.float32)
    return spread(csr_array(coo_array((ones, (np.arange(len(rows)), rows)), shape=(len(rows), len(x)))), x)


def new_linear(name: str, inputs: int, outputs: int, generator: np.random.Generator) -> Parameters:
    """Make weights and bias, uniform in ±1/√inputs."""
    bound = 1.0 / math.sqrt(inputs)
    weights = generator.uniform(-bound, bound, (inputs, outputs)).astype(np.float32)
    return {f"{name}.weight": weights, f"{name}.bias": np.zeros(outputs, dtype=np.float32)}


def linear(parameters: Parameters, name: str, x: Any) -> Any:
    """x times weights plus bias."""
    return anp.dot(x, parameters[f"{name}.weight"]) + parameters[f"{name}.bias"]


def new_norm(name: str, width: int) -> Parameters:
    """Make gain and shift of a layer normalisation."""
    return {f"{name}.gain": np.ones(width, dtype=np.float32), f"{name}.shift": np.zeros(width, dtype=np.float32)}


def layer_norm(parameters: Parameters, name: str, x: Any) -> Any:
    """Bring each row to mean 0 and variance 1, times gain plus shift."""
    middle = anp.mean(x, axis=1, keepdims=True)
    away = x - middle
    spread_of = anp.sqrt(anp.mean(away * away, axis=1, keepdims=True) + np.float32(EPSILON))
    return away / spread_of * parameters[f"{name}.gain"] + parameters[f"{name}.shift"]


def relu(x: Any) -> Any:
    """The positive part."""
    return anp.maximum(x, np.float32(0.0))


def cosine(vectors: Array, pairs: NDArray[np.intp]) -> Array:
    """Return the cosine of each pair of rows, which have length 1."""
    return np.asarray(np.einsum("ij,ij->i", vectors[pairs[:, 0]], vectors[pairs[:, 1]]))
