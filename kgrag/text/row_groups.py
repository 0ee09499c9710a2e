"""Rows of a table that only head the rows below them: `| Doors | | |`, `| 2025 | | |`."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["ends_group", "group_of", "heads_rows"]

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


def group_of(rows: Sequence[Sequence[str]], number: int) -> int | None:
    """Return the number of the row that heads row `number`; None where none does, or the row heads others itself."""
    if not rows[number] or heads_rows(rows[number]):
        return None
    for head in range(number - 1, -1, -1):
        if heads_rows(rows[head]):
            group = rows[head][0].strip().rstrip(": ")
            return None if any(ends_group(group, row[0]) for row in rows[head + 2 : number + 1] if row) else head
    return None
