"""How much a name tells: a name in one chunk tells most, a name in every chunk nothing."""

from __future__ import annotations

import math

__all__ = ["rarity"]


def rarity(chunks_with_it: int, chunks: int) -> float:
    """Weigh a name between 0 (in every chunk) and nearly 1 (in one of many): inverse document frequency over its greatest value."""
    if chunks <= 1:
        return 1.0
    return min(1.0, max(0.0, 1.0 - math.log1p(chunks_with_it) / math.log1p(chunks)))
