"""Docling's HybridChunker on pieces of text that we prepared: no word of them is changed, and a chunk costs what we say it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from docling_core.transforms.chunker.base import BaseChunk
from docling_core.transforms.chunker.doc_chunk import DocChunk
from docling_core.transforms.chunker.hierarchical_chunker import ChunkingDocSerializer
from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
from docling_core.transforms.chunker.tokenizer.base import BaseTokenizer
from docling_core.transforms.serializer.base import BaseDocSerializer, BaseSerializerProvider, SerializationResult
from docling_core.transforms.serializer.common import create_ser_result
from docling_core.types.doc.document import DocItem, DoclingDocument, ListGroup, NodeItem
from docling_core.types.doc.labels import DocItemLabel
from pydantic import ConfigDict

__all__ = ["PackedChunk", "Piece", "pack"]

Contextualize = Callable[[tuple[int, ...], str], str]
"""(section, text) → what is embedded."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to be packed into chunks."""

    kind: str
    """`heading`, `list_item` or anything else."""
    text: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class PackedChunk:
    """A chunk as the chunker made it."""

    pieces: tuple[int, ...]
    """Indexes of the pieces that are in it, whole or in part."""
    section: tuple[int, ...]
    """Indexes of the headings above it, outermost first."""
    text: str
    """Empty for a heading that nothing follows."""


def pack(
    pieces: Sequence[Piece], *, contextualize: Contextualize, count_tokens: Callable[[str], int], max_tokens: int
) -> Iterator[PackedChunk]:
    """Pack pieces into chunks: what stands under one heading is merged up to the window, what is longer is split at its sentences."""
    document, order = _docling_document(pieces)
    provider = _Provider(texts={ref: pieces[index].text for ref, index in order.items()})
    chunker = _Chunker(
        tokenizer=_Tokenizer(counter=count_tokens, limit=max_tokens),
        serializer_provider=provider,
        context=contextualize,
        always_emit_headings=True,
        merge_peers=True,
        repeat_table_header=True,
    )
    for chunk in chunker.chunk(document):
        indexes = dict.fromkeys(order[item.self_ref] for item in _items(chunk))
        yield PackedChunk(tuple(indexes), _section(chunk), chunk.text)


def _docling_document(pieces: Sequence[Piece]) -> tuple[DoclingDocument, dict[str, int]]:
    """Make the document that the chunker reads; also which item is which piece."""
    document = DoclingDocument(name="pieces")
    order: dict[str, int] = {}
    group: ListGroup | None = None
    for index, piece in enumerate(pieces):
        if piece.kind == "list_item":
            group = group or document.add_list_group()
            item = document.add_list_item("x", marker="-", parent=group)
        else:
            group = None
            if piece.kind == "heading":
                item = document.add_heading(str(index), level=piece.level + 1)
            else:
                item = document.add_text(DocItemLabel.TEXT, "x")
        order[item.self_ref] = index
    return document, order


def _items(chunk: BaseChunk) -> list[DocItem]:
    return chunk.meta.doc_items if isinstance(chunk, DocChunk) else []


def _section(chunk: BaseChunk) -> tuple[int, ...]:
    return tuple(map(int, chunk.meta.headings or ())) if isinstance(chunk, DocChunk) else ()


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


class _Serializer(ChunkingDocSerializer):
    """Gives each item the text of its piece; a list is its items."""

    texts: dict[str, str]

    def serialize(
        self, *, item: NodeItem | None = None, visited: set[str] | None = None, **kwargs: Any
    ) -> SerializationResult:
        seen = visited if visited is not None else set()
        if item is None or item.self_ref in seen:
            return create_ser_result()
        seen.add(item.self_ref)
        if isinstance(item, ListGroup):
            parts = [self.serialize(item=child.resolve(self.doc), visited=seen) for child in item.children]
            return create_ser_result(text="\n".join(part.text for part in parts), span_source=parts)
        return create_ser_result(text=self.texts[item.self_ref], span_source=item)  # type: ignore[arg-type]


class _Provider(BaseSerializerProvider):
    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def get_serializer(self, doc: DoclingDocument) -> BaseDocSerializer:
        return _Serializer(doc=doc, texts=self._texts)


class _Chunker(HybridChunker):
    context: Contextualize

    def contextualize(self, chunk: BaseChunk) -> str:
        return self.context(_section(chunk), chunk.text)
