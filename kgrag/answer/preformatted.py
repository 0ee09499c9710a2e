"""Preformatted passages (manual pages, text files): lines that were broken at a width are put together again, indentation says what is
said of what.

Nothing moves: a line's end inside a paragraph becomes a space, so that places in the text stay what they were.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Reflowed", "reflow"]

MIN_WRAPPED, LEAST_WIDTH, MOST_WIDTH = 3, 50, 100
"""A passage with at least so many lines of such a width and none wider was broken by hand or by a program."""
FULL = 0.88
"""A line is full where the first word of the next one would have made it longer than this share of the widest."""
MAX_TERM_WORDS = 8
MARK = re.compile(r"\s*(?:[-*•o] |--?[A-Za-z]|\(?\w{1,2}[.)] |[<>|#$] )")
"""What a new item, option, or line of a session begins with."""

OPTION = re.compile(r"--?[A-Za-z]")
"""How a line of a summary of options begins."""
NAMED = re.compile(r"[A-Z][\w-]*(?: [\w-]+){0,2}(?: \([^()\n]{1,30}\))?: +\S")
"""How a line begins that says something of its own behind a full stop or a colon: `Default: 60`, `Warn (yellow): Something ...`."""


class Reflowed(NamedTuple):
    """A passage whose paragraphs are lines, and for stretches of it (start, end) the term that stands above them with less indentation."""

    text: str
    terms: tuple[tuple[int, int, str], ...] = ()

    def term_at(self, place: int) -> str:
        """Return the term above a place; empty where there is none."""
        return next((term for start, end, term in self.terms if start <= place < end), "")


def reflow(text: str, *, headed: bool = False) -> Reflowed:
    """Put the broken lines of a preformatted passage together; any other passage stays as it is.

    Nothing goes on from the first line of one that is `headed` by its title and section.
    """
    lines = text.split("\n")
    widths = [len(line.rstrip()) for line in lines[1:] if not line.lstrip().startswith("|")]
    width = max(widths, default=0)
    if width > MOST_WIDTH or sum(1 for one in widths if one >= LEAST_WIDTH) < MIN_WRAPPED:
        return Reflowed(text)
    written = list(text)
    above: list[tuple[int, str]] = []
    terms: list[tuple[int, int, str]] = []
    start, before, first_indent = 0, "", 0
    lost = _lost_indent(lines)
    for place, line in enumerate(lines):
        indent = _indent(line) + (0 if place else lost)
        if line.strip():
            while above and indent <= above[-1][0]:
                above.pop()
            if before and indent >= first_indent and _goes_on(before, line, width, hanging=indent > first_indent):
                written[start - 1] = " "
            else:
                first_indent = indent
            if above:
                terms.append((start, start + len(line), above[-1][1]))
            if _is_term(line, lines[place + 1 :], indent):
                above.append((indent, " ".join(line.split())))
        before = "" if headed and not place else line.rstrip()
        start += len(line) + 1
    return Reflowed("".join(written), tuple(terms))


def _goes_on(before: str, line: str, width: int, *, hanging: bool) -> bool:
    if line.lstrip().startswith("|") or before.lstrip().startswith("|") or (MARK.match(line) and not hanging):
        return False
    if before.endswith((".", "!", "?", ":")) and NAMED.match(line):
        return False
    return len(before) + 1 + len(line.split()[0]) >= FULL * width


def _is_term(line: str, following: list[str], indent: int) -> bool:
    """Whether a short line stands above lines that are indented more: `-d queue_id`, `DESCRIPTION`."""
    said = line.strip()
    if len(said.split()) > MAX_TERM_WORDS or said[-1] in ".;,|":
        return False
    below = next((one for one in following if one.strip()), "")
    return _indent(below) > indent


def _lost_indent(lines: list[str]) -> int:
    """Return how far the first line of a passage was indented in a summary of options, all of which are: passages begin without blanks."""
    others = [line for line in lines[1:] if line.strip()]
    least = min(map(_indent, others), default=0)
    is_summary = OPTION.match(lines[0]) and any(OPTION.match(line, least) for line in others)
    return least if is_summary else 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
