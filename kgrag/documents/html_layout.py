"""Lists and tables that lay a page out: sections in items, as Javadoc and TypeDoc write them, and boxes with a title."""

from __future__ import annotations

from itertools import islice
from typing import Any

from kgrag.documents.html_tables import is_marked, rows_of_cells
from kgrag.documents.html_tags import BOLD, HEADINGS

__all__ = ["make_sections_of_items", "make_titles_of_boxes"]

LISTS = frozenset({"ul", "menu"})
BLOCKS = frozenset({"p", "pre", "div", "section", "hr", "dl", "table"})
FEWEST_BLOCKS = 2
"""Of an item that is alone in its list."""
LEVEL, DEEPEST = 2, 6
"""Of the title of a box that is in no other one."""
LONGEST = 200
MOST_PIECES = 50
"""Texts of a title that are looked at."""


def make_sections_of_items(root: Any) -> None:
    """Read the items of a list as parts of the page, in the tree itself, where headings or the blocks of one item alone are in it."""
    around_headings = {around for heading in root.iter(*HEADINGS) for around in heading.iterancestors(*LISTS)}
    for one in list(root.iter(*LISTS)):
        # A list for its margin alone has headings and other blocks beside its items, or none of these.
        items = list(one.iterchildren("li"))
        if one in around_headings or (len(items) == 1 and _is_laid_out(items[0])):
            _make_parts(one, alone=len(items) == 1)


def _make_parts(around: Any, *, alone: bool) -> None:
    """Make parts of a list's items, of which one may be `alone`; those between them that have no heading stay items of lists."""
    kept = None
    for item in list(around.iterchildren("*")):
        if item.tag != "li":
            kept = None
        elif alone or next(item.iter(*HEADINGS), None) is not None or _is_laid_out(item):
            item.tag, kept = "div", None
        else:
            if kept is None:
                kept = around.makeelement(around.tag)
                item.addprevious(kept)
            kept.append(item)
    around.tag = "div"


def _is_laid_out(item: Any) -> bool:
    """Whether an item begins with a block that is no paragraph, and has others."""
    blocks = [child.tag for child in item if child.tag in BLOCKS]
    return len(blocks) >= FEWEST_BLOCKS and blocks[0] != "p" and not (item.text or "").strip()


def make_titles_of_boxes(root: Any) -> None:
    """Mark tables that only lay out, in the tree itself, and make headings of their titles: of a first row in bold above others.

    Such a table never has two cells beside each other that say something. The level is how many of those with a title it is in.
    """
    tables = [table for table in root.iter("table") if _lays_out(table)]
    for table in tables:
        table.set("role", "presentation")
    titles = {table: title for table in tables if (title := _title(table)) is not None}
    for table, title in titles.items():
        depth = sum(around in titles for around in table.iterancestors("table"))
        title.tag = f"h{min(LEVEL + depth, DEEPEST)}"


def _lays_out(table: Any) -> bool:
    rows = rows_of_cells(table)
    return table.find("caption") is None and all(len([cell for cell in row if _is_filled(cell)]) < 2 for row in rows)


def _is_filled(cell: Any) -> bool:
    return any(text.strip() for text in cell.itertext()) or next(cell.iter("img"), None) is not None


def _title(table: Any) -> Any:
    """What is in the only cell with words of a table's first row, become one element: a short line in bold above other rows."""
    rows = list(islice(rows_of_cells(table), 2))
    cell = next((cell for cell in rows[0] if _said(cell)), None) if len(rows) == 2 else None
    if (
        cell is None
        or next(table.iter("input"), None) is not None
        or len(_said(cell)) > LONGEST
        or not (is_marked(cell) or _is_bar(cell))
    ):
        return None
    inside = cell.makeelement("div")
    inside.text, cell.text = cell.text, None
    inside.extend(list(cell))
    cell.append(inside)
    return inside


def _is_bar(cell: Any) -> bool:
    """Whether a cell goes over several columns and has something in bold: `class <b>Pump</b>(Device)`."""
    return (cell.get("colspan") or "1") != "1" and next(cell.iter(*BOLD), None) is not None


def _said(element: Any) -> str:
    return " ".join("".join(islice(element.itertext(), MOST_PIECES)).split())
