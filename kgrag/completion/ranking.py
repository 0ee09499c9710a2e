"""How well a predictor finds what was held out: both sides, filtered, realistic rank.

The rank of an answer is the mean of the optimistic one (it is first among those of equal score) and the pessimistic one (it is last), among
all entities but the other known answers of that question. That, the mean reciprocal rank and Hits@k over both sides are as PyKEEN's
`RankBasedEvaluator` has them (Ali et al., JMLR 2021; Berrendorf et al., 2020); `tests/completion/test_ranking.py` compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kgrag.completion.triples import Array, Ids, Known, LinkPredictor, Triple, Triples

__all__ = ["Ranking", "evaluate", "ranks"]

BATCH = 256


@dataclass(frozen=True, slots=True)
class Ranking:
    """The realistic ranks of held-out triples, as tails and as heads: each [triples]."""

    tails: Array
    heads: Array
    unseen: int = 0
    """Held-out triples with an entity or relation that the training triples do not have: they are not ranked."""

    @property
    def both(self) -> Array:
        """All ranks: [2 * triples]."""
        return np.concatenate([self.tails, self.heads])

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank; 0 where nothing was ranked."""
        return float((1.0 / self.both).mean()) if len(self.both) else 0.0

    def hits(self, k: int) -> float:
        """Share of ranks that are k or better; 0 where nothing was ranked."""
        return float((self.both <= k).mean()) if len(self.both) else 0.0


def ranks(scores: Array, answers: Ids, others: Sequence[Iterable[int]]) -> Array:
    """Return the realistic rank of each answer, [questions], by scores [questions, entities].

    `others` are the further known answers of each question, which do not count. A score that is no number is worse than every other.
    """
    rows = np.arange(len(answers))
    scores = np.where(np.isnan(scores), -np.inf, scores)
    own = scores[rows, answers][:, None]
    counted = np.ones(scores.shape, dtype=bool)
    for row, known in enumerate(others):
        counted[row, list(known)] = False
    counted[rows, answers] = True
    optimistic = ((scores > own) & counted).sum(axis=1) + 1
    pessimistic = ((scores >= own) & counted).sum(axis=1)
    found: Array = (optimistic + pessimistic) / 2.0
    return found


def evaluate(predictor: LinkPredictor, training: Triples, held_out: Iterable[Triple]) -> Ranking:
    """Rank held-out triples by a predictor that has learnt from `training`; what either of them has is filtered."""
    ids, unseen = training.ids_of(sorted(set(held_out)))
    known = Known(training.ids, ids)
    tails, heads = [np.zeros(0)], [np.zeros(0)]
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        h, r, t = some.T
        rows = some.tolist()
        tails.append(ranks(predictor.score_tails(h, r), t, [known.tails(head, kind) for head, kind, _ in rows]))
        heads.append(ranks(predictor.score_heads(r, t), h, [known.heads(kind, tail) for _, kind, tail in rows]))
    return Ranking(np.concatenate(tails), np.concatenate(heads), unseen)
