"""How much speaks for each statement of the evidence: its words, its meaning, what is asked for, its subject, and what was learnt.

A statement is weighed for the content terms of the question that it has (rare ones count more), for its nearness in meaning, for having the
kind of thing that is asked for (a voltage, a date, a person), and for being about what the question names, where names that differ in a
number differ.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from kgrag.answer.candidates import Candidate, candidates, in_context
from kgrag.answer.choice import choice_scores, promising
from kgrag.answer.read_together import read_together
from kgrag.answer.reading import language_not_read
from kgrag.models.base import Embedder
from kgrag.text.answer_shapes import AnswerKind, by_default
from kgrag.text.questions import Question
from kgrag.types import Evidence

__all__ = [
    "CHOICE_WEIGHT",
    "READ_STATEMENTS",
    "SUFFICIENT_COVERAGE",
    "VALUES",
    "candidates_by_weights",
    "first_candidates",
    "weighed_candidates",
]

WEIGHTS = {
    "coverage": 0.20,
    "aspect": 0.10,
    "similarity": 0.40,
    "read": 0.40,
    "fits": 0.18,
    "subject": 0.12,
    "rank": 0.11,
}
"""How much what speaks for a statement counts."""
VALUES: frozenset[AnswerKind] = frozenset(["count", "quantity", "number", "list"])
VALUE_FITS = 0.22
"""For a question for a value or a list: what has it comes before what names it. Chosen on the development half of the support questions."""

SUFFICIENT_COVERAGE = 0.9
"""A statement that has the one thing asked for and nearly all terms of the question suffices."""
BESIDE_SECTION = 0.7
"""Share of its score that a statement keeps which stands in a section beside the one asked for (`rist`, asked for `udp`)."""
SAID_IN_PROSE: frozenset[AnswerKind] = frozenset(
    ["count", "quantity", "number", "yes/no", "definition", "why", "comparison"]
)
OF_CODE = 0.9
"""Share of its score that a line of an example keeps where prose says what is asked for."""
LISTS_NOTHING = 0.9
"""Share of its score that a statement without a list keeps where a list is asked for and there is one."""
OF_OTHER_NAME = 0.92
"""Share of its score that a statement keeps below a setting's name of which the question says nothing."""
READ_STATEMENTS = 24
"""At most so many statements are read together with the question: the most promising by what costs no run of a model."""
EMBEDDED_STATEMENTS = 12
"""At most so many of them are embedded: those with the highest scores but for similarity."""
CHOICE_WEIGHT = 0.65
"""How much the learnt choice counts beside the weighted sum, which keeps what is known of few questions: identifiers, sections beside."""
SAID_WEIGHT = 0.6
"""What the words of a statement count before similarity is known. Chosen on the development halves and clapnq."""
WITHOUT_SIMILARITY = WEIGHTS | {"coverage": SAID_WEIGHT, "similarity": 0.0}


async def weighed_candidates(question: Question, evidence: Sequence[Evidence], embedder: Embedder) -> list[Candidate]:
    """Return the statements of the evidence that could answer, as they were chosen by what was learnt, best first."""
    found = await candidates_by_weights(question, evidence, embedder)
    scores = choice_scores(question, found, evidence)
    if scores is not None:
        for candidate, score in zip(found, scores.tolist(), strict=True):
            candidate.score = CHOICE_WEIGHT * score + (1.0 - CHOICE_WEIGHT) * candidate.score
        found.sort(key=_place)
    return found


async def candidates_by_weights(
    question: Question, evidence: Sequence[Evidence], embedder: Embedder
) -> list[Candidate]:
    """Return the same statements in the order of the weighted sum of what speaks for each."""
    found = promising(question, first_candidates(question, evidence), evidence, READ_STATEMENTS)
    await _read(question, found, evidence)
    found = found[:EMBEDDED_STATEMENTS]
    await _embed(question, found, evidence, embedder)
    return found


def first_candidates(question: Question, evidence: Sequence[Evidence]) -> list[Candidate]:
    """Return all statements of the evidence that could answer, weighed by what costs no run of a model, best first."""
    found = candidates(question, evidence)
    _sort(question, found, WITHOUT_SIMILARITY | {"read": 0.0})
    return found


async def _read(asked: Question, found: list[Candidate], evidence: Sequence[Evidence]) -> None:
    """Read statements together with the question, and sort them by it; where they are not read they stay as they are."""
    if not found or language_not_read(asked.text, evidence):
        return
    logits = await asyncio.to_thread(read_together, asked.text, [in_context(one, evidence) for one in found])
    for candidate, logit in zip(found, logits, strict=True):
        candidate.logit = logit
    _sort(asked, found, WITHOUT_SIMILARITY)


async def _embed(asked: Question, found: list[Candidate], evidence: Sequence[Evidence], embedder: Embedder) -> None:
    """Compare statements with the question by their meaning, and sort them by all that is known of them."""
    if not found:
        return
    query = (await embedder.embed_queries([by_default(asked.text)]))[0]
    vectors = await embedder.embed_documents([in_context(one, evidence) for one in found])
    for candidate, similarity in zip(found, vectors @ query, strict=True):
        candidate.similarity = max(0.0, float(similarity))
    _sort(asked, found, WEIGHTS)


def _sort(asked: Question, found: list[Candidate], weights: dict[str, float]) -> None:
    _score(asked, found, weights)
    found.sort(key=_place)


def _place(candidate: Candidate) -> tuple[float, int, int]:
    return -candidate.score, candidate.evidence, candidate.statement.start


def _score(asked: Question, found: Sequence[Candidate], weights: dict[str, float]) -> None:
    """Give each statement the sum of what speaks for it, less where it is about something else."""
    weights = weights | ({"fits": VALUE_FITS} if asked.kind in VALUES else {})
    for candidate in found:
        candidate.score = sum(weight * getattr(candidate, name) for name, weight in weights.items())
        candidate.score *= OF_OTHER_NAME + (1.0 - OF_OTHER_NAME) * candidate.of_name
        if candidate.beside:
            candidate.score *= BESIDE_SECTION
        if candidate.statement.is_code and asked.kind in SAID_IN_PROSE:
            candidate.score *= OF_CODE
    if asked.kind == "list" and found and _has_list(found):
        for candidate in found:
            candidate.score *= 1.0 if candidate.fits else LISTS_NOTHING


def _has_list(found: Sequence[Candidate]) -> bool:
    """Whether a list has nearly all terms, or stands in the section of the best statement, which speaks of it."""
    best = max(found, key=lambda one: one.score)
    return any(
        one.fits
        and (
            one.coverage >= SUFFICIENT_COVERAGE
            or (one.fits == 1.0 and one.evidence == best.evidence and one.statement.heading == best.statement.heading)
        )
        for one in found
    )
