"""Excel files to blocks, row by row.

Not through Docling, whose backend visits every cell between the first and the last: one forgotten cell in the corner of a sheet makes
that 17 thousand million. Here a sheet is read as a stream, and only what has a value is kept.
"""

from __future__ import annotations

import datetime
import re
import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

from kgrag.documents.blocks import Block, BlockDocument
from kgrag.documents.office_drawings import words_beside_cells
from kgrag.documents.office_package import read_package, with_plain_styles
from kgrag.documents.sheet_cells import SheetCells, cells_of_sheets
from kgrag.documents.sheets import sheet_blocks

__all__ = ["GENERAL", "convert_spreadsheet", "number_text"]

SIGNIFICANT_DIGITS = 15
"""Of a number in Excel: 0.1 + 0.2 is 0.3 there."""
GENERAL = "General"
LITERAL = re.compile(r'"[^"]*"|\\.')
FORMAT_TEXT = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|(?P<itself>[ €£¥$])|[_*].|(?P<number>[#0?][#0?.,]*)'
)
"""In a number format: literal text, an escaped character, a currency (`[$CHF-807]`), what stands for itself, widths, the place of the
number."""


def convert_spreadsheet(path: Path) -> BlockDocument:
    """Convert a .xlsx file: a heading for each sheet, a table for each group of rows and columns that nothing empty parts.

    What lies over the cells (text boxes, SmartArt, comments) comes behind them. `page_start` is the number of the sheet. A formula is its
    value as last computed, or itself where the file has none. Raises `DocumentError` for a broken or protected file.
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
            beside, cells, not_computed = words_beside_cells(package), cells_of_sheets(package), 0
            for number, sheet in enumerate(workbook.worksheets, start=1):
                sheet.reset_dimensions()  # what a file says about its size is often wrong
                own = cells.get(sheet.title, SheetCells((), {}))
                rows = ({cell.column: text for cell in row if (text := _text(cell))} for row in sheet.iter_rows())
                whole = (row | own.formulas.get(at, {}) for at, row in enumerate(rows))
                blocks += sheet_blocks(sheet.title, whole, number, beside.get(sheet.title, []), spans=own.spans)
                not_computed += sum(map(len, own.formulas.values()))
            title = " ".join((workbook.properties.title or "").split()) or path.stem
        finally:
            workbook.close()
    notes = (f"{not_computed:,} formulas have no computed value: they are read as formulas",) if not_computed else ()
    return BlockDocument(tuple(blocks), title, notes=notes)


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
    if "%" in LITERAL.sub("", number_format):
        return f"{value * 100:.{SIGNIFICANT_DIGITS}g}%"
    plain = f"{abs(value):.{SIGNIFICANT_DIGITS}g}"
    sign = "-" if value < 0 else ""
    said, is_set = "", False
    for match in FORMAT_TEXT.finditer(number_format.split(";")[0]):
        if match.lastgroup != "number":
            said += match[match.lastgroup] if match.lastgroup else ""
        elif not is_set:
            said, is_set = said + plain, True
    return sign + (" ".join(said.split()) if is_set else plain)
