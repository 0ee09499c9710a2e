"""`GraphStore`: all that kgrag asks of its database, on the embedded database and on Neo4j alike."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from kgrag.common.patience import IMPATIENT, Patience
from kgrag.errors import InputError, StoreMismatch
from kgrag.models.base import Vectors
from kgrag.store import schema
from kgrag.store.communities import (
    PARTITION,
    Membership,
    StoredCommunity,
    put_memberships,
    put_similar,
    put_summaries,
    read_communities,
)
from kgrag.store.connection import Connection, Transaction, is_address, open_connection
from kgrag.store.counts import count_extractions, count_graphs, count_work
from kgrag.store.digest import digest
from kgrag.store.documents import (
    DeletedCounts,
    chunks_in_order,
    delete_documents,
    put_documents,
    read_chunks,
    read_documents,
)
from kgrag.store.embedded import DATABASE
from kgrag.store.extractions import put_extractions
from kgrag.store.graph_deletion import delete_graph
from kgrag.store.ledger import WorkRecord, put_work, work_by_subject, work_key
from kgrag.store.links import relink
from kgrag.store.merges import Merge, Merged, apply_merges, split_merges
from kgrag.store.readonly import check_reads_only
from kgrag.store.statements import statement
from kgrag.store.vectors import WaitingForVectors, put_vectors, vector_rows
from kgrag.types import Chunk, Community, Document, Extraction, content_id

__all__ = ["GraphStore", "open_store", "store_exists"]


def open_store(target: str | Path, *, create: bool = True) -> GraphStore:
    """Open a folder (embedded database, made if `create`) or a `neo4j://` or `bolt://` address.

    The login of an address comes from `NEO4J_USERNAME`, `NEO4J_PASSWORD` and `NEO4J_DATABASE`. Raises `InputError` where there is no
    store and `create` is false, `StoreLocked` where another process has the folder open, `StoreUnavailable` where the database cannot be
    reached or started, `StoreMismatch` where the store has another schema version.
    """
    connection = open_connection(target, create=create)
    try:
        return GraphStore(connection)
    except BaseException:
        connection.close()
        raise


def store_exists(target: str | Path) -> bool:
    """Say whether there is something to open: a folder with a store in it; of a server's address it is assumed."""
    return is_address(target) or (Path(target).expanduser() / "database" / DATABASE).is_dir()


class GraphStore:
    """An open store. Safe to use from several threads; writes take turns. Close it, or use it as a context manager.

    Each write is one transaction: after a crash it is there as a whole or not at all.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._meta = schema.read_meta(connection)
        self._graphs: set[str] = set()
        self._waiting_for_vectors = WaitingForVectors(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; a second call does nothing."""
        self._connection.close()

    @contextmanager
    def waiting(self, patience: Patience) -> Iterator[None]:
        """Wait for a database server that goes away, with `patience`, in every read and write within the block."""
        self._connection.patience = patience
        try:
            yield
        finally:
            self._connection.patience = IMPATIENT

    # What it was made with

    def bind(self, embedder: str, dimensions: int) -> None:
        """Remember which embedder the store is built with, and make its schema. Raises `StoreMismatch` where it was another one."""
        schema.check_meta(self._meta, embedder, dimensions)
        schema.create_schema(self._connection, dimensions)
        if self._meta is None:
            self._meta = schema.Meta(schema.SCHEMA_VERSION, embedder, dimensions)
            values: dict[str, Any] = {
                "schema_version": self._meta.schema_version,
                "embedder": embedder,
                "dimensions": dimensions,
            }
            self._connection.write(lambda transaction: transaction.run("store/put_meta", **values))

    def check(self, embedder: str, dimensions: int) -> None:
        """Raise `StoreMismatch` where the store was built with another embedder, or nothing was built."""
        if self._meta is None:
            raise StoreMismatch("Nothing was built in this store yet. Fill it with kgrag build PATH...")
        schema.check_meta(self._meta, embedder, dimensions)

    # Asking

    def read(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a reading statement of `cypher/` by name (`retrieve/dense_seeds`).

        A parameter `graph` also puts that graph's label in the place of `` `GRAPH_LABEL` ``.
        """
        return self._connection.read(statement(name, graph=parameters.get("graph")), parameters)

    def query(self, cypher: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run the user's own Cypher. Raises `CypherWriteError` where it would write, `InputError` where it is wrong."""
        check_reads_only(self._connection, cypher, parameters)
        return self._connection.ask(cypher, parameters)

    # Documents and chunks

    def put_documents(self, documents: Sequence[tuple[Document, Sequence[Chunk]]]) -> DeletedCounts:
        """Write documents with their chunks, in place of others of the same path and title; return what had to go.

        Chunks that are the same in every property stay with their vectors and what was extracted from them.
        """
        if not documents:
            return DeletedCounts()
        self._bound()
        self._waiting_for_vectors.forget()
        return self._connection.write(lambda transaction: put_documents(transaction, documents))

    def delete_documents(self, ids: Sequence[str]) -> DeletedCounts:
        """Delete documents with their chunks and all that only those supported; unknown ids are passed over."""
        if not ids:
            return DeletedCounts()
        self._bound()
        self._waiting_for_vectors.forget()
        return self._connection.write(lambda transaction: delete_documents(transaction, ids))

    def documents(self, *, path: str | None = None) -> list[Document]:
        """Return every document, or those of one path, by path, title and id."""
        return read_documents(self._connection, path=path) if self._meta else []

    def chunks(self, ids: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yield every chunk in document order, or those of `ids` in that order; unknown ids are passed over."""
        return read_chunks(self._connection, ids) if self._meta else iter(())

    def chunks_of(self, document_ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks of some documents, in the order of both."""
        return chunks_in_order(self._connection, document_ids) if self._meta and document_ids else []

    def count_chunks(self) -> int:
        """Return how many chunks there are."""
        return int(self._connection.read(statement("store/count_chunks"), {})[0]["chunks"]) if self._meta else 0

    def relink(self) -> int:
        """Make the LINKS_TO relationships equal to what the chunks' links and anchors say; return how many there are."""
        self._bound()
        return self._connection.patiently(lambda: relink(self._connection))

    # Vectors

    def chunks_without_embedding(self, limit: int) -> list[Chunk]:
        """Return up to `limit` chunks that wait for their vector."""
        return list(self.chunks(self._chunks_waiting()[:limit]))

    def count_chunks_without_embedding(self) -> int:
        """Return how many chunks wait for their vector."""
        return len(self._chunks_waiting())

    def put_embeddings(self, ids: Sequence[str], vectors: Vectors, *, embedder: str, seconds: float = 0.0) -> None:
        """Give chunks their vectors, shape [len(ids), dimensions]; ledger `embed`. `seconds` is what they took together."""
        meta = self._bound()
        rows = vector_rows(ids, vectors, meta.dimensions)
        records = [
            WorkRecord(
                "embed", chunk_id, scope=embedder, version=f"{embedder} {meta.dimensions}", seconds=seconds / len(ids)
            )
            for chunk_id in ids
        ]

        def write(transaction: Transaction) -> None:
            put_vectors(transaction, "store/put_chunk_embeddings", rows)
            put_work(transaction, records)

        self._connection.write(write)
        self._waiting_for_vectors.forget_chunks(ids)

    def entities_without_embedding(self, graph: str, limit: int) -> list[dict[str, Any]]:
        """Return up to `limit` entities (key, name, type, description) that wait for their vector."""
        keys = self._entities_waiting(graph)[:limit]
        rows = self._connection.read(statement("store/entities"), {"keys": keys}) if keys else []
        return sorted(rows, key=lambda row: str(row["key"]))

    def count_entities_without_embedding(self, graph: str) -> int:
        """Return how many entities of a graph wait for their vector."""
        return len(self._entities_waiting(graph))

    def put_entity_embeddings(self, graph: str, keys: Sequence[str], vectors: Vectors) -> None:
        """Give entities of a graph their vectors, shape [len(keys), dimensions]."""
        rows = vector_rows(keys, vectors, self._bound().dimensions)
        self._connection.write(partial(put_vectors, name="store/put_entity_embeddings", rows=rows))
        self._waiting_for_vectors.forget_entities(graph, keys)

    # Graphs

    def put_extractions(self, graph: str, results: Sequence[tuple[Extraction, WorkRecord]]) -> None:
        """Make a graph hold what these chunks say now, in place of what they said before; ledger `extract`.

        Raises `IdentifierError` for a graph's name that is not allowed.
        """
        if not results:
            return
        self._ensure_graph(graph)
        self._waiting_for_vectors.forget_graph(graph)

        def write(transaction: Transaction) -> None:
            put_extractions(transaction, graph, [extraction for extraction, _ in results])
            put_work(transaction, [record for _, record in results])

        self._connection.write(write)

    def delete_graph(self, name: str) -> int:
        """Delete the entities and relations of a graph, its index and its ledger; return how many entities went. Chunks stay."""
        entities = delete_graph(self._connection, name, dimensions=self._bound().dimensions)
        self._graphs.discard(name)
        self._waiting_for_vectors.forget_graph(name)
        return entities

    # Merged entities

    def unmerged_entities(self, graph: str, *, vectors: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the entities of a graph as they were extracted, whatever is merged now.

        Each is a row of key, name, type, normal, description, mentions and embedding (None where it has none, or without `vectors`).
        """
        self._ensure_graph(graph)
        text = statement("resolve/unmerged_entities", graph=graph)
        for row in self._connection.stream(text, {"graph": graph, "vectors": vectors}):
            kept = row.pop("properties")
            if kept is not None:
                was = json.loads(kept)
                row.update(description=was["description"], mentions=was["mentions"])
            yield row

    def merges(self, graph: str) -> list[Merge]:
        """Return the merges that hold in a graph, by the key of the entity that stayed."""
        rows = self.read("resolve/merges", graph=graph) if self._meta else []
        merges = (Merge(row["survivor"], tuple(row["members"]), row["reasons"]) for row in rows)
        return sorted(merges, key=lambda merge: merge.survivor)

    def naming_texts(self, keys: Sequence[str]) -> dict[str, str]:
        """Return for entities as extracted the text of a chunk that names each: the first by id."""
        first = {row["key"]: row["chunk_id"] for row in self.read("resolve/naming_chunks", keys=list(keys))}
        for row in self.read("resolve/members_of_keys", keys=list(keys)):
            first[row["key"]] = min(json.loads(row["mentions"]))
        texts = {chunk.id: chunk.text for chunk in self.chunks(sorted(set(first.values())))}
        return {key: texts[chunk_id] for key, chunk_id in first.items() if chunk_id in texts}

    def count_merges(self) -> int:
        """Return how many merges hold, in all graphs."""
        return int(self.read("resolve/count_all_merges")[0]["merges"]) if self._meta else 0

    def count_members(self, graph: str) -> int:
        """Return how many entities of a graph are in merges."""
        return int(self.read("resolve/count_merges", graph=graph)[0]["members"]) if self._meta else 0

    def apply_merges(self, graph: str, merges: Sequence[Merge]) -> Merged:
        """Make one entity of the members of each merge, in one transaction; members that are gone leave the merge out."""
        self._ensure_graph(graph)
        self._waiting_for_vectors.forget_graph(graph)
        return self._connection.write(lambda transaction: apply_merges(transaction, graph, merges))

    def split_merges(self, graph: str, survivors: Sequence[str]) -> int:
        """Take merges back, in one transaction: every member is what it was; return how many entities came back."""
        self._ensure_graph(graph)
        self._waiting_for_vectors.forget_graph(graph)
        return self._connection.write(lambda transaction: split_merges(transaction, graph, survivors))

    # Communities

    def entity_vectors(self, graph: str) -> tuple[list[str], Vectors]:
        """Return the keys of a graph's entities, sorted, and their vectors: [len(keys), dimensions]. Who has no vector is left out."""
        self._ensure_graph(graph)
        found = {
            str(key): np.asarray(vector, dtype=np.float32)
            for key, vector in self._connection.stream_values(
                statement("communities/vectors", graph=graph), {"graph": graph}
            )
        }
        keys = sorted(found)
        vectors = np.array([found[key] for key in keys], dtype=np.float32)
        return keys, vectors.reshape(len(keys), self._bound().dimensions)

    def graph_state(self, graph: str) -> str:
        """Fingerprint what a graph says: what was extracted from which chunk, what is merged, and how much that makes now.

        Communities were made of a state: where it is another one, they are stale.
        """
        counts = self.graph_counts().get(graph, {})
        extracted = sorted((record.subject, record.result) for record in self.work("extract", graph).values())
        return content_id(
            *(f"{chunk} {result}" for chunk, result in extracted),
            str(counts.get("entities", 0)),
            str(counts.get("relations", 0)),
            str(self.count_members(graph)),
        )

    def put_similar(self, graph: str, scores: Mapping[tuple[str, str], float]) -> None:
        """Make the SIMILAR relationships of a graph equal to these pairs of keys, the first smaller, with their scores."""
        put_similar(self._connection, graph, scores)

    def communities(self, graph: str) -> dict[str, StoredCommunity]:
        """Return the communities of a graph with the keys of their members, by key, coarsest and largest first."""
        return read_communities(self._connection, graph) if self._meta else {}

    def put_memberships(
        self, graph: str, memberships: Sequence[Membership], *, record: WorkRecord, atomic: bool
    ) -> int:
        """Make the communities of a graph these; see `kgrag.store.communities.put_memberships`. Their indexes come with them."""
        for level in sorted({one.level for one in memberships}):
            schema.create_community_indexes(self._connection, graph, level, self._bound().dimensions)
        return put_memberships(self._connection, graph, memberships, record=record, atomic=atomic)

    def put_summaries(self, results: Sequence[tuple[Community | None, str, WorkRecord]], vectors: Vectors) -> None:
        """Write what communities are about, with the hash of what that was made of; ledger `summarise`.

        None in the place of a community: it failed, and only the ledger hears of it. `vectors` are those of the communities that have a
        summary, in order.
        """
        put_summaries(self._connection, results, vectors, dimensions=self._bound().dimensions)

    # Ledger

    def work(self, stage: str, scope: str = "") -> dict[str, WorkRecord]:
        """Return what the ledger says about one stage (and graph or embedder), by subject."""
        if self._meta is None:
            return {}
        return work_by_subject(self._connection.read(statement("store/work"), {"stage": stage, "scope": scope}))

    def work_of(self, stage: str, subjects: Sequence[str], *, scope: str = "") -> dict[str, WorkRecord]:
        """Return what the ledger says about some subjects of one stage (and graph or embedder), by subject."""
        if self._meta is None or not subjects:
            return {}
        keys = [work_key(stage, subject, scope) for subject in subjects]
        return work_by_subject(self._connection.read(statement("store/work_of_keys"), {"keys": keys}))

    def put_work(self, records: Sequence[WorkRecord]) -> None:
        """Write ledger entries that have no result beside them: failures, and what came out as it was."""
        if records:
            self._bound()
            self._connection.write(lambda transaction: put_work(transaction, records))

    def forget_work(self, stage: str, subjects: Sequence[str]) -> None:
        """Take ledger entries out: of files that are gone and never became documents."""
        if subjects:
            self._bound()
            self._connection.write(
                lambda transaction: transaction.run("store/delete_work", subjects=list(subjects), stages=[stage])
            )

    def failures(self) -> list[WorkRecord]:
        """Return the ledger's failures, by stage, scope and subject."""
        rows = self._connection.read(statement("store/failures"), {}) if self._meta else []
        return sorted(
            (WorkRecord.from_row(row["work"]) for row in rows),
            key=lambda record: (record.stage, record.scope, record.subject),
        )

    # The whole

    def finish(self) -> None:
        """Wait until the indexes are ready and built: the first question afterwards is as fast as any other."""
        if self._meta is not None:
            levels = sorted((row["graph"], row["level"]) for row in self.read("communities/levels"))
            schema.warm_indexes(
                self._connection, self._meta.dimensions, graphs=sorted(self.graph_counts()), levels=levels
            )

    def status(self) -> dict[str, Any]:
        """Return what the store holds: the object of `kgrag status --json`."""
        ledger, cost = count_work(self._connection) if self._meta else ({}, {"tokens": 0, "usd": 0.0, "seconds": 0.0})
        return {
            "schema_version": self._meta.schema_version if self._meta else schema.SCHEMA_VERSION,
            "embedder": self._meta.embedder if self._meta else None,
            "dimensions": self._meta.dimensions if self._meta else None,
            "graphs": self.graph_counts(),
            "documents": len(self.documents()),
            "chunks": self.count_chunks(),
            "ledger": ledger,
            "communities": self._community_states(),
            "cost": cost,
        }

    def graph_counts(self) -> dict[str, dict[str, int]]:
        """Return how many entities, relations and communities each graph has, by its name, sorted."""
        return count_graphs(self._connection) if self._meta else {}

    def counts_of_graph(self, graph: str) -> dict[str, int]:
        """Return the counts of one graph. Raises `InputError` where the store has no graph of that name."""
        graphs = self.graph_counts()
        if graph not in graphs:
            known = ", ".join(graphs) or "none yet"
            raise InputError(f"The store has no graph {graph!r}, only: {known}. Set --graph, or run kgrag build.")
        return graphs[graph]

    def extraction_counts(self) -> dict[str, dict[str, Any]]:
        """Return what the extraction of each graph came to: chunks by state, ungrounded relations, calls, tokens, US dollars, seconds."""
        return count_extractions(self._connection) if self._meta else {}

    def digest(self) -> str:
        """Return one SHA-256 over the content; see `kgrag.store.digest`."""
        if self._meta is None:
            raise InputError("Nothing was built in this store yet, so there is nothing to take a digest of.")
        return digest(self._connection)

    def _community_states(self) -> dict[str, str]:
        """Say of each graph with communities whether they are of what the graph says now.

        `current`; `stale`: something was extracted, deleted or merged since; `unfinished`: a run was interrupted, or left a community
        without a label.
        """
        states = {}
        for row in self._connection.read(statement("communities/count"), {}) if self._meta else ():
            graph = str(row["graph"])
            record = self.work(PARTITION, graph).get(graph)
            if record is None or row["labelled"] < row["communities"]:
                states[graph] = "unfinished"
            else:
                states[graph] = "current" if record.result == self.graph_state(graph) else "stale"
        return dict(sorted(states.items()))

    def _bound(self) -> schema.Meta:
        if self._meta is None:
            raise StoreMismatch(
                "The store does not know its embedder yet: call bind(embedder, dimensions) before the first write."
            )
        return self._meta

    def _ensure_graph(self, graph: str) -> None:
        dimensions = self._bound().dimensions
        if graph not in self._graphs:
            schema.create_graph_index(self._connection, graph, dimensions)
            self._graphs.add(graph)

    def _chunks_waiting(self) -> list[str]:
        return self._waiting_for_vectors.chunks() if self._meta else []

    def _entities_waiting(self, graph: str) -> list[str]:
        self._ensure_graph(graph)
        return self._waiting_for_vectors.entities(graph)
