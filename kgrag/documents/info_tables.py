"""Tables of Info manuals: what Texinfo's `@multitable` becomes, cells below each other in columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby, pairwise

__all__ = ["columns_table", "end_of_columns"]

RULE = re.compile(r"-{3,}")
"""Between the header and the rows, as wide as the table."""
NEXT_COLUMN = re.compile(r"(?<=\S {2})\s*(?=\S)")
MOST_HEADER_LINES = 4
FEWEST_ENDED = 2
"""Rows that a line of blanks ends, of a table without a header: text has no such lines."""
ENDED_SHARE = 1 / 3
"""Lines of blanks for each line with a first cell, from which they, and they alone, end rows."""


def end_of_columns(lines: Sequence[str], at: int) -> int:
    """Where lines end that may be a table which begins at `at`: at the next empty line. A row may end with a line of blanks."""
    return next((i for i in range(at, len(lines)) if not lines[i]), len(lines))


def columns_table(lines: Sequence[str]) -> str:
    """Write lines as a table of HTML; nothing where they are none: without a header, and without lines of blanks between rows."""
    rule = next((i for i, line in enumerate(lines[: MOST_HEADER_LINES + 1]) if RULE.fullmatch(line)), 0)
    ended = sum(1 for line in lines if not line.strip())
    if not (rule or ended >= FEWEST_ENDED) or rule == len(lines) - 1:
        return ""
    header, body = [line for line in lines[:rule] if line.strip()], lines[rule + 1 if rule else 0 :]
    starts = _starts(header or [line for line in body if line.strip()], [*header, *body])
    if len(starts) < 2:
        return ""
    rows = [f"<tr>{_cells(header, starts, 'th')}</tr>"] if header else []
    rows += [f"<tr>{_cells(row, starts, 'td')}</tr>" for row in _rows(body, starts)]
    return "\n".join(("<table>", *rows, "</table>"))


def _starts(told_by: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Return where columns begin: where some line has a cell, and no line a word that begins before it."""
    begun = Counter(match.end() for line in told_by for match in NEXT_COLUMN.finditer(line))
    return [0, *(at for at in sorted(begun) if all(len(line) < at or line[at - 2 : at].isspace() for line in lines))]


def _rows(lines: Sequence[str], starts: Sequence[int]) -> Iterator[list[str]]:
    """Part lines into rows, which lines of blanks end in most tables of long cells, or else the next line that has a first cell."""
    begun = sum(bool(line[: starts[1]].strip()) for line in lines)
    ended = sum(not line.strip() for line in lines)
    for is_row, group in groupby(lines, key=lambda line: bool(line.strip())):
        part = list(group) if is_row else []
        row = part[:1]
        for line in part[1:]:
            if ended >= ENDED_SHARE * begun or not line[: starts[1]].strip():
                row.append(line)
            else:
                yield row
                row = [line]
        if row:
            yield row


def _cells(lines: Sequence[str], starts: Sequence[int], tag: str) -> str:
    columns = [" ".join(line[a:b].strip() for line in lines if line[a:b].strip()) for a, b in pairwise([*starts, None])]
    return "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in columns)
