"""Statements that go on from each other in a document, as one line of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from kgrag.answer.candidates import Candidate
from kgrag.text.name_shapes import part_numbers

__all__ = ["joined"]

BETWEEN_SENTENCES = 1
"""Characters between a sentence and the one that goes on from it, at most."""


def joined(chosen: Sequence[Candidate], *, best_first: bool) -> list[Candidate]:
    """Write chosen statements that follow each other in a paragraph or below a term as one, in the order of the document.

    The lines stand in the order of the first chosen statement of each. With `best_first` no statement comes before one that was chosen
    earlier: what goes on from it joins its line, what it goes on from stays a line of its own.
    """
    lines = list(chosen)
    while (pair := _first_pair(lines, best_first=best_first)) is not None:
        kept, other, whole = pair
        lines[kept] = whole
        del lines[other]
    return lines


def _first_pair(lines: Sequence[Candidate], *, best_first: bool) -> tuple[int, int, Candidate] | None:
    """The places of two lines that are one, the earlier first, and that one; None where there are none."""
    for (kept, one), (other, another) in combinations(enumerate(lines), 2):
        if _goes_on(one, another):
            return kept, other, _as_one(one, another, kept=one)
        if not best_first and _goes_on(another, one):
            return kept, other, _as_one(another, one, kept=one)
    return None


def _goes_on(one: Candidate, following: Candidate) -> bool:
    """Whether a statement stands directly behind another and is about the same thing. Rows, lists and lines of programs stand alone."""
    before, after = one.statement, following.statement
    if one.evidence != following.evidence or any(s.cells or s.items or s.is_code for s in (before, after)):
        return False
    if before.heading != after.heading or not 0 <= after.start - before.end <= BETWEEN_SENTENCES:
        return False
    if set(part_numbers(after.text)) - set(part_numbers(before.text)):
        return False  # of another product: what is said of each stands by itself
    if after.own_label:
        return after.is_property and (after.owner == before.label or before.text in after.before)
    return before.label == after.label


def _as_one(first: Candidate, second: Candidate, *, kept: Candidate) -> Candidate:
    """Both statements as one, weighed as the one that is `kept`."""
    before, after = first.statement, second.statement
    whole = replace(
        before,
        text=f"{before.text} {after.text}",
        quote=f"{before.quote} {after.quote}",
        end=after.end,
    )
    own = first.stems | second.stems
    return replace(kept, statement=whole, covered={**first.covered, **second.covered}, stems=own)
