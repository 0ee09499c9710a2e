"""How much two texts have in common, without a model: exact match and word F1 with aliases, sentences by word sets, token vectors."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from kgrag.models.base import Vectors

__all__ = ["Overlap", "exact_match", "sentence_overlap", "token_overlap", "word_f1"]

JACCARD_THRESHOLD = 0.7
"""Above which two sentences are the same (Pazera's sentence-level metrics)."""

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Precision, recall and their harmonic mean, each in [0, 1]."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean; 0 where both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """Return 1 where the answer is one of the gold answers, without case, punctuation, articles and spaces (as SQuAD compares)."""
    return float(any(_normal(answer) == _normal(one) for one in gold))


def word_f1(answer: str, gold: Sequence[str]) -> float:
    """Return the best F1 of words with a gold answer (as SQuAD compares); two empty texts are equal."""
    return max((_words_overlap(answer, one).f1 for one in gold), default=0.0)


def _words_overlap(answer: str, gold: str) -> Overlap:
    said, right = _normal(answer).split(), _normal(gold).split()
    if not said or not right:
        return Overlap(float(said == right), float(said == right))
    common = sum((Counter(said) & Counter(right)).values())
    return Overlap(common / len(said), common / len(right))


def _normal(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", text.casefold().translate(_PUNCTUATION)).split())


def sentence_overlap(retrieved: Sequence[str], gold: Sequence[str]) -> Overlap:
    """Compare retrieved sentences with gold ones by the Jaccard index of their word sets. An empty side gives 0.

    A retrieved sentence matches one gold sentence at most, and the matching is the largest possible: in Pazera's own count each retrieved
    sentence that is like some gold sentence is a hit, so that recall can exceed 1.
    """
    if not retrieved or not gold:
        return Overlap(0.0, 0.0)
    said, right = ([set(re.findall(r"\w+", text.casefold())) for text in texts] for texts in (retrieved, gold))
    similar = np.array([[_jaccard(one, other) > JACCARD_THRESHOLD for other in right] for one in said])
    rows, columns = linear_sum_assignment(similar, maximize=True)
    hits = int(similar[rows, columns].sum())
    return Overlap(hits / len(retrieved), hits / len(gold))


def _jaccard(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def token_overlap(answer: Vectors, reference: Vectors) -> Overlap:
    """Match token vectors as BERTScore does: the mean of each answer token's best cosine, and of each reference token's.

    `answer` is [n, d], `reference` [m, d], rows of unit length; cosines below 0 count 0. An empty side gives 0. Source: Zhang et al.,
    BERTScore (ICLR 2020), section 3, without idf weights and rescaling.
    """
    if not len(answer) or not len(reference):
        return Overlap(0.0, 0.0)
    cosines = np.clip(np.asarray(answer, dtype=np.float64) @ np.asarray(reference, dtype=np.float64).T, 0.0, 1.0)
    return Overlap(float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean()))
