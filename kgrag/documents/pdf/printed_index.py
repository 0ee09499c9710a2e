"""The index at the end of a book: entries in alphabetical order, each with the pages that it stands on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Box, Line, Word, bounding_box, line_of, lines_of
from kgrag.documents.pdf.pages import Page

__all__ = ["index_table"]

_MIN_ENTRIES, _MIN_REST = 15, 3
"""Of an index on a page, and on a page that goes on with the one before."""
_ENTRIES = 0.5
"""Share of the texts that end in pages: others are entries above such ones, letters, and lines that are broken."""
_NUMBERS = 0.15
"""Share of the words that begin with a letter or digit."""
_SEVERAL = 0.05
"""Share of the entries that name several pages."""
_FALLS = 0.2
"""Share of the entries whose page is before that of the entry above: those of a table of contents rise."""
_SORTED = 0.75
"""Share of the entries that begin with the letter of the entry above, or a later one."""
_NEAR = 1.0
"""Points by which the entries of a column may begin elsewhere."""
_GAP, _WIDE_GAP = 0.6, 1.0
"""Line heights between an entry's pages and the next column, and between an entry and its pages, or two texts."""
_ABOVE = 2.5
"""Line heights between the first entry and the letter above it."""
_MAX_LETTER = 12
"""Characters of the name of a part (`A`, `Symbols`)."""
_PAGES = re.compile(r"(?:[A-Z\d]{1,2}[-.])?\d{1,4}(?:[-–—]\d{1,4})?(?:n|\s?ff?\.?)?[,;]?")
_FOLLOWING = re.compile(r"ff?\.,?")
_LEADER = re.compile(r".*(?:[.·…]\s?){2,}|[.·…]")


@dataclass(frozen=True, slots=True)
class _Text:
    """What stands in one column of a line: an entry, where it ends in pages."""

    line: Line
    pages: tuple[int, ...]
    letter: str
    """The first letter or digit, folded, else the first sign; empty where there are only leaders and pages."""
    comma: bool
    """Whether one stands before the pages."""


def index_table(page: Page, *, goes_on: bool) -> TableBlock | None:
    """Return the words of a page that are an index, as a table of one column.

    `goes_on`: the page before has one at its end, so that few entries are enough.
    """
    if not _has_pages(page.words):
        return None
    texts = [text for line in lines_of(word for word in page.words if word.level) for text in _texts(line)]
    entries = [text for text in texts if text.pages and text.letter]
    if not entries:
        return None
    top = _top(texts, min(entry.line.box.y0 for entry in entries))
    texts = [text for text in texts if text.line.box.y0 >= top]
    if len(entries) < (_MIN_REST if goes_on else _MIN_ENTRIES) or len(entries) < _ENTRIES * sum(
        bool(text.letter) for text in texts
    ):
        return None
    columns = _columns([text for text in texts if text.letter])
    if _is_sorted(columns) and (goes_on or _names_pages(columns)):
        return _table(page.number, [text.line for text in texts])
    return None


def _has_pages(words: Sequence[Word]) -> bool:
    """Whether there are enough numbers to look at the lines."""
    numbers = sum(word.text[0].isdigit() for word in words)
    return numbers >= max(_MIN_REST, _NUMBERS * sum(word.text[0].isalnum() for word in words))


def _texts(line: Line) -> list[_Text]:
    """Cut a line behind the pages of each entry, and where nothing is a page behind a wide gap."""
    parts: list[list[Word]] = []
    for word in line.words:
        before = parts[-1][-1] if parts else None
        is_page = bool(_PAGES.fullmatch(word.text)) or bool(_FOLLOWING.fullmatch(word.text))
        gap = (word.box.x0 - before.box.x1) / line.size if before is not None else 0.0
        ends = before is not None and bool(_PAGES.fullmatch(before.text)) and before.text[-1] not in ",;"
        if before is None or (not is_page and not _LEADER.fullmatch(word.text) and gap > (_GAP if ends else _WIDE_GAP)):
            parts.append([word])
        else:
            parts[-1].append(word)
    return [_text(part) for part in parts]


def _text(words: Sequence[Word]) -> _Text:
    at = len(words)
    while at and (_PAGES.fullmatch(words[at - 1].text) or _FOLLOWING.fullmatch(words[at - 1].text)):
        at -= 1
    line = line_of(words)
    name = "".join(word.text for word in words[:at] if not _LEADER.fullmatch(word.text))
    name = "".join(filter(str.isalnum, name)) or name
    pages: tuple[int, ...] = ()
    if 0 < at < len(words):
        before = words[at - 1]
        is_apart = words[at].box.x0 - before.box.x1 > _WIDE_GAP * line.size
        if before.text[-1] in ",:" or _LEADER.fullmatch(before.text) or is_apart:
            found = [re.findall(r"\d+", word.text) for word in words[at:]]
            pages = tuple(int(numbers[-1]) for numbers in found if numbers)
    return _Text(line, pages, name[:1].casefold(), at > 0 and words[at - 1].text[-1] == ",")


def _top(texts: Sequence[_Text], top: float) -> float:
    """Return the upper edge of the names of parts right above the first entries, else of these."""
    names = [text.line for text in texts if len(text.line.words) == 1 and len(text.line.text) <= _MAX_LETTER]
    above = [line.box.y0 for line in names if line.box.y0 < top <= line.box.y1 + _ABOVE * line.size]
    return min(above, default=top)


def _columns(entries: Sequence[_Text]) -> list[list[_Text]]:
    """Group entries that begin below each other."""
    columns: dict[float, list[_Text]] = defaultdict(list)
    for entry in entries:
        left = entry.line.box.x0
        columns[next((x for x in columns if abs(x - left) <= _NEAR), left)].append(entry)
    return [columns[x] for x in sorted(columns)]


def _is_sorted(columns: Sequence[Sequence[_Text]]) -> bool:
    pairs = [(before.letter, after.letter) for column in columns for before, after in pairwise(column)]
    return sum(before <= after for before, after in pairs) >= _SORTED * len(pairs)


def _names_pages(columns: Sequence[Sequence[_Text]]) -> bool:
    """Whether the numbers are pages: in no order, and several behind an entry, or a comma before them."""
    entries = [text for column in columns for text in column if text.pages]
    falls = sum(after.pages[0] < before.pages[0] for before, after in pairwise(entries))
    several = sum(len(entry.pages) > 1 for entry in entries)
    behind_comma = sum(entry.comma for entry in entries)
    return falls >= _FALLS * len(entries) and (several >= _SEVERAL * len(entries) or 2 * behind_comma > len(entries))


def _table(page: int, lines: Sequence[Line]) -> TableBlock:
    cells = [Cell(row, 0, 1, 1, line.box, line.words) for row, line in enumerate(lines)]
    box: Box = bounding_box(line.box for line in lines)
    return TableBlock(page, box, len(lines), 1, tuple(cells), index=True)
