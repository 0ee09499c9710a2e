"""Excel files to blocks, row by row.

Not through Docling, whose backend visits every cell between the first and the last: one forgotten cell in the corner of a sheet makes
that 17 thousand million. Here a sheet is read as a stream, and only what has a value is kept.
"""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from kgrag.documents.blocks import Block, BlockDocument, TableRow
from kgrag.documents.office_drawings import words_beside_cells
from kgrag.documents.office_package import read_package, with_plain_styles

__all__ = ["GENERAL", "Row", "convert_spreadsheet", "number_text", "sheet_blocks"]

SIGNIFICANT_DIGITS = 15
"""Of a number in Excel: 0.1 + 0.2 is 0.3 there."""
GENERAL = "General"
FORMAT_TEXT = re.compile(r'"([^"]*)"|\\(.)|[#0?.,]+')
"""In a number format: literal text, an escaped character, the place of the number."""

Row = dict[int, str]
"""Column → text, for the cells that have any."""


def convert_spreadsheet(path: Path) -> BlockDocument:
    """Convert a .xlsx file: a heading for each sheet, a table for each group of rows and columns that nothing empty parts.

    What lies over the cells (text boxes, SmartArt, comments) comes behind them. `page_start` is the number of the sheet. A formula is its
    value as last computed. Raises `DocumentError` for a broken or protected file.
    """
    package = read_package(path, suffix="xlsx")
    from openpyxl import load_workbook

    blocks: list[Block] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and validations, which are not read
        try:
            workbook = load_workbook(BytesIO(package), read_only=True, data_only=True, keep_links=False)
        except (KeyError, TypeError, ValueError):  # of a border or a colour that openpyxl does not take
            workbook = load_workbook(
                BytesIO(with_plain_styles(package)), read_only=True, data_only=True, keep_links=False
            )
        try:
            beside = words_beside_cells(package)
            for number, sheet in enumerate(workbook.worksheets, start=1):
                sheet.reset_dimensions()  # what a file says about its size is often wrong
                rows = ({cell.column: text for cell in row if (text := _text(cell))} for row in sheet.iter_rows())
                blocks.extend(sheet_blocks(sheet.title, rows, number, beside.get(sheet.title, [])))
            title = " ".join((workbook.properties.title or "").split()) or path.stem
        finally:
            workbook.close()
    return BlockDocument(tuple(blocks), title)


def sheet_blocks(title: str, rows: Iterable[Row], number: int, beside: Sequence[str]) -> list[Block]:
    """Make a heading for a sheet, a table for each of its groups of rows and columns, and paragraphs of what lies beside its cells."""
    blocks = [block for region in _regions(rows) for block in _region_blocks(region, number)]
    blocks += [Block("paragraph", line, 0, number, number) for line in beside]
    return [Block("heading", title, 1, number, number), *blocks] if blocks else []


def _regions(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Part rows where a row is empty, and those where a column is."""
    for group in _runs(rows):
        columns = sorted({column for row in group for column in row})
        for span in _consecutive(columns):
            part = [{column: row[column] for column in span if column in row} for row in group]
            yield from _runs(part)


def _runs(rows: Iterable[Row]) -> Iterator[list[Row]]:
    run: list[Row] = []
    for row in rows:
        if row:
            run.append(row)
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


def _region_blocks(rows: Sequence[Row], page: int) -> Iterator[Block]:
    """Make a table, with its first row as column headings where that says no numbers; a single column is paragraphs."""
    columns = sorted({column for row in rows for column in row})
    if len(columns) == 1 or len(rows) == 1:
        for row in rows:
            yield Block("paragraph", " | ".join(row[column] for column in columns if column in row), 0, page, page)
        return
    table = [TableRow(tuple(row.get(column, "") for column in columns)) for row in rows]
    has_header = (
        all(any(map(str.isalpha, cell)) for cell in table[0].cells if cell) and len(rows[0]) > len(columns) // 2
    )
    header = table.pop(0) if has_header else None
    yield Block("table", "", 0, page, page, header=header, rows=tuple(table))


def _text(cell: Any) -> str:
    """Write a cell's value as Excel shows it: percent signs and units that only its number format has are part of it."""
    value = cell.value
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return number_text(value, _format_of(cell))
        case datetime.datetime() if value.time() == datetime.time():
            return value.date().isoformat()
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case _:
            return " ".join(str(value).split())


def _format_of(cell: Any) -> str:
    try:
        return cell.number_format or GENERAL
    except IndexError:  # it names a style that the file does not have
        return GENERAL


def number_text(value: float, number_format: str) -> str:
    """Write a number with the percent sign or unit of its format."""
    if "%" in number_format:
        return f"{value * 100:.{SIGNIFICANT_DIGITS}g}%"
    plain = f"{value:.{SIGNIFICANT_DIGITS}g}"
    before, after, seen_number = "", "", False
    for match in FORMAT_TEXT.finditer(number_format.split(";")[0]):
        literal = match[1] if match[1] is not None else match[2]
        if literal is None:
            seen_number = True
        elif seen_number:
            after += literal
        else:
            before += literal
    return f"{before}{plain}{after}".strip()
