"""Joining lines into running text: hyphens at line ends, broken URLs, scripts without spaces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from kgrag.documents.pdf.geometry import CJK, Line

__all__ = ["LineJoiner"]

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LEFT = re.compile(r"(\S*[^\W_])([-\u2010\u00ad])$")
_HYPHENATED = 0.03
"""Share of lines that end in a hyphen from which a document is hyphenated: compounds alone make about one in a hundred."""
_MIN_CUTS = 5
_COMPOUND = re.compile(r"[^\W\d_]+-[^\W\d_]")
"""`read-` + `while-write`: one hyphen of a word with several."""
_RIGHT = re.compile(r"[^\W\d_]+")
_URL_TAIL = re.compile(r"(?:https?://|www\.)\S*$")
_URL_HEAD = re.compile(r"[\w/.?&=%#~+-]+$")
_SOFT_HYPHEN = "\u00ad"
_CONJUNCTIONS = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e"})
_URL_SLACK = 0.12
"""Share of the column width that a broken URL may leave free at the line's end."""


class LineJoiner:
    """Joins the lines of one document; whether a hyphen at a line's end stays is decided by the document's own words.

    `low-` + `power` is `low-power` where the document writes that elsewhere, and `config-` + `uration` is `configuration` where it
    writes that. Where it writes neither: the hyphen stays in a document whose lines are not hyphenated (browsers and word processors
    break only at hyphens that are there), between two words of the document, and after anything with a digit or a capital inside
    (part numbers, pin names); else it goes.
    """

    def __init__(self, paragraphs: Iterable[Sequence[Line]]) -> None:
        self._words: Counter[str] = Counter()
        cuts: list[tuple[str, str]] = []
        line_count = 0
        for lines in paragraphs:
            line_count += len(lines)
            self._words.update(word.casefold() for text in _without_halves(lines) for word in _WORD.findall(text))
            cuts.extend(cut for above, below in pairwise(lines) if (cut := _cut_word(above.text, below.text)))
        joined = sum(self._words[first + second] > self._words[f"{first}-{second}"] for first, second in cuts)
        self._is_hyphenated = joined > 0 or len(cuts) >= max(_MIN_CUTS, _HYPHENATED * line_count)
        self.hyphens_removed = 0
        self.hyphens_kept = 0

    def join(self, lines: Sequence[Line], right_edge: float | None = None) -> str:
        """Join lines, top to bottom; `right_edge` is where their column ends (broken URLs are joined only there)."""
        text = ""
        previous: Line | None = None
        edge = right_edge if right_edge is not None else max((line.box.x1 for line in lines), default=0.0)
        for line in lines:
            text = self._append(text, line.text, previous, edge) if previous is not None else line.text
            previous = line
        return text

    def _append(self, text: str, following: str, previous: Line, edge: float) -> str:
        last_word = text.rpartition(" ")[2]
        left = _LEFT.match(last_word)
        if left is not None:
            return self._hyphenated(text, following, left)
        if _URL_TAIL.search(last_word):
            head = following.split(" ", 1)[0]
            at_edge = edge - previous.box.x1 <= _URL_SLACK * max(1.0, edge - previous.box.x0)
            is_more = _URL_HEAD.match(head) and re.search(r"[/._=?&%#\d-]", head.rstrip(".,"))
            if is_more and (at_edge or text[-1] in "/_=?&%#"):
                return text + following
        if CJK.match(text[-1:]) and CJK.match(following[:1]):
            return text + following
        return f"{text} {following}"

    def _hyphenated(self, text: str, following: str, left: re.Match[str]) -> str:
        hyphen = left[2]
        stem = text[: -len(hyphen)]
        if hyphen == _SOFT_HYPHEN:
            self.hyphens_removed += 1
            return stem + following
        right = _RIGHT.match(following)
        if right is not None and right[0].casefold() in _CONJUNCTIONS:
            return f"{text} {following}"
        cut = _cut_word(text, following)
        if cut is not None and self._goes(*cut):
            self.hyphens_removed += 1
            return stem + following
        self.hyphens_kept += 1
        return text + following

    def _goes(self, first: str, second: str) -> bool:
        hyphenated, joined = self._words[f"{first}-{second}"], self._words[first + second]
        if hyphenated or joined:
            return joined > hyphenated
        return self._is_hyphenated and not (self._words[first] and self._words[second])


def _cut_word(text: str, following: str) -> tuple[str, str] | None:
    """The two parts of a word that a line end may have cut, case folded; None where the hyphen is surely the author's."""
    left, right = _LEFT.match(text.rpartition(" ")[2]), _RIGHT.match(following)
    if left is None or right is None or right[0].casefold() in _CONJUNCTIONS:
        return None
    token = left[1].lstrip("([\"'“‘")
    plain = token.isalpha() and token[1:].islower() and right[0].islower()
    return (token.casefold(), right[0].casefold()) if plain and not _COMPOUND.match(following) else None


def _without_halves(lines: Sequence[Line]) -> Iterator[str]:
    """The lines without the two parts of words that a line end cuts, which are no words."""
    cut = False
    for line in lines:
        text = line.text.partition(" ")[2] if cut else line.text
        cut = _LEFT.match(line.text.rpartition(" ")[2]) is not None
        yield text.rpartition(" ")[0] if cut else text
