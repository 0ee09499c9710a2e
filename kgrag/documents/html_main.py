"""The part of a page that is the document, where a page says which: its `main` element, or the one with that role."""

from __future__ import annotations

from typing import Any

from kgrag.documents.html_tags import FOOTNOTES, HEADINGS, classes_of, letters_of

__all__ = ["beside_main"]

FEWEST_LETTERS = 200
"""Of a main part: a page that says less there is laid out by a program."""
MOST_PARTS = 5
"""Elements that are called so: a page of more is no page of one text."""


def beside_main(root: Any) -> frozenset[Any]:
    """Return the elements of a page that stand beside its main part and say less than that.

    The title may stand above it: what has a heading stays where the main part has none of the first level. Nothing where there are
    several main parts.
    """
    parts = [element for element in root.iter() if element.tag == "main" or element.get("role") == "main"]
    if len(parts) > MOST_PARTS:
        return frozenset()
    outer = [part for part in parts if not any(around in parts for around in part.iterancestors())]
    if len(outer) != 1 or (letters := letters_of(outer[0])) < FEWEST_LETTERS:
        return frozenset()
    has_title = next(outer[0].iter("h1"), None) is not None
    beside: set[Any] = set()
    for around in (outer[0], *outer[0].iterancestors()):
        for element in (*around.itersiblings(), *around.itersiblings(preceding=True)):
            is_title = not has_title and next(element.iter(*HEADINGS), None) is not None
            is_note = any(not FOOTNOTES.isdisjoint(classes_of(one)) for one in element.iter())
            if element.tag != "head" and not is_title and not is_note and letters_of(element) < letters:
                beside.add(element)
    return frozenset(beside)
