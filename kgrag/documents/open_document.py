"""OpenDocument files (LibreOffice, OpenOffice) to blocks: texts and presentations by way of HTML, spreadsheets row by row.

Docling's backend (2.142, with odfdo) was tried on 373 files that other programs are tested with: it passes over notes of cells, frames in
paragraphs and charts, and drops the ids that links lead to. Here the XML is written as HTML, and walked as a page is.
"""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from kgrag.documents.blocks import Block, BlockDocument, RemovedLine
from kgrag.documents.html import blocks_of_html
from kgrag.documents.sheets import Row, Span, sheet_blocks
from kgrag.documents.text_encoding import no_archive
from kgrag.documents.xml_files import parse_xml
from kgrag.errors import DocumentError

__all__ = ["convert_open_document"]

MAX_UNPACKED_MB = 300
"""Of the text and its styles, as XML; a book of a thousand pages has 20."""
MAX_REPEATED = 1000
"""Copies of a cell or row that says something; a file may say that a cell is repeated a thousand million times."""
KINDS = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
"""What is in a file's body → its format."""
INDEXES = frozenset(
    {"table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index"}
)
UNSEEN = frozenset(
    {
        "tracked-changes",
        "forms",
        "sequence-decls",
        "variable-decls",
        "user-field-decls",
        "title",
        "desc",
        "bibliography-configuration",
    }
)
"""What a reader of the document does not see; `title` and `desc` are those of pictures, read with their frames."""
HEADING_STYLES = {"Title": 1, "Subtitle": 2}
TABLE_HEADING = "Table_20_Heading"
PREFORMATTED = frozenset({"Preformatted_20_Text", "Source_20_Code", "Source_20_Text"})
NAMED_STYLES = frozenset({*HEADING_STYLES, *PREFORMATTED, TABLE_HEADING})
"""What a style of a document's own may be made of that says what its text is."""


def convert_open_document(path: Path, *, suffix: str, document_path: str) -> BlockDocument:
    """Convert a `.odt`, `.ods` or `.odp`, or the same as one XML file (`.fodt`, ...).

    `page_start` is the number of the sheet or slide. Raises `DocumentError` where the file is broken, encrypted, or something else.
    """
    notes: list[str] = []
    parts = _parts(path, notes)
    content = parts["content.xml"]
    body = next((child for child in content.iter("{*}body")), None)
    kind = next((name for child in (() if body is None else body) if (name := _name(child)) in KINDS), None)
    if body is None or kind is None:
        raise DocumentError(path, f"is no .{suffix}: it has neither text nor sheets nor slides")
    if KINDS[kind] != suffix:
        raise DocumentError(path, f"is a .{KINDS[kind]} with another name")
    inside = next(child for child in body if _name(child) == kind)
    title = " ".join(next((node.text or "" for node in parts["meta.xml"].iter("{*}title")), "").split())
    if kind == "spreadsheet":
        sheets = [sheet for sheet in inside if _name(sheet) == "table"]
        blocks = [block for number, sheet in enumerate(sheets, start=1) for block in _sheet(sheet, number)]
        return BlockDocument(tuple(blocks), title or path.stem, notes=tuple(notes))
    writer = _Writer(parts)
    if kind == "text":
        read = blocks_of_html(f"<html><body>{writer.blocks(inside)}</body></html>", path, document_path=document_path)
        return BlockDocument(read.blocks, title, (*writer.removed, *read.removed), tuple(notes))
    slides: list[Block] = []
    for number, page in enumerate((page for page in inside if _name(page) == "page"), start=1):
        html = writer.blocks(page)
        read = blocks_of_html(f"<html><body>{html}</body></html>", path, document_path=document_path)
        slides += [replace(block, page_start=number, page_end=number) for block in read.blocks]
        writer.removed += read.removed
    return BlockDocument(tuple(slides), title, tuple(writer.removed), tuple(notes))


def _parts(path: Path, unread: list[str]) -> dict[str, Any]:
    """Return the XML trees of a file: `content.xml`, `styles.xml`, `meta.xml`, and those of objects within by their names.

    What is broken of these but the first is added to `unread`, for the user.
    """
    data = path.read_bytes()
    if not zipfile.is_zipfile(BytesIO(data)):
        if data.lstrip(b"\xef\xbb\xbf").lstrip().startswith(b"<?xml") and b"office:document" in data[:4096]:
            whole = parse_xml(data, path)
            return {"content.xml": whole, "styles.xml": whole, "meta.xml": whole}
        raise DocumentError(path, no_archive(data, "an OpenDocument file"))
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = {
            name for name in archive.namelist() if name.rpartition("/")[2] in ("content.xml", "styles.xml", "meta.xml")
        }
        if "META-INF/manifest.xml" in archive.namelist() and b"encryption-data" in archive.read(
            "META-INF/manifest.xml"
        ):
            raise DocumentError(path, "is encrypted: save a copy without a password")
        if "content.xml" not in names:
            raise DocumentError(path, "is a ZIP archive, not OpenDocument (it has no content.xml)")
        size = sum(archive.getinfo(name).file_size for name in names)
        if size > MAX_UNPACKED_MB * 1_000_000:
            raise DocumentError(
                path, f"unpacks to {size / 1_000_000:.0f} MB, more than the limit of {MAX_UNPACKED_MB} MB"
            )
        parts = {"content.xml": parse_xml(archive.read("content.xml"), path)}
        for name in sorted(names - parts.keys()):
            try:
                parts[name] = parse_xml(archive.read(name), path)
            except (
                DocumentError,
                zipfile.BadZipFile,
                zlib.error,
            ):  # the text is elsewhere: of these, names of styles and numbers of charts
                unread.append(f"its part {name} is broken and was not read")
    empty = parse_xml(b"<empty/>", path)
    return {"styles.xml": empty, "meta.xml": empty, **parts}


class _Writer:
    """Writes the XML of a text or a slide as HTML."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.removed: list[RemovedLine] = []
        self._parts = parts
        self._parents: dict[str, str] = {}
        self._numbered: dict[str, list[str]] = {}
        """List style → how its levels are numbered (`1`, `a`, `I`); nothing for bullets."""
        self._counted: Counter[str] = Counter()
        """List style → the last number of its first level, where lists continue one another."""
        self._behind: list[str] = []
        """What the paragraph that is being written has in it and stands behind it: notes, frames."""
        self._inner: list[str] | None = None
        """Tables within the cells of the table that is being written."""
        for part in (parts["styles.xml"], parts["content.xml"]):
            for style in part.iter("{*}style"):
                self._parents[_get(style, "name")] = _get(style, "parent-style-name")
            for style in part.iter("{*}list-style"):
                self._numbered[_get(style, "name")] = [
                    _get(level, "num-format", "1") if _name(level) == "list-level-style-number" else ""
                    for level in style
                ]

    def blocks(self, element: Any, *, lists: Sequence[str] = ()) -> str:
        """Write the paragraphs, lists and tables in an element; `lists` are the styles of those that it is in."""
        written, listing = [], []
        for child in element:
            if _name(child) == "p" and self._style(child) in PREFORMATTED:
                listing.append(self._inline(child))
                continue
            if listing:
                written.append(f"<pre>{'<br>'.join(listing)}</pre>{self._take_behind()}")
                listing = []
            written.append(self._block(child, lists))
        if listing:
            written.append(f"<pre>{'<br>'.join(listing)}</pre>{self._take_behind()}")
        return "".join(written)

    def _block(self, element: Any, lists: Sequence[str]) -> str:
        name = _name(element)
        match name:
            case "h" | "p":
                level = _count(element, "outline-level") if name == "h" else HEADING_STYLES.get(self._style(element), 0)
                tag = f"h{min(level, 6)}" if level > 0 else "p"
                inside = self._inline(element)
                return f"<{tag}>{inside}</{tag}>{self._take_behind()}"
            case "list":
                return self._list(element, lists)
            case "table":
                return self._table(element)
            case "frame":
                return self._frame(element)
            case "notes" | "section" | "text-box" | "index-body":
                return self.blocks(element, lists=lists)
            case _ if name in INDEXES:
                self._remove("table of contents", element)
                return ""
            case _ if name in UNSEEN or name.endswith("-source"):  # how an index is made
                return ""
            case "annotation":
                self._remove("comment", element)
                return ""
            case _:  # sections, groups, shapes, and what no version of the format knows
                loose = (element.text or "").strip()
                return (f"<p>{escape(loose)}</p>" if loose else "") + self.blocks(element, lists=lists)

    def _inline(self, element: Any) -> str:
        """Write what stands in a line."""
        parts = [escape(element.text or "")]
        for child in element:
            parts += [self._run(child), escape(child.tail or "")]
        return "".join(parts)

    def _run(self, element: Any) -> str:
        name = _name(element)
        match name:
            case "s":
                count = _get(element, "c", "1")
                return " " * min(int(count), 100) if count.isdecimal() else " "
            case "tab":
                return " "
            case "line-break":
                return "<br>"
            case "a":
                return f'<a href="{escape(_inside(_get(element, "href")))}">{self._inline(element)}</a>'
            case "bookmark" | "bookmark-start" | "reference-mark" | "reference-mark-start":
                return f'<a id="{escape(_get(element, "name"))}"></a>'
            case "note":
                mark = "".join(
                    part for child in element if _name(child) == "note-citation" for part in child.itertext()
                ).strip()
                text = "".join(self._apart(child) for child in element if _name(child) == "note-body")
                self._behind.append(text.replace("<p>", f"<p>[{escape(mark)}] ", 1))
                return f"[{escape(mark)}]"
            case "frame" | "custom-shape" | "text-box" | "rect" | "g" | "ellipse":
                self._behind.append(self._apart(element))
                return ""
            case "annotation":
                self._remove("comment", element)
                return ""
            case "ruby":
                base, reading = (
                    "".join(self._inline(child) for child in element if _name(child) == part)
                    for part in ("ruby-base", "ruby-text")
                )
                return f"{base} ({reading})" if reading else base
            case _ if name in UNSEEN:
                return ""
            case _:  # spans, fields, marks
                return self._inline(element)

    def _list(self, element: Any, lists: Sequence[str]) -> str:
        style = _get(element, "style-name") or (lists[-1] if lists else "")
        numbered = self._numbered.get(style, [])
        level = len(lists)
        kind = numbered[level] if level < len(numbered) else ""
        tag = "ol" if kind else "ul"
        items = [child for child in element if _name(child) in ("list-item", "list-header")]
        begun = self._counted[style] if level == 0 and _get(element, "continue-numbering") == "true" else 0
        start = _get(items[0], "start-value") if items else ""
        if start.isdecimal() and len(start) < 9:
            begun = int(start) - 1
        if level == 0:
            self._counted[style] = begun + len(items)
        inside = "".join(f"<li>{self.blocks(item, lists=(*lists, style))}</li>" for item in items)
        return f'<{tag} type="{escape(kind)}" start="{begun + 1}">{inside}</{tag}>'

    def _frame(self, element: Any) -> str:
        """Write a frame: the title of a slide, a box of text, a table, a chart or formula, or what is said of a picture."""
        if _get(element, "class") in ("title", "subtitle"):
            words = " ".join(" ".join(part.split()) for part in element.itertext() if part.strip())
            tag = "h1" if _get(element, "class") == "title" else "h2"
            return f"<{tag}>{escape(words)}</{tag}>" if words else ""
        if _get(element, "class") in ("page-number", "date-time", "header", "footer"):
            self._remove("running header or footer", element)
            return ""
        said = [" ".join((child.text or "").split()) for child in element if _name(child) in ("title", "desc")]
        objects = [child for child in element if _name(child) == "object"]
        written = [f"<p>{escape(words)}</p>" for words in said if words]
        for child in objects:
            written.append(self._object(_get(child, "href").removeprefix("./").rstrip("/")))
        written += [
            self._block(child, ()) for child in element if _name(child) not in ("object", "image", "object-ole")
        ]
        return "".join(written)

    def _object(self, name: str) -> str:
        """Write a chart as its words and its table of numbers, a formula as LibreOffice writes it."""
        part = self._parts.get(f"{name}/content.xml")
        if part is None:
            return ""
        if (formula := next(part.iter("{*}annotation"), None)) is not None and formula.text:
            return f"<p>{escape(' '.join(formula.text.split()))}</p>"
        tables = list(part.iter("{*}table"))
        words = [
            " ".join(" ".join(node.itertext()).split())
            for node in part.iter("{*}p")
            if not any(_name(outer) == "table" for outer in node.iterancestors())
        ]
        return "".join(f"<p>{escape(word)}</p>" for word in words if word) + "".join(map(self._table, tables))

    def _table(self, element: Any) -> str:
        """Write a table; those within its cells behind it, where it has rows and columns of its own."""
        if _get(element, "is-sub-table") == "true":  # cells that a cell was divided into
            return "".join(self.blocks(cell) for row in _rows(element) for cell, _ in _cells(row))
        if self._inner is not None:
            outer, self._inner = self._inner, None
            outer.append(self._table(element))
            self._inner = outer
            return ""
        is_grid = len(cells := [sum(1 for _ in _cells(row)) for row in _rows(element)]) > 1 and max(cells) > 1
        self._inner = [] if is_grid else None
        written = self._rows_of(element)
        inner, self._inner = self._inner or (), None
        return "".join([written, *inner])

    def _rows_of(self, element: Any) -> str:
        rows = []
        heads = self._heading_row(element)
        for row in _rows(element):
            is_head = _name(row.getparent()) == "table-header-rows"
            for parts in _divided(row):
                cells = []
                for cell, columns, down in parts:
                    spans = f' colspan="{columns}"' * (columns > 1) + f' rowspan="{down}"' * (down > 1)
                    if row is heads:
                        cells.append(f"<th{spans}>{''.join(f'<p>{self._inline(said)}</p>' for said in cell)}</th>")
                    else:
                        tag = "th" if is_head else "td"
                        cells.append(f"<{tag}{spans}>{self.blocks(cell)}</{tag}>")
                tag = "thead" if is_head else "tbody"
                rows.append(f"<{tag}><tr>{''.join(cells)}</tr></{tag}>")
        return f"<table>{''.join(rows)}</table>" if rows else ""

    def _heading_row(self, table: Any) -> Any | None:
        """Return the first of several rows where each of its cells is one heading, or in the style of a table's headings, and the next
        one's are not.
        """
        rows = [[cell for cell, _ in _cells(row)] for row in islice(_rows(table), 2)]
        if len(rows) < 2 or len(rows[0]) < 2:
            return None
        headings = all([_name(said) for said in cell] == ["h"] for cell in rows[0])
        styled = [all(self._names_column(cell) for cell in cells) for cells in rows]
        return next(_rows(table)) if headings or styled == [True, False] else None

    def _names_column(self, cell: Any) -> bool:
        return len(cell) > 0 and all(_name(said) == "p" and self._style(said) == TABLE_HEADING for said in cell)

    def _style(self, element: Any) -> str:
        """Return the named style that a paragraph's own one is made of."""
        style = _get(element, "style-name")
        seen = set()
        while style not in NAMED_STYLES and (parent := self._parents.get(style)):
            if style in seen:
                break
            seen.add(style)
            style = parent
        return style

    def _apart(self, element: Any) -> str:
        """Write what stands behind the paragraph that it is in."""
        outer, self._behind = self._behind, []
        written = self._frame(element) if _name(element) == "frame" else self.blocks(element)
        self._behind = outer
        return written

    def _take_behind(self) -> str:
        behind, self._behind = "".join(self._behind), []
        return behind

    def _remove(self, rule: str, element: Any) -> None:
        lines = [" ".join("".join(node.itertext()).split()) for node in element.iter("{*}p", "{*}h")]
        self.removed += [RemovedLine(rule, line) for line in lines if line]


def _sheet(sheet: Any, number: int) -> list[Block]:
    rows: list[Row] = []
    spans: list[Span] = []
    beside: list[str] = []
    for row in _rows(sheet):
        cells: Row = {}
        column = 0
        for cell, repeated in _cells(row):
            beside += _lines(cell, "annotation")
            text = " ".join(_lines(cell, "p")) or _get(cell, "value")
            for one in range(column + 1, column + 1 + (min(repeated, MAX_REPEATED) if text else 0)):
                cells[one] = text
            across, down = _span(cell, "number-columns-spanned"), _span(cell, "number-rows-spanned")
            if text and across * down > 1:
                spans.append(Span(len(rows), len(rows) + down - 1, column + 1, column + across))
            column += repeated
        repeated = _count(row, "number-rows-repeated")
        rows += [cells] * min(repeated, MAX_REPEATED if cells else 2)
    for shapes in sheet.iter("{*}shapes"):
        beside += _lines(shapes, "p")
    return sheet_blocks(_get(sheet, "name") or f"Sheet {number}", rows, number, beside, spans=spans)


def _lines(element: Any, name: str) -> list[str]:
    """Return the texts of the children of that name, those of `p` as lines; a comment's are its paragraphs."""
    if name == "annotation":
        return [line for note in element.iter("{*}annotation") for line in _lines(note, "p")]
    found = element.iter("{*}p") if _name(element) == "shapes" else (child for child in element if _name(child) == name)
    return [line for node in found if (line := " ".join(_plain(node).split()))]


def _plain(element: Any) -> str:
    parts = [element.text or ""]
    for child in element:
        parts += [" " if _name(child) in ("s", "tab", "line-break") else _plain(child), child.tail or ""]
    return "".join(parts)


def _divided(row: Any) -> Iterator[list[tuple[Any, int, int]]]:
    """Yield the rows that a row's cells are divided into, one where none is: each cell with how many columns and rows it covers."""
    whole = [cell for cell, _ in _cells(row) if _name(cell) != "covered-table-cell"]
    parts = [_parts_of_cell(cell) for cell in whole]
    height = max((len(rows) for rows in parts if rows), default=1)
    for number in range(height):
        written: list[tuple[Any, int, int]] = []
        for cell, rows in zip(whole, parts, strict=True):
            columns, down = _span(cell, "number-columns-spanned"), _span(cell, "number-rows-spanned")
            if not rows and number == 0:
                written.append((cell, columns, down + height - 1))
            elif number < len(rows):
                last = len(rows[number]) - 1
                reach = height - number if number == len(rows) - 1 else 1
                written += [
                    (part, max(1, columns - last) if place == last else 1, reach)
                    for place, part in enumerate(rows[number])
                ]
        yield written


def _parts_of_cell(cell: Any) -> list[list[Any]]:
    """Return the rows of cells that a cell was divided into: it has a table of its own without its own border."""
    inside = [child for child in cell if isinstance(child.tag, str)]
    if [_name(child) for child in inside] != ["table"] or _get(inside[0], "is-sub-table") != "true":
        return []
    return [[part for part, _ in _cells(row) if _name(part) != "covered-table-cell"] for row in _rows(inside[0])]


def _span(cell: Any, name: str) -> int:
    count = _get(cell, name)
    return max(1, int(count)) if count.isdecimal() and len(count) < 5 else 1


def _rows(table: Any) -> Iterator[Any]:
    """Yield the rows of a table, those of groups and of its header among them."""
    for child in table:
        if _name(child) == "table-row":
            yield child
        elif _name(child) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(child)


def _cells(row: Any) -> Iterator[tuple[Any, int]]:
    for child in row:
        if _name(child) in ("table-cell", "covered-table-cell"):
            yield child, _count(child, "number-columns-repeated")
        elif _name(child) in ("table-cells", "table-header-cells"):
            yield from _cells(child)


def _count(element: Any, name: str) -> int:
    count = _get(element, name, "1")
    return int(count) if count.isdecimal() and len(count) < 10 else 1


def _inside(href: str) -> str:
    """Return where a link leads, seen from the file: within a package, `..` is the folder that the file lies in."""
    return href.removeprefix("../")


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _get(element: Any, name: str, default: str = "") -> str:
    """Return an attribute of whatever namespace."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), default)
