"""Graphs in the database: what was extracted, which entities are merged, their vectors and their counts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from kgrag.errors import InputError
from kgrag.models.base import Vectors
from kgrag.store.communities import PARTITION, SUMMARISE, Communities
from kgrag.store.connection import Connection, Transaction
from kgrag.store.extractions import put_extractions
from kgrag.store.ledger import Ledger, WorkRecord, put_work
from kgrag.store.merges import Merge, Merged, apply_merges, split_merges
from kgrag.store.namings import Namings
from kgrag.store.predictions import COMPLETE
from kgrag.store.schema import Schema
from kgrag.store.vectors import WaitingForVectors, put_vectors, sorted_vectors, vector_rows
from kgrag.store.writing_apart import put_extractions_apart
from kgrag.types import Extraction, content_id

__all__ = ["Graphs"]


class Graphs:
    """The graphs of an open store: entities and relations, and the merges that hold among entities.

    Each write is one transaction: after a crash it is there as a whole or not at all.
    """

    def __init__(
        self,
        connection: Connection,
        schema: Schema,
        waiting: WaitingForVectors,
        ledger: Ledger,
        communities: Communities,
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._waiting = waiting
        self._ledger = ledger
        self._communities = communities
        self._namings = Namings()
        self._relations: int | None = None
        """About how many a server's store has, in all graphs: counted once, where a batch needs it, and kept up by the batches after."""

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many entities, relations and communities each graph has, by its name, sorted."""
        read = self._schema.read
        entities = {row["graph"]: row["entities"] for row in read("store/graphs")}
        relations = {row["graph"]: row["relations"] for row in read("store/count_relations")}
        communities = {row["graph"]: row["communities"] for row in read("communities/count")}
        return {
            name: {
                "entities": entities[name],
                "relations": relations.get(name, 0),
                "communities": communities.get(name, 0),
            }
            for name in sorted(entities)
        }

    def types(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return by graph the types of its `entities` and `relations`, each with how many there are, most first."""
        found: dict[str, dict[str, dict[str, int]]] = {}
        for what, name in (("entities", "store/entity_types"), ("relations", "store/relation_types")):
            for row in self._schema.read(name):
                of_graph = found.setdefault(row["graph"], {"entities": {}, "relations": {}})
                of_graph[what][row["type"]] = row[what]
        return found

    def counts_of(self, graph: str) -> dict[str, int]:
        """Return the counts of one graph. Raises `InputError` where the store has no graph of that name."""
        graphs = self.counts()
        if graph not in graphs:
            known = ", ".join(graphs) or "none yet"
            raise InputError(f"The store has no graph {graph[:80]!r}, only: {known}. Set --graph, or run kgrag build.")
        return graphs[graph]

    def state(self, graph: str) -> str:
        """Fingerprint what a graph says: what was extracted from which chunk, what is merged, and how much that makes now.

        Communities were made of a state: where it is another one, they are stale.
        """
        counts = self.counts().get(graph, {})
        extracted = sorted(
            (record.subject, record.result) for record in self._ledger.of_stage("extract", graph).values()
        )
        return content_id(
            *(f"{chunk} {result}" for chunk, result in extracted),
            str(counts.get("entities", 0)),
            str(counts.get("relations", 0)),
            str(self.count_members(graph)),
        )

    def put_extractions(self, graph: str, results: Sequence[tuple[Extraction, WorkRecord]]) -> None:
        """Make a graph hold what these chunks say now, in place of what they said before; ledger `extract`.

        Raises `IdentifierError` for a graph's name that is not allowed.
        """
        if not results:
            return
        self._schema.ensure_graph(graph)
        self._waiting.forget_graph(graph)

        extractions, records = [extraction for extraction, _ in results], [record for _, record in results]
        if self._connection.server is None:
            growth = put_extractions_apart(
                self._connection,
                graph,
                extractions,
                records,
                namings=self._namings,
                count_relations=self._count_relations,
            )
            if self._relations is not None:
                self._relations += growth
            return

        def write(transaction: Transaction) -> None:
            put_extractions(transaction, graph, extractions, namings=self._namings)
            put_work(transaction, records)

        self._connection.write(write)

    def _count_relations(self) -> int:
        if self._relations is None:
            self._relations = sum(row["relations"] for row in self._schema.read("store/count_relations"))
        return self._relations

    def delete(self, graph: str) -> int:
        """Delete the entities and relations of a graph, its merges, communities, indexes and ledger; return how many entities went.

        Chunks stay. It takes many transactions, each of some thousand nodes.
        """
        self._schema.ensure_graph(graph)  # its label has to exist to be asked for
        self._waiting.forget_graph(graph)
        self._relations = None
        entities = int(self._schema.read("store/count_graph", graph=graph)[0]["entities"])
        delete = self._connection.delete_in_parts
        delete("store/delete_graph", entities, graph=graph)
        communities = self._communities.of_graph(graph)
        delete("communities/delete_communities_of_graph", len(communities), scope=graph)
        members = self.count_members(graph)
        delete("resolve/delete_members_of_graph", members, of_graph=graph)
        delete("resolve/delete_merges_of_graph", members, of_graph=graph)
        for stage in ("extract", "schema", PARTITION, SUMMARISE, COMPLETE):
            entries = len(self._schema.read("store/work", stage=stage, scope=graph))
            delete("store/delete_work_of_scope", entries, stage=stage, scope=graph)
        self._schema.drop_graph(graph)
        for level in sorted({one.membership.level for one in communities.values()}):
            self._schema.drop_level(graph, level)
        return entities

    # Vectors of entities

    def vectors(self, graph: str) -> tuple[list[str], Vectors]:
        """Return the keys of a graph's entities, sorted, and their vectors: [len(keys), dimensions]. Who has no vector is left out.

        Many are in a file that is gone with them.
        """
        self._schema.ensure_graph(graph)
        values = self._connection.stream_values("communities/vectors", graph=graph)
        rows = ((str(key), vector) for key, vector in values)
        return sorted_vectors(rows, self._schema.dimensions)

    def keys_without_embedding(self, graph: str) -> list[str]:
        """Return the keys of the entities of a graph that wait for their vector, sorted."""
        self._schema.ensure_graph(graph)
        return self._waiting.entities(graph)

    def entities_of(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """Return entities (key, name, type, description), sorted by key."""
        rows = self._schema.read("store/entities", keys=keys) if keys else []
        return sorted(rows, key=lambda row: str(row["key"]))

    def counts_without_embedding(self) -> dict[str, int]:
        """Return how many entities have no vector, by graph, of graphs that have such; nothing is written."""
        rows = self._schema.read("store/count_entities_without_embedding")
        return dict(sorted((str(row["graph"]), int(row["entities"])) for row in rows))

    def put_embeddings(self, graph: str, keys: Sequence[str], vectors: Vectors) -> None:
        """Give entities of a graph their vectors, shape [len(keys), dimensions]; on a server several transactions share them."""
        rows = vector_rows(keys, vectors, self._schema.dimensions)
        self._connection.write_apart(
            rows, lambda transaction, some: put_vectors(transaction, "store/put_entity_embeddings", some)
        )
        self._waiting.forget_entities(graph, keys)

    # Merged entities

    def unmerged_entities(self, graph: str, *, vectors: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the entities of a graph as they were extracted, whatever is merged now.

        Each is a row of key, name, type, normal, description, mentions and embedding (None where it has none, or without `vectors`).
        """
        self._schema.ensure_graph(graph)
        for row in self._connection.stream("resolve/unmerged_entities", graph=graph, vectors=vectors):
            kept = row.pop("properties")
            if kept is not None:
                was = json.loads(kept)
                row.update(description=was["description"], mentions=was["mentions"])
            yield row

    def merges(self, graph: str) -> list[Merge]:
        """Return the merges that hold in a graph, by the key of the entity that stayed."""
        rows = self._schema.read("resolve/merges", graph=graph)
        merges = (Merge(row["survivor"], tuple(row["members"]), row["reasons"]) for row in rows)
        return sorted(merges, key=lambda merge: merge.survivor)

    def naming_texts(self, keys: Sequence[str]) -> dict[str, str]:
        """Return for entities as extracted the text of a chunk that names each: the first by id."""
        first = {row["key"]: row["chunk_id"] for row in self._schema.read("resolve/naming_chunks", keys=keys)}
        for row in self._schema.read("resolve/members_of_keys", keys=keys):
            first[row["key"]] = min(json.loads(row["mentions"]))
        rows = self._schema.read("store/chunks", ids=sorted(set(first.values())))
        texts = {row["chunk"]["id"]: row["chunk"]["text"] for row in rows}
        return {key: texts[chunk_id] for key, chunk_id in first.items() if chunk_id in texts}

    def count_merges(self) -> int:
        """Return how many merges hold, in all graphs."""
        rows = self._schema.read("resolve/count_all_merges")
        return int(rows[0]["merges"]) if rows else 0

    def count_members(self, graph: str) -> int:
        """Return how many entities of a graph are in merges."""
        rows = self._schema.read("resolve/count_merges", graph=graph)
        return int(rows[0]["members"]) if rows else 0

    def apply_merges(self, graph: str, merges: Sequence[Merge]) -> Merged:
        """Make one entity of the members of each merge, in one transaction; members that are gone leave the merge out."""
        self._schema.ensure_graph(graph)
        self._waiting.forget_graph(graph)
        return self._connection.write(lambda transaction: apply_merges(transaction, graph, merges))

    def split_merges(self, graph: str, survivors: Sequence[str]) -> int:
        """Take merges back, in one transaction: every member is what it was; return how many entities came back."""
        self._schema.ensure_graph(graph)
        self._waiting.forget_graph(graph)
        return self._connection.write(lambda transaction: split_merges(transaction, graph, survivors))
