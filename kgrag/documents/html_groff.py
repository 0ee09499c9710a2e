"""Manual pages that groff wrote as HTML: how far a paragraph is indented says what it belongs to.

groff knows no list: a term is a paragraph, what is said of it paragraphs further to the right, and where both begin on one line, or behind
a bullet, the row of a table without lines. Here they become lists, in the tree itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

__all__ = ["make_lists"]

GENERATOR = re.compile(r"groff\b.*-T\s?html")
MARGIN = re.compile(r"margin-left:\s*(\d+)%")
WIDTH = re.compile(r"(\d+)%")
LAYOUT = {"rules": "none", "frame": "void"}
"""How a table is drawn that is none."""
BULLETS = frozenset("•·*-–o")
NUMBER = re.compile(r"\(?\w{1,3}[.)]")
ENDS_SENTENCE = re.compile(r"(?<![-/])[.;!?]$")
MAX_TERM_CHARACTERS, MAX_WORDS_BEFORE_COLON = 240, 4


def make_lists(root: Any) -> None:
    """Make lists and definitions of what is indented as such, and navigation of the links at the start, where groff made the page."""
    if not any(GENERATOR.search(meta.get("content") or "") for meta in root.iter("meta")):
        return
    _mark_contents(root)
    for table in list(root.iter("table")):
        if all(table.get(name) == value for name, value in LAYOUT.items()):
            _make_list(table)
    for paragraph in list(root.iter("p")):
        if _names(paragraph):
            _make_definition(paragraph)


def _mark_contents(root: Any) -> None:
    """Put the links to the page's own sections, which stand before its first line, into an element of navigation."""
    rule = root.find(".//body/hr")
    before = list(rule.itersiblings(preceding=True)) if rule is not None else []
    links = [one for one in before if one.tag in ("a", "br")]
    if any((one.get("href") or "#")[0] != "#" for one in links) or not any(one.get("href") for one in links):
        return
    navigation = rule.makeelement("nav")
    rule.addprevious(navigation)
    navigation.extend(reversed(links))


def _make_list(table: Any) -> None:
    """Make a list of a table each of whose rows has a mark or a term, and what is said of it."""
    margin = _margin(table)
    rows = [[cell for cell in row.iter("td") if _said(cell)] for row in table.iter("tr")]
    if not rows or any(len(row) != 2 for row in rows):
        return
    marks = [_said(mark) for mark, _ in rows]
    if any(len(mark) > MAX_TERM_CHARACTERS for mark in marks):
        return
    made = table.makeelement("dl")
    made.tail = table.tail
    if margin is not None:
        made.set("style", f"margin-left:{margin}%")
    table.addprevious(made)
    if all(mark in BULLETS or NUMBER.fullmatch(mark) for mark in marks):
        made.tag = "ul" if any(mark in BULLETS for mark in marks) else "ol"
        _extend(made, [("li", text) for _, text in rows])
    else:
        _extend(made, [part for mark, text in rows for part in (("dt", _without_paragraph(mark)), ("dd", text))])
    table.getparent().remove(table)


def _extend(made: Any, parts: Sequence[tuple[str, Any]]) -> None:
    for tag, part in parts:
        part.tag, part.tail = tag, None
        part.attrib.clear()
        made.append(part)


def _without_paragraph(cell: Any) -> Any:
    """Return a cell, or its only paragraph: a term is no block."""
    paragraphs = cell.findall("p")
    return paragraphs[0] if len(paragraphs) == 1 == len(cell) else cell


def _make_definition(term: Any) -> None:
    margin = _margin(term) or 0
    below = list(takewhile(lambda one: (_margin(one) or 0) > margin, term.itersiblings()))
    if not below:
        return
    made = term.makeelement("dl")
    made.set("style", f"margin-left:{margin}%")
    said = term.makeelement("dd")
    term.addprevious(made)
    term.tag, term.tail = "dt", None
    made.extend([term, said])
    said.extend(below)


def _names(paragraph: Any) -> bool:
    """Whether a paragraph begins in bold or italics and is no sentence."""
    first = next((child for child in paragraph if isinstance(child.tag, str)), None)
    marked = first is not None and first.tag in ("b", "i") and not (paragraph.text or "").strip()
    said = _said(paragraph)
    is_lead = said.endswith(":") and len(said.split()) > MAX_WORDS_BEFORE_COLON
    return (
        marked
        and _margin(paragraph) is not None
        and len(said) <= MAX_TERM_CHARACTERS
        and not (is_lead or ENDS_SENTENCE.search(said))
    )


def _margin(element: Any) -> int | None:
    """Return how far an element is indented, of the page's width; None where it does not say."""
    if element.tag == "table":
        first = next(element.iter("td"), None)
        found = WIDTH.match(first.get("width") or "") if first is not None and not _said(first) else None
    else:
        found = MARGIN.search(element.get("style") or "") if isinstance(element.tag, str) else None
    return int(found[1]) if found else None


def _said(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())
