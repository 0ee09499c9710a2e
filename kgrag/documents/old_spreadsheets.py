"""Excel 2 to 2003 (`.xls`) to blocks, by xlrd, which reads these files alone."""

from __future__ import annotations

from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import olefile
import xlrd

from kgrag.documents.blocks import Block, BlockDocument
from kgrag.documents.sheets import Row, Span, sheet_blocks
from kgrag.documents.sniffing import COMPOUND_FILE
from kgrag.documents.spreadsheets import GENERAL, number_text
from kgrag.errors import DocumentError

__all__ = ["convert_old_spreadsheet"]

STREAMS = ("Workbook", "Book")
ENCRYPTED = "encrypted"
MOST_REMARKS = 5
"""Of xlrd on a file (that it names no code page) that are told."""
EMPTY = frozenset({xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK})


def convert_old_spreadsheet(data: bytes, path: Path) -> BlockDocument:
    """Convert a .xls file as `convert_spreadsheet` does a .xlsx. Raises `DocumentError` where it is broken or has a password."""
    remarks = StringIO()
    try:
        book = xlrd.open_workbook(file_contents=_stream(data), formatting_info=True, ragged_rows=True, logfile=remarks)
    except xlrd.XLRDError as error:
        if ENCRYPTED in str(error):
            raise DocumentError(path, "is encrypted: save a copy without a password") from error
        raise DocumentError(path, f"cannot be read as .xls: {error}") from error
    blocks: list[Block] = []
    for number, sheet in enumerate(book.sheets(), start=1):
        rows = (_row(book, sheet, row) for row in range(sheet.nrows))
        notes = [
            f"{xlrd.cellname(*place)}: {text}"
            for place, note in sorted(sheet.cell_note_map.items())
            if (text := " ".join(note.text.split()))
        ]
        spans = [Span(top, below - 1, left, behind - 1) for top, below, left, behind in sheet.merged_cells]
        blocks += sheet_blocks(sheet.name, rows, number, notes, spans=spans)
    said = dict.fromkeys(remarks.getvalue().splitlines())
    return BlockDocument(
        tuple(blocks), path.stem, notes=tuple(f"xlrd: {line.strip('* ')}" for line in islice(said, MOST_REMARKS))
    )


def _stream(data: bytes) -> bytes:
    """Return what a workbook says, without the compound file around it: in a broken one xlrd follows a chain of sectors without end."""
    if not data.startswith(COMPOUND_FILE):
        return data
    with olefile.OleFileIO(BytesIO(data)) as ole:
        name = next((one for one in STREAMS if ole.exists(one)), None)
        return bytes(ole.openstream(name).read()) if name else data


def _row(book: Any, sheet: Any, row: int) -> Row:
    filled = (cell for cell, kind in enumerate(sheet.row_types(row)) if kind not in EMPTY)
    return {cell: text for cell in filled if (text := _text(book, sheet.cell(row, cell)))}


def _text(book: Any, cell: Any) -> str:
    """Write a cell's value as Excel shows it."""
    match cell.ctype:
        case xlrd.XL_CELL_TEXT:
            return " ".join(str(cell.value).split())
        case xlrd.XL_CELL_NUMBER:
            return number_text(cell.value, _format(book, cell))
        case xlrd.XL_CELL_DATE:
            return _moment(book, cell.value)
        case xlrd.XL_CELL_BOOLEAN:
            return "TRUE" if cell.value else "FALSE"
        case xlrd.XL_CELL_ERROR:
            return str(xlrd.error_text_from_code.get(cell.value, ""))
        case _:
            return ""


def _format(book: Any, cell: Any) -> str:
    try:
        return str(book.format_map[book.xf_list[cell.xf_index].format_key].format_str) or GENERAL
    except (IndexError, KeyError, TypeError):  # a style that the file does not have
        return GENERAL


def _moment(book: Any, value: float) -> str:
    try:
        at = xlrd.xldate_as_datetime(value, book.datemode)
    except (ValueError, OverflowError):
        return number_text(value, GENERAL)
    if value < 1:
        return str(at.time().isoformat())
    return str(at.date().isoformat() if not value % 1 else at.isoformat())
