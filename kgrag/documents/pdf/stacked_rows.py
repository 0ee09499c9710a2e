"""Rows of a grid that stand under each other in one drawn cell: a table with lines between its columns and around it alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Box, Line, Word, lines_of

__all__ = ["with_stacked_rows"]

_MIN_STACKED = 5
"""Lines of the first cell from which they may be rows: fewer may be a name that was broken."""
_ALIGNED = 0.8
"""Share of the first cell's lines that must stand beside a line of another cell."""
_SAME_LINE = 0.5
"""Line heights by which lines of one row may differ."""
_VALUE = re.compile(r"^[-+±<>≤≥~(]?[$€£¥]?\d")
_LONG_LINE = 3
"""Words of a line from which the next one may go on with it, where the next word would not have fitted."""
_LONG_NAME = 0.7
"""Share of its cell's width from which the median line of the first cell is a wrapped text."""


def with_stacked_rows(table: TableBlock) -> TableBlock:
    """Return the table with each drawn row that has many rows stacked in its cells divided into them; itself where none has."""
    divided: list[list[Cell]] = []
    for row in range(table.row_count):
        cells = [cell for cell in table.cells if cell.row == row]
        divided += _divided(cells, table) or [cells]
    if len(divided) == table.row_count:
        return table
    numbered = tuple(replace(cell, row=row) for row, cells in enumerate(divided) for cell in cells)
    return replace(table, row_count=len(divided), cells=numbered)


def _divided(cells: Sequence[Cell], table: TableBlock) -> list[list[Cell]]:
    """The rows that are stacked in the cells of a drawn row; none where they are no rows."""
    if len(cells) != table.column_count or any(
        cell.row_span > 1 or cell.column_span > 1 or cell.header for cell in cells
    ):
        return []
    lines = [lines_of(cell.words) for cell in sorted(cells, key=lambda cell: cell.column)]
    names, others = lines[0], lines[1:]
    if not _are_full_rows(lines, [cell.box for cell in sorted(cells, key=lambda cell: cell.column)]):
        if len(names) < _MIN_STACKED or not _are_names(names, cells[0].box):
            return []
        beside = sum(any(_same_line(name, line) for column in others for line in column) for name in names)
        if beside < _ALIGNED * len(names):
            return []
    tops = [name.box.y0 - _SAME_LINE * name.size for name in names]
    rows: list[list[list[Word]]] = [[[] for _ in lines] for _ in names]
    for column, of_column in enumerate(lines):
        for line in of_column:
            rows[max(bisect_right(tops, line.box.y0) - 1, 0)][column].extend(line.words)
    edges = [cells[0].box.y0, *tops[1:], cells[0].box.y1]
    return [
        [
            replace(cell, box=Box(cell.box.x0, edges[row], cell.box.x1, edges[row + 1]), words=tuple(words))
            for cell, words in zip(sorted(cells, key=lambda cell: cell.column), of_row, strict=True)
        ]
        for row, of_row in enumerate(rows)
    ]


def _are_full_rows(columns: Sequence[Sequence[Line]], boxes: Sequence[Box]) -> bool:
    """Whether all cells have as many lines side by side, those of one begin with numbers, and no line goes on with the one above."""
    first = columns[0]
    if len(first) < 2 or any(len(lines) != len(first) for lines in columns):
        return False
    if not all(_same_line(one, other) for lines in columns for one, other in zip(first, lines, strict=True)):
        return False
    if not any(all(_VALUE.match(line.text) for line in lines) for lines in columns):
        return False
    return not any(_goes_on(lines, box) for lines, box in zip(columns, boxes, strict=True))


def _goes_on(lines: Sequence[Line], cell: Box) -> bool:
    """Whether most lines of a cell were broken at its width, or one begins in the middle of a text."""
    broken = 0
    for above, below in pairwise(lines):
        if _VALUE.match(below.text):
            continue
        if below.text[0].islower() or below.text[0] in "([" or above.text[-1] in "-,(/&":
            return True
        broken += len(above.words) >= _LONG_LINE and above.box.x1 + below.words[0].box.width >= cell.x1
    return 2 * broken > len(lines) - 1


def _are_names(names: Sequence[Line], cell: Box) -> bool:
    """Whether lines are short texts of their own, and not one text that was broken at the cell's width."""
    return median(name.box.width for name in names) < _LONG_NAME * cell.width


def _same_line(one: Line, other: Line) -> bool:
    return abs(one.pitch_base - other.pitch_base) <= _SAME_LINE * one.size
