"""The citations of an answer that a model wrote: `[1]`, `[1][3]`, `[1, 3]`, `[1-3]`, checked against the evidence that it was shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.text.sentences import sentences
from kgrag.text.words import stems
from kgrag.types import Citation, Evidence

__all__ = ["Cited", "cite"]

MARK = re.compile(r"\s?\[(\d{1,4}(?:\s*(?:[,;–-]|and)\s*\d{1,4})*)\]")
RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
LONGEST_RANGE = 100
STATEMENT_CHARACTERS = 400
"""So much of the text before a mark is what it supports, unless a sentence or another line begins later."""


@dataclass(frozen=True, slots=True)
class Cited:
    """An answer's text with only marks that mean something, their citations, and the numbers that meant nothing."""

    text: str
    citations: tuple[Citation, ...]
    unknown: tuple[int, ...]


def cite(text: str, evidence: Sequence[Evidence]) -> Cited:
    """Read the marks of a text: a number from 1 is a place in `evidence`; any other is taken out and reported."""
    statements: dict[int, list[str]] = {}
    unknown: list[int] = []

    def checked(mark: re.Match[str]) -> str:
        numbers = _numbers(mark[1])
        known = [number for number in numbers if 1 <= number <= len(evidence)]
        unknown.extend(number for number in numbers if number not in known)
        for number in known:
            statements.setdefault(number, []).append(_statement(text[: mark.start()]))
        if len(known) == len(numbers):
            return mark[0]
        space = " " if mark[0][0].isspace() and known else ""
        return space + "".join(f"[{number}]" for number in known)

    cleaned = MARK.sub(checked, text).strip()
    citations = tuple(
        Citation.of(evidence[number - 1], number=number, quote=_quote(evidence[number - 1].text, " ".join(said)))
        for number, said in sorted(statements.items())
    )
    return Cited(cleaned, citations, tuple(dict.fromkeys(unknown)))


def _numbers(inside: str) -> list[int]:
    """Read what stands between the brackets, ranges written out."""
    numbers: list[int] = []
    rest = inside
    for found in RANGE.finditer(inside):
        first, last = int(found[1]), int(found[2])
        if first <= last <= first + LONGEST_RANGE:
            numbers.extend(range(first, last + 1))
            rest = rest.replace(found[0], " ", 1)
    numbers.extend(int(number) for number in re.findall(r"\d+", rest))
    return sorted(dict.fromkeys(numbers))


def _statement(before: str) -> str:
    """Return the sentence that ends where a mark stands."""
    line = MARK.sub("", before.rpartition("\n")[2])[-STATEMENT_CHARACTERS:]
    found = sentences(line)
    return found[-1].text if found else line


def _quote(text: str, statement: str) -> str:
    """Return the sentence or table row of a passage that shares most words with what it supports; nothing where none shares any."""
    wanted = {stem for _, stem in stems(statement)}
    best, most = "", 0.0
    for sentence in sentences(text):
        have = {stem for _, stem in stems(sentence.text)}
        shared = len(wanted & have)
        if shared and (score := shared / (len(wanted | have) ** 0.5)) > most:
            best, most = sentence.text, score
    return best
