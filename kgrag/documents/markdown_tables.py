"""Tables that directives of Markdown write as lists or CSV, as tables with bars."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from kgrag.documents import markdown_marks as marks

__all__ = ["cells_of", "pipe_table", "rows_of_lists"]


def cells_of(row: str) -> int:
    """Return how many cells a row has."""
    return len(marks.BAR.findall(row.strip().strip("|"))) + 1


def rows_of_lists(lines: Sequence[str]) -> list[list[str]]:
    """Read MyST's table of lists: `* - first cell`, then `  - next cell` and lines that go on."""
    rows: list[list[str]] = []
    for line in lines:
        words = line.strip()
        if re.match(r"[*-][ ]+[-*](?:[ ]|$)", words):
            rows.append([words[1:].lstrip()[1:].strip()])
        elif not words:
            continue
        elif not rows:
            return []
        elif re.match(r"[-*](?:[ ]|$)", words):
            rows[-1].append(words[1:].strip())
        else:
            rows[-1][-1] = f"{rows[-1][-1]} {words}".strip()
    return rows


def pipe_table(rows: Sequence[Sequence[str]], *, header: str) -> list[str]:
    """Write rows as a table, the first one as its header."""
    first = next(csv.reader([header], skipinitialspace=True), []) if header else []
    written = [[cell.replace("|", "\\|") for cell in row] for row in ([first, *rows] if first else rows)]
    columns = max(len(row) for row in written)
    lines = [f"| {' | '.join([*row, *[''] * (columns - len(row))])} |" for row in written]
    return [lines[0], f"|{'---|' * columns}", *lines[1:]]
