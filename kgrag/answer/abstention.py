"""Whether the evidence answers a question at all: a logistic model of eight features, whose numbers are in `abstention.toml`.

Trained by `python -m benchmarks.abstention` (docs/answers.md says on what); cosines are those of MiniLM.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from kgrag.answer.candidates import Candidate, share_said
from kgrag.answer.near_words import asked_in_context, near_coverage, rare_words, reader_of
from kgrag.models.base import Embedder
from kgrag.text.questions import Question
from kgrag.text.words import stems
from kgrag.types import Evidence

__all__ = ["ANSWERS_FROM", "FEATURES", "answer_probability", "beside_title", "evidence_features"]

FEATURES = ("strength", "said_in_passage", "fits", "similarity", "title", "in_context", "read", "score")
"""What the model weighs, in order: see `evidence_features`."""
FIT_WEIGHT = 0.1
SAID_FROM = 0.8
"""A term counts as said where a statement covers it at least so much: itself, by its label, heading or the sentence before."""
NOTHING_BESIDE_TITLE = 0.6
"""What counts as said of a question all of whose terms are in the title."""
NOTHING_IN_CONTEXT = 0.5
"""The same, as a cosine."""
NOT_READ = -3.4
"""What counts as `read` where nothing was read together with the question: the mean of the development halves of the support questions."""
TOGETHER = 5.0
"""What logits are divided by before their mean: the greater, the more count besides the greatest. From 3 to 8 it tells as much."""
READ_TOGETHER, DOES_NOT_ANSWER = 12, -5.5
"""Of so many statements the mean is; what fewer lack counts as the mean of statements that are not the best."""
BEST = 3
ANSWERS_FROM = 0.5
"""The probability from which an answer without a model is given."""


def evidence_features(
    asked: Question, found: Sequence[Candidate], evidence: Sequence[Evidence], embedder: Embedder
) -> tuple[float, ...]:
    """Return what tells whether weighed candidates (best first, at least one) answer, in the order of `FEATURES`. Blocks.

    `strength`: the greatest coverage of a statement, where another word that means the same covers a term in part, times its similarity, a
    little more where it has what is asked for. `said_in_passage`: the greatest share of the terms that one passage says. Both weigh words
    that any text has less. `fits`: whether the best statement has what is asked for. `similarity`: the mean of the three best. `title`:
    the share of the terms in the title of the best statement's document. `in_context`: how near that statement comes to the other terms;
    who knows only the subject does not answer. `read`: the logits that the statements answer, of the cross-encoder, taken together: where
    it is sure of none, the others tell whether the evidence speaks of it. `score`: of the best statement, as it was chosen.
    """
    best, reader = found[0], reader_of(embedder)
    rare = rare_words(asked, best.weights, reader)
    coverage = [share_said(rare, covered, asked.terms) for covered in near_coverage(asked, found, evidence, reader)]
    said: dict[int, set[str]] = {}
    for candidate in found:
        terms = (term for term, weight in candidate.covered.items() if weight > SAID_FROM)
        said.setdefault(candidate.evidence, set()).update(terms)
    title = asked.terms & {stem for _, stem in stems(evidence[best.evidence].title)}
    others = asked.terms - title
    return (
        max(share * (one.similarity + FIT_WEIGHT * one.fits) for share, one in zip(coverage, found, strict=True)),
        max(share_said(rare, dict.fromkeys(terms, 1.0), asked.terms) for terms in said.values()),
        best.fits,
        sum(one.similarity for one in found[:BEST]) / len(found[:BEST]),
        share_said(best.weights, dict.fromkeys(title, 1.0), asked.terms),
        asked_in_context(asked, others, best, evidence, reader) if others else NOTHING_IN_CONTEXT,
        _read([one.logit for one in found if one.logit is not None]),
        best.score,
    )


def _read(logits: Sequence[float]) -> float:
    """A soft mean of logits, nearer to the greatest than their mean is, as of `READ_TOGETHER`; `NOT_READ` of none."""
    if not logits:
        return NOT_READ
    padded = [*logits, *[DOES_NOT_ANSWER] * (READ_TOGETHER - len(logits))]
    return TOGETHER * math.log(sum(math.exp(logit / TOGETHER) for logit in padded) / len(padded))


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
