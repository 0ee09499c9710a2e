"""Listings of Scribble's pages (Racket), which it lays out in tables: a row for each line, blanks as `&nbsp;`."""

from __future__ import annotations

from typing import Any

from kgrag.documents.html_tags import classes_of

__all__ = ["make_listings"]

LISTINGS = frozenset({"RktBlk", "SVerbatim"})
BLOCKS = ("table", "p", "div", "ul", "ol", "dl", "pre", "blockquote")


def make_listings(root: Any) -> None:
    """Make a `pre` of each such table, in the tree itself, where each row is one line."""
    for table in list(root.iter("table")):
        if LISTINGS.isdisjoint(classes_of(table)):
            continue
        rows = [list(row) for row in table.iter("tr")]
        if all(len(row) == 1 for row in rows) and next(table.iterdescendants(*BLOCKS), None) is None:
            _become_listing(table, [row[0] for row in rows])


def _become_listing(table: Any, lines: list[Any]) -> None:
    for child in list(table):
        table.remove(child)
    for line in lines:
        for one in line.iter():
            one.text = (one.text or "").replace("\xa0", " ")
            if one is not line:
                one.tail = (one.tail or "").replace("\xa0", " ")
        line.tag, line.tail = "span", "\n"
        table.append(line)
    table.tag, table.text = "pre", None
