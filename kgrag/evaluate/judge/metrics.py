"""Metrics of answers: pure functions of typed verdicts. None means "could not be judged", never 0, and means leave it out.

The names and constants of the thesis's judge are those of its section on evaluation; what `kgrag.evaluate.judge.presets.Preset` holds
may differ from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kgrag.evaluate.judge.presets import Preset
from kgrag.evaluate.judge.verdicts import (
    CitedSentence,
    CompletenessVerdict,
    CorrectnessVerdict,
    NuggetVerdict,
    StatementVerdict,
    Support,
)
from kgrag.text import refusals

__all__ = [
    "Category",
    "CategoryCounts",
    "CitationScore",
    "Rate",
    "abstention_rates",
    "answer_relevance",
    "category",
    "citation_score",
    "completeness",
    "faithfulness",
    "five_point",
    "helpfulness",
    "is_refusal",
    "mean_of_judged",
    "nugget_losses",
    "nugget_score",
]

Category = Literal["TP", "PARTIAL", "FP", "FN"]

REFUSING_SUBSTRINGS = (
    "i'm sorry", "i am sorry", "cannot answer", "can't answer", "unable to answer", "no information", "couldn't find", "could not find",
    "i don't have", "do not have", "please provide more details", "need more details", "not enough information", "as an ai",
    "i can't help with that",
)  # fmt: skip
"""Of the thesis's judge, section 10 of the notes on it: each makes the whole answer a refusal."""


def is_refusal(answer: str, *, how: Literal["substrings", "sentences"] = "sentences") -> bool:
    """Whether an answer only says that it does not answer; an empty one does.

    `substrings` is the thesis's rule: any of 15 phrases anywhere. `sentences` is `kgrag.text.refusals`: its sentences refuse, at once and
    most of them, in any of five languages.
    """
    if how == "sentences":
        return refusals.is_refusal(answer)
    text = answer.replace("’", "'").strip()
    return not text or any(phrase in text.lower() for phrase in REFUSING_SUBSTRINGS)


def answer_relevance(cosines: Sequence[float], *, preset: Preset) -> tuple[float, float]:
    """Return the mean cosine of a question with those made from its answer, clamped to [0, 1], and the share above `relevant_cosine`.

    `cosines` are those of one answer, at least one.
    """
    mean, above = np.mean(cosines), np.mean(np.asarray(cosines) > preset.relevant_cosine)
    return float(np.clip(mean, 0.0, 1.0)), float(above)


def completeness(verdict: CompletenessVerdict, *, preset: Preset) -> float | None:
    """Return how complete an answer is, in [0, 1]: the judge's own score, or the share of expected items that it does not miss."""
    if preset.completeness == "overall":
        return verdict.overall
    return None if verdict.expected == 0 else 1.0 - verdict.missing / verdict.expected


def category(verdict: CorrectnessVerdict, *, preset: Preset) -> Category:
    """Name the category of an answer: FN without an answer, FP with a severe error or too little coverage, else PARTIAL or TP."""
    if not verdict.answered:
        return "FN"
    if verdict.severity == "high" or verdict.coverage < preset.partial_coverage:
        return "FP"
    return "TP" if verdict.coverage >= preset.full_coverage else "PARTIAL"


@dataclass(frozen=True, slots=True)
class CategoryCounts:
    """How many answers of each category there are, and the rates of the thesis's tables."""

    tp: int
    fp: int
    fn: int
    partial: int

    @classmethod
    def of(cls, categories: Iterable[Category | None]) -> CategoryCounts:
        """Count; an answer that was not judged counts nowhere."""
        judged = [one for one in categories if one is not None]
        return cls(*(judged.count(one) for one in ("TP", "FP", "FN", "PARTIAL")))

    @property
    def precision(self) -> float | None:
        """Hard precision: a partial answer is no right one. TP / (TP + FP + PARTIAL)."""
        return _ratio(self.tp, self.tp + self.fp + self.partial)

    @property
    def recall(self) -> float | None:
        """Hard recall: TP / (TP + FN + PARTIAL)."""
        return _ratio(self.tp, self.tp + self.fn + self.partial)

    @property
    def accuracy(self) -> float | None:
        """Share of right answers among all that were judged."""
        return _ratio(self.tp, self.tp + self.fp + self.fn + self.partial)


def faithfulness(verdicts: Sequence[StatementVerdict], *, preset: Preset) -> float | None:
    """Return the mean weight of an answer's statements, in [0, 1]; None where none was judged (an answer without statements, too)."""
    weights = [weight for one in verdicts if (weight := preset.statement_weights.get(one)) is not None]
    return float(np.mean(weights)) if weights else None


def helpfulness(rating: int, faithful: float | None, *, preset: Preset) -> float | None:
    """Return (rating - 1) / 4 times (β + (1 - β) faithfulness), in [0, 1]; `rating` is 1 to 5. None where faithfulness is missing."""
    if not 1 <= rating <= 5:
        raise ValueError(f"expected a rating from 1 to 5, got {rating}")
    return None if faithful is None else (rating - 1) / 4 * (preset.gate + (1 - preset.gate) * faithful)


def five_point(score: float) -> int:
    """Write a score in [0, 1] on the scale of 1 to 5: round(1 + 4 score), halves to the even number as Python rounds."""
    return round(1 + 4 * score)


# Nuggets

SUPPORT: dict[Support, float] = {"supported": 1.0, "partly": 0.5, "not": 0.0}
OKAY_WEIGHT = 0.5
"""Of a nugget that is nice to have, beside a vital one's 1 (as TREC's nugget scoring weighs them)."""


def nugget_score(verdicts: Sequence[NuggetVerdict], *, of: Literal["answer", "evidence"] = "answer") -> float | None:
    """Return the weighted share of nuggets that the answer, or the evidence, says: in [0, 1]; None where none was judged."""
    judged = [
        (1.0 if one.nugget.importance == "vital" else OKAY_WEIGHT, SUPPORT[support])
        for one in verdicts
        if (support := getattr(one, of)) is not None
    ]
    return sum(weight * value for weight, value in judged) / sum(weight for weight, _ in judged) if judged else None


def nugget_losses(verdicts: Sequence[NuggetVerdict]) -> tuple[float, float] | None:
    """Return what retrieval lost (nuggets that the evidence does not say) and what answering lost of what it does say.

    Over nuggets judged on both sides, weighted; the two never exceed 1 together. What an answer says without evidence is no loss.
    """
    both = [one for one in verdicts if one.answer is not None and one.evidence is not None]
    if not both:
        return None
    weights = np.array([1.0 if one.nugget.importance == "vital" else OKAY_WEIGHT for one in both])
    evidence = np.array([SUPPORT[one.evidence] for one in both if one.evidence is not None])
    answer = np.array([SUPPORT[one.answer] for one in both if one.answer is not None])
    share = weights / weights.sum()
    return float(share @ (1.0 - evidence)), float(share @ np.maximum(evidence - answer, 0.0))


# Citations

FULLNESS = {"full": 1.0, "partial": 0.5, "none": 0.0}


@dataclass(frozen=True, slots=True)
class CitationScore:
    """How well an answer's citations hold."""

    precision: float | None
    """Mean of what each citation says of its sentence (full 1, partial 0.5, none 0); None without a citation."""
    recall: float | None
    """Mean over sentences of what their citations say together; a sentence without a citation counts 0. None without a sentence."""


def citation_score(sentences: Sequence[CitedSentence]) -> CitationScore:
    """Score the citations of one answer; what was not judged is left out."""
    single = [FULLNESS[one] for sentence in sentences for one in sentence.citations if one is not None]
    together = [FULLNESS[one.together] for one in sentences if one.together is not None]
    return CitationScore(
        precision=float(np.mean(single)) if single else None, recall=float(np.mean(together)) if together else None
    )


# Rates


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of counted things; None where there is nothing to count."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """The share."""
        return _ratio(self.hits, self.of)


def abstention_rates(abstained: Sequence[bool], answerable: Sequence[bool]) -> tuple[Rate, Rate]:
    """Return precision and recall of abstaining: how often it was right, and how many questions without an answer were refused."""
    right = sum(a and not b for a, b in zip(abstained, answerable, strict=True))
    return Rate(right, sum(abstained)), Rate(right, len(answerable) - sum(answerable))


def mean_of_judged(scores: Iterable[float | None]) -> float | None:
    """Mean of the scores that there are; None where there is none."""
    known = [score for score in scores if score is not None]
    return float(np.mean(known)) if known else None


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
