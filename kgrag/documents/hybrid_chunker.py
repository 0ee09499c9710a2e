"""Blocks through Docling's own HybridChunker: they are written as a `DoclingDocument`, and the chunker is taken as it is shipped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from docling_core.transforms.chunker.base import BaseChunk
from docling_core.transforms.chunker.doc_chunk import DocChunk
from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
from docling_core.transforms.chunker.tokenizer.base import BaseTokenizer
from docling_core.types.doc.base import BoundingBox, CoordOrigin
from docling_core.types.doc.common.reference import ProvenanceItem
from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.items.group import ListGroup
from docling_core.types.doc.items.node import DocItem
from docling_core.types.doc.items.table.table_data import TableCell, TableData
from docling_core.types.doc.labels import DocItemLabel
from pydantic import ConfigDict

from kgrag.documents.blocks import Block

__all__ = ["docling_document", "pack"]

MARKER = re.compile(r"^\s*(-|\(?\w{1,4}[.)])\s+")


def pack(
    blocks: Sequence[Block], *, count_tokens: Callable[[str], int], max_tokens: int
) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield chunks as (indexes of the blocks in it, text); a heading that nothing follows is a chunk without text."""
    document, order = docling_document(blocks)
    chunker = HybridChunker(tokenizer=_Tokenizer(counter=count_tokens, limit=max_tokens), always_emit_headings=True)
    for chunk in chunker.chunk(document):
        yield tuple(dict.fromkeys(order[item.self_ref] for item in _items(chunk))), chunk.text


def _items(chunk: BaseChunk) -> list[DocItem]:
    return chunk.meta.doc_items if isinstance(chunk, DocChunk) else []


def docling_document(blocks: Sequence[Block]) -> tuple[DoclingDocument, dict[str, int]]:
    """Write blocks as Docling's document; also return which item is which block."""
    document = DoclingDocument(name="document")
    order: dict[str, int] = {}
    lists: list[tuple[int, ListGroup, Any]] = []
    """Open lists, outermost first: depth, group, last item."""
    for index, block in enumerate(blocks):
        provenance = _provenance(block)
        if block.kind != "list_item":
            lists.clear()
        item: DocItem
        match block.kind:
            case "heading" if block.level == 0:
                item = document.add_title(block.text, prov=provenance)
            case "heading":
                item = document.add_heading(block.text, level=block.level, prov=provenance)
            case "code":
                item = document.add_code(block.text, prov=provenance)
            case "table":
                item = document.add_table(_table(block), prov=provenance)
            case "list_item":
                while lists and lists[-1][0] > block.level:
                    lists.pop()
                if not lists or lists[-1][0] < block.level:
                    lists.append((block.level, document.add_list_group(parent=lists[-1][2] if lists else None), None))
                depth, group, _ = lists[-1]
                marker = MARKER.match(block.text)
                item = document.add_list_item(
                    block.text[marker.end() :] if marker else block.text.strip(),
                    enumerated=bool(marker) and marker[1] != "-" if marker else False,
                    marker=marker[1] if marker else "-",
                    parent=group,
                    prov=provenance,
                )
                lists[-1] = (depth, group, item)
            case _:
                item = document.add_text(DocItemLabel.TEXT, block.text, prov=provenance)
        order[item.self_ref] = index
    return document, order


def _table(block: Block) -> TableData:
    rows = [*((block.header,) if block.header else ()), *block.rows]
    cells = [
        TableCell(
            text=text,
            start_row_offset_idx=row,
            end_row_offset_idx=row + 1,
            start_col_offset_idx=column,
            end_col_offset_idx=column + 1,
            column_header=row == 0 and block.header is not None,
        )
        for row, cells in enumerate(rows)
        for column, text in enumerate(cells.cells)
    ]
    return TableData(table_cells=cells, num_rows=len(rows), num_cols=max((len(row.cells) for row in rows), default=0))


def _provenance(block: Block) -> ProvenanceItem | None:
    if not block.boxes:
        return None
    box = block.boxes[0]
    bounds = BoundingBox(l=box.left, t=box.top, r=box.right, b=box.bottom, coord_origin=CoordOrigin.TOPLEFT)
    return ProvenanceItem(page_no=box.page, bbox=bounds, charspan=(0, len(block.text)))


class _Tokenizer(BaseTokenizer):
    """The embedder's tokenizer, as Docling wants it."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    counter: Callable[[str], int]
    limit: int

    def count_tokens(self, text: str) -> int:
        return self.counter(text)

    def get_max_tokens(self) -> int:
        return self.limit

    def get_tokenizer(self) -> Any:
        return self.counter  # semchunk takes a function that counts
