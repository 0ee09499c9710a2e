"""Preformatted passages (manual pages, text files): lines that were broken at a width are put together again, indentation says what is
said of what.

Nothing moves: a line's end inside a paragraph becomes a space, so that places in the text stay what they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, takewhile
from typing import NamedTuple

__all__ = ["Reflowed", "reflow"]

MIN_WRAPPED, LEAST_WIDTH, MOST_WIDTH = 3, 50, 100
"""A passage with at least so many lines of such a width and none wider was broken by hand or by a program."""
MIN_WRAPPED_BESIDE, LEAST_INDENT = 2, 2
"""The same of lines beside flowing paragraphs, and by how much one of them is indented."""
FULL = 0.88
"""A line is full where the first word of the next one would have made it longer than this share of the widest."""
MAX_TERM_WORDS, MAX_SETTINGS = 8, 3
COMMENT = re.compile(r"\s*(?:#|;|//)(?: |$)")
"""How a line begins that says what the lines below it are for: `# Seconds until it gives up.`"""
LEFT_AS_IT_IS = re.compile(r"\s*[#;](?=\S)")
"""The same of a setting that has its default: `#max_idle 20`."""
ENDS_PROSE = (".", "?", "!", ":", ",")
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

    Nothing goes on from the first line of one that is `headed` by its title and section. Between flowing paragraphs, whose lines are wider,
    indented lines alone go on from the line before: a list of options in a book.
    """
    lines = text.split("\n")
    written = list(text)
    terms: list[tuple[int, int, str]] = []
    start, first = 0, 0
    is_mixed = any(_is_flowing(line) for line in lines[1:])
    while first < len(lines):
        last = first + 1
        while last < len(lines) and _is_flowing(lines[last]) == _is_flowing(lines[first]):
            last += 1
        stretch = lines[first:last]
        if width := _broken_at(stretch[not first :], beside_flowing=is_mixed):
            headed_here = headed and not first
            _put_together(stretch, start, written, terms, width=width, headed=headed_here, indented_only=is_mixed)
        start += sum(len(line) + 1 for line in stretch)
        first = last
    return Reflowed("".join(written), (*_commented(lines), *terms))


def _commented(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the stretches that are comments, each with the settings or commands right below it, which it is about."""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    first = 0
    while first < len(lines):
        last = first
        while last < len(lines) and COMMENT.match(lines[last]):
            last += 1
        below = list(takewhile(_is_setting, lines[last : last + MAX_SETTINGS])) if last > first else []
        if below:
            said = (" ".join(LEFT_AS_IT_IS.sub("", line).split()) for line in below)
            yield starts[first], starts[last] - 1, "; ".join(said)
        first = max(last, first + 1)


def _is_setting(line: str) -> bool:
    """Whether a line sets or does something: a few words that are neither prose nor a comment."""
    said = line.strip()
    return 0 < len(said.split()) <= MAX_TERM_WORDS and not said.endswith(ENDS_PROSE) and not COMMENT.match(line)


def _is_flowing(line: str) -> bool:
    """Whether a line is a paragraph that nobody broke."""
    return len(line.rstrip()) > MOST_WIDTH and not line.lstrip().startswith("|")


def _broken_at(lines: list[str], *, beside_flowing: bool) -> int:
    """The width at which lines were broken, 0 where they were not; beside flowing paragraphs some have to be indented as well."""
    widths = [len(line.rstrip()) for line in lines if not line.lstrip().startswith("|")]
    width = max(widths, default=0)
    wrapped = sum(1 for one in widths if one >= LEAST_WIDTH)
    if width > MOST_WIDTH or wrapped < (MIN_WRAPPED_BESIDE if beside_flowing else MIN_WRAPPED):
        return 0
    return width if not beside_flowing or any(_indent(line) >= LEAST_INDENT for line in lines) else 0


def _put_together(
    lines: list[str],
    start: int,
    written: list[str],
    terms: list[tuple[int, int, str]],
    *,
    width: int,
    headed: bool,
    indented_only: bool,
) -> None:
    """Join lines broken at `width` in `written`, from the place `start` on, and add the terms that stand above them."""
    above: list[tuple[int, str]] = []
    before, first_indent = "", 0
    lost = _lost_indent(lines)
    for place, line in enumerate(lines):
        indent = _indent(line) + (0 if place else lost)
        if line.strip():
            while above and indent <= above[-1][0]:
                above.pop()
            may_go_on = before and indent >= first_indent and (indent > 0 or not indented_only)
            if may_go_on and _goes_on(before, line, width, hanging=indent > first_indent):
                written[start - 1] = " "
            else:
                first_indent = indent
            if above:
                terms.append((start, start + len(line), above[-1][1]))
            if not (headed and not place) and _is_term(line, lines[place + 1 :], indent):
                above.append((indent, " ".join(line.split())))
        before = "" if headed and not place else line.rstrip()
        start += len(line) + 1


def _goes_on(before: str, line: str, width: int, *, hanging: bool) -> bool:
    if (COMMENT.match(before) is None) != (COMMENT.match(line) is None):
        return False  # What is commented on, below its comment.
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
