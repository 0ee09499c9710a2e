"""The statements of the evidence that could answer a question, each with what speaks for it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kgrag.answer.question import FUNCTION_WORDS, Asked, stems
from kgrag.name_shapes import part_numbers
from kgrag.names import Gazetteer, normal_form, quantities
from kgrag.sentences import sentences
from kgrag.types import Evidence

__all__ = ["Candidate", "candidates", "missing_names"]

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
REVISION = re.compile(r"(?:rev|revision|mk|gen|v|ver|version)\.?[ -]?\d+", re.IGNORECASE)
NUMBERED_NAME = re.compile(r"[^\W\d_]+[ -]\d+(?![\w.])|[^\W\d_]+-?\d\w*(?:-\w+)*")
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
    similarity: float = 0.0
    fits: float = 0.0
    subject: float = 0.0
    score: float = 0.0


def candidates(asked: Asked, evidence: Sequence[Evidence]) -> tuple[list[Candidate], dict[str, float]]:
    """Split the evidence into statements and weigh them against the question; also the weight of each of its terms.

    A term weighs as much as it is rare in the evidence. Statements about another product than the one asked for are left out.
    """
    found: list[Candidate] = []
    contexts = [{s for _, s in stems(f"{piece.title} {piece.section}")} for piece in evidence]
    about = _about(asked, evidence)
    for index, piece in enumerate(evidence):
        for position, statement in enumerate(sentences(piece.text)):
            if _says_nothing(statement.text, piece):
                continue
            written = piece.text[statement.start : statement.end]
            own = frozenset(s for _, s in stems(statement.text))
            subject = about.subject(index, statement.text)
            if subject is None:
                continue
            covered = {t: 1.0 if t in own else CONTEXT_WEIGHT for t in asked.terms if t in own or t in contexts[index]}
            found.append(
                Candidate(statement.text, " ".join(written.split()), index, position, covered, own, subject=subject)
            )
    weights = _weights(asked, found)
    whole = sum(weights.values()) or 1.0
    for candidate in found:
        candidate.coverage = sum(weights[t] * share for t, share in candidate.covered.items()) / whole
        candidate.fits = _fits(asked, candidate)
    return found, weights


def missing_names(asked: Asked, evidence: Sequence[Evidence]) -> list[str]:
    """The names of the question with a number in them that no evidence has: `X-300` where there are only `X-100` and `X-3000`."""
    text = "\n".join(f"{piece.title}\n{piece.section}\n{piece.text}" for piece in evidence)
    missing = []
    for name in asked.names:
        units = _numbered_units(name)
        if units and len(_found(units, text)) < len({normal_form(unit) for unit in units}):
            missing.append(name)
    return missing


def _numbered_units(name: str) -> list[str]:
    """The parts of a name that its number must agree in: `Nano 33` of `Nano 33 IoT`, the whole of a name with a revision."""
    if quantities(name):
        return []
    if any(REVISION.fullmatch(m.group()) for m in NUMBERED_NAME.finditer(name)):
        return [name.removeprefix("Arduino ")]
    return [m.group() for m in NUMBERED_NAME.finditer(name) if not m.group()[0].isdigit()]


def _found(names: Iterable[str], text: str) -> set[str]:
    return {match.key for match in Gazetteer(names).find(text)}


class _About:
    """What the question is about, among what the evidence is about."""

    def __init__(self, names: Sequence[str], evidence: Sequence[Evidence]) -> None:
        self._named = Gazetteer(names)
        self._count = len(names)
        self._of_piece = [{m.key for m in self._named.find(f"{p.title}\n{p.section}")} for p in evidence]
        self._in_text = [{m.key for m in self._named.find(p.text)} for p in evidence]
        self._titles = {key for piece in evidence for key in (m.key for m in self._named.find(piece.title))}
        self._parts = {normal_form(part) for name in names for part in part_numbers(name)}
        self._families = {_family(part): part for part in self._parts}

    def subject(self, index: int, statement: str) -> float | None:
        """How much of what is named the statement is about; None for a statement about something else."""
        if not self._count:
            return 0.0
        said = {m.key for m in self._named.find(statement)}
        here = said | self._of_piece[index]
        if self._titles and not here & self._titles and not self._titles & self._in_text[index]:
            return None
        others = {normal_form(part) for part in part_numbers(statement)} - self._parts
        if not said and any(self._families.get(_family(part), part) != part for part in others):
            # `BME680` must not answer for `BME688`.
            return None
        return (len(said | self._of_piece[index]) + 0.5 * len(self._in_text[index] - here)) / self._count


def _about(asked: Asked, evidence: Sequence[Evidence]) -> _About:
    names = [name.removeprefix("Arduino ") for name in asked.names]
    return _About(names, evidence)


def _family(part: str) -> str:
    """A part number without its digits: what two that differ only in a number share."""
    return re.sub(r"\d+", "#", part)


def _says_nothing(text: str, piece: Evidence) -> bool:
    if METADATA_LINE.match(text):
        return True
    folded = text.casefold()
    context = f"{piece.title} > {piece.section}".strip(" >").casefold()
    if folded in (context, piece.title.casefold(), piece.section.casefold()) or folded.startswith(context + " >"):
        return True
    # A heading or a fragment: too short for a statement, and without a number.
    return len(text.split()) < MIN_STATEMENT_WORDS and not any(c.isdigit() for c in text)


def _weights(asked: Asked, found: Sequence[Candidate]) -> dict[str, float]:
    return {
        term: math.log(1 + (len(found) + 1) / (1 + sum(1 for c in found if c.covered.get(term, 0) == 1.0)))
        for term in asked.terms
    }


def _fits(asked: Asked, candidate: Candidate) -> float:
    """Whether the statement has the kind of thing that is asked for."""
    text = candidate.text
    match asked.kind:
        case "quantity":
            measured = quantities(text)
            if asked.dimensions == ("",):
                return 1.0 if measured else 0.3 if any(c.isdigit() for c in text) else 0.0
            return 1.0 if any(q.dimension in asked.dimensions for q in measured) else 0.3 if measured else 0.0
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
