"""Lines of Markdown: how far they are indented, which are within a listing, what of one is a code span."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kgrag.documents.markdown_marks import CODE, DIRECTIVE, DIRECTIVES, FENCE, LIST_MARK

__all__ = ["code_spans", "indentation", "indented_by_spaces", "outside_listings", "without_indentation"]

TAB = 4
BACKTICKS = re.compile(r"`+")
LONGEST_SPAN = 60
"""Lines in which the end of a code span is looked for."""


def indentation(line: str) -> int:
    """Return how many columns of white space a line begins with."""
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(TAB))


def without_indentation(line: str, columns: int) -> str:
    """Take up to so many columns of white space off a line; what follows them is as it was, tabs too."""
    words = line.lstrip(" \t")
    space = line[: len(line) - len(words)]
    while columns and space:
        if space[0] == "\t":
            space = " " * TAB + space[1:]
        space, columns = space[1:], columns - 1
    return space + words


def indented_by_spaces(lines: Sequence[str]) -> list[str]:
    """Write the indentation of lines in spaces, but for those of fenced listings."""
    listing = _listings(lines)
    return [
        line if inside or not line.lstrip(" ").startswith("\t") else " " * indentation(line) + line.lstrip(" \t")
        for line, inside in zip(lines, listing, strict=True)
    ]


def outside_listings(lines: Sequence[str]) -> Iterator[str]:
    """Give the lines that no fenced listing holds."""
    return (line for line, inside in zip(lines, _listings(lines), strict=True) if not inside)


def _listings(lines: Sequence[str]) -> Iterator[bool]:
    """Say of each line whether it is one of a fenced listing, its fences included; the body of a box is none."""
    fence = ""
    for line in lines:
        mark = FENCE.match(line)
        yield bool(mark or fence)
        if mark is None:
            continue
        info = mark["info"].strip()
        box = DIRECTIVE.match(info)
        if fence:
            fence = "" if mark["fence"].startswith(fence) and not info else fence
        elif not (box and box["name"].lower() in DIRECTIVES and box["name"].lower() not in CODE):
            fence = mark["fence"]


def code_spans(line: str, lines: Sequence[str], following: int, *, open_run: str) -> tuple[list[tuple[int, int]], str]:
    """Find the code spans of a line: where each begins and ends, its backticks included, and the backticks of one that goes on.

    `open_run` are the backticks of a span that an earlier line began, `following` the place of the next line among `lines`: a run of
    backticks that no run of the same length closes before the paragraph ends is text.
    """
    spans: list[tuple[int, int]] = []
    at = 0
    if open_run:
        end = _closing(line, 0, open_run)
        if end is None:
            return [(0, len(line))], open_run
        spans.append((0, end))
        at = end
    while run := BACKTICKS.search(line, at):
        begin = run.start()
        before = line[at:begin]
        if (len(before) - len(before.rstrip("\\"))) % 2:  # the first one is escaped
            begin += 1
        backticks, at = line[begin : run.end()], run.end()
        if not backticks:
            continue
        end = _closing(line, at, backticks)
        if end is not None:
            spans.append((begin, end))
            at = end
        elif not _is_whole(line) and _closed_later(lines[following : following + LONGEST_SPAN], backticks):
            return [*spans, (begin, len(line))], backticks
    return spans, ""


def _closing(line: str, at: int, backticks: str) -> int | None:
    return next((run.end() for run in BACKTICKS.finditer(line, at) if run[0] == backticks), None)


def _closed_later(lines: Sequence[str], backticks: str) -> bool:
    for line in lines:
        if not line.strip() or _is_whole(line) or FENCE.match(line) or LIST_MARK.match(line):
            return False
        if _closing(line, 0, backticks) is not None:
            return True
    return False


def _is_whole(line: str) -> bool:
    """Whether a line is a block by itself: a heading, or a row of a table."""
    return line.lstrip(" ").startswith(("#", "|"))
