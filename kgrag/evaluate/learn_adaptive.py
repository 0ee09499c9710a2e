"""Learning which pipeline is best for which type of question, and how far that can be trusted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgrag.evaluate.retrieval import PipelineResult
from kgrag.evaluate.statistics import Interval, paired_difference
from kgrag.text.questions import QuestionType

__all__ = ["Learnt", "adaptive_file", "learn"]

FOLDS = 5
FEWEST_QUESTIONS = 5
"""Of a type, before a pipeline of its own is considered for it."""

Scores = Mapping[str, Sequence[float]]
"""Of each pipeline, a score for each question."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """A map from types to pipelines, with what it would have been worth on questions that it was not learnt from."""

    measure: str
    otherwise: str
    map: Mapping[QuestionType, str]
    counts: Mapping[QuestionType, int]
    in_sample: float
    """Mean of the measure on the very questions that it was learnt from: too good."""
    cross_validated: float
    """Mean on questions that were left out while learning, in turn: what to expect."""
    best_single: float
    """Mean of the best single pipeline, chosen in the same turns."""
    difference: Interval
    """Cross-validated against that."""


def learn(results: Sequence[PipelineResult], types: Sequence[QuestionType], *, measure: str = "facts") -> Learnt:
    """Learn from what several pipelines found for the same questions, whose types are as they are told when asked.

    A type gets a pipeline of its own where that is better than the best single pipeline by more than one standard error of the
    difference on at least FEWEST_QUESTIONS questions; ties go to the pipeline that was named first.
    """
    scores = {result.pipeline: [one.scores[measure] for one in result.asked] for result in results}
    ids = [one.question.id for one in results[0].asked]
    everything = list(range(len(ids)))
    otherwise, by_type = _best(scores, types, everything)
    folds = [int(hashlib.sha256(key.encode()).hexdigest(), 16) % FOLDS for key in ids]
    adaptive, single = [0.0] * len(ids), [0.0] * len(ids)
    for fold in range(FOLDS):
        best, chosen = _best(scores, types, [place for place in everything if folds[place] != fold])
        for place in everything:
            if folds[place] == fold:
                adaptive[place] = scores[chosen.get(types[place], best)][place]
                single[place] = scores[best][place]
    return Learnt(
        measure,
        otherwise,
        by_type,
        {kind: types.count(kind) for kind in sorted(set(types))},
        float(np.mean([scores[by_type.get(types[place], otherwise)][place] for place in everything])),
        float(np.mean(adaptive)),
        float(np.mean(single)),
        paired_difference(adaptive, single, [one.question.cluster for one in results[0].asked]),
    )


def _best(scores: Scores, types: Sequence[QuestionType], places: Sequence[int]) -> tuple[str, dict[QuestionType, str]]:
    """Return the best single pipeline on these questions, and the pipelines of types that are sure to be better."""
    names = list(scores)
    if not places:
        return names[0], {}
    single = max(names, key=lambda name: float(np.mean([scores[name][place] for place in places])))
    chosen: dict[QuestionType, str] = {}
    for kind in sorted(set(types)):
        of_kind = [place for place in places if types[place] == kind]
        if len(of_kind) < FEWEST_QUESTIONS:
            continue
        best = max(names, key=lambda name: float(np.mean([scores[name][place] for place in of_kind])))
        gains = np.array([scores[best][place] - scores[single][place] for place in of_kind])
        if gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)):
            chosen[kind] = best
    return single, chosen


def adaptive_file(learnt: Learnt, *, questions: str) -> str:
    """Write the pipeline file: the map as data, and what it is worth as comments."""
    gain = learnt.difference
    lines = [
        f"# Learnt from {sum(learnt.counts.values())} questions ({questions}) by the mean of {learnt.measure}.",
        f"# Cross-validated ({FOLDS} folds): {learnt.cross_validated:.3f}; the best single pipeline in the same folds: "
        f"{learnt.best_single:.3f}; difference {gain.value:+.3f}, 95 % interval {gain.low:+.3f} to {gain.high:+.3f}.",
        f"# On the questions that it was learnt from: {learnt.in_sample:.3f}, which is too good to expect.",
        "# A type has a pipeline of its own where that was better by more than one standard error; the others take `otherwise`.",
        'description = "Tells the type of the question and takes the pipeline that was best for it."',
        "",
        "[adaptive]",
        f'otherwise = "{learnt.otherwise}"',
        'without_model = "rules"',
        "",
        "[adaptive.map]",
        *(
            f'{kind} = "{learnt.map.get(kind, learnt.otherwise)}"  # {count} questions'
            for kind, count in learnt.counts.items()
        ),
    ]
    return "\n".join(lines) + "\n"
