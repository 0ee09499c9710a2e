"""Lists and tables that lay a page out: sections in items, as Javadoc and TypeDoc write them, and boxes with a title."""

from __future__ import annotations

from itertools import islice
from typing import Any

from kgrag.documents.html_tables import is_data_table, is_marked, rows_of_cells
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
        items = [item for item in one if isinstance(item.tag, str)]
        if one in around_headings or (len(items) == 1 and _is_laid_out(items[0])):
            for part in (one, *items):
                part.tag = "div"


def _is_laid_out(item: Any) -> bool:
    """Whether an item begins with a block that is no paragraph, and has others."""
    blocks = [child.tag for child in item if child.tag in BLOCKS]
    return len(blocks) >= FEWEST_BLOCKS and blocks[0] != "p" and not (item.text or "").strip()


def make_titles_of_boxes(root: Any) -> None:
    """Make headings of the titles of boxes, in the tree itself: of a table that only lays out the first row, in bold above others.

    The level is how many such tables it is in.
    """
    titles = {table: title for table in root.iter("table") if (title := _title(table)) is not None}
    for table, title in titles.items():
        depth = sum(around in titles for around in table.iterancestors("table"))
        title.tag = f"h{min(LEVEL + depth, DEEPEST)}"
        title.tail = None


def _title(table: Any) -> Any:
    """The cell, become a part of the page, that is all of a table's first row and says a short line in bold."""
    rows = list(islice(rows_of_cells(table), 2))
    if len(rows) < 2 or is_data_table(table):
        return None
    filled = [cell for cell in rows[0] if _said(cell)]
    if len(filled) != 1 or len(_said(filled[0])) > LONGEST or not (is_marked(filled[0]) or _is_bar(filled[0])):
        return None
    inside = filled[0].makeelement("div")
    inside.text, filled[0].text = filled[0].text, None
    inside.extend(list(filled[0]))
    filled[0].append(inside)
    return inside


def _is_bar(cell: Any) -> bool:
    """Whether a cell goes over several columns and has something in bold: `class <b>Pump</b>(Device)`."""
    return (cell.get("colspan") or "1") != "1" and next(cell.iter(*BOLD), None) is not None


def _said(element: Any) -> str:
    return " ".join("".join(islice(element.itertext(), MOST_PIECES)).split())
