"""Kinds and classes of elements that several readers of HTML ask for."""

from __future__ import annotations

from typing import Any

__all__ = ["BOLD", "FOOTNOTES", "HEADINGS", "classes_of", "letters_of"]

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BOLD = frozenset({"b", "strong"})
FOOTNOTES = frozenset({"footnote", "footnotes", "footnote-list"})
"""Classes of footnotes: the text refers to them."""


def classes_of(element: Any) -> frozenset[str]:
    """Return the classes of an element of lxml's tree; of None, none."""
    return frozenset(() if element is None else (element.get("class") or "").split())


def letters_of(element: Any) -> int:
    """Count the characters that an element says, blanks around its texts left out."""
    return sum(len(text.strip()) for text in element.itertext())
