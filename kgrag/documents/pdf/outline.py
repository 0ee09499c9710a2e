"""A PDF's outline (bookmarks): what it says about headings and their level, and where they stand on the pages."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz

from kgrag.documents.pdf.blocks import TextBlock
from kgrag.documents.pdf.geometry import Line, Word, bounding_box, line_of, lines_of, pieces_of
from kgrag.documents.pdf.pages import Page
from kgrag.documents.section_labels import SECTION_WORDS

__all__ = [
    "LABEL",
    "LABEL_REACH",
    "Outline",
    "OutlineEntry",
    "OutlinedHeadings",
    "find_outlined",
    "folded_titles",
    "read_outline",
]

_NUMBER = re.compile(
    rf"^(?:(?:{SECTION_WORDS})\s+)?"
    r"(?:(?:\d{1,3}|[ivxlc]{1,6}|[a-z])(?:\.\d{1,3})*)(?:[.:)]+\s*|\s+|$)",
    re.IGNORECASE,
)
LABEL = re.compile(
    rf"^(?:{SECTION_WORDS})\s+(?:\d{{1,3}}|[A-Z]|[IVXLC]{{1,6}})[.:]?$",
    re.IGNORECASE,
)
"""What stands above a chapter's title."""
LABEL_REACH = 6.0
"""Line heights from a chapter's title up to its label."""
_MAX_LINES = 4
_PITCH = 2.2
"""Line heights from line to line within a heading."""
_COLUMN_GAP = 1.0
"""Line heights between the columns of a page; a number may stand as far from its title, so whole lines are compared first."""
_NUMBER_GAP = 3.0
"""Line heights between a number and its title."""
_BARE_NUMBER = re.compile(r"(?:\d{1,2}|[A-Z](?=\.)|[IVXL]{1,6})(?:\.\d{1,2}){0,4}\.?|[A-Z]\.?")
_ABOVE = 30.0
"""Points below where the outline leads that a heading may stand above it."""
_ALIKE = 90.0
"""Of 100: titles whose formulas, quotes or logos are written otherwise in the outline."""
_LONGER = 1.25
"""Times a title's length from which a text cannot be so alike."""
_MIN_ALIKE = 8
"""Characters of titles that are compared so."""
_MAX_LEVEL = 6
_MIN_BELOW_TITLE = 3
"""Entries right below the only one of the first level, which leads to the first page, for it to be the document's title."""


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A bookmark of the PDF."""

    title: str
    level: int
    """From 1."""
    page: int = 0
    """From 1; 0 where it leads nowhere."""
    above_bottom: float | None = None
    """Points from the page's lower edge to where it leads."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The bookmarks of a PDF, in order."""

    entries: tuple[OutlineEntry, ...] = ()
    title: str = ""
    """The entry above all others, which is then none of `entries`."""


@dataclass(frozen=True)
class OutlinedHeadings:
    """The headings that an outline names, found on the pages."""

    blocks: tuple[TextBlock, ...] = ()
    """Of kind `heading`, with their level."""
    share: float = 0.0
    """Of the outline's entries."""

    def on(self, page: int) -> list[TextBlock]:
        """Those on a page (from 1)."""
        return self._by_page.get(page, [])

    @cached_property
    def _by_page(self) -> dict[int, list[TextBlock]]:
        by_page: dict[int, list[TextBlock]] = defaultdict(list)
        for block in self.blocks:
            by_page[block.page].append(block)
        return dict(by_page)


def read_outline(path: Path) -> Outline:
    """Return the PDF's bookmarks; none where it has none. Raises `RuntimeError` where pdfium cannot open the file."""
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    try:
        entries = list(_entries(document))
    finally:
        document.close()
    top, below = ([entry for entry in entries if entry.level == level] for level in (1, 2))
    if len(top) == 1 and entries[0] is top[0] and top[0].page <= 1 and len(below) >= _MIN_BELOW_TITLE:
        raised = (OutlineEntry(e.title, e.level - 1, e.page, e.above_bottom) for e in entries[1:])
        return Outline(tuple(raised), top[0].title)
    return Outline(tuple(entries))


def _entries(document: Any) -> Iterator[OutlineEntry]:
    for bookmark in document.get_toc():
        title = " ".join(bookmark.get_title().split())
        target = bookmark.get_dest() if title else None
        page = target.get_index() if target is not None else None
        if title:
            yield OutlineEntry(
                title,
                bookmark.level + 1,
                0 if page is None else page + 1,
                _height(target) if target is not None else None,
            )


def _height(target: Any) -> float | None:
    import pypdfium2.raw as pdfium

    mode, place = target.get_view()
    match mode:
        case pdfium.PDFDEST_VIEW_XYZ if len(place) > 1:
            return float(place[1])
        case pdfium.PDFDEST_VIEW_FITH | pdfium.PDFDEST_VIEW_FITBH if place:
            return float(place[0])
    return None


@lru_cache(maxsize=4096)
def folded_titles(text: str) -> frozenset[str]:
    """Fold a title for comparing, with and without what may be its number: case, spaces and punctuation do not count."""
    plain = unicodedata.normalize("NFKC", text).casefold().strip()
    both = {plain, _NUMBER.sub("", plain, count=1)} - {""}
    return frozenset("".join(filter(str.isalnum, one)) or "".join(one.split()) for one in both)


def find_outlined(pages: Sequence[Page], outline: Outline) -> OutlinedHeadings:
    """Find each entry's heading on the page where it leads, or on the one after: the nearest lines that say its title."""
    by_number = {page.number: page for page in pages}
    readings: dict[int, _PageLines] = {}
    blocks: list[TextBlock] = []
    for entry in outline.entries:
        for number in (entry.page, entry.page + 1):
            page = by_number.get(number)
            if page is None:
                continue
            if number not in readings:
                readings[number] = _PageLines(page)
            reading = readings[number]
            at = page.height - entry.above_bottom if entry.above_bottom is not None and number == entry.page else None
            if lines := reading.take(entry.title, at):
                box = bounding_box(line.box for line in lines)
                blocks.append(TextBlock("heading", number, box, tuple(lines), level=min(entry.level, _MAX_LEVEL)))
                break
    return OutlinedHeadings(tuple(blocks), len(blocks) / max(1, len(outline.entries)))


class _PageLines:
    """The lines of a page, as they are and cut at the gaps between columns, from which headings are taken."""

    def __init__(self, page: Page) -> None:
        self._whole = lines_of(word for word in page.words if word.level)
        self._taken: set[Word] = set()

    @cached_property
    def _pieces(self) -> list[Line]:
        return [piece for line in self._whole for piece in pieces_of(line, _COLUMN_GAP)]

    def take(self, title: str, at: float | None) -> list[Line]:
        """Return the lines that say a title, with the label above them, and keep them; `at` is the y where they are expected."""
        for alike, divided in product((False, True), (False, True)):
            lines = self._pieces if divided else self._whole
            found = [(self._distance(lines[run[0]], at), run) for run in self._saying(title, lines, alike=alike)]
            if found:
                _, best = min(found)
                taken = [*self._label(lines, best[0]), *(lines[index] for index in best)]
                if divided and (number := self._number(lines, best[0])):
                    at_first = taken.index(lines[best[0]])
                    taken[at_first] = line_of([*number.words, *lines[best[0]].words])
                self._taken.update(word for line in taken for word in line.words)
                return taken
        return []

    def _saying(self, title: str, lines: Sequence[Line], *, alike: bool) -> Iterator[list[int]]:
        """Yield runs of lines (their indexes) that say the title."""
        wanted = folded_titles(title)
        for start, line in enumerate(lines):
            run, text = [start], line.text
            while not self._taken.intersection(lines[run[-1]].words):
                found = folded_titles(text)
                if found & wanted or (alike and _are_alike(found, wanted)):
                    yield list(run)
                    break
                following = _next_below(lines, run[-1])
                if alike:
                    begun = any(len(other) <= _LONGER * len(one) for one in wanted for other in found)
                else:
                    begun = any(one.startswith(other) for one in wanted for other in found)
                if following is None or len(run) == _MAX_LINES or not begun:
                    break
                run.append(following)
                text = f"{text} {lines[following].text}"

    def _distance(self, first: Line, at: float | None) -> tuple[float, float]:
        if at is None:
            return -first.size, first.box.y0
        y = first.box.y0
        return (abs(y - at) if y > at - _ABOVE else 10 * abs(y - at)), -first.size

    def _number(self, lines: Sequence[Line], first: int) -> Line | None:
        """The number that stands before a title at the same height, and that the outline does not say."""
        title, number = lines[first], lines[first - 1] if first else None
        if number is None or not _BARE_NUMBER.fullmatch(number.text) or self._taken.intersection(number.words):
            return None
        is_beside = 0 < title.box.x0 - number.box.x1 < _NUMBER_GAP * title.size
        same_height = abs(title.pitch_base - number.pitch_base) < 0.5 * title.size
        return number if is_beside and same_height and number.bold == title.bold else None

    def _label(self, lines: Sequence[Line], first: int) -> list[Line]:
        """The line above a title that says which chapter it is."""
        title, label = lines[first], lines[first - 1] if first else None
        if label is None or not LABEL.match(label.text) or self._taken.intersection(label.words):
            return []
        return [label] if title.box.y0 - label.box.y1 < LABEL_REACH * title.size else []


def _are_alike(some: frozenset[str], others: frozenset[str]) -> bool:
    return any(
        min(len(one), len(other)) >= _MIN_ALIKE and fuzz.ratio(one, other) >= _ALIKE for one in some for other in others
    )


def _next_below(lines: Sequence[Line], index: int) -> int | None:
    """The next line in the same column, of about the same size."""
    line = lines[index]
    for other in range(index + 1, min(len(lines), index + 6)):
        below = lines[other]
        if below.pitch_base - line.pitch_base > _PITCH * max(line.size, below.size):
            return None
        if below.box.x0 < line.box.x1 and line.box.x0 < below.box.x1 and below.pitch_base > line.box.y1:
            return other if 0.7 < below.size / line.size < 1.4 else None
    return None
