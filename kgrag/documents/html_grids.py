"""Tables and definitions of HTML pages that are written with other elements.

Tables: Javadoc's summaries, and elements with ARIA's roles of tables. Definitions: rustdoc's fields, what Haddock, RDoc and Crystal say
of functions, and Texinfo's functions and the like. And releases, which rustdoc writes before the heading that they belong to.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from kgrag.documents.html_tags import HEADINGS, classes_of, letters_of

__all__ = ["make_definitions", "make_tables", "put_releases_below"]

GRID = "summary-table"
"""The class of the tables of Javadoc since version 16: cell after cell, their columns named by the first ones."""
GRID_HEADER = "table-header"
TABLE_ROLES, CELL_ROLES = (
    frozenset({"table", "grid", "treegrid"}),
    frozenset({"cell", "gridcell", "rowheader", "columnheader"}),
)
HEADER_ROLE = "columnheader"
FIELD_IDS = ("structfield.", "variant.")
"""How the ids of rustdoc's fields begin."""
SAID_BELOW = {"src": "doc", "method-heading": "method-description", "signature": "doc"}
"""Class of a function or type → that of what Haddock, RDoc or Crystal says of it, in the next element."""
AT_THE_RIGHT, RELEASE = "rightside", "since"
"""Classes of what rustdoc draws beside a heading and writes before it, and of the release in it."""
CATEGORIES = frozenset({"category", "category-def"})
"""Classes of what Texinfo says a defined name is, before it: `Command: print [number]`."""


def make_tables(root: Any) -> None:
    """Make tables, in the tree itself, of what is drawn as one."""
    for element in list(root.iter("div", "section")):
        if GRID in classes_of(element):
            _make_grid(element)
        elif element.get("role") in TABLE_ROLES:
            _make_by_roles(element)


def make_definitions(root: Any) -> None:
    """Make definitions, in the tree itself, of fields and what is said of them below; the colon behind a kind ends no term."""
    for kind in root.iterfind(".//dt/span[@class]"):
        if kind.get("class") in CATEGORIES and kind.text and not len(kind):
            said = kind.text.rstrip(": ")
            kind.text = f"{said} " if said else ""
    for term in list(root.iter("span", "p", "div")):
        below = term.getnext()
        if (
            below is None
            or not term.get("class")
            or (term.tail or "").strip()
            or not _says(below, term)
            or not letters_of(below)
        ):
            continue
        definition = term.makeelement("dl")
        definition.tail, below.tail, term.tail = below.tail, None, None
        term.addprevious(definition)
        term.tag, below.tag = "dt", "dd"
        definition.extend([term, below])


def _says(below: Any, term: Any) -> bool:
    """Whether an element says something of what the one above names."""
    classes, below_classes = classes_of(term), classes_of(below)
    if "section-header" in classes and (term.get("id") or "").startswith(FIELD_IDS):
        return "docblock" in below_classes
    return any(one in classes and other in below_classes for one, other in SAID_BELOW.items())


def put_releases_below(root: Any) -> None:
    """Put what rustdoc draws beside a heading below it, in the tree itself; a release is said as its title says it."""
    for release in root.iter("span"):
        if RELEASE in classes_of(release) and (said := release.get("title")):
            release.text = said
            if (release.tail or "").strip() == "·":  # before a link to the source
                release.tail = None
    for beside in list(root.iter("span")):
        heading = beside.getnext()
        if AT_THE_RIGHT in classes_of(beside) and heading is not None and heading.tag in HEADINGS:
            heading.addnext(beside)


def _make_grid(element: Any) -> None:
    cells = [child for child in element if isinstance(child.tag, str)]
    headers = list(takewhile(lambda cell: GRID_HEADER in classes_of(cell), cells))
    width = len(headers)
    if width > 1 and len(cells) % width == 0:
        _become_table(element, [cells[start : start + width] for start in range(0, len(cells), width)], headers)


def _make_by_roles(element: Any) -> None:
    """Make a table of rows and cells that have roles, where all that it says is in cells."""
    inside = [one for one in element.iterdescendants() if isinstance(one.tag, str)]
    if any(one.tag == "table" or one.get("role") in TABLE_ROLES for one in inside):
        return
    rows = [
        [cell for cell in row.iter() if cell.get("role") in CELL_ROLES] for row in inside if row.get("role") == "row"
    ]
    if any(len(row) > 1 for row in rows) and letters_of(element) == sum(
        letters_of(cell) for row in rows for cell in row
    ):
        _become_table(element, rows, [cell for row in rows for cell in row if cell.get("role") == HEADER_ROLE])


def _become_table(element: Any, rows: Sequence[Sequence[Any]], headers: Sequence[Any]) -> None:
    named = {id(header) for header in headers}
    for cell in (cell for row in rows for cell in row):
        cell.tag = "th" if id(cell) in named else "td"
        cell.tail = None
        cell.attrib.pop("role", None)
    for child in list(element):
        element.remove(child)
    for row in rows:
        written = element.makeelement("tr")
        written.extend(row)
        element.append(written)
    element.tag, element.text = "table", None
    element.attrib.pop("role", None)
