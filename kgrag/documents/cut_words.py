"""Words that a program cut at the ends of lines of plain text, and compounds that stand there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

__all__ = ["CONJUNCTIONS", "CutWords"]

CUT = re.compile(r"(?:[^\W\d_]+-)+")
REST = re.compile(r"[^\W\d_A-Z][^\W\d_]*")
COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
WORD = re.compile(r"[^\W\d_]+")
CUT_ADDRESS = re.compile(r"<[a-z]+://[^\s<>]*-$")
"""An address in brackets that goes on in the next line."""
CONJUNCTIONS = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e"})
"""Before the second of two words that share their end: `pre- and postconditions`."""
LONGEST_CUT = 60
FEWEST_CUTS, CUT_SHARE = 5, 0.03
"""Lines that end in a hyphen, and their share of all, from which words are cut: compounds alone make about one in a hundred."""
FEWEST_PROOFS = 2
"""Words that the text has whole elsewhere, and cut at the end of a line: then others may be cut."""


class CutWords:
    """Words that a program cut at the ends of lines, and compounds that stand there."""

    def __init__(self, lines: Sequence[str]) -> None:
        cuts = [(left, right[0]) for one, after in pairwise(lines) if (left := _cut(one)) and (right := _rest(after))]
        self._are_cut = len(cuts) >= max(FEWEST_CUTS, CUT_SHARE * sum(map(bool, lines)))
        said = lines if cuts else ()
        self._compounds = {one.lower() for line in said for one in COMPOUND.findall(line)}
        self._words = {one.lower() for line in said for one in WORD.findall(line)}
        proofs = {f"{left[:-1]}{right}".lower() for left, right in cuts if not self._is_compound(left, right)}
        self._some_are_cut = len(proofs & self._words) >= FEWEST_PROOFS

    def joined(self, lines: Sequence[str]) -> str:
        """Write the lines of a text, words that were cut as one: with their hyphen where the text has the word so elsewhere."""
        parts: list[str] = []
        for line in map(str.strip, lines):
            left = _cut(parts[-1]) if parts else ""
            right = _rest(line) if left else None
            if parts and CUT_ADDRESS.search(parts[-1]):
                parts.append(line)
                continue
            keeps = self._keeps(left, right[0]) if right else None
            if keeps is None:
                parts += ["\n", line] if parts else [line]
                continue
            parts[-1] = parts[-1] if keeps else parts[-1][:-1]
            parts.append(line)
        return "".join(parts)

    def _keeps(self, left: str, right: str) -> bool | None:
        """Whether a hyphen belongs to a word that goes on with `right`; None where they are no word, or may be none."""
        if self._is_apart(left[:-1], right):
            return None
        if self._is_compound(left, right):
            return True
        if self._are_cut or f"{left[:-1]}{right}".lower() in self._words:
            return False
        return {left[:-1].lower(), right.lower()} <= self._words if self._some_are_cut else None

    def _is_compound(self, left: str, right: str) -> bool:
        return "-" in left[:-1] or f"{left}{right}".lower() in self._compounds

    def _is_apart(self, left: str, right: str) -> bool:
        """Whether a hyphen stands for a word that follows later: `pre- and postconditions`."""
        return right in CONJUNCTIONS and f"{left}{right}".lower() not in self._words


def _rest(line: str) -> re.Match[str] | None:
    return REST.match(line.strip())


def _cut(line: str) -> str:
    """Return what a line ends in where that may be the beginning of a word, with its hyphen."""
    if not line.endswith("-"):
        return ""
    last = line[-LONGEST_CUT:].split()[-1].lstrip("(\"'`“‘[")
    return last if CUT.fullmatch(last) else ""
