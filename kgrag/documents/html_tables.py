"""Tables of HTML pages: which are tables and which are layout, and their rows with spans filled in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from kgrag.documents.blocks import Block, Link, TableRow, join_header_rows
from kgrag.documents.html_tags import HEADINGS, classes_of
from kgrag.documents.separators import NUMBER

__all__ = ["is_data_table", "is_marked", "rows_of_cells", "table_block"]

MAX_SPAN = 100
"""Of a cell over columns; a page that asks for more is wrong or hostile."""
MARKS = frozenset(["b", "strong", "center"])
"""How old pages mark the cells that name columns."""
MARKS_DEEP = 3
"""Elements between a cell and its mark."""
OF_A_ROW = ("row", "rowgroup")
"""What a cell says that names its row."""
FEWEST_NAMED = 3
"""Columns whose names are told by what stands below them, and rows below: `Voltage | 24` above `Current | 3` names none."""
MOST_LOOKED_AT = 50
"""Rows from which that is told."""
NAME = re.compile(r"(?=.*[^\W\d_])[^\d]{1,40}(?<![.;!?])")
"""What a column may be called."""
ENDED = re.compile(r"[.:;!?][\"'”’)\]]*$")
CELLS = frozenset({"td", "th"})
ROW_OR_CELL = CELLS | {"tr"}
OF_DOCBOOK = "informaltable"
"""The class of DocBook's tables without a caption, and of the element around them; what else has one row may place things."""
MAX_CELLS = 200_000
"""Of a table with its spans filled in; rows beyond are kept without filling."""


def is_data_table(table: Any) -> bool:
    """Whether a table has rows and columns; else it only places things on the page, and is read as if it were not there."""
    if table.get("role") in ("presentation", "none"):
        return False
    if next(table.iter(*HEADINGS), None) is not None:
        return False
    rows = list(_row_elements(table))
    if any(inner is not table for inner in table.iter("table")) and not _has_tables_in_cells(rows):
        return False
    has_header = next(table.iter("th"), None) is not None
    is_named = any(OF_DOCBOOK in classes_of(one) for one in (table, table.getparent()))
    return bool(len(rows) > 1 or ((has_header or is_named) and rows)) and any(
        len(list(_cells(row))) > 1 for _, row in rows
    )


def rows_of_cells(table: Any) -> Iterator[list[Any]]:
    """Yield the cells of each row of a table, whether it holds data or lays out."""
    return (list(_cells(row)) for _, row in _row_elements(table))


def _has_tables_in_cells(rows: Sequence[tuple[bool, Any]]) -> bool:
    """Whether a table names its columns, and rows below that fill them have tables in their cells: those are text of the cells."""
    cells = [list(_cells(row)) for _, row in rows]
    if len(cells) < 2 or any(one.tag != "th" or next(one.iter("table"), None) is not None for one in cells[0]):
        return False
    # A note over all columns fills them.
    return len(cells[0]) > 1 and all(sum(_span(cell.get("colspan")) for cell in row) > 1 for row in cells[1:])


def table_block(table: Any, read: Callable[[Any], Sequence[Block]], *, own_ids: Sequence[str]) -> Block | None:
    """Make a block of a table; `read` gives the blocks of a cell. None where all cells are empty."""
    rows: list[tuple[bool, TableRow]] = []
    hanging: dict[int, tuple[int, str]] = {}  # column → rows that its cell still covers, text
    cells_so_far = 0
    first_names_columns = _first_row_names_columns(table)
    for number, (in_head, row) in enumerate(_row_elements(table)):
        texts: list[str] = []
        anchors = [ident for ident in (row.get("id"),) if ident]
        links: list[Link] = []
        only_headings = True
        for cell in _cells(row):
            _fill_down(texts, hanging)
            blocks = read(cell)
            text = _in_one_line(line for block in blocks for line in block.lines)
            anchors.extend(ident for ident in (cell.get("id"),) if ident)
            anchors.extend(ident for block in blocks for ident in block.anchors)
            links.extend(link for block in blocks for link in block.links)
            is_heading = cell.tag == "th" or (first_names_columns and number == 0)
            only_headings = only_headings and ((is_heading and cell.get("scope") not in OF_A_ROW) or not text)
            columns = _span(cell.get("colspan")) if cells_so_far < MAX_CELLS else 1
            down = _span(cell.get("rowspan"), limit=65_534) - 1
            for offset in range(columns):
                # A heading over several columns belongs to each; other text is said once.
                repeated = text if offset == 0 or is_heading else ""
                if down > 0:
                    hanging[len(texts)] = (down, repeated)
                texts.append(repeated)
        _fill_down(texts, hanging)
        cells_so_far += len(texts)
        if any(texts):
            is_header = in_head or (only_headings and all(header for header, _ in rows))
            context = " | ".join(filter(None, texts))
            in_context = tuple(Link(link.href, link.anchor, context) for link in links)
            rows.append((is_header, TableRow(tuple(texts), tuple(dict.fromkeys(anchors)), in_context)))
    if not rows:
        return None
    width = max(len(row.cells) for _, row in rows)
    padded = [
        (header, TableRow(row.cells + ("",) * (width - len(row.cells)), row.anchors, row.links)) for header, row in rows
    ]
    header_rows = [row for header, row in padded if header]
    body = [row for header, row in padded if not header]
    if not body:  # a table of headings only: they are its content
        header_rows, body = [], [row for _, row in padded]
    links_of_all = tuple(link for row in (*header_rows, *body) for link in row.links)
    return Block(
        "table", anchors=tuple(own_ids), links=links_of_all, header=join_header_rows(header_rows), rows=tuple(body)
    )


def _in_one_line(lines: Iterable[str]) -> str:
    """Write the paragraphs and items of a cell in one line, with semicolons between those that no mark ends."""
    said = ""
    for line in (" ".join(one.split()) for one in lines):
        said += f"{'' if not said else ' ' if ENDED.search(said) else '; '}{line}" if line else ""
    return said


def _row_elements(table: Any) -> Iterator[tuple[bool, Any]]:
    """Yield (whether it is in the head, row) for the rows of a table, the foot's last; a cell outside of rows is a row of its own.

    Such a one stands where `</tr>` was written in the place of `</td>`; browsers make a row for it, libxml2 does not.
    """
    feet: list[Any] = []
    for child in table:
        if child.tag in ROW_OR_CELL:
            yield False, child
        elif child.tag in ("thead", "tbody"):
            yield from ((child.tag == "thead", row) for row in child if row.tag in ROW_OR_CELL)
        elif child.tag == "tfoot":
            feet.extend(row for row in child if row.tag in ROW_OR_CELL)
    yield from ((False, row) for row in feet)


def _first_row_names_columns(table: Any) -> bool:
    """Whether the first row of a table without `th` heads columns.

    Each of its cells is bold or centred, and not all of the next row's; or its names stand above numbers.
    """
    if table.find(".//th") is not None or table.find("thead") is not None:
        return False
    rows = [list(_cells(row)) for _, row in islice(_row_elements(table), MOST_LOOKED_AT)]
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    if all(map(is_marked, rows[0])):
        return not all(map(is_marked, rows[1]))
    return _are_names_above_numbers([[" ".join("".join(cell.itertext()).split()) for cell in row] for row in rows])


def _are_names_above_numbers(rows: list[list[str]]) -> bool:
    """Whether the first row is short names, none of which comes again below, and a column below it has numbers alone."""
    names, body = rows[0], rows[1:]
    width = len(names)
    if width < FEWEST_NAMED or len(body) < FEWEST_NAMED or any(len(row) != width for row in body):
        return False
    if len(set(names)) < width or not all(NAME.fullmatch(name) for name in names):
        return False
    columns = [{row[column] for row in body} for column in range(width)]
    if any(name in below for name, below in zip(names, columns, strict=True)):
        return False
    return any(all(NUMBER.fullmatch(cell) for cell in below) for below in columns)


def is_marked(cell: Any, depth: int = MARKS_DEEP) -> bool:
    """Whether all of a cell's words are bold or centred: by itself, or by elements inside of it."""
    if cell.tag in MARKS or cell.get("align") == "center":
        return bool("".join(cell.itertext()).strip())
    own = (cell.text, *(inner.tail for inner in cell))
    if depth == 0 or any((said or "").strip() for said in own):
        return False
    worded = [inner for inner in cell if isinstance(inner.tag, str) and "".join(inner.itertext()).strip()]
    return bool(worded) and all(is_marked(inner, depth - 1) for inner in worded)


def _cells(row: Any) -> Iterator[Any]:
    return iter([row]) if row.tag in CELLS else (cell for cell in row if cell.tag in CELLS)


def _fill_down(texts: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    """Append the cells that rows above reach down into the columns that come next."""
    while (column := len(texts)) in hanging:
        left, text = hanging.pop(column)
        if left > 1:
            hanging[column] = (left - 1, text)
        texts.append(text)


def _span(value: str | None, *, limit: int = MAX_SPAN) -> int:
    """Read `colspan` or `rowspan`; what is no number is one."""
    if not value or not value.strip().isdecimal() or len(value) > 9:
        return 1
    return max(1, min(int(value), limit))
