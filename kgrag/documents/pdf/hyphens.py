"""Joining lines into running text: hyphens at line ends, broken URLs, scripts without spaces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from kgrag.documents.pdf.geometry import CJK, Line

__all__ = ["LineJoiner"]

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LEFT = re.compile(r"(\S*[^\W_])([-\u2010\u00ad])$")
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
    writes that. Neither written: the hyphen stays between two words of the document, and after anything with a digit or a capital
    inside (part numbers, pin names); else it goes.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        for text in texts:
            self._words.update(word.casefold() for word in _WORD.findall(text))
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
        left = _LEFT.search(text)
        if left is not None:
            return self._hyphenated(text, following, left)
        if _URL_TAIL.search(text):
            head = following.split(" ", 1)[0]
            at_edge = edge - previous.box.x1 <= _URL_SLACK * max(1.0, edge - previous.box.x0)
            is_more = _URL_HEAD.match(head) and re.search(r"[/._=?&%#\d-]", head.rstrip(".,"))
            if is_more and (at_edge or text[-1] in "/_=?&%#"):
                return text + following
        if CJK.match(text[-1:]) and CJK.match(following[:1]):
            return text + following
        return f"{text} {following}"

    def _hyphenated(self, text: str, following: str, left: re.Match[str]) -> str:
        token, hyphen = left[1], left[2]
        stem = text[: -len(hyphen)]
        if hyphen == _SOFT_HYPHEN:
            self.hyphens_removed += 1
            return stem + following
        right = _RIGHT.match(following)
        if right is not None and right[0].casefold() in _CONJUNCTIONS:
            return f"{text} {following}"
        self.hyphens_kept += 1
        inner = re.search(r"[^\W\d_]+$", token)
        if (
            right is None
            or inner is None
            or not right[0][0].islower()
            or not token[1:].islower()
            or re.search(r"[\d_]", token)
        ):
            return text + following
        if "-" in token or _COMPOUND.match(following):
            return text + following
        first, second = inner[0].casefold(), right[0].casefold()
        hyphenated = self._words[f"{first}-{second}"]
        joined = self._words[first + second]
        if hyphenated >= joined and (hyphenated or (self._words[first] and self._words[second])):
            return text + following
        self.hyphens_kept -= 1
        self.hyphens_removed += 1
        return stem + following
