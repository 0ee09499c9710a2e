"""Grids of shaded cells that have `$` and `%` in columns of their own, as programs for filings write them."""

from __future__ import annotations

from dataclasses import replace

from kgrag.documents.pdf.blocks import Cell, TableBlock
from kgrag.documents.pdf.geometry import Box
from kgrag.documents.pdf.table_headers import cell_text
from kgrag.documents.pdf.value_rows import CURRENCY, SIGN

__all__ = ["with_signs_joined"]


def with_signs_joined(table: TableBlock) -> TableBlock:
    """Return the table with each column that has nothing but signs in the one of their numbers: currencies go before, others behind them.

    Unchanged where a cell goes over several columns or rows: there signs are told by values under each other.
    """
    if any(cell.column_span > 1 or cell.row_span > 1 for cell in table.cells):
        return table
    target = list(range(table.column_count))
    for column in range(table.column_count):
        texts = [cell_text(cell) for cell in table.cells if cell.column == column and cell.words]
        if texts and column + 1 < table.column_count and all(map(CURRENCY.fullmatch, texts)):
            target[column] = column + 1
        elif texts and column and all(map(SIGN.fullmatch, texts)):
            target[column] = target[column - 1]
    kept = sorted(set(target))
    if len(kept) == table.column_count:
        return table
    joined: dict[tuple[int, int], Cell] = {}
    for cell in sorted(table.cells, key=lambda cell: (cell.row, cell.column)):
        place = cell.row, kept.index(target[cell.column])
        before = joined.get(place)
        if before is None:
            joined[place] = replace(cell, column=place[1])
        else:
            box = Box(before.box.x0, before.box.y0, cell.box.x1, before.box.y1)
            joined[place] = replace(before, box=box, words=(*before.words, *cell.words))
    return replace(table, column_count=len(kept), cells=tuple(joined[place] for place in sorted(joined)))
