"""Tables as Markdown, whole and in parts that fit a window."""

from __future__ import annotations

from collections.abc import Sequence

from kgrag.documents.blocks import TableRow

__all__ = ["join_header_rows", "markdown_lines", "markdown_row", "named_cells"]


def join_header_rows(rows: Sequence[TableRow]) -> TableRow | None:
    """Make one row of column headings of several: `Supply voltage` over `Min` becomes `Supply voltage Min`."""
    if not rows:
        return None
    width = max(len(row.cells) for row in rows)
    columns: list[str] = []
    for column in range(width):
        parts = [row.cells[column] for row in rows if column < len(row.cells) and row.cells[column]]
        columns.append(" ".join(dict.fromkeys(parts)))
    anchors = tuple(dict.fromkeys(anchor for row in rows for anchor in row.anchors))
    return TableRow(tuple(columns), anchors, tuple(link for row in rows for link in row.links))


def markdown_row(cells: Sequence[str]) -> str:
    """Write a row; a `|` in a cell is escaped and a line break becomes a blank."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def markdown_lines(header: TableRow | None, rows: Sequence[TableRow]) -> tuple[list[str], list[str]]:
    """Write a table: the lines of its header with the rule below, and those of its body. Without column headings they are blank."""
    width = max((len(row.cells) for row in (*rows, *((header,) if header else ()))), default=0)
    names = header.cells if header else ("",) * width
    return [markdown_row(names), "|" + " --- |" * width], [markdown_row(row.cells) for row in rows]


def named_cells(header: TableRow | None, row: TableRow) -> list[str]:
    """Write the cells of a row that have text, each with its column's heading: `Min: 3.0 V`."""
    names = header.cells if header else ("",) * len(row.cells)
    return [f"{name}: {cell}" if name else cell for name, cell in zip(names, row.cells, strict=False) if cell]
