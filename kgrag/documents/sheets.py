"""Sheets of whatever program to blocks: what nothing empty parts is a table, with what stands above and below it, and its headers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from kgrag.documents.blocks import Block, TableRow, join_header_rows
from kgrag.documents.table_headers import (
    YEAR,
    Cells,
    column_kind,
    count_headers,
    filled,
    first_of_table,
    is_header,
    kind_of,
    with_spans,
)

__all__ = ["Row", "Span", "sheet_blocks"]

Row = dict[int, str]
"""Column → text, for the cells that have any."""
MOST_ABOVE = 10
"""Rows with few cells above a header: who ordered what, and when."""
DEEPEST_HEADER = 6
"""Rows of names of columns, at most."""
FEWEST_CONTINUED = 3
"""Columns of a table that an empty row parts."""
LONGEST_LABEL = 40
"""Characters of a row's first cell that is all it has; what is longer, and longer than those of other rows, is a note below the table."""


@dataclass(frozen=True, slots=True)
class Span:
    """A cell over several rows or columns: the first and last of both, rows counted from 0."""

    top: int
    bottom: int
    left: int
    right: int


def sheet_blocks(
    title: str, rows: Iterable[Row], number: int, beside: Sequence[str], *, spans: Sequence[Span] = ()
) -> list[Block]:
    """Make a heading for a sheet, a table for each of its groups of rows and columns, and paragraphs of what lies beside its cells."""
    at_row: dict[int, list[Span]] = {}
    for span in spans:
        at_row.setdefault(span.top, []).append(span)
    regions: list[_Region] = []
    last: dict[tuple[int, ...], _Region] = {}
    for numbered in _regions(rows):
        region = _Region(numbered, at_row)
        above = last.get(region.columns)
        if above is not None and above.is_continued_by(region):
            above.add(region)
        else:
            regions.append(region)
            last[region.columns] = region
    blocks = [block for region in regions for block in region.blocks(number)]
    blocks += [Block("paragraph", line, 0, number, number) for line in beside]
    return [Block("heading", title, 1, number, number), *blocks] if blocks else []


_Numbered = tuple[int, Row]


def _regions(rows: Iterable[Row]) -> Iterator[list[_Numbered]]:
    """Part rows where a row is empty, and those where a column is."""
    for group in _runs(enumerate(rows)):
        columns = sorted({column for _, row in group for column in row})
        for span in _consecutive(columns):
            yield from _runs(
                (number, {column: row[column] for column in span if column in row}) for number, row in group
            )


def _runs(rows: Iterable[_Numbered]) -> Iterator[list[_Numbered]]:
    run: list[_Numbered] = []
    for number, row in rows:
        if row:
            run.append((number, row))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _consecutive(numbers: Sequence[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for number in numbers:
        if run and number != run[-1] + 1:
            yield run
            run = []
        run.append(number)
    if run:
        yield run


class _Region:
    """Rows and columns that nothing empty parts."""

    def __init__(self, rows: Sequence[_Numbered], at_row: dict[int, list[Span]]) -> None:
        self.columns = tuple(sorted({column for _, row in rows for column in row}))
        self._top, self._bottom = rows[0][0], rows[-1][0]
        self._width = len(self.columns)
        self._cells: list[Cells] = [[row.get(column, "") for column in self.columns] for _, row in rows]
        self._spans: dict[int, list[Span]] = {}
        """Of a row of this region the cells in it that go over several, in its own rows and columns."""
        seen: set[tuple[int, int]] = set()
        place = {column: at for at, column in enumerate(self.columns)}
        for number, (row, _) in enumerate(rows):
            for span in at_row.get(row, ()):
                if span.left in place and (number, span.left) not in seen:
                    seen.add((number, span.left))
                    bottom = min(number + span.bottom - span.top, len(rows) - 1)
                    right = min(place[span.left] + span.right - span.left, self._width - 1)
                    self._spans.setdefault(number, []).append(Span(number, bottom, place[span.left], right))

    def blocks(self, page: int) -> Iterator[Block]:
        """Yield what stands above the table as paragraphs, the table, and what stands below it; a single row or column is paragraphs."""
        first, end = self._first(), self._end()
        if self._width == 1 or end - first < 2:
            first = end = len(self._cells)
        for row in self._cells[:first]:
            yield _line(row, page)
        if first < end:
            headers = self._count_headers(first, end)
            header = join_header_rows([TableRow(tuple(row)) for row in self._header(first, headers)])
            body = [TableRow(tuple(row)) for row in self._body(first + headers, end)]
            yield Block("table", "", 0, page, page, header=header, rows=tuple(body))
        for row in self._cells[end:]:
            yield _line(row, page)

    def is_continued_by(self, other: _Region) -> bool:
        """Whether one empty row parts a table with names of columns from rows without any, whose numbers stand in the same columns."""
        if other._top - self._bottom != 2 or self._width < FEWEST_CONTINUED:
            return False
        rows = other._cells
        if any(filled(row) < 2 for row in rows) or other._count_headers(0, len(rows)):
            return False
        there = [column_kind([row[column] for row in rows]) for column in range(self._width)]
        kinds = self._kinds
        return "number" in kinds and all(
            one == other_one for one, other_one in zip(kinds, there, strict=True) if one == "number" and other_one
        )

    @cached_property
    def _kinds(self) -> list[str]:
        """Of what kind the columns of a table with names are; empty where there is none, or something stands below it."""
        first, end = self._first(), self._end()
        headers = self._count_headers(first, end) if end == len(self._cells) and end - first > 1 else 0
        body = self._cells[first + headers :] if headers else []
        return [column_kind([row[column] for row in body]) for column in range(self._width)] if headers else []

    def add(self, other: _Region) -> None:
        """Take the rows of a region that goes on with this one."""
        below = len(self._cells)
        for row, spans in other._spans.items():
            self._spans[below + row] = [
                replace(span, top=below + span.top, bottom=below + span.bottom) for span in spans
            ]
        self._cells += other._cells
        self._bottom = other._bottom

    def _first(self) -> int:
        """Say where the table begins: below titles, and below labels with their values where the first full row is a header."""
        full = first_of_table(self._cells, self._width)
        if 0 < full <= MOST_ABOVE and full < len(self._cells) - 1 and is_header(self._cells[full:], self._width):
            return full if not any(self._spans_across(row) for row in range(full)) else self._titles()
        return self._titles()

    def _titles(self) -> int:
        """Count the rows at the top with one cell, in the first column or over half of the columns."""
        titles = 0
        for number, row in enumerate(self._cells[:-1]):
            is_tall = any(span.bottom > number and span.left == 0 for span in self._spans.get(number, ()))
            if filled(row) > 1 or is_tall or not (row[0] or self._is_wide(number)):
                break
            titles = number + 1
        return titles

    def _end(self) -> int:
        """Say where the table ends: above rows with one cell that goes over half of the columns or is longer than all others of it."""
        longest = max((len(row[0]) for row in self._cells if filled(row) > 1), default=0)
        end = len(self._cells)
        while end > 1 and filled(row := self._cells[end - 1]) == 1 and row[0]:
            if not self._is_wide(end - 1) and len(row[0]) <= max(longest, LONGEST_LABEL):
                break
            end -= 1
        return end

    def _is_wide(self, number: int) -> bool:
        return any(span.right - span.left + 1 > self._width / 2 for span in self._spans.get(number, ()))

    def _spans_across(self, number: int) -> bool:
        """Whether a row has a cell over several columns, but not over half of them."""
        return any(span.right > span.left for span in self._spans.get(number, ())) and not self._is_wide(number)

    def _count_headers(self, first: int, end: int) -> int:
        """Say how many rows name the columns: as many as the cells of the first one go over, where they name groups of columns."""
        spans = self._spans.get(first, ())
        rows = self._cells[first:end]
        deep = max((span.bottom - first + 1 for span in spans), default=1)
        if any(span.right > span.left for span in spans):
            deep = max(deep, 2)
        if deep > DEEPEST_HEADER:
            deep = 1
        named = rows[:deep]
        if deep >= len(rows) or not all(map(_is_name, chain.from_iterable(named))):
            return 0
        if deep > 1:
            return deep - 1 + max(1, count_headers(_below_names(named, rows[deep:]), self._width))
        return min(count_headers(rows, self._width), len(rows) - 1)

    def _header(self, first: int, headers: int) -> list[Cells]:
        rows = [list(row) for row in self._cells[first : first + headers]]
        spans = [span for number in range(first, first + headers) for span in self._spans.get(number, ())]
        if not any(span.right > span.left for span in spans):
            return with_spans(rows)
        for span in spans:
            text = self._cells[span.top][span.left]
            for column in range(span.left, span.right + 1):
                rows[span.top - first][column] = text
        return rows

    def _body(self, first: int, end: int) -> list[Cells]:
        """Return rows in which a cell over several of them is written in each."""
        rows: list[Cells] = []
        hanging: dict[int, Span] = {}
        for number in range(first, end):
            row = list(self._cells[number])
            hanging = {column: span for column, span in hanging.items() if span.bottom >= number}
            for column, span in hanging.items():
                row[column] = row[column] or self._cells[span.top][column]
            hanging |= {span.left: span for span in self._spans.get(number, ()) if span.bottom > number}
            rows.append(row)
        return rows


def _below_names(named: Sequence[Cells], rows: Sequence[Cells]) -> list[Cells]:
    """Write names of columns of several rows as one, above the rows below: whether those begin with units is told from it."""
    names = join_header_rows([TableRow(tuple(row)) for row in named])
    return [list(names.cells) if names else [], *rows]


def _is_name(cell: str) -> bool:
    return YEAR.fullmatch(cell) is not None or kind_of(cell) not in ("number", "date")


def _line(row: Cells, page: int) -> Block:
    return Block("paragraph", " | ".join(filter(None, row)), 0, page, page)
