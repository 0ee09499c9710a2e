"""Whether the evidence answers a question at all: a logistic model of five features, whose numbers are in `abstention.toml`.

Trained by `python -m benchmarks.abstention` (docs/answers.md says on what); cosines are those of MiniLM.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from kgrag.answer.candidates import Candidate
from kgrag.text.questions import Question
from kgrag.text.words import stems
from kgrag.types import Evidence

__all__ = ["ANSWERS_FROM", "FEATURES", "answer_probability", "evidence_features"]

FEATURES = ("strength", "beside_title", "passage_coverage", "fits", "similarity")
"""What the model weighs, in order: see `evidence_features`."""
FIT_WEIGHT = 0.1
SAID_FROM = 0.8
"""A term counts as said where a statement covers it at least so much: itself, by its label, heading or the sentence before."""
NOTHING_BESIDE_TITLE = 0.6
"""What counts as said of a question all of whose terms are in the title."""
BEST = 3
ANSWERS_FROM = 0.5
"""The probability from which an answer without a model is given."""


def evidence_features(asked: Question, found: Sequence[Candidate], evidence: Sequence[Evidence]) -> tuple[float, ...]:
    """Return what tells whether weighed candidates (best first, at least one) answer, in the order of `FEATURES`.

    `strength`: the greatest coverage of a statement times its similarity, a little more where it has what is asked for.
    `beside_title`: the greatest similarity times the share of the terms not in its document's title that a statement says; who knows only
    the subject does not answer. `passage_coverage`: the greatest share of the question's terms that one passage says. `fits`: whether the
    best statement has what is asked for. `similarity`: the mean of the three best.
    """
    titles = [frozenset(s for _, s in stems(piece.title)) for piece in evidence]
    said: dict[int, set[str]] = {}
    for candidate in found:
        terms = (term for term, weight in candidate.covered.items() if weight > SAID_FROM)
        said.setdefault(candidate.evidence, set()).update(terms)
    best = found[:BEST]
    return (
        max(one.coverage * (one.similarity + FIT_WEIGHT * one.fits) for one in found),
        max(one.similarity * beside_title(asked.terms - titles[one.evidence], one) for one in found),
        max(len(terms) for terms in said.values()) / (len(asked.terms) or 1),
        found[0].fits,
        sum(one.similarity for one in best) / len(best),
    )


def beside_title(terms: frozenset[str], candidate: Candidate) -> float:
    """Which share of the terms that are not in its document's title a statement says, by weight."""
    if not terms:
        return NOTHING_BESIDE_TITLE
    weights = candidate.weights
    said = sum(weights[term] for term in terms if candidate.covered.get(term, 0.0) >= SAID_FROM)
    return said / sum(weights[term] for term in terms)


def answer_probability(features: Sequence[float]) -> float:
    """How probably evidence with such features answers, by the shipped model (0 to 1)."""
    model = _model()
    z = sum(model[name] * value for name, value in zip(FEATURES, features, strict=True)) + model["intercept"]
    return 1.0 / (1.0 + math.exp(-z))


@cache
def _model() -> dict[str, float]:
    file = files("kgrag.answer") / "abstention.toml"
    numbers: dict[str, float] = tomllib.loads(file.read_text(encoding="utf-8"))
    return numbers
