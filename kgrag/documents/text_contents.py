"""Tables of contents in plain text: which paragraphs are one, and which headings of the text it lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

__all__ = ["listed_title", "read_contents"]

CONTENTS = re.compile(r"(?:table of )?contents:?", re.IGNORECASE)
ENTRY = re.compile(r"\s*(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})\.?\s+(?P<said>\S.*)")
FEWEST_ENTRIES, LINES_OF_ENTRY = 3, 3
"""Of a table of contents; lines of an entry or of its heading."""


def read_contents(paragraphs: Sequence[Sequence[str]]) -> tuple[range, dict[str, str]]:
    """Return which paragraphs are a table of contents, and what its entries say by their numbers; nothing where none is."""
    begin = next((i for i, one in enumerate(paragraphs) if len(one) == 1 and CONTENTS.fullmatch(one[0].strip())), -1)
    end, listed = begin + 1, dict[str, str]()
    while begin >= 0 and end < len(paragraphs) and (entries := _entries(paragraphs[end])):
        last = _counted(next(reversed(listed))) if listed else ()
        numbers = [last, *map(_counted, entries)]
        if any(one >= after for one, after in pairwise(numbers)):
            break
        listed |= entries
        end += 1
    return (range(begin, end), listed) if len(listed) >= FEWEST_ENTRIES else (range(0), {})


def listed_title(listed: Mapping[str, str], lines: Sequence[str]) -> tuple[str, str] | None:
    """Return number and title of a heading that the table of contents has, of however many words and lines."""
    if not listed or len(lines) > LINES_OF_ENTRY or not (entry := ENTRY.match(" ".join(map(str.strip, lines)))):
        return None
    said = listed.get(entry["number"], "")
    if not said or _unbroken(said) != _unbroken(entry["said"]):
        return None
    return entry["number"], f"{lines[0].split()[0]} {said}"


def _entries(paragraph: Sequence[str]) -> dict[str, str]:
    """Return what the lines of a table of contents say by their numbers; nothing where a paragraph is something else."""
    entries: dict[str, str] = {}
    for line in paragraph:
        if entry := ENTRY.match(line):
            if entry["number"] in entries:
                return {}
            entries[entry["number"]] = " ".join(entry["said"].split())
        elif entries:
            number, said = entries.popitem()
            entries[number] = f"{said} {' '.join(line.split())}"
        else:
            return {}
    return entries


def _unbroken(said: str) -> str:
    """Write words so that where their lines were broken makes no difference."""
    return "".join(said.split()).replace("-", "")


def _counted(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))
