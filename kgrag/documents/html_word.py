"""What word processors save as pages: Word's items of lists, which are paragraphs there, its titles, and depths of Google's lists."""

from __future__ import annotations

import re
from typing import Any

from kgrag.documents.html_tags import classes_of

__all__ = ["make_word_lists_and_titles"]

BESIDE_MARKER = re.compile(r"font:\s*7\.0pt")
"""The style of the blanks between the marker of an item and its text, in all versions of Word."""
LEVEL = re.compile(r"mso-list:[^;]*\blevel(\d)")
INDENT = re.compile(r"margin-left:\s*([\d.]+)(in|pt|cm)")
POINTS = {"in": 72.0, "pt": 1.0, "cm": 72 / 2.54}
POINTS_OF_A_LEVEL = 36
NUMBER = re.compile(r"(\d{1,4})\.")
LONGEST_MARKER = 12
DEEPEST = 9
STYLES = {"MsoTitle": "h1", **{f"MsoHeading{level}": "h6" for level in (7, 8, 9)}}
"""Word's styles of titles for which HTML has no element, and what they become."""
OF_GOOGLE = re.compile(r"lst-kix_.*-(\d)$")
"""The class of Google's lists: each depth is a list of its own, none in another."""


def make_word_lists_and_titles(root: Any) -> None:
    """Make lists and headings, in the tree itself, of what Word's styles say is one; and nest Google's lists as deep as they say."""
    for paragraph in list(root.iter("p", "div")):
        for name in classes_of(paragraph) & STYLES.keys():
            if "".join(paragraph.itertext()).strip():
                paragraph.tag = STYLES[name]
    for blanks in list(root.iter("span")):
        if BESIDE_MARKER.search(blanks.get("style") or "") and not "".join(blanks.itertext()).strip():
            _make_item(blanks)
    for one in list(root.iter("ul", "ol")):
        depths = [int(found[1]) for name in classes_of(one) if (found := OF_GOOGLE.match(name))]
        _nest(one, depths[0] if depths else 0)


def _make_item(blanks: Any) -> None:
    """Make an item of the paragraph that begins with a marker and blanks beside it."""
    marker = blanks.getparent()
    paragraph = next(blanks.iterancestors("p"), None)
    if paragraph is None or marker is paragraph:
        return
    said, text = "".join(marker.itertext()).strip(), "".join(paragraph.itertext()).strip()
    if not said or len(said) > LONGEST_MARKER or not text.startswith(said) or text == said:
        return
    level, indent = LEVEL.search(paragraph.get("style") or ""), INDENT.search(paragraph.get("style") or "")
    depth = int(level[1]) if level else round(float(indent[1]) * POINTS[indent[2]] / POINTS_OF_A_LEVEL) if indent else 1
    around = paragraph.makeelement("ul")
    if number := NUMBER.fullmatch(said):
        around.tag = "ol"
        around.set("start", number[1])
    if number or not any(map(str.isalnum, said)) or said == "o":
        for one in marker.iter():
            one.text = None
            if one is not marker:
                one.tail = None
    paragraph.addprevious(around)
    around.tail, paragraph.tail = paragraph.tail, None
    around.append(paragraph)
    paragraph.tag = "li"
    _nest(around, min(depth, DEEPEST) - 1)


def _nest(inner: Any, depth: int) -> None:
    for _ in range(depth):
        outer = inner.makeelement("ul")
        inner.addprevious(outer)
        outer.tail, inner.tail = inner.tail, None
        outer.append(inner)
        inner = outer
