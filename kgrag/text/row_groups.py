"""Rows of a table that only head the rows below them: `| Doors | | |`, `| 2025 | | |`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["ends_group", "heads_of_rows", "heads_rows"]

MIN_COLUMNS = 3
TOTAL = re.compile(r"(?:grand )?totals?\b", re.IGNORECASE)
"""A row below the last group that is of all groups."""
YEAR = re.compile(r"(?:(?:fiscal )?years? )?(?:19|20)\d\d", re.IGNORECASE)


def heads_rows(cells: Sequence[str]) -> bool:
    """Say whether a row of three or more cells has a text in its first one alone."""
    return len(cells) >= MIN_COLUMNS and bool(cells[0].strip()) and not any(cell.strip() for cell in cells[1:])


def ends_group(group: str, first_cell: str) -> bool:
    """Say whether a row that is not the first one of a group is of all groups; `Total sales` below a year is of the year."""
    match = TOTAL.fullmatch if YEAR.fullmatch(group) else TOTAL.match
    return match(first_cell) is not None


def heads_of_rows(rows: Iterable[Sequence[str]]) -> list[int | None]:
    """Return for each row the number of the row that heads it; None where none does, or the row heads others itself."""
    found: list[int | None] = []
    head: int | None = None
    group, is_first = "", False
    for number, row in enumerate(rows):
        if heads_rows(row):
            head, group, is_first = number, row[0].strip().rstrip(": "), True
            found.append(None)
            continue
        if row and not is_first and ends_group(group, row[0]):
            head = None
        is_first = False
        found.append(head if row else None)
    return found
