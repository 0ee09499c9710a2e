"""Headings of pages that are one text in `pre`, as manual pages and help files are: lines in bold at the margin, and below drawn rules."""

from __future__ import annotations

import re
from typing import Any

from kgrag.documents.html_tags import BOLD, HEADINGS

__all__ = ["make_sections"]

LEAST_SHARE = 0.8
"""Of the letters of a page, in its longest `pre`."""
FEWEST_WORDS, FEWEST_SECTIONS = 150, 2
MOST_HEADINGS = 1
"""Of the page beside the text: its title."""
LEVEL = "h2"
LONGEST = 100
RULE = re.compile(r"(?:={30,}|-{30,}|\*{30,}|_{30,})\s*")
UNSEEN = ("script", "style", "noscript", "head")

_Line = list[Any]
"""The texts and elements of a line."""


def make_sections(root: Any) -> None:
    """Part a `pre` that is nearly all of a page without sections, in the tree itself: a heading and what stands below it, in turn."""
    texts = [pre for pre in root.iter("pre") if pre.getparent() is not None]
    if not texts or sum(1 for _ in root.iter(*HEADINGS)) > MOST_HEADINGS:
        return
    pre = max(texts, key=_letters)
    letters = sum(_letters(one) for one in root if one.tag not in UNSEEN)
    if _letters(pre) < LEAST_SHARE * letters or len("".join(pre.itertext()).split()) < FEWEST_WORDS:
        return
    lines = _lines(pre)
    said = [_said(line) for line in lines]
    heads = {at for at in range(len(lines)) if _is_bold_heading(lines[at], said[at]) or _is_below_rule(said, at)}
    if len(heads) >= FEWEST_SECTIONS:
        _part(pre, lines, heads)


def _letters(element: Any) -> int:
    return sum(map(str.isalpha, "".join(element.itertext()))) if isinstance(element.tag, str) else 0


def _lines(pre: Any) -> list[_Line]:
    """Return the lines of a `pre`; an element that goes over several is in one with what stands beside it."""
    lines: list[_Line] = [[]]

    def add(text: str | None) -> None:
        first, *others = (text or "").split("\n")
        lines[-1].append(first)
        lines.extend([other] for other in others)

    add(pre.text)
    for child in list(pre):
        lines[-1].append(child)
        add(child.tail)
    return lines


def _said(line: _Line) -> str:
    return "".join(part if isinstance(part, str) else "".join(part.itertext()) for part in line)


def _is_bold_heading(line: _Line, said: str) -> bool:
    """Whether a line is bold as a whole and begins at the margin with a capital or a number."""
    if not said[:1].isupper() and not said[:1].isdecimal():
        return False
    is_bold = all(
        not part.strip() if isinstance(part, str) else part.tag in BOLD or not _said([part]).strip() for part in line
    )
    return is_bold and _can_head(said)


def _is_below_rule(said: list[str], at: int) -> bool:
    """Whether a line at the margin stands below a rule, with at most one blank line between, and says something else than a rule."""
    above = at - 1 if at and said[at - 1].strip() else at - 2
    return above >= 0 and RULE.fullmatch(said[above]) is not None and said[at][:1].isalnum() and _can_head(said[at])


def _can_head(said: str) -> bool:
    return (
        "\n" not in said
        and len(" ".join(said.split())) <= LONGEST
        and any(map(str.isalpha, said))
        and said.rstrip()[-1] not in ".,;:"
    )


def _part(pre: Any, lines: list[_Line], heads: set[int]) -> None:
    box = pre.makeelement("div")
    if ident := pre.get("id"):
        box.set("id", ident)
    section = pre.makeelement("pre")
    for at, line in enumerate(lines):
        if at not in heads:
            _append(section, [*line, "\n"])
            continue
        box.append(section)
        heading = pre.makeelement(LEVEL)
        _append(heading, line)
        box.append(heading)
        section = pre.makeelement("pre")
    box.append(section)
    box.tail = pre.tail
    pre.getparent().replace(pre, box)


def _append(element: Any, parts: _Line) -> None:
    """Write texts and elements at the end of an element."""
    for part in parts:
        if not isinstance(part, str):
            part.tail = None  # it is in the line by itself
            element.append(part)
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + part
        else:
            element.text = (element.text or "") + part
