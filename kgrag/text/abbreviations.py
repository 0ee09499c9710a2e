"""Abbreviations that a text defines: `microcontroller unit (MCU)` (Schwartz and Hearst, Pacific Symposium on Biocomputing 2003)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["defined_abbreviations", "initials", "spells_out"]

ABBREVIATION = re.compile(r"[A-Z]{3,5}")
IN_PARENTHESES = re.compile(r"\(([^\W\d_][^()\s]{1,9})\)")
WORDS_BEFORE = re.compile(r"(?:[^\s()]{1,40}[ \t\n]){1,20}$")
SENTENCE_END = re.compile(r"[.!?:;]\s")


@lru_cache(maxsize=256)
def initials(name: str) -> re.Pattern[str] | None:
    """Return a pattern of the words that an abbreviation is made of by their first letters: `earnings per share` of `EPS`.

    None for anything but three to five capitals: of fewer, too much could be meant.
    """
    if not ABBREVIATION.fullmatch(name):
        return None
    return re.compile(r"\b" + r"[ -]".join(rf"{letter}[a-z]+" for letter in name) + r"\b", re.IGNORECASE)


def defined_abbreviations(text: str) -> Iterator[tuple[str, str]]:
    """Yield (long form, abbreviation) for each abbreviation in parentheses behind words that it is made of."""
    for match in IN_PARENTHESES.finditer(text):
        short = match[1]
        if sum(c.isupper() for c in short) < 2:
            continue
        before = SENTENCE_END.split(text[max(0, match.start() - 400) : match.start()])[-1]
        words = WORDS_BEFORE.search(before)
        if words and (long := spells_out(short, words.group())):
            yield long, short


def spells_out(short: str, before: str) -> str:
    """Return the end of a text that an abbreviation is made of, letter by letter and beginning with its first word; "" where none is."""
    letters = [c for c in short.casefold() if c.isalnum()]
    words = before.split()[-min(len(letters) + 5, 2 * len(letters)) :]
    text = " ".join(words)
    folded = text.casefold()
    if len(folded) != len(text) or len(letters) < 2:
        return ""
    at = len(folded)
    for position in range(len(letters) - 1, -1, -1):
        at -= 1
        while at >= 0 and (folded[at] != letters[position] or (position == 0 and at and folded[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return ""
    long = text[at:].strip(" ,-")
    return long if len(long) > len(short) and short.casefold() not in folded[at:].split() else ""
