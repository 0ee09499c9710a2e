"""Whether the quantities and numbers of a sentence are in what it cites, or follow from it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgrag.answer.grounding.claims import Claim
from kgrag.answer.grounding.passages import (
    NUMBER,
    NUMBER_WORDS,
    Passage,
    comparable_number,
    comparable_numbers,
    masked,
    without_code_marks,
)
from kgrag.text.equal_quantities import ends, is_end
from kgrag.text.name_shapes import NAME
from kgrag.text.quantities import Quantity, quantities
from kgrag.text.words import content_terms

__all__ = ["check_numbers"]

UNCOUNTED = frozenset(["one", "two", "single", "both", "double"])
"""Number words that more often join than count."""


def check_numbers(claim: Claim, cited: Sequence[Passage], asked: Passage) -> None:
    """Fail a claim for each quantity and number that its passages lack; one that denies may have them from the question (`asked`)."""
    said = without_code_marks(claim.text)
    measured = quantities(said)
    for quantity in measured:
        held = [q for source in cited for q in source.quantities]
        held += [q for source in cited for statement in source.statements for q in statement.quantities]
        if claim.denies:
            held += asked.quantities
        lacking = [(value, unit) for value, unit in ends(quantity) if not is_end(value, unit, held)]
        if all(_is_computed(value, unit, measured, held) for value, unit in lacking):
            continue
        if not (quantity.unit == "x" and comparable_number(f"{quantity.value:g}") in _all_numbers(cited)):
            claim.fail("quantity", f"{quantity.text} is not in {claim.marks}")
    rest = masked(said, [(q.start, q.end) for q in measured])
    names = [match.span() for match in NAME.finditer(rest) if re.search(r"[A-Za-z]", match.group())]
    rest = masked(rest, names)
    known = _all_numbers(cited) | (asked.numbers if claim.denies else frozenset())
    for match in NUMBER.finditer(rest):
        number = comparable_number(match.group())
        if number not in known or not (claim.denies or _is_said_of(number, said, cited)):
            claim.fail("number", f"{match.group().strip()} is not in {claim.marks}, or of something else")
    for word in re.findall(r"[a-z]+", rest.casefold()):
        if word in NUMBER_WORDS and word not in UNCOUNTED and NUMBER_WORDS[word] not in known:
            claim.fail("number", f"{word} is not in {claim.marks}")


def _is_said_of(number: str, said: str, cited: Sequence[Passage]) -> bool:
    """Whether a passage has a bare number in its headings, or in a statement that shares a word with the sentence."""
    terms = frozenset(term for term in content_terms(said) if not term[0].isdigit())
    return any(
        number in comparable_numbers(source.title)
        or any(
            number in s.numbers and (not terms or terms & (s.terms | content_terms(s.above))) for s in source.statements
        )
        for source in cited
    )


def _is_computed(value: float, unit: str, measured: Sequence[Quantity], held: Sequence[Quantity]) -> bool:
    """Whether a number is the sum or the difference of two others of its sentence that are grounded: `290 mA: 600 mA less 310 mA`."""
    others = [v for q in measured for v, u in ends(q) if u == unit and v != value and is_end(v, u, held)]
    return any(
        abs(abs(value) - abs(a + sign * b)) < 1e-9 * abs(value) for a in others for b in others for sign in (1, -1)
    )


def _all_numbers(cited: Sequence[Passage]) -> frozenset[str]:
    return frozenset().union(*(source.numbers for source in cited))
