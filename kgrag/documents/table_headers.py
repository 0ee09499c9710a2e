"""Which of the first rows of a table without marks name its columns, told by what stands in the rows below."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from kgrag.documents.separators import DATE, NUMBER

__all__ = [
    "YEAR",
    "Cells",
    "column_kind",
    "count_headers",
    "filled",
    "first_of_table",
    "is_header",
    "kind_of",
    "with_spans",
]

OF_ONE_KIND = 0.8
"""Of a column's cells, and it has this kind."""
MOST_LOOKED_AT = 300
"""Rows from which a header is told."""
YEAR = re.compile(r"(?:19|20)\d\d")
LETTERS = re.compile(r"[^\W\d_]+")
DIGITS = re.compile(r"\d+")
UNKNOWN_VALUES = frozenset({"", "-", "–", "—", ".", "?", "n/a", "na", "nan", "null", "none"})
LONGEST_CODE = 24
"""Characters; what is longer is text."""

Cells = list[str]


def count_headers(rows: Sequence[Cells], width: int) -> int:
    """Say how many of the first rows are headers: names of columns, groups above them and units below them."""
    if len(rows) < 2:
        return 0
    if not all(rows[0]) and 2 <= filled(rows[0]) < filled(rows[1]) and is_header(rows[1:], width):
        return 1 + count_headers(rows[1:], width)  # groups of columns above their names
    if (names := _names_with_groups(rows)) and is_header([names, *rows[2:]], width):
        return 1 + count_headers([names, *rows[2:]], width)
    if not is_header(rows, width):
        return 0
    body = rows[2:MOST_LOOKED_AT]
    numeric = [
        column for column in range(width) if column_kind([row[column] for row in body if column < len(row)]) == "number"
    ]
    units = [row[column] if column < len(row) else "" for row in rows[1:2] for column in numeric]
    said = [unit for unit in units if unit]
    is_units = 1 < len(said) >= len(units) / 2 and all(
        kind_of(unit) == "text" and unit.casefold() not in UNKNOWN_VALUES for unit in said
    )
    return 2 if is_units else 1


def _names_with_groups(rows: Sequence[Cells]) -> Cells:
    """Return names of columns where those of groups have theirs in the row below, which stand above numbers; nothing where they do not."""
    row, below = rows[0], rows[1]
    body = rows[3:MOST_LOOKED_AT] or rows[2:]  # units may come first
    if len(row) != len(below) or below[0] or not all(one or name for one, name in zip(row, below, strict=True)):
        return []
    named = [column for column, name in enumerate(below) if name]
    kinds = {column_kind([one[column] for one in body if column < len(one)]) for column in named}
    if kinds != {"number"} or any(kind_of(below[column]) in ("number", "date") for column in named):
        return []
    return [name or one for one, name in zip(row, below, strict=True)]


def is_header(rows: Sequence[Cells], width: int) -> bool:
    """Whether the first row names the columns: its cells are of another kind than those below, or nothing speaks against it."""
    first, body = rows[0], [row for row in rows[1:MOST_LOOKED_AT] if row != rows[0]]
    if first[0].endswith(":"):
        return False  # a label and its value
    if not any(YEAR.fullmatch(cell) or kind_of(cell) not in ("number", "date") for cell in first if cell):
        return False
    if 0 < len(body) < len(rows[:MOST_LOOKED_AT]) - 1:
        return True  # it is written again
    speaks_for = against = 0
    for column, cell in enumerate(first[:width]):
        kinds = _kinds(body, column)
        if not cell or not kinds:
            continue
        usual = kinds.most_common(1)[0][0]
        if usual == "text":
            against += len(body) > 1 and any(column < len(row) and row[column] == cell for row in body)
        elif _rules(kinds):
            own = kind_of(cell)
            years = YEAR.fullmatch(cell) and not all(
                YEAR.fullmatch(row[column]) for row in body if column < len(row) and row[column]
            )
            speaks_for += own not in (usual, "number", "date")
            against += own == usual and not years
    if speaks_for or against:
        return speaks_for > against
    return filled(first) > width / 2 and width > 1


def first_of_table(rows: Sequence[Cells], width: int) -> int:
    """Say where the table begins, after lines with few cells."""
    full = (number for number, row in enumerate(rows[:MOST_LOOKED_AT]) if filled(row) > width / 2)
    first = next(full, 0) if width > 1 else 0
    while first and filled(rows[first - 1]) >= 2 and not all(rows[first - 1]):
        first -= 1  # a header of groups: cells over several columns
    return first


def with_spans(rows: list[Cells]) -> list[Cells]:
    """Write a cell of a header of groups over all columns that it spans: up to the next one, or one above, that has text."""
    written = []
    named: set[int] = set()
    for row, below in pairwise(rows):
        cells: Cells = []
        for number in range(len(below)):
            own = row[number] if number < len(row) else ""
            goes_on = cells and below[number] and number not in named
            cells.append(own or (cells[-1] if goes_on else ""))
        named.update(number for number, cell in enumerate(row) if cell)
        written.append(cells)
    return [*written, *rows[-1:]]


def filled(row: Cells) -> int:
    """Count the cells of a row that say something."""
    return sum(map(bool, row))


def column_kind(cells: Sequence[str]) -> str:
    """Say of what kind nearly all cells of a column are; nothing where they are of several, or say nothing."""
    kinds = _kinds([[cell] for cell in cells[:MOST_LOOKED_AT]], 0)
    return kinds.most_common(1)[0][0] if kinds and _rules(kinds) else ""


def _kinds(rows: Sequence[Cells], column: int) -> Counter[str]:
    cells = (row[column] for row in rows if column < len(row))
    return Counter(kind_of(cell) for cell in cells if cell.casefold() not in UNKNOWN_VALUES)


def _rules(kinds: Counter[str]) -> bool:
    return kinds.most_common(1)[0][1] >= OF_ONE_KIND * kinds.total()


def kind_of(cell: str) -> str:
    """Say of what kind a cell is: number, date, text, or how what has letters and digits is written (`E-101`: `a-9`)."""
    if NUMBER.fullmatch(cell):
        return "number"
    if DATE.fullmatch(cell):
        return "date"
    if not DIGITS.search(cell) or len(cell) > LONGEST_CODE:
        return "text"
    return DIGITS.sub("9", LETTERS.sub("a", cell))
