"""What the parts of a .xlsx say of cells beside their values: which go over several rows or columns, and formulas without a value.

openpyxl tells neither while it reads a sheet as a stream.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from html import unescape
from io import BytesIO

from kgrag.documents.office_drawings import sheet_parts
from kgrag.documents.sheets import Row, Span

__all__ = ["SheetCells", "cells_of_sheets"]

MERGED = re.compile(rb'\bmergeCell\s[^>]{0,200}?\bref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
FORMULA = re.compile(
    rb'<(?:\w+:)?c\s[^>]{0,200}?\br="([A-Z]{1,3})(\d{1,7})"[^>]{0,200}><(?:\w+:)?f\b[^>]{0,500}>([^<]{1,9000})</(?:\w+:)?f>'
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?</(?:\w+:)?c>"
)
"""A cell of a file that a program wrote which does not compute: spreadsheet programs do when they open it."""
MOST_SPANS = 50_000


@dataclass(frozen=True, slots=True)
class SheetCells:
    """Of one sheet."""

    spans: tuple[Span, ...]
    formulas: dict[int, Row]
    """Row, from 0 → column → formula (`=B2*C2`)."""


def cells_of_sheets(package: bytes) -> dict[str, SheetCells]:
    """Return, by sheets' names, their cells over several rows or columns, and their formulas that have no value."""
    from openpyxl.utils.cell import column_index_from_string

    found: dict[str, SheetCells] = {}
    with zipfile.ZipFile(BytesIO(package)) as archive:
        for name, part in sheet_parts(archive).items():
            data = archive.read(part) if part else b""
            formulas: dict[int, Row] = {}
            for cell in FORMULA.finditer(data):
                text = "=" + " ".join(unescape(cell[3].decode("utf-8", "replace")).split())
                formulas.setdefault(int(cell[2]) - 1, {})[column_index_from_string(cell[1].decode())] = text
            merged = MERGED.finditer(data, max(0, data.find(b"mergeCells")))
            spans = [
                Span(
                    int(one[2]) - 1,
                    int(one[4]) - 1,
                    *(column_index_from_string(letters.decode()) for letters in one.group(1, 3)),
                )
                for one, _ in zip(merged, range(MOST_SPANS), strict=False)
            ]
            found[name] = SheetCells(tuple(spans), formulas)
    return found
