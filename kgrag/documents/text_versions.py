"""Headings of lists of changes: lines that begin alike and name one version after the other (`Version 2.1.4 (3/16/2003)`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from kgrag.documents.text_lines import LONGEST_HEADING, OPTION, RULE, indent_of, marker_of

__all__ = ["OUTLINED", "version_lines"]

VERSION = re.compile(r"(?P<before>[^\d\s][^\d]{0,50}?[\s(]v?|v?)(?P<version>\d{1,6}(?:\.\d{1,6}){1,5})(?P<behind>.*)")
NUMBERED_TITLE = re.compile(r"[.)]?\s+(?=[^\W\d_])")
"""What stands between a number and the title of a section: where nothing stands before the number, it may be one."""
OUTLINED = "* "
"""What the lists of changes of GNU's programs write before a heading of the first level."""
SENTENCE = re.compile(r"[.,;]$")
FEWEST = 3
IN_ORDER = 0.8
"""Of the steps from a version to the next, at least: all up, or all down."""


def version_lines(paragraphs: Sequence[Sequence[str]], *, margin: int) -> frozenset[str]:
    """Return the first lines of paragraphs that head what changed in a version: between most of them stands something else."""
    found: dict[str, list[tuple[tuple[int, ...], int]]] = {}
    for place, lines in enumerate(paragraphs):
        named = VERSION.fullmatch(lines[0].strip())
        if named is None or indent_of(lines[0]) > margin or not _stands_alone(lines):
            continue
        if not named["before"].strip("v") and NUMBERED_TITLE.match(named["behind"]):
            continue
        version = tuple(map(int, named["version"].split(".")))
        found.setdefault(named["before"].casefold(), []).append((version, place))
    return frozenset(
        paragraphs[place][0]
        for one in found.values()
        if _in_order([version for version, _ in one]) and _have_text([place for _, place in one], paragraphs)
        for _, place in one
    )


def _stands_alone(lines: Sequence[str]) -> bool:
    """Whether the first line of a paragraph is no sentence and no item, and no text goes on below it at the margin."""
    text = lines[0].strip()
    if len(text) > LONGEST_HEADING or SENTENCE.search(text) or OPTION.match(text):
        return False
    if marker_of(text):
        return len(lines) == 1 and text.startswith(OUTLINED)
    below = lines[1] if len(lines) > 1 else ""
    return not below or bool(marker_of(below) or RULE.match(below.strip())) or indent_of(below) > indent_of(lines[0])


def _have_text(places: Sequence[int], paragraphs: Sequence[Sequence[str]]) -> bool:
    follow = sum(after == before + 1 and len(paragraphs[before]) == 1 for before, after in pairwise(places))
    return follow < len(places) / 2


def _in_order(versions: Sequence[tuple[int, ...]]) -> bool:
    steps = [(after > before) - (after < before) for before, after in pairwise(versions)]
    return len(set(versions)) >= FEWEST and max(steps.count(1), steps.count(-1)) >= IN_ORDER * len(steps)
