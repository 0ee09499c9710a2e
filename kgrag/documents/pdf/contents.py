"""Tables of contents, lists of figures and tables, and indexes: lines that name a heading, or a word, and the pages where it stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Line, Word, bounding_box, is_typewriter, lines_of, pieces_of
from kgrag.documents.pdf.pages import Page
from kgrag.documents.pdf.printed_index import index_table

__all__ = ["Contents", "comparable", "find_contents", "without_leaders"]

_MIN_ENTRIES = 3
_MIN_UNNUMBERED = 5
"""Lines without page numbers that go on with a table of contents."""
_EVIDENCE = 0.5
"""Share of a run's titles that must stand elsewhere in the document, or have leaders."""
_RIGHT = 4.0
"""Points by which the page numbers' right ends may differ."""
_PAGE = re.compile(r"^(?:\d{1,4}|[ivxlc]{1,6})$")
_LEADERS = re.compile(r"(?:(?:[.·…_]\s?){3,}|(?:-\s?){6,})\s*")
_SECTION = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z](?:\.\d{1,3})*\.?)\s+\S")
_SECTION_NUMBER = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z](?:\.\d{1,3})*\.?)\s+")
_HYPHENS = re.compile(r"(?:-\s?){6,}")
_LEADER_WORD = re.compile(r"^[.·…_]+$")
_DOTS = re.compile(r"^[.·…]+$")
_MIN_DOTS = 4
"""Of a leader: three are left out words."""
_COMPARED = 28
"""Characters of a title that are compared: a long heading is broken into lines."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The tables of contents of a document, and its indexes."""

    tables: tuple[TableBlock, ...]
    words: frozenset[tuple[int, Word]]
    """With the page: the words that the tables took."""
    titles: frozenset[str]
    """`comparable` titles that they name."""


@dataclass(frozen=True, slots=True)
class _Entry:
    line: Line
    title: str
    page: str
    leaders: bool
    right: float


def comparable(text: str) -> str:
    """Fold a title for comparing: case, spaces and leaders do not count."""
    return "".join(_LEADERS.sub(" ", text).casefold().split())[:_COMPARED]


def find_contents(pages: Sequence[Page], outline: frozenset[str] = frozenset()) -> Contents:
    """Find indexes, and runs of lines that end in page numbers under each other, whose titles stand elsewhere or have leaders.

    `outline` are the `comparable` titles of headings that were taken out of the pages.
    """
    indexes = _indexes(pages)
    taken = {number: {word for cell in table.cells for word in cell.words} for number, table in indexes.items()}
    pages = [
        replace(page, words=tuple(word for word in page.words if word not in taken[page.number]))
        if page.number in taken
        else page
        for page in pages
    ]
    lines = {page.number: lines_of(word for word in page.words if word.level) for page in pages}
    known = Counter(comparable(line.text) for found in lines.values() for line in found)
    known.update(outline)
    # A row of several tables alike stands elsewhere too, but with its number, as no heading does.
    again = Counter(line.text for found in lines.values() for line in found if _PAGE.match(line.words[-1].text))
    for text, count in again.items():
        known[comparable(text)] -= count - 1
    tables: list[TableBlock] = []
    words = {(number, word) for number, found in taken.items() for word in found}
    titles: set[str] = set()
    for page in pages:
        before = bool(tables) and tables[-1].page >= page.number - 1
        for run in _runs(lines[page.number], known, len(pages), follows=before):
            tables.append(_table(page.number, run))
            words.update((page.number, word) for entry in run for word in entry.line.words)
            titles.update(comparable(entry.title) for entry in run if entry.page)
    return Contents((*tables, *indexes.values()), frozenset(words), frozenset(titles))


def _indexes(pages: Sequence[Page]) -> dict[int, TableBlock]:
    """Find the index on each page that has one, by its number."""
    found: dict[int, TableBlock] = {}
    for page in pages:
        if table := index_table(page, goes_on=page.number - 1 in found):
            found[page.number] = table
    return found


def without_leaders(words: Sequence[Word]) -> list[Word]:
    """Return words without the dots that lead from a label to its value on the same line, also those that its last word ends in."""
    if not any(_DOTS.match(word.text) for word in words):
        return list(words)
    changed: dict[Word, Word | None] = {}
    for line in lines_of(word for word in words if word.level and not is_typewriter(word.font)):
        at = 0
        for is_dots, found in groupby(line.words, key=lambda word: bool(_DOTS.match(word.text))):
            group = list(found)
            before = line.words[at - 1] if at else None
            at += len(group)
            if (
                is_dots
                and before is not None
                and at < len(line.words)
                and sum(len(word.text) for word in group) >= _MIN_DOTS
                and group[0].box.x0 - before.box.x1 < line.size
                and (label := before.text.rstrip(".·…"))[-1:].isalpha()
            ):
                changed.update(dict.fromkeys(group))
                changed[before] = replace(before, text=label)
    result = [changed.get(word, word) for word in words]
    return [word for word in result if word is not None]


def _entry(line: Line) -> _Entry | None:
    words = line.words
    text = line.text
    if len(words) < 2 or not _PAGE.match(words[-1].text):
        joined = re.match(rf"^(.*?\S)\s*{_LEADERS.pattern}(\d{{1,4}})$", text)
        return _Entry(line, joined[1], joined[2], True, line.box.x1) if joined else None
    leaders = bool(_LEADERS.search(text))
    if not leaders and len(pieces_of(line, 1.5)) < 2:
        return None
    title = _LEADERS.sub("", text[: len(text) - len(words[-1].text)]).strip()
    return _Entry(line, title, words[-1].text, leaders, line.box.x1) if re.search(r"[^\W\d]", title) else None


def _runs(lines: Sequence[Line], known: Counter[str], page_count: int, *, follows: bool) -> list[list[_Entry]]:
    runs: list[list[_Entry]] = []
    index = 0
    while index < len(lines):
        run = _numbered_run(lines, index)
        used = len(run)
        numbered = [entry for entry in run if entry.page]
        # The last entries may stand at the head of a page of their own.
        is_rest = (
            follows and index == 0 and bool(numbered) and all(_stands_elsewhere(entry, known) for entry in numbered)
        )
        if (len(numbered) >= _MIN_ENTRIES or is_rest) and _plausible(numbered, known, page_count):
            extra = _unnumbered_run(lines, index + used, known)
            runs.append(run + extra)
            index += used + len(extra)
            follows = True
            continue
        if follows:
            extra = _unnumbered_run(lines, index, known)
            if len(extra) >= _MIN_UNNUMBERED:
                runs.append(extra)
                index += len(extra)
                continue
        index += 1
    return runs


def _numbered_run(lines: Sequence[Line], start: int) -> list[_Entry]:
    """Entries under each other; one line between two of them is the beginning of a long title."""
    run: list[_Entry] = []
    waiting: list[_Entry] = []
    for line in lines[start:]:
        entry = _entry(line)
        if entry is not None and (not run or abs(entry.right - run[0].right) <= _RIGHT or entry.leaders):
            run.extend(waiting)
            waiting = []
            run.append(entry)
        elif run and not waiting and line.pitch_base - run[-1].line.pitch_base < 3 * line.size:
            waiting.append(_Entry(line, line.text, "", False, line.box.x1))
        else:
            break
    return run


def _unnumbered_run(lines: Sequence[Line], start: int, known: Counter[str]) -> list[_Entry]:
    """Entries of which most have no page number: each line is a numbered heading that stands elsewhere too."""
    run: list[_Entry] = []
    for line in lines[start:]:
        entry = _entry(line)
        if entry is not None and _SECTION.match(entry.title) and _stands_elsewhere(entry, known):
            run.append(entry)
            continue
        if known[comparable(line.text)] < 2 or not _SECTION.match(line.text):
            break
        run.append(_Entry(line, line.text, "", False, line.box.x1))
    return run


def _plausible(entries: Sequence[_Entry], known: Counter[str], page_count: int) -> bool:
    numbers = [int(entry.page) for entry in entries if entry.page.isdigit()]
    falls = sum(after < before for before, after in pairwise(numbers))
    if falls > 0.1 * len(numbers) or (numbers and max(numbers) > 2 * page_count + 20):
        return False
    evidence = sum(entry.leaders or _stands_elsewhere(entry, known) for entry in entries)
    return evidence >= _EVIDENCE * len(entries)


def _stands_elsewhere(entry: _Entry, known: Counter[str]) -> bool:
    """Whether another line begins with the title: where only its beginning is compared, the entry's own line counts once.

    The outline's entries have no numbers.
    """
    title = comparable(entry.title)
    unnumbered = comparable(_SECTION_NUMBER.sub("", entry.title))
    return known[title] > (comparable(entry.line.text) == title) or (unnumbered != title and known[unnumbered] > 0)


def _table(page: int, run: Sequence[_Entry]) -> TableBlock:
    cells: list[Cell] = []
    for row, entry in enumerate(run):
        words = entry.line.words
        title, number = (words[:-1], words[-1:]) if entry.page and _PAGE.match(words[-1].text) else (words, ())
        leaders = re.compile(r"[.·…_]+|-+") if _HYPHENS.search(entry.line.text) else _LEADER_WORD
        title = tuple(word for word in title if not leaders.fullmatch(word.text))
        for column, part in enumerate((title, number)):
            box = bounding_box(word.box for word in part) if part else entry.line.box
            cells.append(Cell(row, column, 1, 1, box, tuple(part)))
    return TableBlock(page, bounding_box(entry.line.box for entry in run), len(run), 2, tuple(cells), index=True)
