"""What docling-parse does not tell, or tells wrongly, from pdfium: a second reader of the same page.

- docling-parse writes `–`, `—` and `−` all as `-`, which makes `0 – 10 V` a `0 - 10 V`.
- For the standard fonts that a file need not embed (Helvetica, Times, Courier) it gives the name of the resource, `F2`, from which nobody
  sees that it is bold.
- It reads the names of glyphs (`/a116`) in bitmap fonts of TeX as those of Dingbats, which makes `set` an `s❡a116`. pdfium takes the code.
- Some fonts get a box of each glyph's own height, which makes `may` larger than `use`.
- It takes raised digits into the word before them, which makes 10 to the power of 24 a `1024` (`raised_digits.py`).
- It loses spaces that are narrow, or lie between two fonts.
- It writes a sign of the font Symbol as another one (`·` for `×`), or as the name of its glyph (`c180`).
- Of TrueType fonts in the encoding of the Macintosh it reads the codes as Latin ones: `Òon thisÓ` for `“on this”`.
- It makes bitmap fonts that Ghostscript wrote sixty times too large, and leaves out what then lies beyond the page: most of the text
  (`pdfium_words.py`).
- Of links it tells addresses alone (`pdfium_links.py`).
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any

from kgrag.documents.pdf.geometry import Box, Word, bounding_box
from kgrag.documents.pdf.page_view import PageView, view_of
from kgrag.documents.pdf.pdfium_links import links_of
from kgrag.documents.pdf.pdfium_words import READ_CODES, character_at, font_of, words_of
from kgrag.documents.pdf.raised_digits import taller_words, with_raised_apart
from kgrag.documents.pdf.symbol_fonts import IN_PRIVATE_USE, in_symbol

__all__ = ["PdfiumText", "SecondReading"]

_DASHES = "–—−"
_AS_HYPHEN = str.maketrans(dict.fromkeys(_DASHES, "-"))
_SLACK = 0.3
"""Points around a word in which its characters are looked up."""
_RESOURCE_NAME = re.compile(r"^[A-Za-z]{0,3}\d*$")
_FAULT = re.compile(r"[\u2701-\u27bf\ue000-\uf8ff\ufffd]|\ba\d{2,3}(?![^\W_])|GLYPH<\w+>|/uni[0-9A-F]{4}")
"""Characters that say nothing, and names of glyphs in place of characters."""
_CODE_NAME = re.compile(r"x([2-7][0-9A-F])")
"""The name of a glyph that is its code."""
_SYMBOL_NAME = re.compile(r"c(1[6-9]\d|2[0-4]\d|25[0-5])")
"""The name of a glyph that is its code in the font Symbol."""
_MOST_JOINED = 5
"""Words that one may be: names in a typewriter font within a text, whose spaces are narrower than those of that font."""
_UNEVEN_SIZES = 5
"""Different heights of one font's words on a page from which they are heights of glyphs and not sizes."""
_ON_BASELINE = re.compile(r"[A-Z]?[abcdefhiklmnorstuvwxz]{3,}|[A-IK-PR-Z]{3,}")
"""A word of which no letter goes below the line."""
_NO_DEPTH = 0.05
"""Share of a word's height by which it may miss the baseline to end there."""
_ABOVE_BASELINE, _BELOW_BASELINE = 0.68, 0.21
"""Of the font's size: a line as high as docling-parse makes those of other fonts (Computer Modern, Times)."""
_PLAUSIBLE_HEIGHT = (0.85, 3.0)
"""Times its own height that the line of a word's tallest glyph may have: brackets are as high as the font's size."""
_NEAR = 3.0
"""Line heights up to which the next word of a font has the height of the one before; farther away it may be of another size."""
_DESCENT = 0.35
"""Share of a line's height below which every word but a raised one ends."""
_TWO_LINES = 1.5
"""Times a line's height from which a word is two, of lines below each other."""
_FIELD_HEIGHT, _FIELD_WIDTH = 8.0, 32.0
"""Points: the fields in which a page's characters are looked up."""
_SINGLE_LETTERS = frozenset("aAIàéyoeuAÀÉ")
"""Words of one letter; any other single letter that pdfium sets apart is one half of a logo or a formula."""
_LETTER = re.compile(r"(?:[B-Z]|\d[A-Z])[.,;:)]?")
"""What stands for a thing: a register, a dimension; `A` is a word."""
_IN_SENTENCE = re.compile(r"[(“\"]?[A-Z]?[a-z]{2,}[.,;:)]?")

_BEYOND_ASCII = re.compile(r"[\x80-\uffff]")
_PLAIN = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "ﬁ": "fi", "ﬂ": "fl"})
"""Quotation marks and ligatures as the first reader writes them."""
_LATIN_ENCODINGS = ("latin-1", "cp1252")
"""As which the first reader takes the codes of the Macintosh."""
_READ = {**READ_CODES, **IN_PRIVATE_USE}
_LOST_SHARE = 0.6
"""Where the first reader has less of the characters that pdfium has on a page, the page is read by pdfium alone."""
_FEWEST_CHARACTERS = 20


@dataclass(frozen=True, slots=True)
class _Character:
    text: str
    box: Box
    """As high as its font; without width for spaces that pdfium saw in a gap."""


class SecondReading:
    """What pdfium reads on one page."""

    def __init__(self, text_page: Any, view: PageView, links: Sequence[tuple[Box, str]] = ()) -> None:
        self.links = tuple(links)
        """Links to places of the same file: where they lie, and `#page=3&zoom=100,0,312` (the place 312 points below the page's top)."""
        self._text_page = text_page
        self._view = view
        self._text: str = text_page.get_text_range()
        self._has_dashes = any(dash in self._text for dash in _DASHES)
        self._fonts: dict[str, str] = {}

    def has_more_than(self, words: Sequence[Word]) -> bool:
        """Whether the first reader, which gave these words, lost much of the page."""
        read, there = sum(len(word.text) for word in words), len("".join(self._text.split()))
        if there < _FEWEST_CHARACTERS or read >= _LOST_SHARE * there:
            return False
        return read < _LOST_SHARE * sum(len(word.text) for word in self.words)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The page's words as pdfium alone has them."""
        return words_of(self._text_page, self._view)

    def with_dashes(self, word: str, box: Box) -> str:
        """Return the word with its dashes, where pdfium has the same word at the same place; else unchanged."""
        if not self._has_dashes or "-" not in word:
            return word
        left, bottom, right, top = self._view.bounds(replace(box, x0=box.x0 - _SLACK, x1=box.x1 + _SLACK))
        found: str = self._text_page.get_text_bounded(left=left, bottom=bottom, right=right, top=top).strip()
        return found if found.translate(_AS_HYPHEN) == word else word

    def font_name(self, name: str, box: Box) -> str:
        """Return the font's own name where docling-parse knows only its resource's; `box` holds a word in that font."""
        if not _RESOURCE_NAME.match(name):
            return name
        if name not in self._fonts:
            own = self._font_at(box)
            if not own:
                return name
            self._fonts[name] = own
        return self._fonts[name]

    def _font_at(self, box: Box) -> str:
        index = self._index_at(box)
        return font_of(self._text_page, index) if index is not None else ""

    def mended(self, words: Iterable[Word]) -> Iterator[Word]:
        """Yield the words with the characters, heights and spaces of the better reader; their places stay."""
        words = list(words)
        faulty = {word.font for word in words if _FAULT.search(word.text)}
        uneven = _uneven_fonts(words) | self._without_depth(words)
        over_lines = _over_lines(words)
        taller = taller_words(words)
        read: list[Word] = []
        for drawn in words:
            word = self._decoded(drawn)
            parts = [word]
            if word.font in faulty:
                parts = self._reread(word)
            elif word in over_lines and word.text not in self._tokens:
                parts = self._divided(word, over_lines=True)
            elif word.level and word.text in self._joined_words and word.text not in self._tokens:
                parts = self._divided(word)
            if height := taller.get(drawn):
                parts = [one for part in parts for one in with_raised_apart(part, self._characters_from(part), height)]
            read.extend(parts)
        before: Word | None = None
        for word in read:
            if word.level and word.font in uneven:
                word = _as_high_as(word, before) or self._even(word)
            if before is not None and (before.text, word.text) in self._neighbours and _touches(before, word):
                word = replace(word, spaced=True)
            yield word
            before = word

    def _without_depth(self, words: Sequence[Word]) -> frozenset[str]:
        """Fonts whose words end at the baseline: the first reader did not count what is below it, and they look smaller than others."""
        first: dict[str, Word] = {}
        for word in words:
            if word.level and _ON_BASELINE.fullmatch(word.text):
                first.setdefault(word.font, word)
        return frozenset(font for font, word in first.items() if self._ends_at_baseline(word.box))

    def _ends_at_baseline(self, box: Box) -> bool:
        import pypdfium2.raw as pdfium

        index, x, y = self._index_at(box), ctypes.c_double(), ctypes.c_double()
        if index is None or not pdfium.FPDFText_GetCharOrigin(self._text_page, index, x, y):
            return False
        return abs(box.y1 - self._view.point(x.value, y.value)[1]) < _NO_DEPTH * box.height

    def _even(self, word: Word) -> Word:
        """Give a word the height of its font's lines: from the baseline and the size of the character at its middle."""
        import pypdfium2.raw as pdfium

        index = self._index_at(word.box)
        matrix, x, y = pdfium.FS_MATRIX(), ctypes.c_double(), ctypes.c_double()
        if (
            index is None
            or not pdfium.FPDFText_GetMatrix(self._text_page, index, matrix)
            or not pdfium.FPDFText_GetCharOrigin(self._text_page, index, x, y)
        ):
            return word
        size = pdfium.FPDFText_GetFontSize(self._text_page, index) * math.hypot(matrix.c, matrix.d)
        baseline = self._view.point(x.value, y.value)[1]
        top, bottom = baseline - _ABOVE_BASELINE * size, baseline + _BELOW_BASELINE * size
        low, high = _PLAUSIBLE_HEIGHT
        most = high * max(word.box.height, 0.5 * word.box.width / len(word.text))
        if not (top < word.box.center[1] < bottom and low * word.box.height <= bottom - top <= most):
            return word
        return replace(word, box=Box(word.box.x0, top, word.box.x1, bottom))

    def _index_at(self, box: Box) -> int | None:
        """pdfium's index of the character in the middle of a word."""
        left, bottom, right, top = self._view.bounds(box)
        x, y = (left + right) / 2, (bottom + top) / 2
        index: int | None = self._text_page.get_index(x, y, (right - left) / 2, (top - bottom) / 2)
        return index

    def _reread(self, word: Word) -> list[Word]:
        """Read a word in a font of which the first reader does not know the characters."""
        found = [replace(one, text=one.text.strip()) for one in _without_spaces(word, self._characters_in(word.box))]
        text = "".join(one.text for one in found)
        better = text and len(_FAULT.findall(text)) < max(1, len(_FAULT.findall(word.text)))
        return [one for one in found if one.text] if better else [word]

    def _decoded(self, word: Word) -> Word:
        """Take the codes of a word's letters for those of the Macintosh, where pdfium has at this place what they stand for.

        So is a glyph that a font names by its code, `x2A`.
        """
        if _CODE_NAME.search(word.text):
            text = _CODE_NAME.sub(lambda name: chr(int(name[1], 16)), word.text)
            if text == "".join(one.text for one in self._characters_in(word.box)).strip().translate(_PLAIN):
                return replace(word, text=text)
        if _SYMBOL_NAME.search(word.text) and (text := self._with_named_signs(word)):
            return replace(word, text=text)
        if not _BEYOND_ASCII.search(word.text):
            return word
        if "·" in word.text and "×" in self._text:
            text = word.text.replace("·", "×")
            if text == "".join(one.text for one in self._characters_in(word.box)).strip():
                return replace(word, text=text)
        for encoding in _LATIN_ENCODINGS:
            try:
                text = word.text.encode(encoding).decode("mac_roman").translate(_PLAIN)
            except UnicodeError:
                continue
            if not set(text) <= self._letters:  # looking at a place has to know where all characters of the page are
                continue
            if text == "".join(one.text for one in self._characters_in(word.box)).strip().translate(_PLAIN):
                return replace(word, text=text)
        return word

    def _with_named_signs(self, word: Word) -> str:
        """Return a word with the signs whose names it has (`32c1804`), where pdfium has one character for each, which is no such name."""
        pattern = ".".join(re.escape(part) for part in _SYMBOL_NAME.split(word.text)[::2])
        found = "".join(one.text for one in self._characters_in(word.box)).strip()
        if not re.fullmatch(pattern, found, re.DOTALL):
            return ""
        return _SYMBOL_NAME.sub(lambda name: in_symbol(chr(int(name[1]))), word.text)

    def _divided(self, word: Word, *, over_lines: bool = False) -> list[Word]:
        """Divide a word where pdfium has several, if it has the same characters at this place; `over_lines`, whatever they are."""
        characters = self._characters_in(word.box)
        parts = _without_spaces(word, characters)
        if "".join(part.text for part in parts) != word.text or len(parts) < 2:
            return [word]
        return parts if over_lines or _are_words([part.text for part in parts]) else [word]

    @cached_property
    def _letters(self) -> frozenset[str]:
        """The characters of the page, as those of a word are compared with them."""
        return frozenset("".join([self._text, *READ_CODES.values()]).translate(_PLAIN))

    @cached_property
    def _tokens(self) -> frozenset[str]:
        return frozenset(self._text.split())

    @cached_property
    def _joined_words(self) -> frozenset[str]:
        """Two to five neighbouring words without their spaces."""
        words = self._text.split()
        following = [words[by:] for by in range(_MOST_JOINED)]
        return frozenset(
            joined
            for count in range(2, _MOST_JOINED + 1)
            for joined in map("".join, zip(*following[:count], strict=False))
        )

    @cached_property
    def _neighbours(self) -> frozenset[tuple[str, str]]:
        """Words that stand beside each other and are nowhere on the page one word."""
        return frozenset(pair for pair in pairwise(self._text.split()) if "".join(pair) not in self._tokens)

    @cached_property
    def _fields(self) -> dict[tuple[int, int], list[tuple[int, _Character]]]:
        """The page's characters with their index, by the field in which their middle lies."""
        import pypdfium2.raw as pdfium

        fields: dict[tuple[int, int], list[tuple[int, _Character]]] = defaultdict(list)
        for index in range(pdfium.FPDFText_CountChars(self._text_page)):
            if character := self._character(index):
                x, y = character.box.center
                fields[int(y / _FIELD_HEIGHT), int(x / _FIELD_WIDTH)].append((index, character))
        return fields

    def _characters_from(self, word: Word) -> list[_Character]:
        """As many characters as a word has, from the one at its left end: without a look at all others of the page."""
        left, bottom, right, top = self._view.bounds(word.box)
        width = (right - left) / len(word.text)
        index = self._text_page.get_index(left + width / 4, bottom + (top - bottom) / 3, width, (top - bottom) / 2)
        found: list[_Character] = []
        while index is not None and index < len(self._text) and len(found) < len(word.text):
            character = self._character(index)
            if character is not None and not character.text.isspace():
                found.append(character)
            index += 1
        return found

    def _character(self, index: int) -> _Character | None:
        import pypdfium2.raw as pdfium

        bounds = pdfium.FS_RECTF()
        text = character_at(self._text_page, index)
        if not pdfium.FPDFText_GetLooseCharBox(self._text_page, index, bounds) or not text:
            return None
        # At once, for Python takes the codes of `fi`, `fl`, `ffi` and `ffl` for white space.
        return _Character(_READ.get(text, text), self._view.box(bounds.left, bounds.bottom, bounds.right, bounds.top))

    def _characters_in(self, box: Box) -> list[_Character]:
        """The characters whose middle lies in a box, in pdfium's order."""
        rows = range(int(box.y0 / _FIELD_HEIGHT) - 1, int(box.y1 / _FIELD_HEIGHT) + 2)
        columns = range(int(box.x0 / _FIELD_WIDTH), int(box.x1 / _FIELD_WIDTH) + 1)
        found = [
            entry
            for field in product(rows, columns)
            for entry in self._fields.get(field, ())
            if box.x0 - _SLACK <= entry[1].box.center[0] <= box.x1 + _SLACK
            and (
                entry[1].box.y0 - _SLACK <= box.center[1] <= entry[1].box.y1 + _SLACK
                or box.y0 < entry[1].box.center[1] < box.y1
            )
        ]
        return [character for _, character in sorted(found, key=lambda entry: entry[0])]


class PdfiumText:
    """Opens a PDF with pdfium; a context manager that closes the file."""

    def __init__(self, path: Path) -> None:
        import pypdfium2

        self._document = pypdfium2.PdfDocument(path)
        self._views: dict[int, PageView] = {}

    def __enter__(self) -> PdfiumText:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._document.close()

    def page(self, number: int) -> SecondReading:
        """Read a page (from 1)."""
        page = self._document[number - 1]
        return SecondReading(page.get_textpage(), view_of(page), tuple(links_of(self._document, page, self._view)))

    def _view(self, index: int) -> PageView:
        if index not in self._views:
            self._views[index] = view_of(self._document[index])
        return self._views[index]


def _as_high_as(word: Word, before: Word | None) -> Word | None:
    """The word with the height of the one before, where both stand on one line in the same font."""
    if before is None or before.font != word.font or not 0 <= word.box.x0 - before.box.x1 < _NEAR * before.box.height:
        return None
    top, bottom = before.box.y0, before.box.y1
    inside = top - _SLACK <= word.box.y0 and word.box.y1 <= bottom + _SLACK
    if not inside or word.box.y1 < bottom - _DESCENT * before.box.height:
        return None
    return replace(word, box=Box(word.box.x0, top, word.box.x1, bottom))


def _uneven_fonts(words: Sequence[Word]) -> frozenset[str]:
    heights: dict[str, set[float]] = defaultdict(set)
    for word in words:
        if word.level:
            heights[word.font].add(round(word.box.height, 1))
    return frozenset(font for font, found in heights.items() if len(found) >= _UNEVEN_SIZES)


def _over_lines(words: Sequence[Word]) -> frozenset[Word]:
    """Words that are much higher than others of their font: the first reader put two of neighbouring lines together."""
    heights: dict[str, list[float]] = defaultdict(list)
    for word in words:
        if word.level:
            heights[word.font].append(word.box.height)
    usual = {font: median(found) for font, found in heights.items()}
    return frozenset(
        word for word in words if word.level and len(word.text) > 1 and word.box.height > _TWO_LINES * usual[word.font]
    )


def _without_spaces(word: Word, characters: Sequence[_Character]) -> list[Word]:
    """Words of the characters between spaces, each with its share of the word's place."""
    groups: list[list[_Character]] = [[]]
    for character in characters:
        if character.text.isspace():
            groups.append([])
        else:
            groups[-1].append(character)
    groups = [group for group in groups if group]
    parts: list[Word] = []
    for index, group in enumerate(groups):
        around = bounding_box(character.box for character in group)
        left = word.box.x0 if index == 0 else around.x0
        right = word.box.x1 if index == len(groups) - 1 else around.x1
        text = "".join(character.text for character in group)
        over_lines = word.box.height > _TWO_LINES * around.height
        top, bottom = (around.y0, around.y1) if over_lines else (word.box.y0, word.box.y1)
        parts.append(replace(word, text=text, box=Box(left, top, max(left, right), bottom)))
    return parts


def _are_words(parts: Sequence[str]) -> bool:
    """Whether the parts of a divided word can be words, one of them a letter that is a name (`to W`, `2D mesh`)."""
    others = [part for part in parts if not _LETTER.fullmatch(part)]
    one_letter = 0 < len(others) == len(parts) - 1 and all(map(_IN_SENTENCE.fullmatch, others))
    return one_letter or all(map(_is_word, parts))


def _is_word(text: str) -> bool:
    """Whether a part of a divided word can be one: numbers and signs belong together, and so do the halves of a logo."""
    characters = [character for character in text if character.isalnum()]
    return bool(characters) and characters[0].isalpha() and (len(characters) > 1 or characters[0] in _SINGLE_LETTERS)


def _touches(left: Word, right: Word) -> bool:
    """Whether two words in different fonts stand side by side with next to no gap."""
    height = min(left.box.height, right.box.height)
    return (
        left.level
        and right.level
        and left.font != right.font
        and abs(right.box.x0 - left.box.x1) < 0.5 * height
        and left.box.y0 < right.box.center[1] < left.box.y1
    )
