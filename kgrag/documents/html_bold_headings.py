"""Headings of pages written by hand: a line in bold above its text, `<b>Double checking</b><br>`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice, takewhile
from typing import Any

from kgrag.documents.html_tags import BOLD, HEADINGS, classes_of

__all__ = ["make_headings"]

AROUND = frozenset({"a", "font", "span", "big", "center", "i", "em", "u"})
"""Elements that a line in bold may be in, and is alone there."""
BLOCKS = frozenset(
    {*HEADINGS, "p", "div", "hr", "pre", "ul", "ol", "dl", "table", "blockquote", "address", "center", "form"}
)
PARENTS = frozenset({"p", "div", "body", "section", "article", "main"})
LEVEL, DEEPEST = 2, 6
"""Of one that no heading stands above."""
LONGEST = 80
FEWEST_LETTERS = 60
"""Of what stands below it up to the end of a line: lines of an address are shorter."""
MOST_PIECES = 200
"""Texts of an element that are looked at: one that is never closed has the rest of the page."""
MOST_BELOW = 3
"""Paragraphs below a line in bold that are looked at."""
TEXT_BELOW = frozenset({"p", "ul", "ol", "dl", "pre", "table"})
TITLE_OF_FIGURE = "title"
"""The class of DocBook's titles of figures, tables and lists."""
CONTENTS = "toc"
"""The class of DocBook's tables of contents."""
CAPTION = re.compile(r"[^\W\d_]+\.? \d[\d.-]*|[^\W_]+(?: [^\W_]+)?: ")
"""How the caption of a figure or table begins, or a label with its value: `Table 4-1.`, `Module name: pump`."""
NO_HEADING = re.compile(
    r".*[.,;:]|(?i:(?:notes?|tips?|hints?|warnings?|cautions?|attention|danger|important|see also)!?)"
    r"|[^A-Z0-9\"'“‘].*|[\W\d_]*",
    re.DOTALL,
)


def make_headings(root: Any) -> None:
    """Make headings of lines in bold that stand alone above a text, one level below the heading above them."""
    level = LEVEL - 1
    for element in list(root.iter(*HEADINGS, *BOLD)):
        if element.tag in HEADINGS:
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
    return _begins_block(outer) and (
        _has_text_below(outer) or (_is_paragraph_above_text(outer) and not CAPTION.match(said))
    )


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


def _is_paragraph_above_text(bold: Any) -> bool:
    """Whether a line in bold is a paragraph by itself, and text stands in the next ones that is not in bold as a whole."""
    paragraph = bold.getparent()
    following = list(islice(paragraph.itersiblings(), MOST_BELOW))
    if paragraph.tag != "p" or TITLE_OF_FIGURE in classes_of(paragraph) or not following:
        return False
    if CONTENTS in classes_of(following[0]):
        return False
    if following[0].tag not in TEXT_BELOW or any(
        map(_is_said, (bold.tail, *(one.tail for one in bold.itersiblings())))
    ):
        return False
    if any(_is_said("".join(one.itertext())) for one in bold.itersiblings()) or _is_bold(following[0]):
        return False
    below = [one for one in following if one.tag in TEXT_BELOW]
    links = [link for one in below for link in islice(one.iter("a"), MOST_PIECES) if link.get("href")]
    return _letters(below) - _letters(links) >= FEWEST_LETTERS  # else it stands above a table of contents


def _letters(elements: Iterable[Any]) -> int:
    return sum(map(str.isalpha, "".join(text for one in elements for text in islice(one.itertext(), MOST_PIECES))))


def _is_bold(paragraph: Any) -> bool:
    own = (paragraph.text, *(one.tail for one in paragraph))
    return (
        paragraph.tag == "p"
        and not any(map(_is_said, own))
        and all(one.tag in BOLD | AROUND | {"br"} for one in paragraph)
    )


def _is_said(text: str | None) -> bool:
    return bool(text and text.strip())
