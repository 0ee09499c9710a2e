"""Headings of pages written by hand: a line in bold above its text, `<b>Double checking</b><br>`."""

from __future__ import annotations

import re
from itertools import islice, takewhile
from typing import Any

__all__ = ["make_headings"]

HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BOLD = frozenset({"b", "strong"})
AROUND = frozenset({"a", "font", "span", "big", "center", "i", "em", "u"})
"""Elements that a line in bold may be in, and is alone there."""
BLOCKS = frozenset(
    {*HEADING_TAGS, "p", "div", "hr", "pre", "ul", "ol", "dl", "table", "blockquote", "address", "center", "form"}
)
PARENTS = frozenset({"p", "div", "body", "section", "article", "main"})
LEVEL, DEEPEST = 2, 6
"""Of one that no heading stands above."""
LONGEST = 80
FEWEST_LETTERS = 60
"""Of what stands below it up to the end of a line: lines of an address are shorter."""
MOST_PIECES = 200
"""Texts of an element that are looked at: one that is never closed has the rest of the page."""
NO_HEADING = re.compile(
    r".*[.,;:]|(?i:(?:notes?|tips?|hints?|warnings?|cautions?|attention|danger|important|see also)!?)"
    r"|[^A-Z0-9\"'“‘].*|[\W\d_]*",
    re.DOTALL,
)


def make_headings(root: Any) -> None:
    """Make headings of lines in bold that stand alone above a text, one level below the heading above them."""
    level = LEVEL - 1
    for element in list(root.iter(*HEADING_TAGS, *BOLD)):
        if element.tag in HEADING_TAGS:
            level = int(element.tag[1])
        elif _is_heading(element):
            element.tag = f"h{min(level + 1, DEEPEST)}"


def _is_heading(bold: Any) -> bool:
    said = " ".join("".join(islice(bold.itertext(), MOST_PIECES)).split())
    if len(said) > LONGEST or NO_HEADING.fullmatch(said):
        return False
    outer = bold
    while (around := outer.getparent()) is not None and around.tag in AROUND and len(around) == 1:
        if _is_said(around.text) or _is_said(outer.tail):
            return False
        outer = around
    return _begins_block(outer) and _has_text_below(outer)


def _begins_block(element: Any) -> bool:
    """Whether nothing stands before an element in its paragraph, or a block ends there."""
    while element is not None and element.getparent() is not None:
        before = element.getprevious()
        while before is not None and not _is_said(before.tail):
            if before.tag in BLOCKS:
                return _stands_in_text(element)
            if before.tag != "br" and any(map(_is_said, before.itertext())):
                return False
            before = before.getprevious()
        parent = element.getparent()
        if before is not None or _is_said(parent.text):
            return False
        if parent.tag in PARENTS:
            return _stands_in_text(element)
        if parent.tag not in AROUND:
            return False
        element = parent
    return False


def _stands_in_text(element: Any) -> bool:
    """Whether an element is in no list, table or heading."""
    return all(one.tag in PARENTS or one.tag in AROUND or one.tag == "html" for one in element.iterancestors())


def _has_text_below(element: Any) -> bool:
    line_end = element.getnext()
    if line_end is None or line_end.tag != "br" or _is_said(element.tail):
        return False
    following = list(takewhile(lambda one: one.tag != "br" and one.tag not in BLOCKS, line_end.itersiblings()))
    said = (line_end.tail or "") + "".join(
        "".join(islice(one.itertext(), MOST_PIECES)) + (one.tail or "") for one in following
    )
    if said.strip():
        return sum(map(str.isalpha, said)) >= FEWEST_LETTERS
    after = following[-1].getnext() if following else line_end.getnext()
    return after is None or after.tag in BLOCKS or after.tag == "br"


def _is_said(text: str | None) -> bool:
    return bool(text and text.strip())
