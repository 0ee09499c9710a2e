"""What chunks say, merged into graphs: entities, their mentions, relations.

A node or relationship holds nothing that does not follow from the chunks that are there now: what a batch touches is computed anew from
all that supports it. So a graph does not depend on the order in which it was built, and what nothing supports any more goes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kgrag.store.connection import Connection, Transaction
from kgrag.store.entity_deletion import delete_entities
from kgrag.store.identifiers import entity_type, relation_type
from kgrag.store.mentions import (
    DESCRIBED,
    Edge,
    Mention,
    Saying,
    better,
    read_sayings,
    relation_properties,
    said_once,
    without_empty_says,
)
from kgrag.store.merges import split_touched
from kgrag.store.namings import Naming, Namings, described, naming_of, together
from kgrag.store.predictions import forget_predictions
from kgrag.store.rows import batches_by_size, storable
from kgrag.store.statements import statement
from kgrag.types import Entity, Extraction, content_id

__all__ = [
    "Begun",
    "Changed",
    "Removed",
    "Said",
    "begin_extractions",
    "count_titles",
    "end_extractions",
    "entity_key",
    "move_extractions",
    "put_extractions",
    "put_mentions",
    "put_relations",
    "remove_chunks_from_graphs",
    "say",
    "take_back_extractions",
]

LONGEST_INDEXED = 1000
"""Characters of a comparison key that are kept: Neo4j cannot index more than 8 kB."""
UNEXPLAINED = "not found in the chunk"


@dataclass(frozen=True, slots=True)
class Removed:
    """How many entities and relations lost their last support."""

    entities: int = 0
    relations: int = 0

    def __add__(self, other: Removed) -> Removed:
        return Removed(self.entities + other.entities, self.relations + other.relations)


@dataclass(slots=True)
class Said:
    """What some chunks say in one graph."""

    entities: dict[str, dict[str, str]] = field(default_factory=dict)
    """By key: graph, type, normal, name."""
    mentions: dict[tuple[str, str], Mention] = field(default_factory=dict)
    """By key of the entity and id of the chunk."""
    edges: dict[Edge, dict[str, Saying]] = field(default_factory=lambda: defaultdict(dict))
    """By relation, then id of the chunk."""


def entity_key(graph: str, written_type: str, normal: str) -> str:
    """Identify an entity: two of one graph are one node when their types and comparison keys are equal."""
    return content_id(graph, entity_type(written_type), normal)


@dataclass(slots=True)
class Changed:
    """How many relations came and went, and the entities at their ends, whose predicted edges say something of another graph now."""

    new: int = 0
    removed: int = 0
    ends: set[str] = field(default_factory=set)

    @property
    def growth(self) -> int:
        """By how many relations there are more."""
        return self.new - self.removed

    def add(self, other: Changed) -> None:
        """Count what another transaction did as well."""
        self.new += other.new
        self.removed += other.removed
        self.ends |= other.ends


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
    there: set[str] = set()
    for some in batches_by_size(ids):
        there.update(transaction.run_list("store/chunk_ids", ids=list(some)))
    before = _mentions_in_graph(transaction, graph, ids)
    now = say(graph, (extraction for extraction in extractions if extraction.chunk_id in there))
    if split_touched(transaction, {key for key, _ in before} | now.entities.keys()):
        before = _mentions_in_graph(transaction, graph, ids)

    gone = {pair for pair, mention in before.items() if now.mentions.get(pair) != mention}
    come = {pair for pair, mention in now.mentions.items() if before.get(pair) != mention}
    _delete_mentions(transaction, gone)
    named: dict[str, list[Mention]] = defaultdict(list)
    for key, chunk_id in sorted(come):
        named[key].append(now.mentions[key, chunk_id])
    naming = {key: naming_of({**mention, "times": 1} for mention in mentions) for key, mentions in named.items()}
    created = _put_entities(transaction, graph, {key: now.entities[key] for key in named}, naming)
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
    for some in batches_by_size(sorted(written, key=lambda row: (row["key"], row["chunk_id"]))):
        transaction.run("store/put_mentions", rows=some)


def put_relations(transaction: Transaction, begun: Begun, edges: Collection[Edge]) -> Changed:
    """Write some of the relations; the same ones again change nothing. Predictions that they make obsolete stay until the end."""
    return _write_relations(transaction, edges, chunks=begun.chunks, sayings=begun.sayings)


def end_extractions(
    transaction: Transaction, begun: Begun, *, namings: Namings | None = None, written: Changed | None = None
) -> int:
    """Write the relations, unless all are `written`, and what follows for entities from all of their mentions.

    Returns by how many relations the graph grew.
    """
    changed = written or _write_relations(
        transaction, begun.edges, chunks=begun.chunks, sayings=begun.sayings, created=begun.created
    )
    forget_predictions(transaction, changed.ends)
    namings = namings if namings is not None else Namings()
    naming, created, lost = begun.naming, begun.created, begun.lost
    for key in created:
        namings.keep(key, naming[key])
    counted = _add_to_entities(transaction, {k: v for k, v in naming.items() if k not in lost | created}, namings)
    _update_entities(transaction, (lost | naming.keys()) - created - counted, namings)
    return changed.growth


def take_back_extractions(
    transaction: Transaction, graph: str, chunk_ids: Sequence[str], created: Sequence[str]
) -> None:
    """Take out what was written between `begin_extractions` and `end_extractions` by a writer that ended there."""
    before = _mentions_in_graph(transaction, graph, chunk_ids)
    if split_touched(transaction, {key for key, _ in before} | set(created)):
        before = _mentions_in_graph(transaction, graph, chunk_ids)
    _delete_mentions(transaction, before.keys())
    _update_relations(transaction, _edges(before), chunks=set(chunk_ids), sayings={})
    _update_entities(transaction, {key for key, _ in before} | set(created))


def remove_chunks_from_graphs(transaction: Transaction, chunk_ids: Sequence[str]) -> Removed:
    """Take back what chunks said, in every graph."""
    before = _mentions(transaction.run_list("store/mentions_of_chunks", chunk_ids=list(chunk_ids)))
    if not before:
        return Removed()
    if split_touched(transaction, {key for key, _ in before}):
        before = _mentions(transaction.run_list("store/mentions_of_chunks", chunk_ids=list(chunk_ids)))
    _delete_mentions(transaction, before.keys())
    relations = _update_relations(transaction, _edges(before), chunks=set(chunk_ids), sayings={})
    return Removed(_update_entities(transaction, {key for key, _ in before}), relations)


def count_titles(connection: Connection) -> int:
    """Count the chunks that are about each entity of which that is not said yet, in an old store or after an import; return how many."""
    keys = [row["key"] for row in connection.read_plain(statement("store/entities_without_titles"), {})]
    for some in batches_by_size(sorted(keys)):
        connection.write(partial(Transaction.run, name="store/count_titles", keys=list(some)))
    return len(keys)


def move_extractions(transaction: Transaction, successors: Mapping[str, str]) -> None:
    """Let new chunks say, in every graph, what the chunks said whose places they take: `successors` is old id to new id."""
    for some in batches_by_size(sorted(successors)):
        before = _mentions(transaction.run_list("store/mentions_of_chunks", chunk_ids=list(some)))
        if split_touched(transaction, {key for key, _ in before}):
            before = _mentions(transaction.run_list("store/mentions_of_chunks", chunk_ids=list(some)))
        sayings = _sayings(transaction, _edges(before), {chunk_id: successors[chunk_id] for chunk_id in some})
        _delete_mentions(transaction, before.keys())
        put_mentions(
            transaction,
            [
                {"key": key, "chunk_id": successors[chunk_id], "properties": mention}
                for (key, chunk_id), mention in before.items()
            ],
        )
        _update_relations(transaction, sayings, chunks=set(some), sayings=sayings)
        _update_entities(transaction, {key for key, _ in before})


def _sayings(
    transaction: Transaction, edges: Iterable[Edge], successors: Mapping[str, str]
) -> dict[Edge, dict[str, Saying]]:
    """What some chunks say of relations, by relation and then by the id of the chunk that takes the place of each."""
    by_type: dict[str, list[dict[str, str]]] = defaultdict(list)
    for head, type_, tail in sorted(edges):
        by_type[type_].append({"head": head, "tail": tail})
    found: dict[Edge, dict[str, Saying]] = {}
    for type_, ends in by_type.items():
        for rows in batches_by_size(ends):
            for row in transaction.run_list("store/relations", relation=type_, rows=list(rows)):
                found[row["head"], type_, row["tail"]] = {
                    successors[chunk_id]: saying
                    for chunk_id, saying in read_sayings(row).items()
                    if chunk_id in successors
                }
    return found


def say(graph: str, extractions: Iterable[Extraction]) -> Said:
    """Merge what chunks say, each once, into what a graph holds of it."""
    said = Said()
    for extraction in extractions:
        chunk_id = extraction.chunk_id
        named = [
            *extraction.entities,
            *(end for relation in extraction.relations for end in (relation.head, relation.tail)),
        ]
        for key, entity, type_ in ((entity_key(graph, e.type, e.normal), e, entity_type(e.type)) for e in named):
            mention = {"name": entity.name, "role": entity.role, "description": entity.description, "says": []}
            known = said.mentions.get((key, chunk_id))
            said.mentions[key, chunk_id] = mention if known is None else better(known, mention)
            said.entities[key] = {
                "key": key,
                "graph": graph,
                "type": type_,
                "normal": _indexed(entity.normal),
                "name": storable(entity.name),
            }
        for relation in extraction.relations:
            edge = (_key(graph, relation.head), relation_type(relation.type), _key(graph, relation.tail))
            saying = (
                storable(relation.description),
                "" if relation.grounded else storable(relation.reason) or UNEXPLAINED,
            )
            known_saying = said.edges[edge].get(chunk_id)
            said.edges[edge][chunk_id] = saying if known_saying is None else said_once(saying, known_saying)
    for (head, type_, tail), sayings in said.edges.items():
        for chunk_id in sayings:
            said.mentions[head, chunk_id]["says"].append(f"{type_} {tail}")
    for mention in said.mentions.values():
        mention.update(
            says=sorted(mention["says"]), name=storable(mention["name"]), description=storable(mention["description"])
        )
    return said


def _key(graph: str, entity: Entity) -> str:
    return entity_key(graph, entity.type, entity.normal)


def _indexed(normal: str) -> str:
    if len(normal) <= LONGEST_INDEXED:
        return str(storable(normal))
    return f"{storable(normal[: LONGEST_INDEXED - 33])} {content_id(normal)}"


def _mentions_in_graph(
    transaction: Transaction, graph: str, chunk_ids: Sequence[str]
) -> dict[tuple[str, str], Mention]:
    found: dict[tuple[str, str], Mention] = {}
    for some in batches_by_size(chunk_ids):
        found.update(_mentions(transaction.run_list("store/mentions_in_graph", graph=graph, chunk_ids=list(some))))
    return found


def _mentions(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], Mention]:
    return {
        (row["key"], row["chunk_id"]): {name: row[name] for name in ("name", "role", "description", "says")}
        for row in rows
    }


def _edges(mentions: Mapping[tuple[str, str], Mention]) -> set[Edge]:
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
    for rows in batches_by_size(
        [{"chunk_id": chunk_id, "keys": sorted(keys)} for chunk_id, keys in sorted(by_chunk.items())]
    ):
        transaction.run("store/delete_mentions", rows=rows)


def _put_entities(
    transaction: Transaction, graph: str, entities: Mapping[str, dict[str, str]], naming: Mapping[str, Naming]
) -> Set[str]:
    """Write those that are not there with what follows from how they are named, and return which they are.

    Look, then CREATE: ArcadeDB takes ten times as long to MERGE on three labels.
    """
    known: set[str] = set()
    for some in batches_by_size(sorted(entities)):
        known.update(transaction.run_list("store/entity_keys", keys=list(some)))
    by_type: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key, row in sorted(entities.items()):
        if key not in known:
            by_type[row["type"]].append({**row, **described(naming[key])})
    for type_, typed in sorted(by_type.items()):
        for rows in batches_by_size(typed):
            transaction.run("store/put_entities", graph=graph, entity=type_, rows=rows)
    return entities.keys() - known


def _update_relations(
    transaction: Transaction, edges: Iterable[Edge], *, chunks: set[str], sayings: Mapping[Edge, Mapping[str, Saying]]
) -> int:
    """Replace what `chunks` say about `edges` by `sayings`, and forget what was predicted of these; return how many relations went."""
    changed = _write_relations(transaction, edges, chunks=chunks, sayings=sayings)
    forget_predictions(transaction, changed.ends)
    return changed.removed


def _write_relations(
    transaction: Transaction,
    edges: Iterable[Edge],
    *,
    chunks: set[str],
    sayings: Mapping[Edge, Mapping[str, Saying]],
    created: Set[str] = frozenset(),
) -> Changed:
    """Replace what `chunks` say about `edges` by `sayings`. `created` entities had no relations before."""
    by_type: dict[str, list[dict[str, str]]] = defaultdict(list)
    for head, type_, tail in sorted(edges):
        by_type[type_].append({"head": head, "tail": tail})
    all_changed = Changed()
    for type_, ends in by_type.items():
        new: list[dict[str, Any]] = []
        changed: list[dict[str, Any]] = []
        deleted: list[dict[str, str]] = []
        for rows in batches_by_size(ends):
            old = [end for end in rows if end["head"] not in created and end["tail"] not in created]
            found = transaction.run_list("store/relations", relation=type_, rows=old) if old else []
            known = {(row["head"], row["tail"]): row for row in found}
            for end in rows:
                row = known.get((end["head"], end["tail"]))
                kept = read_sayings(row) if row else {}
                said = {chunk_id: saying for chunk_id, saying in kept.items() if chunk_id not in chunks}
                said.update(sayings.get((end["head"], type_, end["tail"]), {}))
                if not said:
                    deleted += [end] if row else []
                elif said != kept:
                    (changed if row else new).append({**end, "properties": relation_properties(said)})
        for name, ends_with_properties in (("put", new), ("update", changed), ("delete", deleted)):
            for some in batches_by_size(ends_with_properties):
                transaction.run(f"store/{name}_relations", relation=type_, rows=some)
        moved = {end for ends_of in (*new, *deleted) for end in (ends_of["head"], ends_of["tail"])}
        all_changed.add(Changed(len(new), len(deleted), moved))
    return all_changed


def _add_to_entities(transaction: Transaction, naming: Mapping[str, Naming], namings: Namings) -> set[str]:
    """Write what follows for entities that were named again, where `namings` knows how they were named before; return which these are."""
    counted: set[str] = set()
    changed: list[dict[str, Any]] = []
    renamed: list[str] = []
    for some in batches_by_size(sorted(namings.among(naming))):
        for row in transaction.run_list("store/known_names", keys=list(some)):
            key = row["key"]
            known = {name: row[name] for name in DESCRIBED}
            if (before := namings.of(key, known)) is None:
                continue
            now = together(before, naming[key])
            namings.keep(key, now)
            _note_change(key, known, described(now), changed, renamed)
            counted.add(key)
    _describe(transaction, changed, renamed)
    return counted


def _update_entities(transaction: Transaction, keys: Set[str], namings: Namings | None = None) -> int:
    """Compute anew what follows from the mentions of entities; return how many have none and went."""
    changed: list[dict[str, Any]] = []
    renamed: list[str] = []
    unnamed: list[str] = []
    for some in batches_by_size(sorted(keys)):
        by_key: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in transaction.run_list("store/spellings", keys=list(some)):
            by_key[row["key"]].append(row)
        for key, rows in by_key.items():
            named = [row for row in rows if row["times"]]
            if not named:
                unnamed.append(key)
                continue
            naming = naming_of(named)
            if namings is not None:
                namings.keep(key, naming)
            known = {name: rows[0][f"known_{name}"] for name in DESCRIBED}
            _note_change(key, known, described(naming), changed, renamed)
    _describe(transaction, changed, renamed)
    delete_entities(transaction, unnamed)
    return len(unnamed)


def _note_change(
    key: str, known: Mapping[str, Any], now: Mapping[str, Any], changed: list[dict[str, Any]], renamed: list[str]
) -> None:
    if now != known:
        changed.append({"key": key, **now})
    if (now["name"], now["description"]) != (known["name"], known["description"]):
        renamed.append(key)


def _describe(transaction: Transaction, changed: Sequence[dict[str, Any]], renamed: Sequence[str]) -> None:
    for rows_changed in batches_by_size(changed):
        transaction.run("store/describe_entities", rows=rows_changed)
    for some in batches_by_size(renamed):
        transaction.run("store/forget_entity_embeddings", keys=list(some))
