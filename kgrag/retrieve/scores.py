"""Scores between 0 and 1: lists made comparable and joined, and how much a name tells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

__all__ = ["BEHIND", "cosine", "idf", "minmax_fusion", "reciprocal_rank_fusion", "scaled"]

BEHIND = 1e-6
"""How far what an expansion finds stays behind the seed that led to it."""


def cosine(similarity: float | None) -> float:
    """Turn what the databases return, (1 + cosine) / 2, into the cosine; a chunk without a vector is like nothing."""
    return 0.0 if similarity is None else 2.0 * similarity - 1.0


def idf(chunks_with_it: int, chunks: int) -> float:
    """Weigh a name between 0 (in every chunk) and nearly 1 (in one of many): inverse document frequency over its greatest value."""
    if chunks <= 1:
        return 1.0
    return min(1.0, max(0.0, 1.0 - math.log1p(chunks_with_it) / math.log1p(chunks)))


def scaled(scores: Mapping[str, float]) -> dict[str, float]:
    """Scale scores so that the best is 1 and the lowest that is possible is 0.

    The lower bound is the measure's own (no similarity, no word in common), not the lowest of the list: the list's length then does
    not change the scale (theoretical min-max of Bruch, Gai and Ingber, ACM TOIS 2023).
    """
    best = max(scores.values(), default=0.0)
    return {key: max(score, 0.0) / best if best > 0.0 else 0.0 for key, score in scores.items()}


def minmax_fusion(
    dense: Mapping[str, float], sparse: Mapping[str, float], alpha: float, *, sparse_trust: float = 1.0
) -> dict[str, float]:
    """Add the scaled scores, `alpha` times dense and `1 - alpha` times sparse; a chunk that a list does not have counts 0 there.

    `sparse_trust`, from 0 to 1, lowers the sparse scores: the best is as much then.
    """
    by_dense, by_sparse = scaled(dense), scaled(sparse)
    return {
        key: alpha * by_dense.get(key, 0.0) + (1.0 - alpha) * sparse_trust * by_sparse.get(key, 0.0)
        for key in {**dense, **sparse}
    }


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], k: int, weights: Sequence[float] | None = None
) -> dict[str, float]:
    """Add weight / (k + rank) over the rankings (Cormack, Clarke and Büttcher, SIGIR 2009), scaled so that first in all of them is 1.

    All weigh alike where no weights are given.
    """
    weighed = [1.0] * len(rankings) if weights is None else weights
    first_in_all = sum(weighed) / (k + 1) or 1.0
    fused: dict[str, float] = {}
    for ranking, weight in zip(rankings, weighed, strict=True):
        for rank, key in enumerate(ranking, start=1):
            fused[key] = fused.get(key, 0.0) + weight / (k + rank) / first_in_all
    return fused
