"""Which statements are read together with the question, and which of these answers best: boosted trees over what is known of each, learnt
from questions to manuals.

`python -m benchmarks.choice` makes `promising.safetensors` and `choice.safetensors` ([docs/answers.md](../../docs/answers.md) says of
what).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kgrag.answer.candidates import Candidate
from kgrag.common.boosted_trees import read_trees
from kgrag.text.answer_shapes import AnswerKind
from kgrag.text.questions import Question
from kgrag.types import Evidence

__all__ = ["FEATURES", "choice_features", "choice_scores", "promising"]

FEATURES: Mapping[str, int] = MappingProxyType(
    {
        "score": 1,  # by weights
        "score_rank": 1,  # 1, 1/2, 1/3, ...
        "logit": 1,  # of the cross-encoder
        "logit_lag": 1,  # below the greatest
        "similarity": 1,
        "similarity_lag": 1,
        "coverage": 1,
        "own": 0,  # the share of the question's terms that it says itself, by weight
        "aspect": 1,
        "fits": 1,
        "subject": 1,
        "of_name": 1,
        "beside": 0,
        "rank": 1,  # of its passage
        "passage": 1,  # score of its passage over the best one's
        "words": 0,  # their number's logarithm
        "density": 0,  # terms of the question for each of its own
        "position": 0,  # where in the passage it begins, 0 to 1
        "neighbours": 0,  # the greatest logit of another statement of its passage
        "siblings": 0,  # the share of the statements that are of its passage
        "agreement": 0,  # the share of the others that say a number that it says
        "label": 0,
        "cells": 0,
        "item": 0,
        "code": 0,
        "property": 0,
        "lead": 0,
        "number": 0,  # it says one
        "points_back": 0,
        "example": 0,
        "negation": 0,
        "reason": 0,
        "condition": 0,  # it begins with one
        "default": 0,
        "identifier": 0,
        "asks_name": 0,
        "asks_amount": 0,
        "asks_yes_no": 0,
        "asks_list": 0,
        "asks_steps": 0,
        "asks_why": 0,
    }
)
"""What the trees weigh, and 1 where more never counts against a statement. Those without a remark are the candidate's own."""
LEARNT = Path(__file__).with_name("choice.safetensors")
PROMISING = Path(__file__).with_name("promising.safetensors")
"""What is known before any statement was read or embedded."""
KEPT_BY_WEIGHTS = 2 / 3
"""The share of those read that the weighted sum chooses, which keeps what is known of few questions. Of the rest the trees choose: of the
training questions, each by trees of other manuals, they lose 2 in 1,000 of what they would find if they chose all."""
AMOUNTS: frozenset[AnswerKind] = frozenset(["quantity", "number", "count", "unit"])
NUMBER = re.compile(r"\d+(?:\.\d+)?")
POINTS_BACK = re.compile(
    r"(?:this|these|that|it|its|they|such|also|however|but|and|so|therefore|in addition|note)\b", re.IGNORECASE
)
EXAMPLE = re.compile(r"\bfor example\b|\be\.g\.|\bfor instance\b|\bexample:", re.IGNORECASE)
NEGATION = re.compile(r"\b(?:not|no|cannot|can't|never|without|only|unless)\b", re.IGNORECASE)
REASON = re.compile(
    r"\b(?:because|since|so that|in order to|reason|due to|otherwise|avoid|prevent|allows?)\b", re.IGNORECASE
)
CONDITION = re.compile(r"(?:if|when|to|in order|once|after|before|for)\b", re.IGNORECASE)
DEFAULT = re.compile(r"\bdefaults?\b", re.IGNORECASE)
IDENTIFIER = re.compile(r"(?:^|\s)-{1,2}\w|\w_\w|\w\.\w+\(|[A-Z]{3,}|\"[^\"]+\"|`[^`]+`")


def choice_scores(
    asked: Question, found: Sequence[Candidate], evidence: Sequence[Evidence]
) -> NDArray[np.float64] | None:
    """Return how well each statement answers beside the others, on the scale of their scores; None where they were not read together."""
    if not found or any(one.logit is None for one in found):
        return None
    return read_trees(LEARNT).scores(choice_features(asked, found, evidence))


def promising(asked: Question, found: Sequence[Candidate], evidence: Sequence[Evidence], most: int) -> list[Candidate]:
    """Return the statements that are worth reading, at most so many, in their order; `found` is sorted by weights, best first."""
    sure = round(KEPT_BY_WEIGHTS * most)
    if len(found) <= most:
        return list(found)
    scores = read_trees(PROMISING).scores(choice_features(asked, found, evidence))
    others = sorted(range(sure, len(found)), key=lambda place: -scores[place])[: most - sure]
    return [found[place] for place in (*range(sure), *sorted(others))]


def choice_features(asked: Question, found: Sequence[Candidate], evidence: Sequence[Evidence]) -> NDArray[np.float64]:
    """Return a row of FEATURES for each statement: [statements, features]. What was not read or embedded yet has 0 there, as all others."""
    logits = [one.logit or 0.0 for one in found]
    greatest, similar = max(logits), max(one.similarity for one in found)
    best = max((piece.score for piece in evidence), default=0.0) or 1.0
    numbers = [frozenset(NUMBER.findall(one.text)) for one in found]
    of_passage = Counter(one.evidence for one in found)
    kinds = (
        asked.kind == "name",
        asked.kind in AMOUNTS,
        asked.kind == "yes/no",
        asked.kind == "list",
        asked.kind == "steps",
        asked.kind == "why",
    )
    rows = []
    for place, (one, logit) in enumerate(zip(found, logits, strict=True)):
        statement, text = one.statement, one.text
        others = [logits[other] for other, two in enumerate(found) if other != place and two.evidence == one.evidence]
        said = [term for term, share in one.covered.items() if share == 1.0]
        agreeing = sum(bool(numbers[place] & those) for those in numbers) - bool(numbers[place])
        rows.append(
            (
                one.score,
                1 / (1 + place),
                logit,
                logit - greatest,
                one.similarity,
                one.similarity - similar,
                one.coverage,
                sum(one.weights[term] for term in said) / (sum(one.weights.values()) or 1.0),
                one.aspect,
                one.fits,
                one.subject,
                one.of_name,
                one.beside,
                one.rank,
                evidence[one.evidence].score / best,
                math.log1p(len(text.split())),
                len(said) / (len(one.stems) or 1),
                (statement.start or 0) / max(1, len(evidence[one.evidence].text)),
                max(others, default=-5.0),
                of_passage[one.evidence] / len(found),
                agreeing / len(found),
                bool(statement.label),
                bool(statement.cells),
                statement.is_item,
                statement.is_code,
                statement.is_property,
                bool(statement.lead),
                bool(numbers[place]),
                POINTS_BACK.match(text) is not None,
                EXAMPLE.search(text) is not None,
                NEGATION.search(text) is not None,
                REASON.search(text) is not None,
                CONDITION.match(text) is not None,
                DEFAULT.search(text) is not None,
                IDENTIFIER.search(text) is not None,
                *kinds,
            )
        )
    return np.array(rows, dtype=np.float64)
