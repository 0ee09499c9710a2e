"""What chunks say, merged into graphs: entities, their mentions, relations.

A node or relationship holds nothing that does not follow from the chunks that are there now: what a batch touches is computed anew from
all that supports it. So a graph does not depend on the order in which it was built, and what nothing supports any more goes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from kgrag.store.connection import Connection, Transaction
from kgrag.store.entity_writing import add_to_entities, put_entities, update_entities
from kgrag.store.mentions import Edge, Mention, Saying, without_empty_says
from kgrag.store.merges import split_touched
from kgrag.store.namings import Naming, Namings, naming_of
from kgrag.store.predictions import forget_predictions
from kgrag.store.relation_writing import Changed, sayings_of, update_relations, write_relations
from kgrag.store.rows import batches_by_size
from kgrag.store.said import say
from kgrag.types import Extraction

__all__ = [
    "Begun",
    "DeletedCounts",
    "begin_extractions",
    "count_titles",
    "end_extractions",
    "move_extractions",
    "put_extractions",
    "put_mentions",
    "put_relations",
    "remove_chunks_from_graphs",
    "take_back_extractions",
]

Mentions: TypeAlias = dict[tuple[str, str], Mention]
"""By key of the entity and id of the chunk."""


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


@dataclass(slots=True)
class Begun:
    """What is left to write of what chunks say, once the entities are there: their mentions, and what hangs together."""

    mentions: list[dict[str, Any]]
    """Rows of key, chunk_id and properties, by chunk: they can be written in any order and beside each other."""
    created: Set[str]
    """Keys of entities that were not there before."""
    fresh: bool
    """Whether the chunks said nothing in this graph before."""
    chunks: set[str]
    edges: set[Edge]
    sayings: Mapping[Edge, Mapping[str, Saying]]
    naming: dict[str, Naming]
    lost: set[str]


def put_extractions(
    transaction: Transaction, graph: str, extractions: Sequence[Extraction], *, namings: Namings | None = None
) -> int:
    """Make a graph hold what these chunks say now, in place of what they said before. Chunks that are not in the store say nothing.

    Returns by how many relations the graph grew. `namings` is for writes one after the other: what one counted the next need not count.
    """
    begun = begin_extractions(transaction, graph, extractions)
    put_mentions(transaction, begun.mentions)
    return end_extractions(transaction, begun, namings=namings)


def begin_extractions(transaction: Transaction, graph: str, extractions: Sequence[Extraction]) -> Begun:
    """Take out mentions that chunks do not say any more, and write the entities that are not there."""
    ids = [extraction.chunk_id for extraction in extractions]
    there = set(transaction.run_list("store/chunk_ids", ids=ids))
    now = say(graph, (extraction for extraction in extractions if extraction.chunk_id in there))
    before = _as_extracted(transaction, lambda: _mentions_in_graph(transaction, graph, ids), now.entities.keys())
    gone = {pair for pair, mention in before.items() if now.mentions.get(pair) != mention}
    come = {pair for pair, mention in now.mentions.items() if before.get(pair) != mention}
    _delete_mentions(transaction, gone)
    named: dict[str, list[Mention]] = defaultdict(list)
    for key, chunk_id in sorted(come):
        named[key].append(now.mentions[key, chunk_id])
    naming = {key: naming_of({**mention, "times": 1} for mention in mentions) for key, mentions in named.items()}
    created = put_entities(transaction, graph, {key: now.entities[key] for key in named}, naming)
    return Begun(
        mentions=[
            {"key": key, "chunk_id": chunk_id, "properties": now.mentions[key, chunk_id]}
            for key, chunk_id in sorted(come, key=lambda pair: (pair[1], pair[0]))
        ],
        created=created,
        fresh=not before,
        chunks=there,
        edges=_edges(before) | now.edges.keys(),
        sayings=now.edges,
        naming=naming,
        lost={key for key, _ in gone},
    )


def put_mentions(transaction: Transaction, rows: Sequence[dict[str, Any]]) -> None:
    """Write mentions of entities that are there, in the order of the entities' keys; most say no relation, which takes no property."""
    written = [{**row, "properties": without_empty_says(row["properties"])} for row in rows]
    in_order = sorted(written, key=lambda row: (row["key"], row["chunk_id"]))
    transaction.run_batched("store/put_mentions", rows=in_order)


def put_relations(transaction: Transaction, begun: Begun, edges: Collection[Edge]) -> Changed:
    """Write some of the relations; the same ones again change nothing. Predictions that they make obsolete stay until the end."""
    return write_relations(transaction, edges, chunks=begun.chunks, sayings=begun.sayings)


def end_extractions(
    transaction: Transaction, begun: Begun, *, namings: Namings | None = None, written: Changed | None = None
) -> int:
    """Write the relations, unless all are `written`, and what follows for entities from all of their mentions.

    Returns by how many relations the graph grew.
    """
    changed = written or write_relations(
        transaction, begun.edges, chunks=begun.chunks, sayings=begun.sayings, created=begun.created
    )
    forget_predictions(transaction, changed.ends)
    namings = namings if namings is not None else Namings()
    naming, created, lost = begun.naming, begun.created, begun.lost
    for key in created:
        namings.keep(key, naming[key])
    counted = add_to_entities(transaction, {k: v for k, v in naming.items() if k not in lost | created}, namings)
    update_entities(transaction, (lost | naming.keys()) - created - counted, namings)
    return changed.growth


def take_back_extractions(
    transaction: Transaction, graph: str, chunk_ids: Sequence[str], created: Sequence[str]
) -> None:
    """Take out what was written between `begin_extractions` and `end_extractions` by a writer that ended there."""
    before = _as_extracted(transaction, lambda: _mentions_in_graph(transaction, graph, chunk_ids), set(created))
    _delete_mentions(transaction, before.keys())
    update_relations(transaction, _edges(before), chunks=set(chunk_ids), sayings={})
    update_entities(transaction, {key for key, _ in before} | set(created))


def remove_chunks_from_graphs(transaction: Transaction, chunk_ids: Sequence[str]) -> DeletedCounts:
    """Take back what chunks said, in every graph; return how many entities and relations lost their last support."""
    before = _as_extracted(transaction, lambda: _mentions_of(transaction, chunk_ids))
    if not before:
        return DeletedCounts()
    _delete_mentions(transaction, before.keys())
    relations = update_relations(transaction, _edges(before), chunks=set(chunk_ids), sayings={})
    entities = update_entities(transaction, {key for key, _ in before})
    return DeletedCounts(entities=entities, relations=relations)


def count_titles(connection: Connection) -> int:
    """Count the chunks that are about each entity of which that is not said yet, in an old store or after an import; return how many."""
    keys = [row["key"] for row in connection.read_plain("store/entities_without_titles")]
    for some in batches_by_size(sorted(keys)):
        connection.write(partial(Transaction.run, name="store/count_titles", keys=some))
    return len(keys)


def move_extractions(transaction: Transaction, successors: Mapping[str, str]) -> None:
    """Let new chunks say, in every graph, what the chunks said whose places they take: `successors` is old id to new id."""
    for some in batches_by_size(sorted(successors)):
        before = _as_extracted(transaction, partial(_mentions_of, transaction, some))
        sayings = sayings_of(transaction, _edges(before), {chunk_id: successors[chunk_id] for chunk_id in some})
        _delete_mentions(transaction, before.keys())
        put_mentions(
            transaction,
            [
                {"key": key, "chunk_id": successors[chunk_id], "properties": mention}
                for (key, chunk_id), mention in before.items()
            ],
        )
        update_relations(transaction, sayings, chunks=set(some), sayings=sayings)
        update_entities(transaction, {key for key, _ in before})


def _as_extracted(transaction: Transaction, look: Callable[[], Mentions], more: Set[str] = frozenset()) -> Mentions:
    """Look for mentions, and again where an entity of theirs, or of `more`, was merged and is split now."""
    found = look()
    return look() if split_touched(transaction, {key for key, _ in found} | more) else found


def _mentions_of(transaction: Transaction, chunk_ids: Sequence[str]) -> Mentions:
    """Return what chunks mention in all graphs."""
    return _mentions(transaction.run_list("store/mentions_of_chunks", chunk_ids=chunk_ids))


def _mentions_in_graph(transaction: Transaction, graph: str, chunk_ids: Sequence[str]) -> Mentions:
    return _mentions(transaction.run_list("store/mentions_in_graph", graph=graph, chunk_ids=chunk_ids))


def _mentions(rows: Iterable[Mapping[str, Any]]) -> Mentions:
    return {
        (row["key"], row["chunk_id"]): {name: row[name] for name in ("name", "role", "description", "says")}
        for row in rows
    }


def _edges(mentions: Mentions) -> set[Edge]:
    edges = set()
    for (head, _), mention in mentions.items():
        for saying in mention["says"]:
            type_, _, tail = saying.rpartition(" ")
            edges.add((head, type_, tail))
    return edges


def _delete_mentions(transaction: Transaction, pairs: Iterable[tuple[str, str]]) -> None:
    by_chunk: dict[str, list[str]] = defaultdict(list)
    for key, chunk_id in pairs:
        by_chunk[chunk_id].append(key)
    rows = [{"chunk_id": chunk_id, "keys": sorted(keys)} for chunk_id, keys in sorted(by_chunk.items())]
    transaction.run_batched("store/delete_mentions", rows=rows)
