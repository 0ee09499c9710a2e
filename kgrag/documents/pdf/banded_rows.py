"""Tables of which only every other row is shaded, cell by cell: what stands between the shades is one area, and has the same columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Box, Word

__all__ = ["with_plain_rows"]

_MIN_CELLS = 2
"""Cells of a column that say where its texts begin."""
_OFF = 1.5
"""Points by which the begin of a text may be off it."""


def with_plain_rows(table: TableBlock) -> TableBlock:
    """Return the table with cells over several columns divided, where the texts in them begin as those of the columns do."""
    extents: dict[int, Box] = {}
    begins: dict[int, Counter[int]] = defaultdict(Counter)
    for cell in table.cells:
        if cell.column_span == 1:
            known = extents.get(cell.column, cell.box)
            extents[cell.column] = Box(min(known.x0, cell.box.x0), 0.0, max(known.x1, cell.box.x1), 0.0)
            if cell.words:
                begins[cell.column][round(min(word.box.x0 for word in cell.words))] += 1
    starts = {
        column: start
        for column, counted in begins.items()
        for start, count in counted.most_common(1)
        if count >= _MIN_CELLS
    }
    cells: list[Cell] = []
    for cell in table.cells:
        cells += _divided(cell, extents, starts) if cell.column_span > 1 and cell.row and cell.row_span == 1 else [cell]
    return replace(table, cells=tuple(cells)) if len(cells) > len(table.cells) else table


def _divided(cell: Cell, extents: Mapping[int, Box], starts: Mapping[int, int]) -> list[Cell]:
    """One cell per column, or the cell itself where it has one text, or one that goes over the end of a column."""
    columns = range(cell.column, cell.column + cell.column_span)
    words: dict[int, list[Word]] = {column: [] for column in columns}
    for word in cell.words:
        column = next(
            (
                one
                for one in columns
                if one in extents and extents[one].x0 - _OFF <= word.box.x0 and word.box.x1 <= extents[one].x1 + _OFF
            ),
            None,
        )
        if column is None:
            return [cell]
        words[column].append(word)
    filled = [column for column in columns if words[column]]
    if len(filled) < 2 or any(
        column not in starts or abs(min(word.box.x0 for word in words[column]) - starts[column]) > _OFF
        for column in filled
    ):
        return [cell]
    edges = [
        cell.box.x0,
        *(extents[column].x0 if column in extents else cell.box.x0 for column in columns[1:]),
        cell.box.x1,
    ]
    return [
        replace(
            cell,
            column=column,
            column_span=1,
            box=Box(edges[index], cell.box.y0, edges[index + 1], cell.box.y1),
            words=tuple(words[column]),
        )
        for index, column in enumerate(columns)
    ]
