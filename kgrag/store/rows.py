"""How documents and chunks lie in the database, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from kgrag.common.parts import parts_within
from kgrag.text.surrogates import without_surrogates
from kgrag.types import Chunk, Document, PageBox, canonical_json

__all__ = [
    "BATCH_ROWS",
    "batches_by_size",
    "boxes_from_row",
    "chunk_from_row",
    "chunk_row",
    "document_from_row",
    "document_row",
    "storable",
]

BATCH_ROWS = 1000
BATCH_CHARACTERS = 4_000_000
"""Of one message to the database."""

T = TypeVar("T")


def document_row(document: Document) -> dict[str, Any]:
    """Return the properties of a document's node; the metadata is canonical JSON."""
    row = document.model_dump(exclude_none=True)
    row["metadata"] = canonical_json(document.metadata)
    return {name: storable(value) for name, value in row.items()}


def document_from_row(row: Mapping[str, Any]) -> Document:
    """Read a document's node."""
    return Document.model_validate({**row, "metadata": json.loads(row["metadata"])})


def chunk_row(chunk: Chunk) -> dict[str, Any]:
    """Return the properties of a chunk's node, without its vector; what is None is left out."""
    row = chunk.model_dump(exclude_none=True)
    row.update(
        section=chunk.section,
        prompted=chunk.prompted_text,
        headings=list(chunk.headings),
        anchors=list(chunk.anchors),
        links=canonical_json([link.model_dump() for link in chunk.links]),
        boxes=canonical_json([list(box.model_dump().values()) for box in chunk.boxes]),
    )
    if not chunk.boxes:
        del row["boxes"]
    return {name: storable(value) for name, value in row.items()}


def chunk_from_row(row: Mapping[str, Any]) -> Chunk:
    """Read a chunk's node."""
    known = {name: row[name] for name in Chunk.model_fields if row.get(name) is not None}
    return Chunk.model_validate({**known, "links": json.loads(row["links"]), "boxes": boxes_from_row(row)})


def boxes_from_row(row: Mapping[str, Any]) -> tuple[PageBox, ...]:
    """Read where a chunk stands on its pages; nowhere in stores that were built before chunks had boxes."""
    return tuple(
        PageBox(**dict(zip(PageBox.model_fields, box, strict=True))) for box in json.loads(row.get("boxes") or "[]")
    )


def storable(value: Any) -> Any:
    """Replace what no database takes: half of a surrogate pair in a string (from a broken PDF) becomes U+FFFD."""
    return without_surrogates(value)


def batches_by_size(rows: Sequence[T], *, characters: int | None = None) -> Iterator[Sequence[T]]:
    """Cut rows into messages of at most 1,000 rows and about 4 million characters.

    `characters` says how many each row has where that is known; else the rows' strings are counted.
    """
    weigh: Callable[[T], int] = _weight if characters is None else lambda _: characters
    return parts_within(rows, weigh, most=BATCH_CHARACTERS, most_items=BATCH_ROWS)


def _weight(value: Any) -> int:
    match value:
        case str():
            return len(value)
        case Mapping():
            return sum(_weight(item) for item in value.values())
        case list() | tuple():
            return sum(_weight(item) for item in value)
    return 9
