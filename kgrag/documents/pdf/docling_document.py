"""Writing recovered blocks as a `DoclingDocument`, the form that Docling's chunkers read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from kgrag.documents.pdf.blocks import TableBlock, TextBlock
from kgrag.documents.pdf.geometry import Box, Line, Word, lines_of
from kgrag.documents.pdf.hyphens import LineJoiner
from kgrag.documents.pdf.pages import Page
from kgrag.documents.pdf.structure import Structure

if TYPE_CHECKING:
    from docling_core.types.doc.common.reference import ProvenanceItem
    from docling_core.types.doc.document import DoclingDocument
    from docling_core.types.doc.items.group import ListGroup
    from docling_core.types.doc.items.table.table_data import TableData

__all__ = ["PdfLink", "write_document"]

_DEEPER = 6.0
"""Points by which a list item must be indented to belong to the item before it."""


@dataclass(frozen=True, slots=True)
class PdfLink:
    """A link annotation, with the item whose text it lies on."""

    item: str
    """`self_ref` of the text or table item."""
    anchor: str
    href: str


def write_document(
    structure: Structure, pages: Sequence[Page], *, name: str, origin: Any, joiner: LineJoiner
) -> tuple[DoclingDocument, tuple[PdfLink, ...], tuple[str, ...]]:
    """Return the document, its links, and the `self_ref`s of the items that hold a figure's labels."""
    from docling_core.types.doc.base import Size
    from docling_core.types.doc.document import DoclingDocument

    document = DoclingDocument(name=name, origin=origin)
    for page in pages:
        document.add_page(page_no=page.number, size=Size(width=page.width, height=page.height))
    writer = _Writer(document, joiner)
    for block in structure.blocks:
        if isinstance(block, TableBlock):
            writer.table(block)
        else:
            writer.text(block)
    return document, tuple(writer.links), tuple(writer.figures)


class _Writer:
    def __init__(self, document: DoclingDocument, joiner: LineJoiner) -> None:
        self.document = document
        self.joiner = joiner
        self.links: list[PdfLink] = []
        self.figures: list[str] = []
        self._lists: list[tuple[float, ListGroup, Any]] = []
        """Open lists, outermost first: indent, group and its last item."""

    def table(self, block: TableBlock) -> None:
        from docling_core.types.doc.labels import DocItemLabel

        self._lists.clear()
        item = self.document.add_table(
            data=self._table_data(block),
            prov=_provenance(block.page, block.box, 0),
            label=DocItemLabel.DOCUMENT_INDEX if block.index else DocItemLabel.TABLE,
        )
        if block.caption is not None:
            text = self.joiner.join(block.caption.lines)
            caption = self.document.add_text(
                label=DocItemLabel.CAPTION,
                text=text,
                prov=_provenance(block.page, block.caption.box, len(text)),
                parent=item,
            )
            item.captions.append(caption.get_ref())
            self._link(caption.self_ref, block.caption.lines)
        for cell in block.cells:
            self._link(item.self_ref, lines_of(cell.words))

    def text(self, block: TextBlock) -> None:
        from docling_core.types.doc.labels import DocItemLabel

        parts = [block] if block.tail is None else [block, block.tail]
        if block.kind == "figure":
            text = "\n".join(line.text for line in block.lines)
        else:
            text = self.joiner.join([line for part in parts for line in part.lines])
        provenance = _provenance(block.page, block.box, len(text))
        if block.kind == "list":
            item = self._list_item(block, text, provenance)
        else:
            self._lists.clear()
            match block.kind:
                case "title":
                    item = self.document.add_title(text=text, prov=provenance)
                case "heading":
                    item = self.document.add_heading(text=text, level=block.level, prov=provenance)
                case "code":
                    item = self.document.add_code(text=_listing(block.lines), prov=provenance)
                case _:
                    item = self.document.add_text(label=DocItemLabel.TEXT, text=text, prov=provenance)
        if block.tail is not None:
            item.prov.append(_provenance(block.tail.page, block.tail.box, len(text)))
        if block.kind == "figure":
            self.figures.append(item.self_ref)
        self._link(item.self_ref, [line for part in parts for line in part.lines])

    def _list_item(self, block: TextBlock, text: str, provenance: ProvenanceItem) -> Any:
        while self._lists and block.indent < self._lists[-1][0] - _DEEPER:
            self._lists.pop()
        if not self._lists or block.indent > self._lists[-1][0] + _DEEPER:
            parent = self._lists[-1][2] if self._lists else None
            self._lists.append((block.indent, self.document.add_list_group(parent=parent), None))
        indent, group, _ = self._lists[-1]
        item = self.document.add_list_item(
            text=text, enumerated=block.marker != "-", marker=block.marker, prov=provenance, parent=group
        )
        self._lists[-1] = (indent, group, item)
        return item

    def _table_data(self, block: TableBlock) -> TableData:
        from docling_core.types.doc.items.table.table_data import TableCell, TableData

        cells = [
            TableCell(
                bbox=_bounds(cell.box),
                row_span=cell.row_span,
                col_span=cell.column_span,
                start_row_offset_idx=cell.row,
                end_row_offset_idx=cell.row + cell.row_span,
                start_col_offset_idx=cell.column,
                end_col_offset_idx=cell.column + cell.column_span,
                text=self.joiner.join(lines_of(cell.words), cell.box.x1),
                column_header=cell.header,
            )
            for cell in block.cells
        ]
        return TableData(table_cells=cells, num_rows=block.row_count, num_cols=block.column_count)

    def _link(self, item: str, lines: Sequence[Line]) -> None:
        """Note the links of an item: neighbouring words with the same target are one anchor."""
        anchor: list[Word] = []
        for word in [word for line in lines for word in line.words]:
            if anchor and word.link != anchor[0].link:
                self._close_link(item, anchor)
                anchor = []
            if word.link is not None:
                anchor.append(word)
        if anchor:
            self._close_link(item, anchor)

    def _close_link(self, item: str, anchor: Sequence[Word]) -> None:
        text = self.joiner.join(lines_of(anchor))
        self.links.append(PdfLink(item, text, anchor[0].link or ""))


def _listing(lines: Sequence[Line]) -> str:
    """Lines of code, indented as they stand on the page."""
    left = min(line.box.x0 for line in lines)
    width = median(line.box.width / max(1, len(line.text)) for line in lines)
    return "\n".join(" " * round((line.box.x0 - left) / max(width, 1.0)) + line.text for line in lines)


def _bounds(box: Box) -> Any:
    from docling_core.types.doc.base import BoundingBox, CoordOrigin

    return BoundingBox(l=box.x0, t=box.y0, r=box.x1, b=box.y1, coord_origin=CoordOrigin.TOPLEFT)


def _provenance(page: int, box: Box, length: int) -> ProvenanceItem:
    from docling_core.types.doc.common.reference import ProvenanceItem

    return ProvenanceItem(page_no=page, bbox=_bounds(box), charspan=(0, length))
