"""A DoclingDocument to blocks: what Docling made of a PDF, a Word file or slides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from docling_core.types.doc import (
    CodeItem,
    ContentLayer,
    DocItem,
    DocItemLabel,
    DoclingDocument,
    FloatingItem,
    GroupItem,
    InlineGroup,
    ListGroup,
    ListItem,
    NodeItem,
    PictureItem,
    SectionHeaderItem,
    TableCell,
    TableData,
    TableItem,
    TextItem,
    TitleItem,
)

from kgrag.documents.blocks import Block, BlockDocument, Link, RemovedLine, TableRow, join_header_rows
from kgrag.documents.inline_text import INVISIBLE, resolve_href, sentence_around
from kgrag.types import PageBox

__all__ = [
    *("LINK_END", "LINK_START", "LINK_TEXT", "NO_HEADER", "NUMBER_END", "NUMBER_START", "STRAY_MARK"),
    "blocks_of_docling",
]

LINK_START, LINK_TEXT, LINK_END = "\ufdd0", "\ufdd1", "\ufdd2"
"""Around a link in an item's text: start, its number, text, its words, end. Unicode keeps these characters for a program's inner use."""
NO_HEADER = "\ufdd3"
"""The mark of a table whose first row is none of headings, before its first words."""
NUMBER_START, NUMBER_END = "\ufdd4", "\ufdd5"
"""Around what Word writes before a numbered paragraph."""
NUMBERED = re.compile(rf"{NUMBER_START}([^{NUMBER_END}]*){NUMBER_END}\s*")
COUNTED_BY_DOCLING = re.compile(rf"\S{{1,12}}\s+(?={NUMBER_START})")
"""The number that Docling puts before a heading that has its number already."""
MARKED_LINK = re.compile(f"{LINK_START}(\\d+){LINK_TEXT}(.*?){LINK_END}", re.DOTALL)
STRAY_MARK = re.compile(
    f"{LINK_START}\\d+{LINK_TEXT}|{NUMBER_START}[^{NUMBER_END}]*{NUMBER_END}|[{LINK_START}{LINK_TEXT}{LINK_END}{NO_HEADER}]"
)
LABEL_ENDS = (":", "：")
OPTION = re.compile(r"--?[A-Za-z]")
"""Of a command, as it begins."""
FURNITURE_RULE = "running header or footer"
CONTENTS_RULE = "table of contents"
NO_SPACE_BEFORE = tuple(",.;:!?)]}%°")
NO_SPACE_AFTER = tuple("([{")


def blocks_of_docling(
    document: DoclingDocument, *, document_path: str, link_targets: Sequence[str] = ()
) -> BlockDocument:
    """Bring a converted document into blocks, in reading order. `link_targets` are those of the links that are marked in its texts.

    What Docling calls an index (a table of contents) is left out and counted, as are running headers and footers. Blocks of a PDF have
    their place on the page.
    """
    walk = _Walk(document, document_path, link_targets)
    walk.children(document.body, depth=0)
    title = next((block.text for block in walk.blocks if block.kind == "heading" and block.level == 0), "")
    return BlockDocument(tuple(walk.blocks), title, tuple(walk.removed))


class _Walk:
    def __init__(self, document: DoclingDocument, document_path: str, link_targets: Sequence[str]) -> None:
        self._document = document
        self._document_path = document_path
        self._link_targets = list(link_targets)
        self._has_places = document.origin is not None and document.origin.mimetype == "application/pdf"
        self.blocks: list[Block] = []
        self.removed: list[RemovedLine] = []

    def children(self, node: NodeItem, *, depth: int) -> None:
        """Take what is below a node; a slide's title comes first, wherever on the slide it stands."""
        items = [child.resolve(self._document) for child in node.children]
        if isinstance(node, GroupItem) and not isinstance(node, ListGroup | InlineGroup):
            items.sort(key=lambda item: not isinstance(item, TitleItem))
        for item in items:
            self._item(item, depth)

    def _item(self, item: NodeItem, depth: int) -> None:
        match item:
            case DocItem(content_layer=ContentLayer.FURNITURE):
                lines = getattr(item, "text", "").splitlines()
                self.removed.extend(
                    RemovedLine(FURNITURE_RULE, line, _pages(item)[0]) for line in lines if line.strip()
                )
                return
            case TableItem():
                self._captions(item)
                self._table(item, item.data)
                return
            case PictureItem():  # words inside a picture are its labels; the standard pipeline keeps them below it
                self._captions(item)
                if item.meta is not None and (chart := item.meta.tabular_chart) is not None:
                    self._text_block("paragraph", chart.title or "", item)
                    self._table(item, chart.chart_data)
                return
            case InlineGroup():
                self._text_block("paragraph", self._joined(item), _first_page_item(self._document, item))
                return
            case TitleItem():
                self._text_block("heading", self._own_text(item), item, level=0)
            case SectionHeaderItem():
                self._text_block("heading", self._own_text(item), item, level=item.level)
            case ListItem():
                indent = "  " * max(0, depth - 1)
                marker = item.marker.strip() if any(map(str.isalnum, item.marker)) else "-"
                text = self._own_text(item)
                if number := NUMBERED.match(text):
                    marker, text = number[1], text[number.end() :]
                self._text_block("list_item", text, item, level=max(1, depth), prefix=f"{indent}{marker} ")
            case CodeItem():
                self._text_block("code", item.text, item)
            case TextItem():
                self._text_block("paragraph", self._own_text(item), item)
        inline = _only_inline_group(self._document, item)
        if inline is None:
            self.children(item, depth=depth + 1 if isinstance(item, ListGroup) else depth)
        else:
            for child in item.children[1:]:
                self._item(child.resolve(self._document), depth)

    def _captions(self, item: FloatingItem) -> None:
        if caption := item.caption_text(self._document).strip():
            self._text_block("paragraph", caption, item)

    def _own_text(self, item: TextItem) -> str:
        """Return an item's text, which is in an inline group below it where parts of it are formatted."""
        inline = _only_inline_group(self._document, item)
        text = self._joined(inline) if inline is not None else item.text
        return self._mark(text, item) if inline is None else text

    def _joined(self, group: InlineGroup) -> str:
        """Join the parts of an inline group, which Docling strips: a blank goes between them where written text has one."""
        text = ""
        for part in (child.resolve(self._document) for child in group.children):
            piece = self._mark(getattr(part, "text", ""), part)
            plain = STRAY_MARK.sub("", piece)
            glued = (
                not text
                or not plain
                or plain.startswith(NO_SPACE_BEFORE)
                or STRAY_MARK.sub("", text).endswith(NO_SPACE_AFTER)
            )
            text += piece if glued else f" {piece}"
        return text

    def _mark(self, text: str, item: Any) -> str:
        """Mark a link that Docling found in the way `word_runs` marks them, its address in the place of its number."""
        href = getattr(item, "hyperlink", None)
        if not href or not text:
            return text
        self._link_targets.append(str(href))
        return f"{LINK_START}{len(self._link_targets) - 1}{LINK_TEXT}{text}{LINK_END}"

    def _text_block(self, kind: Any, text: str, item: NodeItem | None, *, level: int = 0, prefix: str = "") -> None:
        text = text[begun.end() :] if (begun := COUNTED_BY_DOCLING.match(text)) else text
        plain, links = self._links(INVISIBLE.sub("", text))
        if kind != "code":
            plain = plain.strip()
        if kind == "heading":
            plain = " ".join(plain.split())
        if not plain.strip():
            return
        start, end = _pages(item)
        self.blocks.append(Block(kind, prefix + plain, level, start, end, links=links, boxes=self._boxes(item)))

    def _links(self, text: str) -> tuple[str, tuple[Link, ...]]:
        """Take the marks out of a text and return the links that they stand for."""
        text = NUMBERED.sub(r"\1 ", text)
        spans: list[tuple[int, int, str]] = []
        plain, position = "", 0
        for match in MARKED_LINK.finditer(text):
            plain += text[position : match.start()]
            spans.append((len(plain), len(plain) + len(match[2]), self._link_targets[int(match[1])]))
            plain += match[2]
            position = match.end()
        plain = STRAY_MARK.sub("", plain + text[position:])
        links = []
        for start, end, href in spans:
            target = resolve_href(href, self._document_path)
            if target and plain[start:end].strip():
                links.append(Link(target, " ".join(plain[start:end].split()), sentence_around(plain, start, end)))
        return plain, tuple(links)

    def _boxes(self, item: NodeItem | None) -> tuple[PageBox, ...]:
        if not self._has_places:
            return ()
        boxes = []
        for place in getattr(item, "prov", ()):
            box = place.bbox.to_top_left_origin(self._document.pages[place.page_no].size.height)
            left, top, right, bottom = (round(value, 1) for value in (box.l, box.t, box.r, box.b))
            boxes.append(PageBox(page=place.page_no, left=left, top=top, right=right, bottom=bottom))
        return tuple(boxes)

    def _table(self, table: TableItem | PictureItem, data: TableData) -> None:
        """Take a table, or the numbers that a chart was drawn from."""
        header_rows: list[TableRow] = []
        body: list[TableRow] = []
        for grid_row in data.grid:
            cells: list[str] = []
            links: list[Link] = []
            for column, cell in enumerate(grid_row):
                text, found = self._links(INVISIBLE.sub("", cell.text))
                first = column == 0 or not _continues(grid_row[column - 1], cell)
                cells.append(" ".join(text.split()) if first or cell.column_header else "")
                links.extend(Link(link.href, link.anchor, "") for link in found if first)
            context = " | ".join(cells)
            row = TableRow(tuple(cells), links=tuple(Link(link.href, link.anchor, context) for link in links))
            is_header = not body and any(cell.column_header for cell in grid_row)
            is_header = is_header and (self._has_places or not _names_its_values(cells))
            is_header = is_header and not grid_row[0].text.lstrip().startswith(NO_HEADER)
            if any(cells):
                (header_rows if is_header else body).append(row)
        if not body:
            header_rows, body = [], header_rows
        start, end = _pages(table)
        if table.label == DocItemLabel.DOCUMENT_INDEX:
            lines = [" | ".join(filter(None, row.cells)) for row in (*header_rows, *body)]
            self.removed.extend(RemovedLine(CONTENTS_RULE, line, start) for line in lines)
        elif body:
            all_links = tuple(link for row in (*header_rows, *body) for link in row.links)
            self.blocks.append(
                Block(
                    "table",
                    page_start=start,
                    page_end=end,
                    links=all_links,
                    header=join_header_rows(header_rows),
                    rows=tuple(body),
                    boxes=self._boxes(table),
                )
            )


def _names_its_values(cells: Sequence[str]) -> bool:
    """Whether the first cell of a row says what its others are (`Author: | J. Roe`, `-v | Say more`): such a row is no header of columns.

    Docling takes the first row of every table of Word for one.
    """
    others = [cell for cell in cells[1:] if cell]
    return OPTION.match(cells[0]) is not None or (
        cells[0].endswith(LABEL_ENDS) and any(not cell.endswith(LABEL_ENDS) for cell in others)
    )


def _continues(left: TableCell, cell: TableCell) -> bool:
    """Whether a grid position shows the same cell as the one left of it, which spans both."""
    return left.start_col_offset_idx == cell.start_col_offset_idx


def _only_inline_group(document: DoclingDocument, item: NodeItem) -> InlineGroup | None:
    """Return the inline group that holds an item's text, where Docling put it there."""
    if isinstance(item, TextItem) and not item.text and item.children:
        child = item.children[0].resolve(document)
        return child if isinstance(child, InlineGroup) else None
    return None


def _first_page_item(document: DoclingDocument, group: InlineGroup) -> NodeItem | None:
    return next((child.resolve(document) for child in group.children), None)


def _pages(item: NodeItem | None) -> tuple[int | None, int | None]:
    """Return the first and last page of an item, 1-based."""
    numbers = [prov.page_no for prov in getattr(item, "prov", ())]
    return (min(numbers), max(numbers)) if numbers else (None, None)
