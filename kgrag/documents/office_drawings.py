"""The words in what Office draws: SmartArt, titles of charts and their axes, and the boxes and comments that lie over a sheet."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from lxml import etree

__all__ = [
    "CHART",
    "DIAGRAM_DATA",
    "DIAGRAM_RELATIONS",
    "LOCKED_CANVAS",
    "RELATION_ID",
    "chart_lines",
    "diagram_lines",
    "drawn_lines",
    "sheet_parts",
    "words_beside_cells",
]

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
SHEETS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
RELATION_ID = f"{RELATIONS}id"
CHARTS = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CHART = f"{CHARTS}chart"
"""The element of a drawing that says which part has a chart."""
DIAGRAM_RELATIONS = f"{DIAGRAM}relIds"
"""The element of a SmartArt that says which parts have it."""
DIAGRAM_DATA = f"{RELATIONS}dm"
"""Its attribute with the relation to the part that has the words."""
LOCKED_CANVAS = "{http://schemas.openxmlformats.org/drawingml/2006/lockedCanvas}lockedCanvas"
"""Shapes of PowerPoint that were pasted into a text."""


def diagram_lines(data: bytes) -> list[str]:
    """Return the words of a SmartArt, a line for each of its boxes, in the order of its outline."""
    points = _parsed(data).iter(f"{DIAGRAM}pt")
    return [line for point in points for line in drawn_lines(point)]


def chart_lines(data: bytes) -> list[str]:
    """Return the titles of a chart and of its axes, which say what its numbers are and in which units; nothing of a broken one."""
    try:
        titles = _parsed(data).iter(f"{CHARTS}title")
    except etree.XMLSyntaxError:  # whoever reads its numbers says so
        return []
    return [line for title in titles for line in drawn_lines(title) or [_of_cells(title)] if line]


def _of_cells(title: Any) -> str:
    """Return a title that is what stands in cells."""
    return " ".join((value.text or "").strip() for value in title.iter(f"{CHARTS}v"))


def words_beside_cells(package: bytes) -> dict[str, list[str]]:
    """Return what lies over the cells of a .xlsx: sheet → words of boxes, SmartArt and charts, and its comments (`B4: to be checked`)."""
    with zipfile.ZipFile(BytesIO(package)) as archive:
        parts = set(archive.namelist())
        found = {name: list(_lines(archive, part, parts)) for name, part in sheet_parts(archive).items()}
    return {name: lines for name, lines in found.items() if lines}


def sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return which part of a .xlsx has which sheet, by the sheets' names."""
    parts = set(archive.namelist())
    workbook = "xl/workbook.xml"
    if workbook not in parts:
        return {}
    of_id = {identifier: part for identifier, _, part in _relations(archive, workbook, parts)}
    sheets = _parsed(archive.read(workbook)).iter(f"{SHEETS}sheet")
    return {sheet.get("name", ""): of_id.get(sheet.get(RELATION_ID, ""), "") for sheet in sheets}


def _lines(archive: zipfile.ZipFile, part: str, parts: set[str]) -> Iterator[str]:
    """The words of what a sheet, or a drawing, has in other parts."""
    for _, kind, beside in _relations(archive, part, parts):
        match kind:
            case "comments":
                for comment in _parsed(archive.read(beside)).iter(f"{SHEETS}comment"):
                    words = " ".join("".join(text.text or "" for text in comment.iter(f"{SHEETS}t")).split())
                    if words:
                        yield f"{comment.get('ref', '')}: {words}"
            case "drawing":
                yield from drawn_lines(_parsed(archive.read(beside)))
                yield from _lines(archive, beside, parts)
            case "diagramData":
                yield from diagram_lines(archive.read(beside))
            case "chart":
                yield from chart_lines(archive.read(beside))


def drawn_lines(root: Any) -> list[str]:
    """Return the words of shapes, a line for each paragraph."""
    lines = (
        " ".join("".join(text.text or "" for text in one.iter(f"{DRAWING}t")).split())
        for one in root.iter(f"{DRAWING}p")
    )
    return [line for line in lines if line]


def _relations(archive: zipfile.ZipFile, part: str, parts: set[str]) -> Iterator[tuple[str, str, str]]:
    """The relations of a part to others that are there: id, kind, part."""
    folder, name = posixpath.split(part)
    listed = f"{folder}/_rels/{name}.rels"
    if listed not in parts:
        return
    for relation in _parsed(archive.read(listed)):
        target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", ""))).lstrip("/")
        if relation.get("TargetMode") != "External" and target in parts:
            yield relation.get("Id", ""), posixpath.basename(relation.get("Type", "")), target


def _parsed(data: bytes) -> Any:
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, remove_comments=True, remove_pis=True))
