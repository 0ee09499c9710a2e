"""Exponents and marks of notes that docling-parse has as part of the word before: `10` and a raised `24` are no `1024`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Protocol

from kgrag.documents.pdf.geometry import Box, Word, bounding_box

__all__ = ["Character", "taller_words", "with_raised_apart"]

_TALLER, _TWO_LINES = 1.05, 1.6
"""Times the height of most characters of its font that a word with raised digits has, at least and at most."""
_MOST = 0.55
"""Share of a font's characters that have the height of most, at least: below are fonts with a box of each glyph's own height."""
_RAISED = re.compile(r"\S[-+−–]?\d")
_SIGNS = "+-−–"
_SMALL = 0.7
"""Of the height of a word of its font: what a raised part gets."""
_SMALLER, _HIGHER = 0.88, 0.15
"""Of the height of the others: of a raised character at most, and how far above their lower edge it ends at least."""


class Character(Protocol):
    """A character of a page, in a box as high as its font."""

    @property
    def text(self) -> str:
        """One character, as a rule."""

    @property
    def box(self) -> Box:
        """Where it is."""


def taller_words(words: Sequence[Word]) -> dict[Word, float]:
    """Return the words with digits that may be raised, because they are taller than others of their font, and the height of those."""
    heights: dict[str, Counter[float]] = defaultdict(Counter)
    for word in words:
        if word.level:
            heights[word.font][round(word.box.height, 1)] += len(word.text)
    usual: dict[str, float] = {}
    for font, counted in heights.items():
        height, count = counted.most_common(1)[0]
        if count >= _MOST * counted.total():
            usual[font] = height
    return {
        word: usual[word.font]
        for word in words
        if word.level
        and word.font in usual
        and _TALLER * usual[word.font] < word.box.height < _TWO_LINES * usual[word.font]
        and _RAISED.search(word.text)
    }


def with_raised_apart(word: Word, characters: Sequence[Character], height: float) -> list[Word]:
    """Divide a word before and behind its raised digits, where these `characters` are its own.

    `height` is that of a word of its font without any.
    """
    if len(characters) != len(word.text) or any(
        one.text != letter for one, letter in zip(characters, word.text, strict=True) if one.text.isalnum()
    ):
        return [word]
    # Signs of mathematics have fonts of their own, with other heights.
    full = max((character.box.height for character in characters if character.text.isalnum()), default=0.0)
    bottom = max((character.box.y1 for character in characters if _is_full(character, full)), default=0.0)
    raised = [
        character.text.isalnum() and not _is_full(character, full) and bottom - character.box.y1 > _HIGHER * full
        for character in characters
    ]
    for index in range(1, len(characters) - 1):
        raised[index] |= raised[index + 1] and characters[index].text in _SIGNS
    if not any(raised) or all(raised):
        return [word]
    parts: list[Word] = []
    for is_raised, group in groupby(range(len(characters)), key=raised.__getitem__):
        at = list(group)
        around = bounding_box(characters[index].box for index in at)
        if is_raised:
            box = replace(around, y0=word.box.y0, y1=word.box.y0 + _SMALL * height)
        else:
            box = replace(around, y0=word.box.y1 - height, y1=word.box.y1)
        parts.append(replace(word, text=word.text[at[0] : at[-1] + 1], box=box))
    parts[0] = replace(parts[0], box=replace(parts[0].box, x0=word.box.x0))
    parts[-1] = replace(parts[-1], box=replace(parts[-1].box, x1=word.box.x1))
    return parts


def _is_full(character: Character, height: float) -> bool:
    return character.text.isalnum() and character.box.height >= _SMALLER * height
