"""The numbers that a citation mark of a model names: `1, 3`, `1-3`, `1 and 4`."""

from __future__ import annotations

import re

__all__ = ["cited_numbers"]

RANGE = re.compile(r"(\d+)\s*[–－～〜-]\s*(\d+)")
LONGEST_RANGE = 100


def cited_numbers(inside: str) -> list[int]:
    """Read what stands between the brackets of a mark: its numbers, ranges written out, each once and in order."""
    numbers: list[int] = []
    rest = inside
    for found in RANGE.finditer(inside):
        first, last = int(found[1]), int(found[2])
        if first <= last <= first + LONGEST_RANGE:
            numbers.extend(range(first, last + 1))
            rest = rest.replace(found[0], " ", 1)
    return sorted({*numbers, *map(int, re.findall(r"\d+", rest))})
