"""How sure a difference is: paired bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Difference", "paired_difference"]

RESAMPLES = 10_000
SEED = 7
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference with its 95 % interval (percentiles of resampled questions)."""

    mean: float
    low: float
    high: float


def paired_difference(scores: Sequence[float], baseline: Sequence[float]) -> Difference:
    """Return by how much `scores` are above `baseline`, question by question. Equal lengths, at least one; seeded, so repeatable."""
    differences = np.asarray(scores, dtype=np.float64) - np.asarray(baseline, dtype=np.float64)
    generator = np.random.default_rng(SEED)
    means = [
        float(differences[generator.integers(0, len(differences), len(differences))].mean()) for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Difference(float(differences.mean()), float(low), float(high))
