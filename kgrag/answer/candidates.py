"""The statements of the evidence that could answer a question, each with what speaks for it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgrag.answer.subject import Subject
from kgrag.text.names import quantities
from kgrag.text.questions import Question
from kgrag.text.sentences import sentences
from kgrag.text.words import FUNCTION_WORDS, stems
from kgrag.types import Evidence

__all__ = ["Candidate", "candidates"]

NUMBER_WORDS = r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|single|dual|triple|quad"
COUNTED = re.compile(rf"\b(?:\d+|{NUMBER_WORDS})\b(?:[\s-]+[\w®]+){{0,4}}", re.IGNORECASE)
DATE = re.compile(
    r"\b(?:1[0-9]{3}|20[0-9]{2})\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
PLACE = re.compile(r"\b(?:in|at|near|from|to)\s+(?:the\s+)?[A-Z]\w+")
PERSON = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?:\s[A-Z][\w.'’-]+)+|\bby [A-Z]\w+")
BECAUSE = re.compile(
    r"\b(?:because|since|due to|so that|in order to|therefore|thus|as a result|allow|enabl|to avoid|to prevent|must not)",
    re.IGNORECASE,
)
METADATA_LINE = re.compile(r"^(?:\[[A-Z]\w+: [^\]]*\]\s*)+$")
"""`[Product: ...] [Category: ...]`: some corpora begin each passage with it."""
HEADING = re.compile(r"^(?:#+ |\d+(?:\.\d+)+\.? |\d+ (?=[A-Z]))(?!.*[.!?;:]$)")
MAX_HEADING_WORDS = 12
ITEM_MARK = re.compile(r"(?:^|\n)\s*(?:[-*•‣◦▪]|\(?\w{1,2}[.)])\s+$")
MAX_PLAIN_HEADING_WORDS = 8
MIN_STATEMENT_WORDS = 4
CONTEXT_WEIGHT = 0.6
"""A term of the question in the title or heading above a statement counts this much of one in the statement."""


@dataclass(slots=True)
class Candidate:
    """A statement of a piece of evidence, with the features that its score is made of (each from 0 to 1)."""

    text: str
    quote: str
    evidence: int
    """Index of its piece of evidence."""
    position: int
    covered: dict[str, float] = field(default_factory=dict)
    """Terms of the question that it has, or that its headings have (less)."""
    stems: frozenset[str] = frozenset()
    coverage: float = 0.0
    aspect: float = 0.0
    similarity: float = 0.0
    fits: float = 0.0
    subject: float = 0.0
    score: float = 0.0


def candidates(asked: Question, evidence: Sequence[Evidence]) -> list[Candidate]:
    """Split the evidence into statements and weigh them against the question.

    A term weighs as much as it is rare in the evidence. Statements about another product than the one asked for are left out.
    """
    found: list[Candidate] = []
    contexts = [{s for _, s in stems(f"{piece.title} {piece.section}")} for piece in evidence]
    named = Subject(asked, evidence)
    for index, piece in enumerate(evidence):
        heading: set[str] = set()
        for position, statement in enumerate(sentences(piece.text)):
            written = piece.text[statement.start : statement.end]
            if _says_nothing(statement.text, piece):
                continue
            if not statement.cells and _is_heading(written, piece.text[: statement.start]):
                heading = {s for _, s in stems(written)}
                continue
            subject = named.share(index, statement.text)
            if subject is None:
                continue
            own = frozenset(s for _, s in stems(statement.text))
            above = contexts[index] | heading
            covered = {t: 1.0 if t in own else CONTEXT_WEIGHT for t in asked.terms if t in own or t in above}
            found.append(
                Candidate(statement.text, " ".join(written.split()), index, position, covered, own, subject=subject)
            )
    weights = _weights(asked, found)
    # What is asked about the subject tells one statement about it from another; the subject is in all of them.
    aspect = asked.terms - asked.subject_terms or asked.terms
    for candidate in found:
        candidate.coverage = _share(weights, candidate.covered, asked.terms)
        candidate.aspect = _share(weights, candidate.covered, aspect)
        candidate.fits = _fits(asked, candidate)
    return found


def _share(weights: dict[str, float], covered: dict[str, float], terms: frozenset[str]) -> float:
    return sum(weights[t] * covered.get(t, 0.0) for t in terms) / (sum(weights[t] for t in terms) or 1.0)


def _is_heading(written: str, before: str) -> bool:
    """Whether a line only announces what follows: numbered, marked, or short and without a full stop or a number, and no list item."""
    words = len(written.split())
    if HEADING.match(written):
        return words <= MAX_HEADING_WORDS
    in_list = ITEM_MARK.search(before) is not None
    return (
        not in_list
        and words <= MAX_PLAIN_HEADING_WORDS
        and written[-1:].isalnum()
        and ":" not in written
        and not quantities(written)
    )


def _says_nothing(text: str, piece: Evidence) -> bool:
    if METADATA_LINE.match(text):
        return True
    folded = text.casefold()
    context = f"{piece.title} > {piece.section}".strip(" >").casefold()
    if folded in (context, piece.title.casefold(), piece.section.casefold()) or folded.startswith(context + " >"):
        return True
    # A heading or a fragment: too short for a statement, and without a number.
    return len(text.split()) < MIN_STATEMENT_WORDS and not any(c.isdigit() for c in text)


def _weights(asked: Question, found: Sequence[Candidate]) -> dict[str, float]:
    return {
        term: math.log(1 + (len(found) + 1) / (1 + sum(1 for c in found if c.covered.get(term, 0) == 1.0)))
        for term in asked.terms
    }


def _fits(asked: Question, candidate: Candidate) -> float:
    """Whether the statement has the kind of thing that is asked for."""
    text = candidate.text
    match asked.kind:
        case "quantity":
            measured = quantities(text)
            if asked.dimensions == ("",):
                return 1.0 if measured else 0.3 if any(c.isdigit() for c in text) else 0.0
            return 1.0 if any(q.dimension in asked.dimensions for q in measured) else 0.0
        case "count":
            wanted = {s for w, s in stems(asked.text.casefold().partition("how many")[2]) if w not in FUNCTION_WORDS}
            counted = [{s for _, s in stems(m.group())} for m in COUNTED.finditer(text)]
            return 1.0 if any(near & wanted for near in counted) else 0.2 if counted else 0.0
        case "who":
            return 1.0 if PERSON.search(text) else 0.0
        case "when":
            return 1.0 if DATE.search(text) else 0.0
        case "where":
            return 1.0 if PLACE.search(text) else 0.0
        case "why":
            return 1.0 if BECAUSE.search(text) else 0.0
        case _:
            return 0.0
