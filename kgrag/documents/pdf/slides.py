"""Slides that are shown step by step: each step is a page of its own, with all that the one before had."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kgrag.documents.pdf.geometry import Word
from kgrag.documents.pdf.pages import Page

__all__ = ["repeated_words"]

_MOVE = 1.0
"""Points by which the place of a word may differ between two steps."""
_EDGE = 0.12
"""Share of the page's height in which its number stands."""


def repeated_words(pages: Sequence[Page]) -> dict[int, set[Word]]:
    """Return the words that a page has as the one before does, at the same places, for each page that has all of that and more, by number.

    One word with a number may differ near the upper or lower edge: the page's, which is among those returned.
    """
    found = {page.number: _repeated(before, page) for before, page in pairwise(pages)}
    return {number: words for number, words in found.items() if words}


def _repeated(before: Page, page: Page) -> set[Word]:
    """The words of a page that the one before has, if that has nothing else and the page has more."""
    if not before.words or len(page.words) + 1 < len(before.words):
        return set()
    places: dict[str, list[Word]] = {}
    for word in page.words:
        places.setdefault(word.text, []).append(word)
    repeated: set[Word] = set()
    numbers: list[Word] = []
    for word in before.words:
        same = next((other for other in places.get(word.text, ()) if _is_there(word, other)), None)
        if same is not None:
            repeated.add(same)
        elif _may_be_page_number(word, before) and not numbers:
            numbers.append(word)
        else:
            return set()
    changed = (word for word in page.words if word not in repeated and _may_be_page_number(word, page))
    repeated.update([word for word in changed if any(word.box.touches(number.box) for number in numbers)])
    return repeated if len(repeated) < len(page.words) else set()


def _may_be_page_number(word: Word, page: Page) -> bool:
    at_edge = min(word.box.y0, page.height - word.box.y1) < _EDGE * page.height
    return at_edge and any(map(str.isdigit, word.text))


def _is_there(word: Word, other: Word) -> bool:
    return abs(word.box.x0 - other.box.x0) < _MOVE and abs(word.box.y0 - other.box.y0) < _MOVE
