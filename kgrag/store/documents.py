"""Documents and chunks in the database: what is written when one comes, changes or goes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from kgrag.common.parts import parts_within
from kgrag.models.base import Vectors
from kgrag.store.connection import Connection, Transaction
from kgrag.store.extractions import DeletedCounts, move_extractions, remove_chunks_from_graphs
from kgrag.store.ledger import WorkRecord, put_work
from kgrag.store.links import LinkCounts, relink
from kgrag.store.rows import batches_by_size, chunk_from_row, chunk_row, document_from_row, document_row, storable
from kgrag.store.schema import Schema
from kgrag.store.vectors import WaitingForVectors, put_vectors, vector_rows
from kgrag.types import Chunk, Document, content_id

__all__ = ["TABLE_ROWS", "Documents", "sort_documents"]

READ_CHUNKS = 2000
"""Chunks that are asked for, and sorted, at a time."""
DELETE_CHUNKS = 1000
"""Chunks that one transaction deletes; 60,000 took all of a server's 3 GB."""
TABLE_ROWS = "embed_rows"
"""The ledger's stage of chunks of which a row has no vector; one whose rows are all there has no entry."""
DERIVED_STAGES = ["embed", TABLE_ROWS, "extract"]


class Documents:
    """The documents and chunks of an open store.

    Each write is one transaction, but for `delete`: after a crash it is there as a whole or not at all.
    """

    def __init__(
        self,
        connection: Connection,
        schema: Schema,
        waiting: WaitingForVectors,
        *,
        readable: Collection[str] | None = None,
    ) -> None:
        self._readable = readable
        """Ids of the documents that reads return; None is all."""
        self._connection = connection
        self._schema = schema
        self._waiting = waiting

    def all(self) -> list[Document]:
        """Return every document, by path, title and id."""
        return self._documents(self._schema.read("store/documents"))

    def first(self, limit: int) -> list[Document]:
        """Return the first `limit` documents by path, title and id."""
        return self._documents(self._schema.read("store/first_documents", limit=limit, documents=self._readable_ids()))

    def count(self) -> int:
        """Return how many documents there are."""
        rows = self._schema.read("store/count_documents", documents=self._readable_ids())
        return int(rows[0]["documents"]) if rows else 0

    def of_path(self, path: str) -> list[Document]:
        """Return the documents of one path, by title and id."""
        return self._documents(self._schema.read("store/documents_of_paths", paths=[path], titles=None, ids=[]))

    def put(self, documents: Sequence[tuple[Document, Sequence[Chunk]]], *, moved: Sequence[str] = ()) -> DeletedCounts:
        """Write documents with their chunks, in place of others of the same path and title and of those `moved` (ids: their files are gone
        and came again under other paths); return what had to go.

        Chunks that are the same in every property but their places on the page stay with their vectors and what was extracted from them.
        A chunk with the title, headings and text of one that has to go takes over its vector, what was extracted, and its entries in the
        ledger.
        """
        if not documents:
            return DeletedCounts()
        self._schema.bound()
        self._waiting.forget()
        return self._connection.write(lambda transaction: _put_documents(transaction, documents, moved))

    def delete(self, ids: Sequence[str]) -> DeletedCounts:
        """Delete documents with their chunks and all that only those supported; unknown ids are passed over.

        Documents that have up to `DELETE_CHUNKS` chunks together, or one that has more, are a transaction: a server keeps in memory all
        that one changes.
        """
        deleted = DeletedCounts()
        if not ids:
            return deleted
        self._schema.bound()
        self._waiting.forget()
        rows = self._connection.read_plain("store/chunk_ids_of_documents", document_ids=ids)
        chunks = Counter(row["document_id"] for row in rows)
        for some in parts_within(dict.fromkeys(ids), chunks.__getitem__, most=DELETE_CHUNKS):
            deleted += self._connection.write(partial(_delete_documents, ids=some))
        return deleted

    def relink(self) -> LinkCounts:
        """Make the LINKS_TO relationships equal to what the chunks' links and anchors say; return what became of the links."""
        self._schema.bound()
        return self._connection.with_retry(lambda: relink(self._connection, self.all()))

    def chunks(self, ids: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yield every chunk in document order, or those of `ids` in that order; unknown ids are passed over."""
        return self._all_chunks() if ids is None else self._chunks_of_ids(ids)

    def chunks_of(self, document_ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks of some documents, in the order of both."""
        if not document_ids:
            return []
        order = {document_id: place for place, document_id in enumerate(document_ids)}
        wanted = [document_id for document_id in document_ids if self._may_read(document_id)]
        rows = self._schema.read("store/chunks_of_documents", document_ids=wanted)
        chunks = [chunk_from_row(row["chunk"]) for row in rows]
        return sorted(chunks, key=lambda chunk: (order[chunk.document_id], chunk.position, chunk.id))

    def count_chunks(self) -> int:
        """Return how many chunks there are."""
        if self._readable is not None:
            return sum(many for document_id, many in self._chunk_counts().items() if document_id in self._readable)
        rows = self._schema.read("store/count_chunks")
        return int(rows[0]["chunks"]) if rows else 0

    def vectors(self) -> tuple[list[str], Vectors]:
        """Return the ids of the chunks that have a vector, sorted, and their vectors: [len(ids), dimensions]."""
        if self._schema.meta is None:
            return [], np.zeros((0, 0), dtype=np.float32)
        rows = self._connection.stream_values("store/chunk_vectors", documents=self._readable_ids())
        found = {str(chunk): np.asarray(vector, dtype=np.float32) for chunk, vector in rows}
        ids = sorted(found)
        vectors = np.array([found[chunk] for chunk in ids], dtype=np.float32)
        return ids, vectors.reshape(len(ids), self._schema.dimensions)

    def ids_without_embedding(self) -> list[str]:
        """Return the ids of the chunks that wait for their vector, sorted."""
        return self._waiting.chunks()

    def put_embeddings(self, ids: Sequence[str], vectors: Vectors, *, embedder: str, seconds: float = 0.0) -> None:
        """Give chunks their vectors, shape [len(ids), dimensions]; ledger `embed`. `seconds` is what they took together.

        On a server several transactions share them, each with the ledger's entries of its chunks.
        """
        dimensions = self._schema.dimensions
        rows = vector_rows(ids, vectors, dimensions)

        def write(transaction: Transaction, some: Sequence[dict[str, Any]]) -> None:
            put_vectors(transaction, "store/put_chunk_embeddings", some)
            version, of_one = f"{embedder} {dimensions}", seconds / len(ids)
            put_work(
                transaction,
                [WorkRecord("embed", row["id"], scope=embedder, version=version, seconds=of_one) for row in some],
            )

        self._connection.write_apart(rows, write)
        self._waiting.forget_chunks(ids)

    def ids_without_table_rows(self) -> list[str]:
        """Return the ids of the chunks with a Markdown table of which no row is there, sorted."""
        return sorted(str(row["id"]) for row in self._schema.read("store/chunks_without_table_rows"))

    def put_table_rows(self, texts: Sequence[tuple[str, str]], vectors: Vectors, *, mended: Sequence[str] = ()) -> None:
        """Write what rows of tables say, each as id of its chunk and text, with their vectors, shape [len(texts), dimensions].

        All rows of a chunk that have a vector come at once and in order, in the place of those that are there. Of the chunks
        `mended` the ledger forgets that rows of theirs failed.
        """
        numbers: Counter[str] = Counter()
        rows = []
        for (chunk_id, text), row in zip(
            texts, vector_rows([chunk_id for chunk_id, _ in texts], vectors, self._schema.dimensions), strict=True
        ):
            row_id = content_id(chunk_id, str(numbers[chunk_id]))
            rows.append({"id": row_id, "chunk_id": chunk_id, "text": text, "embedding": row["embedding"]})
            numbers[chunk_id] += 1

        def write(transaction: Transaction) -> None:
            transaction.run("store/delete_table_rows", ids=sorted(numbers))
            put_vectors(transaction, "store/put_table_rows", rows)
            if mended:
                transaction.run("store/delete_work", subjects=mended, stages=[TABLE_ROWS])

        self._connection.write(write)

    def _documents(self, rows: Iterable[Mapping[str, Any]]) -> list[Document]:
        found = (document_from_row(row["document"]) for row in rows)
        return sort_documents(one for one in found if self._may_read(one.id))

    def _chunk_counts(self) -> dict[str, int]:
        rows = self._schema.read("store/document_chunk_counts")
        return {str(row["document_id"]): int(row["chunks"]) for row in rows}

    def _readable_ids(self) -> list[str] | None:
        return None if self._readable is None else sorted(self._readable)

    def _may_read(self, document_id: str) -> bool:
        return self._readable is None or document_id in self._readable

    def _chunks_of_ids(self, ids: Sequence[str]) -> Iterator[Chunk]:
        for some in batches_by_size(ids):
            found = {row["chunk"]["id"]: row["chunk"] for row in self._schema.read("store/chunks", ids=some)}
            chunks = (chunk_from_row(found[chunk_id]) for chunk_id in some if chunk_id in found)
            yield from (chunk for chunk in chunks if self._may_read(chunk.document_id))

    def _all_chunks(self) -> Iterator[Chunk]:
        chunks = Counter(self._chunk_counts())
        for some in parts_within([document.id for document in self.all()], chunks.__getitem__, most=READ_CHUNKS):
            yield from self.chunks_of(some)


def sort_documents(documents: Iterable[Document]) -> list[Document]:
    """Put documents into the order of the store: path, then title, then id."""
    return sorted(documents, key=lambda document: (document.path, document.title, document.id))


def _put_documents(
    transaction: Transaction, documents: Sequence[tuple[Document, Sequence[Chunk]]], moved: Sequence[str]
) -> DeletedCounts:
    """Make the database hold these documents with these chunks, and no other document of the same path and title, nor those `moved`.

    A chunk that is there already, in every property the same but its places on the page, stays with its vector and with what was extracted
    from it. Returns what had to go.
    """
    latest = {document.id: (document, chunks) for document, chunks in documents}
    successors = {(document.path, document.title): document.id for document, _ in latest.values()}
    there = [
        row["document"]
        for row in transaction.run(
            "store/documents_of_paths",
            paths=sorted({path for path, _ in successors}),
            titles=sorted({storable(title) for _, title in successors}),
            ids=sorted(latest),
        )
    ]
    replaced = {row["id"] for row in there if row["id"] != successors.get((row["path"], row["title"]), row["id"])}
    replaced |= set(moved) - latest.keys()

    known = ({row["id"] for row in there} - replaced) & latest.keys()
    before = {
        row["chunk"]["id"]: {name: value for name, value in row["chunk"].items() if value is not None}
        for row in (transaction.run("store/chunks_of_documents", document_ids=sorted(known)) if known else [])
    }
    wanted = {chunk.id: chunk_row(chunk) for _, chunks in latest.values() for chunk in chunks}
    placed = [i for i in before if i in wanted and _apart_from_boxes(before[i]) == _apart_from_boxes(wanted[i])]
    reboxed = [{"id": i, "boxes": wanted[i].get("boxes")} for i in placed if before[i] != wanted[i]]
    transaction.run_batched("store/put_chunk_boxes", rows=reboxed)
    stale = sorted(before.keys() - placed)
    deleted = _delete_chunks(transaction, stale)
    new = [row for chunk_id, row in wanted.items() if chunk_id not in placed]

    transaction.run_batched("store/put_documents", rows=[document_row(document) for document, _ in latest.values()])
    rows = [{"document_id": row["document_id"], "properties": row} for row in new]
    transaction.run_batched("store/put_chunks", rows=rows)
    _put_reading_order(
        transaction,
        latest.values(),
        known=known,
        touched={row["document_id"] for row in (*new, *(before[i] for i in stale))},
    )
    if replaced:
        _carry_over(transaction, sorted(replaced), new)
    return deleted + _delete_documents(transaction, sorted(replaced))


def _carry_over(transaction: Transaction, replaced: Sequence[str], new: Sequence[Mapping[str, Any]]) -> None:
    """Give new chunks what equal chunks of documents that have to go have: vectors, extractions, entries in the ledger."""
    waiting: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    old = [row["chunk"] for row in transaction.run("store/chunks_of_documents", document_ids=replaced)]
    for row in sorted(old, key=lambda row: (row["position"], row["id"]), reverse=True):
        waiting[_said(row)].append(row["id"])
    successors = {found.pop(): row["id"] for row in new if (found := waiting.get(_said(row)))}
    for some in batches_by_size(sorted(successors)):
        rows = [{"id": successors[chunk_id], "before": chunk_id} for chunk_id in some]
        transaction.run("store/carry_embeddings", rows=rows)
        work = transaction.run("store/work_of_subjects", subjects=some, stages=DERIVED_STAGES)
        records = [WorkRecord.from_row(row["work"]) for row in work]
        put_work(transaction, [replace(record, subject=successors[record.subject]) for record in records])
    move_extractions(transaction, successors)


def _said(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """All of a chunk that embedders and extractors read."""
    return row["title"], tuple(row["headings"] or ()), row["text"]


def _apart_from_boxes(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "boxes"}


def _delete_documents(transaction: Transaction, ids: Sequence[str]) -> DeletedCounts:
    """Delete documents, their chunks and what only those supported; their files count as unread. Unknown ids are passed over."""
    documents = [row["document"] for row in transaction.run("store/documents_of_ids", ids=ids)] if ids else []
    if not documents:
        return DeletedCounts()
    found = sorted(document["id"] for document in documents)
    chunks = sorted(row["id"] for row in transaction.run("store/chunk_ids_of_documents", document_ids=found))
    deleted = _delete_chunks(transaction, chunks)
    transaction.run("store/delete_documents", ids=found)
    paths = sorted({document["path"] for document in documents})
    transaction.run("store/delete_work", subjects=paths, stages=["convert"])
    return deleted + DeletedCounts(documents=len(found))


def _delete_chunks(transaction: Transaction, ids: Sequence[str]) -> DeletedCounts:
    deleted = DeletedCounts(chunks=len(ids))
    for some in batches_by_size(ids):
        deleted += remove_chunks_from_graphs(transaction, some)
        transaction.run("store/delete_work", subjects=some, stages=DERIVED_STAGES)
        transaction.run("store/delete_table_rows", ids=some)
        transaction.run("store/delete_chunks", ids=some)
    return deleted


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
    transaction.run_batched("store/put_next_chunks", rows=rows)
