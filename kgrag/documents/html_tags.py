"""Kinds and classes of elements that several readers of HTML ask for."""

from __future__ import annotations

from itertools import islice
from typing import Any

__all__ = [
    "BLOCK_ELEMENTS",
    "BOLD",
    "FOOTNOTES",
    "HEADINGS",
    "HEADING_LEVELS",
    "UNSEEN",
    "class_names",
    "classes_of",
    "is_mostly_links",
    "letters_of",
    "letters_shown",
    "link_share",
]

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
HEADING_LEVELS = {heading: level for level, heading in enumerate(HEADINGS, start=1)}
BLOCK_ELEMENTS = frozenset(HEADING_LEVELS) | frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "search",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
BOLD = frozenset({"b", "strong"})
FOOTNOTES = frozenset({"footnote", "footnotes", "footnote-list"})
"""Classes of footnotes: the text refers to them."""
UNSEEN = frozenset(
    [
        "script",
        "style",
        "template",
        "head",
        "meta",
        "link",
        "noframes",
        "svg",
        "canvas",
        "audio",
        "video",
        "object",
        "embed",
        "iframe",
        "map",
        "param",
        "source",
        "track",
        "base",
        "annotation",
    ]
)
"""Elements without words of the document; what they contain is not counted."""
MOSTLY = 0.5
"""An `aside`, or an element named like navigation, that consists of links by at least this share of its letters is navigation."""
MOST_PIECES = 200
"""Texts of an element that are looked at where it matters whether it says more than a line."""


def classes_of(element: Any) -> frozenset[str]:
    """Return the classes of an element of lxml's tree; of None, none."""
    return frozenset(() if element is None else (element.get("class") or "").split())


def class_names(element: Any) -> frozenset[str]:
    """Return the classes of an element in lower case: names that are known are meant however they are written."""
    return frozenset(name.lower() for name in classes_of(element))


def letters_of(element: Any) -> int:
    """Count the characters that an element says, blanks around its texts left out."""
    return sum(len(text.strip()) for text in element.itertext())


def letters_shown(element: Any) -> int:
    """Count the letters that an element shows, up to what makes a page of text, and some more."""
    if not isinstance(element.tag, str) or element.tag in UNSEEN:
        return 0
    return sum(len(text.strip()) for text in islice(element.itertext(), MOST_PIECES))


def link_share(element: Any) -> float:
    """Return which share of its letters an element has in links; 1 where it has none."""
    letters = letters_of(element)
    linked = sum(len(text.strip()) for link in element.iter("a") for text in link.itertext())
    return linked / letters if letters else 1.0


def is_mostly_links(element: Any) -> bool:
    """Whether an element consists of links by half of its letters."""
    return link_share(element) >= MOSTLY
