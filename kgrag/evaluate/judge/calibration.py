"""How far a judge agrees with people: on answers that were called right or wrong, and on pairs of which one was called better.

A file has JSON lines of two kinds. Scored answers: `question`, `gold_answer`, `answer`, `human` (a number from 0 to 1, or an object with
one), and perhaps `direct_llm` (the same, of another judge). Pairs: `question`, `reference`, `answer_a`, `answer_b`,
`human_b_over_a` (a list with one object of aspect → -2 to 2 for each annotator). Other keys are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from kgrag.common.question_files import json_lines
from kgrag.errors import InputError
from kgrag.evaluate.statistics import Interval, rate_interval

__all__ = ["Agreement", "PairAgreement", "Pairs", "ScoredAnswer", "agreement", "pair_agreement", "read_calibration"]

RIGHT = 0.5
"""From here on people call an answer right."""
SEED = 7
RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """An answer with what people made of it, in [0, 1]."""

    question: str
    reference: str
    answer: str
    human: float
    other: float | None = None
    """What another judge made of it, where the file says."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two answers to one question; `humans` has for each annotator how much b is better than a, by aspect."""

    question: str
    reference: str
    answer_a: str
    answer_b: str
    humans: tuple[Mapping[str, float], ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge's right and wrong beside people's."""

    n: int
    missing: int
    """Answers that the judge could not judge."""
    accuracy: Interval
    kappa: float
    """Cohen's: agreement beyond chance."""
    right: tuple[int, int]
    """(judge right too, people right): the first over the second is q1 of `kgrag.evaluate.statistics.corrected_rate`."""
    wrong: tuple[int, int]
    """(judge wrong too, people wrong): q0."""


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Correlation of a judge's differences with people's, for one aspect."""

    aspect: str
    n: int
    pearson: Interval | None
    """None where it is not defined, as spearman: no two pairs differ in what the judge says, or in what people say."""
    spearman: Interval | None
    human_ceiling: float | None
    """Pearson of one annotator with the other; None where there is one only, or no two pairs differ."""


def read_calibration(file: Path) -> tuple[list[ScoredAnswer], list[Pairs]]:
    """Read a calibration file. Raises `InputError` with the line, or where no line has what is needed."""
    scored: list[ScoredAnswer] = []
    pairs: list[Pairs] = []
    for number, line in json_lines(file):
        try:
            row = json.loads(line)
            if "human_b_over_a" in row:
                humans = tuple({k: float(v) for k, v in one.items()} for one in row["human_b_over_a"])
                if not humans or not all(humans):
                    raise ValueError("human_b_over_a: expected what one person or more said, got none")
                pairs.append(
                    Pairs(
                        _text(row, "question"),
                        _text(row, "reference"),
                        _text(row, "answer_a"),
                        _text(row, "answer_b"),
                        humans,
                    )
                )
            else:
                other = row.get("direct_llm")
                scored.append(
                    ScoredAnswer(
                        _text(row, "question"),
                        _text(row, "gold_answer"),
                        _text(row, "answer"),
                        _number(row["human"]),
                        None if other is None else _number(other),
                    )
                )
        except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
            raise InputError(
                f"{file}, line {number}: expected question, gold_answer, answer and human, or question, reference, answer_a, answer_b "
                f"and human_b_over_a: {f'there is no {error.args[0]}' if isinstance(error, KeyError) else error}"
            ) from error
    if not scored and not pairs:
        raise InputError(f"{file}: expected at least one scored answer or pair, got none.")
    return scored, pairs


def _text(row: Mapping[str, Any], key: str) -> str:
    if not isinstance(row[key], str):
        raise TypeError(f"{key}: expected a text, got {row[key]!r}")
    return str(row[key])


def _number(value: Any) -> float:
    number = float(next(iter(value.values())) if isinstance(value, Mapping) else value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"expected a score from 0 to 1, got {number}")
    return number


def agreement(human: Sequence[float], judged: Sequence[bool | None]) -> Agreement:
    """Compare right and wrong; what was not judged is left out and counted. Raises `ValueError` where nothing was judged."""
    kept = [(score >= RIGHT, verdict) for score, verdict in zip(human, judged, strict=True) if verdict is not None]
    if not kept:
        raise ValueError("expected at least one judged answer, got none")
    right = sum(people and judge for people, judge in kept), sum(people for people, _ in kept)
    wrong = sum(not people and not judge for people, judge in kept), sum(not people for people, _ in kept)
    agreed, n = right[0] + wrong[0], len(kept)
    said_right = sum(judge for _, judge in kept)
    chance = (right[1] * said_right + wrong[1] * (n - said_right)) / n**2
    kappa = 1.0 if chance == 1.0 else (agreed / n - chance) / (1 - chance)
    return Agreement(n, len(judged) - n, rate_interval(agreed, n), kappa, right, wrong)


def pair_agreement(pairs: Sequence[Pairs], differences: Sequence[float | None], *, aspect: str) -> PairAgreement:
    """Correlate a judge's difference (b minus a) with the mean of people's, bootstrapped over pairs."""
    kept = [(one, d) for one, d in zip(pairs, differences, strict=True) if d is not None]
    human = np.array([np.mean([person[aspect] for person in one.humans]) for one, _ in kept])
    judged = np.array([d for _, d in kept], dtype=np.float64)
    both = [one for one, _ in kept if len(one.humans) == 2]
    first, second = (np.array([one.humans[i][aspect] for one in both]) for i in (0, 1))
    return PairAgreement(
        aspect=aspect,
        n=len(kept),
        pearson=_correlation(judged, human, lambda a, b: float(stats.pearsonr(a, b).statistic)),
        spearman=_correlation(judged, human, lambda a, b: float(stats.spearmanr(a, b).statistic)),
        human_ceiling=float(stats.pearsonr(first, second).statistic)
        if len(both) > 2 and _vary(first, second)
        else None,
    )


def _vary(*sides: NDArray[np.float64]) -> bool:
    return all(len(one) > 1 and np.ptp(one) > 0 for one in sides)


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64], measure: Any) -> Interval | None:
    if not _vary(a, b):
        return None
    generator = np.random.default_rng(SEED)
    drawn = (generator.integers(0, len(a), len(a)) for _ in range(RESAMPLES))
    values = [measure(a[some], b[some]) for some in drawn if _vary(a[some], b[some])]
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(measure(a, b), float(low), float(high))
