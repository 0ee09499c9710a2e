"""Cosine above a threshold and connected components (Pazera, section 3.8.2): for comparison; it knows no numbers and chains freely."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgrag.models.base import Vectors
from kgrag.resolve.plan import Decisions, Found, GraphEntity

__all__ = ["COSINE_THRESHOLD", "decide_by_threshold"]

COSINE_THRESHOLD = 0.95
"""Pazera's value."""
ROWS_AT_ONCE = 1024


def decide_by_threshold(
    entities: Sequence[GraphEntity], vectors: Vectors, *, threshold: float = COSINE_THRESHOLD
) -> Decisions:
    """Take as one every pair whose vectors have a cosine above `threshold`. All pairs: quadratic in the number of entities."""
    same: dict[tuple[int, int], Found] = {}
    for start in range(0, len(entities), ROWS_AT_ONCE):
        cosines = vectors[start : start + ROWS_AT_ONCE] @ vectors[start:].T
        for row, column in zip(*np.nonzero(cosines > threshold), strict=True):
            if row < column:
                cosine = float(cosines[row, column])
                same[start + int(row), start + int(column)] = Found("same", f"cosine {cosine:.3f}", cosine)
    return Decisions(same, {}, len(entities) * (len(entities) - 1) // 2, guarded=False)
