"""Whether a drawn grid or the values under each other say a table better, where both finders see one."""

from __future__ import annotations

from collections.abc import Sequence

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Word, lines_of
from kgrag.documents.pdf.value_rows import CURRENCY, SIGN, row_of
from kgrag.documents.pdf.value_tables import ValueTables

__all__ = ["better_tables"]

_SAME_HEIGHT = 0.1
"""Share of the height of a grid by which the ends of one beside it may differ."""


def better_tables(found: ValueTables, grids: Sequence[TableBlock]) -> tuple[list[TableBlock], set[Word]]:
    """Return the tables of values, and their words, that no drawn grid says better.

    A grid is better where it has the whole table, of several each, or with the grids beside it, and a number to a cell; a grid of shaded
    cells has `$` in columns of its own, or two numbers in one cell, and not the header, which is not shaded; one whose cells have gaps
    between them has the numbers of one column in two.
    """
    better = [
        grid
        for grid in grids
        if all(
            _hold([grid, *_beside(grid, grids)], table) and not _parts_columns(grid, table)
            for table in found.tables
            if grid.box.touches(table.box)
        )
        and _one_value_a_cell(grid)
    ]
    tables = [table for table in found.tables if not any(grid.box.touches(table.box) for grid in better)]
    boxes = [table.box for table in tables]
    return tables, {word for word in found.words if any(box.holds(word.box.center, 1.0) for box in boxes)}


def _beside(grid: TableBlock, grids: Sequence[TableBlock]) -> list[TableBlock]:
    """The grids of as many columns that stand at the same height: numbers in their rows look like those of one table."""
    return [
        other
        for other in grids
        if other is not grid
        and other.column_count == grid.column_count
        and max(abs(other.box.y0 - grid.box.y0), abs(other.box.y1 - grid.box.y1)) < _SAME_HEIGHT * grid.box.height
    ]


def _hold(grids: Sequence[TableBlock], table: TableBlock) -> bool:
    """Whether grids have a table's words, and as many of the headings of its columns, or name their columns themselves."""
    named = all(map(_names_columns, grids))
    headings = [word for cell in table.cells if cell.header and cell.column and not named for word in cell.words]
    words = [word for cell in table.cells if not (named and cell.header) for word in cell.words]
    return all(
        sum(any(grid.box.holds(word.box.center, 2.0) for grid in grids) for word in part) >= 0.9 * len(part)
        for part in (words, headings)
    )


def _names_columns(grid: TableBlock) -> bool:
    """Whether each column of a grid has a heading in it, without numbers: what stands above the grid is none."""
    headings = [cell for cell in grid.cells if cell.header and cell.row == 0]
    texts = [word for cell in headings for word in cell.words]
    return (
        len(headings) == grid.column_count
        and all(cell.words for cell in headings)
        and not any(character.isdigit() for word in texts for character in word.text)
    )


def _parts_columns(grid: TableBlock, table: TableBlock) -> bool:
    """Whether a grid has the numbers of one of the table's columns in several, or columns in which it has nothing, not even a heading.

    So it is where cells have gaps between them.
    """
    filled = [cell for cell in grid.cells if cell.words]
    for column in range(1, table.column_count):
        cells = [cell for cell in table.cells if cell.column == column and not cell.header]
        places = {(inside.column, inside.column_span) for inside in _cells_of(cells, filled)}
        if len(places) > 1:
            return True
    named = {cell.column for cell in filled if cell.column_span == 1}
    return grid.column_count - len(named) > 1


def _cells_of(cells: Sequence[Cell], among: Sequence[Cell]) -> list[Cell]:
    """Return those of the other cells in which the words of some lie."""
    middles = [word.box.center for cell in cells for word in cell.words]
    return [cell for cell in among if any(cell.box.holds(middle) for middle in middles)]


def _one_value_a_cell(grid: TableBlock) -> bool:
    signs = full = 0
    for cell in grid.cells:
        texts = [word.text for word in cell.words]
        if texts and all(CURRENCY.match(text) or SIGN.match(text) for text in texts):
            signs += 1
        row = [row_of(line) for line in lines_of(cell.words)]
        full += any(len(part.values) > 1 for part in row)
    return signs + full <= 0.02 * len(grid.cells)
