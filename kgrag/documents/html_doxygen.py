"""What Doxygen lays out in tables: members with what is said of them, declarations, parameters. Written as definitions and lines.

Its listings, an element for each line, are written as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from kgrag.documents.html_tags import classes_of

__all__ = ["make_members"]

MEMBERS, DECLARATION, PARAMETERS = "memberdecls", "memname", frozenset({"params", "retval", "exception", "tparams"})
TEMPLATE = "memTemplParams"
SAID_OF = "mdescRight"
NO_CONTENT = frozenset({"mdescLeft", "memSeparator"})
OPENING = "("
ENUMERATORS = "fieldtable"
LISTING, LINE, TOOLTIP = "fragment", "line", "ttc"
"""Classes of a listing, of its lines, and of what is shown on hovering over a name in it."""
LEADS_ON = re.compile(r"[^\W\d_]+\s?(?:\.\.\.|…)")
"""What a short description ends in, with a link to the long one: `More...`, in the language of the page."""


def make_members(root: Any) -> None:
    """Make definitions of the members and parameters of Doxygen's pages, in the tree itself, a line of each declaration, and listings."""
    if _is_of_doxygen(root):
        _without_links_to_details(root)
    for box in list(root.iter("div")):
        if LISTING in classes_of(box) and any(LINE in classes_of(line) for line in box):
            _become_listing(box)
    for table in list(root.iter("table")):
        classes = classes_of(table)
        if ENUMERATORS in classes:
            for heading in table.iter("th"):  # it stands over names and what is said of them, and names the first
                heading.attrib.pop("colspan", None)
        if MEMBERS in classes:
            _replace(table, _members(table))
        elif DECLARATION in classes:
            _replace(table, [_declaration(table)])
        elif PARAMETERS & classes & _classes_above(table):
            _replace(table, _parameters(table))


def _is_of_doxygen(root: Any) -> bool:
    generators = (meta for meta in root.iter("meta") if (meta.get("name") or "").lower() == "generator")
    return any((meta.get("content") or "").startswith("Doxygen") for meta in generators) or any(
        MEMBERS in classes_of(table) for table in root.iter("table")
    )


def _without_links_to_details(root: Any) -> None:
    for link in list(root.iter("a")):
        if "#" in (link.get("href") or "") and not len(link) and LEADS_ON.fullmatch((link.text or "").strip()):
            _drop(link)


def _become_listing(box: Any) -> None:
    for tooltip in [one for one in box.iter("div") if TOOLTIP in classes_of(one)]:
        _drop(tooltip)
    box.tag, box.text = "pre", None
    for line in box:
        line.tag, line.tail = "span", "\n"


def _drop(element: Any) -> None:
    """Take an element out, and leave what stands behind it."""
    above, before = element.getparent(), element.getprevious()
    if before is not None:
        before.tail = (before.tail or "") + (element.tail or "")
    else:
        above.text = (above.text or "") + (element.tail or "")
    above.remove(element)


def _members(table: Any) -> Iterator[Any]:
    """Yield a definition for each member of which something is said, a paragraph for others, and the headings between them."""
    begun: list[Any] = []
    """Cells of the member that is being read."""
    for row in table.iter("tr"):
        cells = [cell for cell in row if cell.tag in ("td", "th") and not classes_of(cell) & NO_CONTENT]
        if any(SAID_OF in classes_of(cell) for cell in cells) and begun:
            yield _definition(table, begun, cells)
            begun = []
            continue
        continues = begun and all(TEMPLATE in classes_of(cell) for cell in begun)
        if not continues:
            yield from _paragraph(table, begun)
            begun = []
        if any(cell.find(".//h2") is not None for cell in cells):
            for cell in cells:
                cell.tag = "div"
                yield cell
        else:
            begun += cells
    yield from _paragraph(table, begun)


def _parameters(table: Any) -> Iterator[Any]:
    for row in table.iter("tr"):
        cells = [cell for cell in row if cell.tag == "td"]
        if len(cells) > 1:
            yield _definition(table, cells[:-1], cells[-1:])
        else:
            yield from _paragraph(table, cells)


def _declaration(table: Any) -> Any:
    """Write a declaration, whose parts stand in cells, as a line: `int open_valve(int bar)`."""
    line = table.makeelement("p")
    _fill(line, [cell for row in table.iter("tr") for cell in row if cell.tag == "td"])
    return line


def _definition(table: Any, term: Iterable[Any], said: Iterable[Any]) -> Any:
    definition = table.makeelement("dl")
    name, content = definition.makeelement("dt"), definition.makeelement("dd")
    definition.extend([name, content])
    _fill(name, term)
    _fill(content, said)
    return definition


def _paragraph(table: Any, cells: list[Any]) -> Iterator[Any]:
    if cells:
        paragraph = table.makeelement("p")
        _fill(paragraph, cells)
        yield paragraph


def _fill(element: Any, cells: Iterable[Any]) -> None:
    """Put the content of cells into an element, with a blank between them but within brackets."""
    before = ""
    for cell in cells:
        text = "".join(cell.itertext()).strip()
        if not text and not len(cell):
            continue
        apart = "" if not before or before.endswith(OPENING) or text.startswith((")", OPENING)) else " "
        part = element.makeelement("span")
        part.text = apart + ((cell.text or "").lstrip() if len(cell) else text)
        if ident := cell.get("id"):
            part.set("id", ident)
        part.extend(list(cell))
        if len(part):
            part[-1].tail = (part[-1].tail or "").rstrip()
        element.append(part)
        before = text or before


def _replace(table: Any, elements: Iterable[Any]) -> None:
    """Put elements in the place of a table; its ids stay."""
    box = table.makeelement("div")
    if ident := table.get("id"):
        box.set("id", ident)
    box.extend(list(elements))
    box.tail = table.tail
    table.getparent().replace(table, box)


def _classes_above(element: Any) -> frozenset[str]:
    """Return the classes of the list that a table of parameters stands in."""
    above = element.getparent()
    return classes_of(None if above is None else above.getparent())
