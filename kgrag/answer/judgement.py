"""Whether the evidence answers a question: how probably, which names it lacks, and what no statement says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.answer.abstention import ANSWERS_FROM, answer_probability, evidence_features
from kgrag.answer.candidates import Candidate
from kgrag.answer.cues import NUMBER
from kgrag.answer.names_asked import names_setting
from kgrag.answer.subject import Unknown, unknown_names
from kgrag.answer.weighing import SUFFICIENT_COVERAGE
from kgrag.models.base import Embedder
from kgrag.text.answer_shapes import AnswerKind
from kgrag.text.questions import Question
from kgrag.types import Evidence

__all__ = ["Judgement", "judge"]

MEASURED: frozenset[AnswerKind] = frozenset(["count", "quantity"])
ANY_AMOUNT, BEST = 0.3, 3
"""What fits a question for an amount less has none. Of the development halves and clapnq no right answer is below it."""

OTHER_WORDS_SIMILARITY = 0.72
"""From here on a statement may answer without any word of what is asked about the subject."""
OF_SETTING_FROM = 0.3
"""The probability from which what stands below a setting's name or says an option is given, where no name of the question is lacking: users
ask for it in few of its words. Chosen on the questions that were looked at (docs/answers-results.md)."""
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z]")
TELLS_HOW = 0.9
"""The share of what is to be done that a statement of steps has to say below a row that is none."""
WITHOUT_A_NAME_FROM = 0.7
"""The probability from which an answer is given where the evidence lacks a name that is not exact. Chosen on the training questions whose
documents lack one, each read by a network that learnt from others."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How probably the evidence answers, and is near; the names that it lacks, and the terms that no statement chosen covers."""

    probability: float
    nearness: float = 0.0
    """The same probability, also where all that is found is the subject."""
    unknown: tuple[Unknown, ...] = ()
    uncovered: frozenset[str] = frozenset()


def judge(asked: Question, found: Sequence[Candidate], evidence: Sequence[Evidence], embedder: Embedder) -> Judgement:
    """Say how probably the best statements answer. `found` is sorted, best first."""
    lacking, unknown = unknown_names(asked, evidence)
    present = {term for candidate in found for term in candidate.covered}
    uncovered = asked.terms - present
    without = Judgement(0.0, 0.0, tuple(lacking), uncovered)
    if not found or any(name.is_exact for name in lacking):
        return without
    similarity = max(candidate.similarity for candidate in found)
    # Who asks one thing of several is answered where it is said of one.
    probability = nearness = max(
        answer_probability(evidence_features(one, found, evidence, embedder)) for one in asked.each
    )
    if lacking and probability < WITHOUT_A_NAME_FROM:
        return without
    unknown += lacking
    aspect = asked.terms - asked.subject_terms
    is_near = similarity >= OTHER_WORDS_SIMILARITY or probability >= WITHOUT_A_NAME_FROM
    if aspect and not aspect & present and not is_near:
        # All that is found is the subject: the documents know the X-1000 but no price of it.
        return Judgement(0.0, nearness, tuple(unknown), uncovered)
    if asked.kind in MEASURED and not (any(one.fits >= ANY_AMOUNT for one in found) or _has_number(found)):
        # How much memory it needs, no sentence about its memory says that has no amount.
        return Judgement(0.0, nearness, tuple(unknown), uncovered)
    best = found[0]
    if asked.kind == "steps" and best.statement.cells and not best.fits and not _tells_how(found):
        # That a watchdog resets it, a row of codes says, and no step.
        return Judgement(0.0, nearness, tuple(unknown), uncovered)
    if asked.is_search and not unknown and any(asked.terms <= one.covered.keys() for one in found):
        # Who searches for words is shown where they stand together: nothing is said to be an answer that is none.
        probability = max(probability, ANSWERS_FROM)
    is_of_setting = names_setting(best.statement) or OPTION.search(best.text) is not None
    if is_of_setting and not unknown and probability >= OF_SETTING_FROM:
        probability = max(probability, ANSWERS_FROM)
    if best.fits == 1.0 and (_says_amounts(asked, best) or (best.defines and best.coverage >= SUFFICIENT_COVERAGE)):
        # Neither similarity nor the cross-encoder reads that 3300 mV are 3.3 V, nor `-O`, which this statement defines.
        probability = max(probability, ANSWERS_FROM)
    return Judgement(probability, nearness, tuple(unknown), uncovered)


def _says_amounts(asked: Question, candidate: Candidate) -> bool:
    """Whether a statement about what is named says all amounts of the question, in whatever unit."""
    terms = {amount.text.casefold() for amount in asked.amounts}
    return bool(terms) and candidate.subject == 1.0 and terms <= candidate.covered.keys()


def _has_number(found: Sequence[Candidate]) -> bool:
    """Whether one of the best statements has a number, whose unit may stand elsewhere: `Animation speed [30]`."""
    return any(NUMBER.search(one.text) for one in found[:BEST])


def _tells_how(found: Sequence[Candidate]) -> bool:
    """Whether a statement says itself most of what is to be done, and how."""
    return any(one.fits and one.aspect >= TELLS_HOW for one in found)
