"""Documents and chunks in the database: what is written when one comes, changes or goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kgrag.store.connection import Connection, Transaction
from kgrag.store.extractions import Removed, remove_chunks_from_graphs
from kgrag.store.rows import batches_by_size, chunk_from_row, chunk_row, document_from_row, document_row
from kgrag.store.statements import statement
from kgrag.types import Chunk, Document

__all__ = [
    "DeletedCounts",
    "chunks_in_order",
    "delete_documents",
    "put_documents",
    "read_chunks",
    "read_documents",
    "sort_documents",
]

READ_CHUNKS = 2000
"""Chunks that are asked for, and sorted, at a time."""
DERIVED_STAGES = ["embed", "extract"]


@dataclass(frozen=True, slots=True)
class DeletedCounts:
    """What went."""

    documents: int = 0
    chunks: int = 0
    entities: int = 0
    relations: int = 0

    def __add__(self, other: DeletedCounts) -> DeletedCounts:
        return DeletedCounts(
            self.documents + other.documents,
            self.chunks + other.chunks,
            self.entities + other.entities,
            self.relations + other.relations,
        )


def put_documents(transaction: Transaction, documents: Sequence[tuple[Document, Sequence[Chunk]]]) -> DeletedCounts:
    """Make the database hold these documents with these chunks, and no other document of the same path and title.

    A chunk that is there already, in every property the same, stays with its vector and with what was extracted from it. Returns what
    had to go.
    """
    latest = {document.id: (document, chunks) for document, chunks in documents}
    successors = {(document.path, document.title): document.id for document, _ in latest.values()}
    there = [
        row["document"]
        for row in transaction.run("store/documents_of_paths", paths=sorted({path for path, _ in successors}))
    ]
    replaced = {row["id"] for row in there if row["id"] != successors.get((row["path"], row["title"]), row["id"])}
    deleted = delete_documents(transaction, sorted(replaced))

    known = ({row["id"] for row in there} - replaced) & latest.keys()
    before = {
        row["chunk"]["id"]: {name: value for name, value in row["chunk"].items() if value is not None}
        for row in (transaction.run("store/chunks_of_documents", document_ids=sorted(known)) if known else [])
    }
    wanted = {chunk.id: chunk_row(chunk) for _, chunks in latest.values() for chunk in chunks}
    stale = sorted(chunk_id for chunk_id, row in before.items() if wanted.get(chunk_id) != row)
    deleted += _delete_chunks(transaction, stale)
    new = [row for chunk_id, row in wanted.items() if before.get(chunk_id) != row]

    for rows in batches_by_size([document_row(document) for document, _ in latest.values()]):
        transaction.run("store/put_documents", rows=rows)
    for rows in batches_by_size([{"document_id": row["document_id"], "properties": row} for row in new]):
        transaction.run("store/put_chunks", rows=rows)
    _put_reading_order(
        transaction,
        latest.values(),
        known=known,
        touched={row["document_id"] for row in (*new, *(before[i] for i in stale))},
    )
    return deleted


def delete_documents(transaction: Transaction, ids: Sequence[str]) -> DeletedCounts:
    """Delete documents, their chunks and what only those supported. Unknown ids are passed over."""
    documents = [row["document"] for row in transaction.run("store/documents_of_ids", ids=list(ids))] if ids else []
    if not documents:
        return DeletedCounts()
    found = sorted(document["id"] for document in documents)
    chunks = sorted(row["chunk"]["id"] for row in transaction.run("store/chunks_of_documents", document_ids=found))
    deleted = _delete_chunks(transaction, chunks)
    transaction.run("store/delete_documents", ids=found)
    paths = {document["path"] for document in documents}
    remaining = {row["document"]["path"] for row in transaction.run("store/documents_of_paths", paths=sorted(paths))}
    if paths - remaining:
        transaction.run("store/delete_work", subjects=sorted(paths - remaining), stages=["convert"])
    return deleted + DeletedCounts(documents=len(found))


def read_documents(connection: Connection, *, path: str | None = None) -> list[Document]:
    """Read every document, or those of one path, by path, then title."""
    if path is None:
        rows = connection.read(statement("store/documents"), {})
    else:
        rows = connection.read(statement("store/documents_of_paths"), {"paths": [path]})
    return sort_documents(document_from_row(row["document"]) for row in rows)


def sort_documents(documents: Iterable[Document]) -> list[Document]:
    """Put documents into the order of the store: path, then title, then id."""
    return sorted(documents, key=lambda document: (document.path, document.title, document.id))


def read_chunks(connection: Connection, ids: Sequence[str] | None = None) -> Iterator[Chunk]:
    """Read chunks: those of `ids` in that order (unknown ones are passed over), or all in document order."""
    if ids is not None:
        for some in batches_by_size(list(ids)):
            found = {
                row["chunk"]["id"]: row["chunk"]
                for row in connection.read(statement("store/chunks"), {"ids": list(some)})
            }
            yield from (chunk_from_row(found[chunk_id]) for chunk_id in some if chunk_id in found)
        return
    counts = {
        row["document_id"]: row["chunks"] for row in connection.read(statement("store/document_chunk_counts"), {})
    }
    batch: list[str] = []
    waiting = 0
    for document in read_documents(connection):
        batch.append(document.id)
        waiting += counts.get(document.id, 0)
        if waiting >= READ_CHUNKS:
            yield from chunks_in_order(connection, batch)
            batch, waiting = [], 0
    yield from chunks_in_order(connection, batch)


def chunks_in_order(connection: Connection, document_ids: Sequence[str]) -> list[Chunk]:
    """Read the chunks of some documents, in the order of both."""
    order = {document_id: place for place, document_id in enumerate(document_ids)}
    rows = connection.read(statement("store/chunks_of_documents"), {"document_ids": list(document_ids)})
    chunks = [chunk_from_row(row["chunk"]) for row in rows]
    return sorted(chunks, key=lambda chunk: (order[chunk.document_id], chunk.position, chunk.id))


def _delete_chunks(transaction: Transaction, ids: Sequence[str]) -> DeletedCounts:
    removed = Removed()
    for some in batches_by_size(ids):
        removed += remove_chunks_from_graphs(transaction, some)
        transaction.run("store/delete_work", subjects=list(some), stages=DERIVED_STAGES)
        transaction.run("store/delete_chunks", ids=list(some))
    return DeletedCounts(chunks=len(ids), entities=removed.entities, relations=removed.relations)


def _put_reading_order(
    transaction: Transaction,
    documents: Iterable[tuple[Document, Sequence[Chunk]]],
    *,
    known: set[str],
    touched: set[str],
) -> None:
    """Connect each chunk of a touched document with the one after it."""
    if known & touched:
        transaction.run("store/delete_next_chunks", document_ids=sorted(known & touched))
    rows: list[dict[str, Any]] = []
    for document, chunks in documents:
        if document.id in touched:
            ordered = sorted(
                {chunk.id: chunk for chunk in chunks}.values(), key=lambda chunk: (chunk.position, chunk.id)
            )
            rows.extend({"id": chunk.id, "next": following.id} for chunk, following in pairwise(ordered))
    for some in batches_by_size(rows):
        transaction.run("store/put_next_chunks", rows=some)
