"""Edges that a predictor proposes, and how sure it may be of them: calibrated on triples that were held out.

Asked is what the graph asks already: every head with every relation that it has (and every tail likewise) may have one more of it. What a
predictor gives an answer is turned into the share of such answers that held-out triples confirmed. That share is low where much of
what holds was never written down: it is a lower bound of how often a prediction is right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgrag.completion.triples import Array, Ids, LinkPredictor, Triple, Triples, hold_out

__all__ = ["Calibration", "Proposal", "calibrate", "isotonic", "propose"]

BATCH = 256


@dataclass(frozen=True, slots=True)
class Proposal:
    """A triple that is not known, with the predictor's confidence."""

    triple: Triple
    confidence: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Which share of proposals held-out triples confirmed, by the predictor's confidence."""

    confidences: Array
    """Rising, [steps]: where a step begins."""
    shares: Array
    """Rising, [steps]."""
    proposed: int
    confirmed: int
    held_out: int

    def share(self, confidence: float) -> float:
        """Return the share of proposals of such confidence that are confirmed; 0 below the least that was seen."""
        step = int(np.searchsorted(self.confidences, confidence, side="right")) - 1
        return float(self.shares[step]) if step >= 0 else 0.0


def propose(
    predictor: LinkPredictor, triples: Triples, *, exact: Collection[str] = (), per_question: int = 3
) -> list[Proposal]:
    """Return the best unknown answers to each question that the triples ask, surest first; no end of them is among `exact`.

    The predictor has learnt from `triples`. A triple that both sides propose has the greater confidence.
    """
    thing = np.array([name not in exact for name in triples.entities], dtype=bool)
    found: dict[tuple[int, int, int], float] = {}
    of_tails = np.unique(triples.ids[:, :2], axis=0)
    of_heads = np.unique(triples.ids[:, 1:], axis=0)
    for some in _batches(of_tails[thing[of_tails[:, 0]]]):
        scores = predictor.confidence(predictor.score_tails(some[:, 0], some[:, 1]))
        for row, (head, relation) in enumerate(some.tolist()):
            taken = {*triples.known.tails(head, relation), head}
            for tail, confidence in _best(scores[row], thing, taken, per_question):
                one = (head, relation, tail)
                found[one] = max(found.get(one, 0.0), confidence)
    for some in _batches(of_heads[thing[of_heads[:, 1]]]):
        scores = predictor.confidence(predictor.score_heads(some[:, 0], some[:, 1]))
        for row, (relation, tail) in enumerate(some.tolist()):
            taken = {*triples.known.heads(relation, tail), tail}
            for head, confidence in _best(scores[row], thing, taken, per_question):
                one = (head, relation, tail)
                found[one] = max(found.get(one, 0.0), confidence)
    proposals = [Proposal(triples.named(row), confidence) for row, confidence in found.items()]
    return sorted(proposals, key=lambda one: (-one.confidence, one.triple))


def calibrate(
    predictor: LinkPredictor,
    triples: Iterable[Triple],
    *,
    exact: Collection[str] = (),
    per_question: int = 3,
    share: float = 0.1,
    seed: int = 7,
) -> Calibration:
    """Hold a share of the triples out, learn from the rest, and count which proposals they confirm."""
    kept, held_out = hold_out(triples, share, seed)
    training, gold = Triples.of(kept), set(held_out)
    predictor.fit(training)
    proposals = propose(predictor, training, exact=exact, per_question=per_question)
    confidence = np.array([one.confidence for one in proposals])
    confirmed = np.array([one.triple in gold for one in proposals], dtype=np.float64)
    starts, shares = isotonic(confidence, confirmed)
    return Calibration(starts, shares, len(proposals), int(confirmed.sum()), len(gold))


def isotonic(values: Array, outcomes: Array) -> tuple[Array, Array]:
    """Fit the rising step function nearest to outcomes (pool adjacent violators, Ayer et al., 1955): where steps begin, and their means."""
    unique, place = np.unique(values, return_inverse=True)
    weights = np.bincount(place, minlength=len(unique)).astype(np.float64)
    means = np.bincount(place, outcomes, minlength=len(unique)) / np.maximum(weights, 1.0)
    steps: list[list[float]] = []  # start, mean, weight
    for start, mean, weight in zip(unique.tolist(), means.tolist(), weights.tolist(), strict=True):
        steps.append([start, mean, weight])
        while len(steps) > 1 and steps[-2][1] >= steps[-1][1]:
            _, mean, weight = steps.pop()
            before = steps[-1]
            before[1] = (before[1] * before[2] + mean * weight) / (before[2] + weight)
            before[2] += weight
    return np.array([step[0] for step in steps]), np.array([step[1] for step in steps])


def _batches(rows: Ids) -> Iterable[Ids]:
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))


def _best(scores: Array, thing: NDArray[np.bool_], taken: set[int], count: int) -> list[tuple[int, float]]:
    """Return the things with the best scores that are not taken; equal ones by their place."""
    scores = np.where(thing, scores, 0.0)
    scores[list(taken)] = 0.0
    if count < len(scores):
        least = np.partition(scores, -count)[-count]
        places = np.flatnonzero(scores >= max(least, np.nextafter(0.0, 1.0)))
    else:
        places = np.flatnonzero(scores > 0.0)
    order = places[np.lexsort((places, -scores[places]))][:count]
    return [(int(place), float(scores[place])) for place in order]
