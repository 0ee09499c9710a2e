"""Which tables of Word have no header row: their first row is a label and its value, as all others are.

Docling takes the first row of every table of Word for its header: of `Model | X-100` below which `Supply | 24 V` stands the columns
would be called `Model` and `X-100`.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["WORD", "mark_tables_without_header"]

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
"""The namespace of the elements and attributes of Word."""
FIRST_ROW = 0x0020
"""The bit of a table's look for a first row that is formatted by itself."""
HEX = re.compile(r"[0-9A-Fa-f]{1,8}")
PERIOD = re.compile(r"\D{0,12}(?:19|20)\d\d\D{0,3}")
"""A year, with what it is called: `FY 2023`, of which columns have their names."""
LEAST_ROWS = 3
LONGEST_CELL = 60
OFF = ("0", "false", "off")


def mark_tables_without_header(body: Any, mark: str) -> None:
    """Put `mark` before the words of each table without a header row.

    Such a table says so in its look, or the labels alone are in bold or shaded; or it has two columns without any of that, and values
    with figures from its first row on.
    """
    for table in body.iter(f"{WORD}tbl"):
        rows = [list(row.iterfind(f"{WORD}tc")) for row in table.iterfind(f"{WORD}tr")]
        first = table.find(f"{WORD}tr/{WORD}trPr/{WORD}tblHeader")
        text = next(rows[0][0].iter(f"{WORD}t"), None) if rows and len(rows[0]) > 1 else None
        if first is None and text is not None and len(rows) > 1 and all(rows) and _has_no_header(table, rows):
            text.text = f"{mark}{text.text or ''}"


def _has_no_header(table: Any, rows: list[list[Any]]) -> bool:
    texts = [[_text(cell) for cell in row] for row in rows]
    if not texts[0][0] or not any(texts[0][1:]):
        return False
    stands_out = [[_stands_out(cell) for cell in row] for row in rows]
    if stands_out[0][0]:
        return not any(stands_out[0][1:]) and all(row[0] for row in stands_out)
    return not any(stands_out[0]) and (_is_said_to_have_none(table) or _has_values_from_the_first(texts))


def _is_said_to_have_none(table: Any) -> bool:
    """Whether a table's style is to format its first column, and no first row."""
    look = table.find(f"{WORD}tblPr/{WORD}tblLook")
    if look is None or look.get(f"{WORD}firstColumn") != "1":
        return False
    said = look.get(f"{WORD}firstRow")
    bits = look.get(f"{WORD}val", "")
    return said in OFF if said is not None else bool(HEX.fullmatch(bits)) and not int(bits, 16) & FIRST_ROW


def _has_values_from_the_first(texts: list[list[str]]) -> bool:
    if len(texts) < LEAST_ROWS or any(len(row) != 2 or len(max(row, key=len)) > LONGEST_CELL for row in texts):
        return False
    (_, value), *others = texts
    with_figures = sum(_has_figure(other) for _, other in others)
    return (
        _has_figure(value)
        and not any(_has_figure(name) for name, _ in texts)
        and not PERIOD.fullmatch(value)
        and len({name for name, _ in texts}) == len(texts)
        and 2 * with_figures >= len(others)
    )


def _has_figure(text: str) -> bool:
    return any(map(str.isdecimal, text))


def _text(cell: Any) -> str:
    return " ".join("".join(text.text or "" for text in cell.iter(f"{WORD}t")).split())


def _stands_out(cell: Any) -> bool:
    """Whether all words of a cell are in bold, or it is shaded."""
    shading = cell.find(f"{WORD}tcPr/{WORD}shd")
    if shading is not None and shading.get(f"{WORD}fill", "auto").lower() not in ("auto", "ffffff"):
        return True
    runs = [run for run in cell.iter(f"{WORD}r") if any((text.text or "").strip() for text in run.iterfind(f"{WORD}t"))]
    return bool(runs) and all(_is_bold(run) for run in runs)


def _is_bold(run: Any) -> bool:
    bold, style = run.find(f"{WORD}rPr/{WORD}b"), run.find(f"{WORD}rPr/{WORD}rStyle")
    if bold is not None:
        return bool(bold.get(f"{WORD}val", "1") not in OFF)
    return style is not None and style.get(f"{WORD}val") == "Strong"
