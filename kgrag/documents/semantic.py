"""Sentences that mean something alike, put together: the semantic chunking of Pazera's thesis (2025), section 2.3, by k-means."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["TARGET_CHARACTERS", "Embed", "cluster_count", "clustered"]

Embed: TypeAlias = "Callable[[Sequence[str]], NDArray[np.float32]]"
"""Vectors of texts, unit length: [texts, dimensions]."""

TARGET_CHARACTERS = 1000
"""C, what a chunk is to have on average."""
SEED = 0
ROUNDS = 100
"""Of k-means at most."""


def cluster_count(sentences: Sequence[str], *, target: int = TARGET_CHARACTERS) -> int:
    """Return K = ceil(N · L / C), N sentences of L characters on average; at most N, and 1 at least."""
    return max(1, min(len(sentences), math.ceil(sum(map(len, sentences)) / target)))


def clustered(sentences: Sequence[str], *, embed: Embed, target: int = TARGET_CHARACTERS) -> list[list[int]]:
    """Return the sentences of each cluster, by their places in order; clusters by their first sentence. Seeded, so repeatable."""
    import numpy as np
    from scipy.cluster.vq import kmeans2

    count = cluster_count(sentences, target=target)
    if count == 1:
        return [list(range(len(sentences)))] if sentences else []
    vectors = np.asarray(embed(sentences), dtype=np.float64)
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        # A cluster without sentences has no chunk. Where all vectors are equal, the next centre is drawn by 0 / 0.
        warnings.filterwarnings("ignore", message="One of the clusters is empty")
        _, labels = kmeans2(vectors, count, iter=ROUNDS, minit="++", seed=SEED)
    by_label: dict[int, list[int]] = {}
    for place, label in enumerate(labels.tolist()):
        by_label.setdefault(label, []).append(place)
    return sorted(by_label.values())
