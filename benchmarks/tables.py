"""One table, as Markdown, so that it can be pasted where figures are kept."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from os import cpu_count

__all__ = ["print_table"]


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> None:
    """Print title, machine, table and notes."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    print(f"{title} ({cpu_count()} cores, {platform.machine()}, Python {platform.python_version()})\n")
    for row in (head, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
    print()
    for note in notes:
        print(note)
