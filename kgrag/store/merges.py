"""Merged entities in the database: applied from a plan, taken back exactly.

A merge makes one entity of several. What each of them was (properties, vector, mentions, relations) is kept on a `__Member__` node, so
that the state of a graph is always a function of its members and of the merges that hold. From that follows what the rest relies on:

- taking a merge back restores what was there before;
- a write of the build first takes back the merges that it touches and then finds every entity as it was extracted; whatever comes in
  which order, the same documents with the same merges make the same graph.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgrag.store.connection import Transaction
from kgrag.store.entity_deletion import delete_entities
from kgrag.store.mentions import (
    Edge,
    Mention,
    Saying,
    better,
    listed_sayings,
    read_sayings,
    relation_properties,
    said_once,
    without_empty_says,
)
from kgrag.store.namings import described, naming_of
from kgrag.store.predictions import forget_predictions
from kgrag.types import canonical_json

__all__ = ["Merge", "Merged", "apply_merges", "split_merges", "split_touched"]


@dataclass(frozen=True, slots=True)
class Merge:
    """Entities that become one: the keys of all, that of the one that stays, and why, as canonical JSON."""

    survivor: str
    members: tuple[str, ...]
    reasons: str


@dataclass(frozen=True, slots=True)
class Merged:
    """What applying merges did."""

    groups: int = 0
    entities: int = 0
    """Entities that went into another."""
    relations: int = 0
    """Relations that were fused with a parallel one."""
    loops: int = 0
    """Relations between members of one group: an entity has no relation with itself."""

    def __add__(self, other: Merged) -> Merged:
        return Merged(
            self.groups + other.groups,
            self.entities + other.entities,
            self.relations + other.relations,
            self.loops + other.loops,
        )


@dataclass(slots=True)
class _Facts:
    """What entities are before any merge."""

    properties: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By key; without the vector."""
    vectors: dict[str, list[float]] = field(default_factory=dict)
    mentions: dict[str, dict[str, Mention]] = field(default_factory=lambda: defaultdict(dict))
    """By key, then by chunk."""
    relations: dict[Edge, dict[str, Saying]] = field(default_factory=dict)
    """Those that touch any of them: by relation, then by chunk."""


def apply_merges(transaction: Transaction, graph: str, merges: Sequence[Merge]) -> Merged:
    """Make one entity of the members of each merge; none of them may be merged already."""
    survivor_of = {key: merge.survivor for merge in merges for key in merge.members}
    facts = _read_entities(transaction, survivor_of)
    merges = [merge for merge in merges if all(key in facts.properties for key in merge.members)]
    survivor_of = {key: merge.survivor for merge in merges for key in merge.members}
    if not merges:
        return Merged()
    _write_members(transaction, graph, merges, facts)
    elsewhere = _survivors(
        transaction, {end for edge in facts.relations for end in (edge[0], edge[2])} - survivor_of.keys()
    )
    relations, loops = _project(facts.relations, elsewhere | survivor_of)
    entities, mentions = {}, {}
    for merge in merges:
        entities[merge.survivor], fused = _fuse(merge, facts)
        mentions.update({(merge.survivor, chunk_id): mention for chunk_id, mention in fused.items()})
    vectors = {
        merge.survivor: facts.vectors[merge.survivor]
        for merge in merges
        if merge.survivor in facts.vectors
        and _reads_the_same(entities[merge.survivor], facts.properties[merge.survivor])
    }
    _replace(transaction, graph, sorted(survivor_of), entities, vectors, mentions, relations)
    transaction.run(
        "resolve/put_merged_into",
        rows=[{"member": key, "survivor": survivor} for key, survivor in sorted(survivor_of.items())],
    )
    return Merged(len(merges), len(survivor_of) - len(merges), len(facts.relations) - loops - len(relations), loops)


def split_merges(transaction: Transaction, graph: str, survivors: Iterable[str]) -> int:
    """Take merges back: every member is again what it was; return how many entities came back."""
    wanted = sorted(set(survivors))
    facts = _Facts()
    for row in transaction.run_batched("resolve/members", survivors=wanted):
        _read_member(facts, row)
    keys = facts.properties.keys()
    if not keys:
        return 0
    elsewhere = _survivors(transaction, {end for edge in facts.relations for end in (edge[0], edge[2])} - keys)
    relations, _ = _project(facts.relations, elsewhere)
    transaction.run_batched("resolve/delete_members", survivors=wanted)
    transaction.run_batched("resolve/delete_merges", survivors=wanted)
    mentions = {(key, chunk_id): mention for key, said in facts.mentions.items() for chunk_id, mention in said.items()}
    _replace(transaction, graph, wanted, facts.properties, facts.vectors, mentions, relations)
    return len(keys) - len(wanted)


def split_touched(transaction: Transaction, keys: Iterable[str]) -> bool:
    """Take back the merges that have an entity among `keys`, as the one that stayed or as a member; say whether there were any."""
    if not transaction.run("resolve/any_merge"):
        return False
    by_graph: dict[str, set[str]] = defaultdict(set)
    for row in transaction.run_batched("resolve/merges_of_keys", keys=sorted(set(keys))):
        by_graph[row["graph"]].add(row["survivor"])
    for graph, survivors in sorted(by_graph.items()):
        split_merges(transaction, graph, survivors)
    return bool(by_graph)


def _read_entities(transaction: Transaction, keys: Iterable[str]) -> _Facts:
    """Read what entities are that are in no merge now."""
    facts = _Facts()
    wanted = sorted(keys)
    fused: dict[Edge, dict[str, Saying]] = {}
    for row in transaction.run_batched("resolve/entities", keys=wanted):
        properties = dict(row["properties"])
        if (vector := properties.pop("embedding", None)) is not None:
            facts.vectors[row["key"]] = vector
        properties.pop("titles", None)  # counted again of the mentions, of which members have a copy
        facts.properties[row["key"]] = properties
    for row in transaction.run_batched("resolve/mentions", keys=wanted):
        facts.mentions[row["key"]][row["chunk_id"]] = {
            name: row[name] for name in ("name", "role", "description", "says")
        }
    for row in transaction.run_batched("resolve/relations", keys=wanted):
        fused[row["head"], row["type"], row["tail"]] = read_sayings(row)
    ends = {end for edge in fused for end in (edge[0], edge[2])} - set(wanted)
    neighbours, merged = _Facts(), set()
    for row in transaction.run_batched("resolve/members", survivors=sorted(ends)):
        _read_member(neighbours, row)
        merged.add(row["survivor"])
    for edge, sayings in fused.items():
        # A relation with a merged entity is made of those of its members, and they know them apart.
        if edge[0] not in merged and edge[2] not in merged:
            facts.relations[edge] = sayings
    for edge, sayings in neighbours.relations.items():
        if edge[0] in facts.properties or edge[2] in facts.properties:
            facts.relations[edge] = sayings
    return facts


def _read_member(facts: _Facts, row: Mapping[str, Any]) -> None:
    key = row["key"]
    facts.properties[key] = json.loads(row["properties"])
    if row["embedding"] is not None:
        facts.vectors[key] = row["embedding"]
    facts.mentions[key] = json.loads(row["mentions"])
    for relation in json.loads(row["relations"]):
        facts.relations[relation["head"], relation["type"], relation["tail"]] = read_sayings(relation)


def _survivors(transaction: Transaction, keys: Iterable[str]) -> dict[str, str]:
    """Return for each merged entity among `keys` the one that it went into."""
    rows = transaction.run_batched("resolve/merges_of_keys", keys=sorted(keys))
    return {row["key"]: row["survivor"] for row in rows}


def _project(
    relations: Mapping[Edge, Mapping[str, Saying]], survivor_of: Mapping[str, str]
) -> tuple[dict[Edge, dict[str, Saying]], int]:
    """Redirect relations to what their ends became, fuse those that become parallel, and count those that become loops."""
    fused: dict[Edge, dict[str, Saying]] = defaultdict(dict)
    loops = 0
    for (head, type_, tail), sayings in sorted(relations.items()):
        edge = (survivor_of.get(head, head), type_, survivor_of.get(tail, tail))
        if edge[0] == edge[2] and head != tail:
            loops += 1
            continue
        for chunk_id, saying in sayings.items():
            known = fused[edge].get(chunk_id)
            fused[edge][chunk_id] = saying if known is None else said_once(saying, known)
    return fused, loops


def _fuse(merge: Merge, facts: _Facts) -> tuple[dict[str, Any], dict[str, Mention]]:
    """Return the properties and the mentions of the entity that stays."""
    fused: dict[str, Mention] = {}
    mentions = [mention for key in merge.members for mention in facts.mentions[key].values()]
    for key in merge.members:
        for chunk_id, mention in sorted(facts.mentions[key].items()):
            known = fused.get(chunk_id)
            chosen = dict(mention if known is None else better(known, mention))
            chosen["says"] = sorted({*mention["says"], *(known["says"] if known else ())})
            fused[chunk_id] = chosen
    says = described(naming_of({**mention, "times": 1} for mention in mentions))
    members = [facts.properties[key] for key in merge.members]
    spellings = {spelling for member in members for spelling in (member["name"], *member["aliases"])}
    return {
        **facts.properties[merge.survivor],
        **says,
        "aliases": sorted((spellings | set(says["aliases"])) - {says["name"]}),
        "mentions": len(fused),
        "descriptions": sorted({mention["description"] for mention in mentions if mention["description"]}),
        "types": sorted({member["type"] for member in members}),
    }, fused


def _reads_the_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether an embedder reads the same of both."""
    return all(one[name] == other[name] for name in ("name", "type", "description"))


def _write_members(transaction: Transaction, graph: str, merges: Sequence[Merge], facts: _Facts) -> None:
    touching: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for edge, sayings in sorted(facts.relations.items()):
        row = {"head": edge[0], "type": edge[1], "tail": edge[2], **listed_sayings(sayings)}
        for end in {edge[0], edge[2]} & facts.properties.keys():
            touching[end].append(row)
    rows = [
        {
            "key": key,
            "graph": graph,
            "survivor": merge.survivor,
            "name": facts.properties[key]["name"],
            "type": facts.properties[key]["type"],
            "normal": facts.properties[key]["normal"],
            "properties": canonical_json(facts.properties[key]),
            "mentions": canonical_json(facts.mentions[key]),
            "relations": canonical_json(touching[key]),
            "embedding": facts.vectors.get(key),
        }
        for merge in merges
        for key in merge.members
    ]
    transaction.run_batched("resolve/put_members", rows=rows)
    reasons = [
        {"key": merge.survivor, "graph": graph, "members": list(merge.members), "reasons": merge.reasons}
        for merge in merges
    ]
    transaction.run_batched("resolve/put_merges", rows=reasons)


def _replace(
    transaction: Transaction,
    graph: str,
    gone: Sequence[str],
    entities: Mapping[str, Mapping[str, Any]],
    vectors: Mapping[str, list[float]],
    mentions: Mapping[tuple[str, str], Mention],
    relations: Mapping[Edge, Mapping[str, Saying]],
) -> None:
    """Delete entities with all that hangs on them, and write others with their mentions and relations."""
    forget_predictions(transaction, {end for head, _, tail in relations for end in (head, tail)} - set(gone))
    delete_entities(transaction, gone)
    titles = Counter(key for (key, _), mention in mentions.items() if mention["role"] == "title")
    by_type: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key, properties in sorted(entities.items()):
        by_type[properties["type"]].append({**properties, "titles": titles[key]})
    for type_, typed in by_type.items():
        transaction.run_batched("store/put_entities", graph=graph, entity=type_, rows=typed)
    with_vector = [{"id": key, "embedding": vector} for key, vector in sorted(vectors.items())]
    transaction.run_batched("store/put_entity_embeddings", rows=with_vector)
    named = [
        {"key": key, "chunk_id": chunk_id, "properties": without_empty_says(mention)}
        for (key, chunk_id), mention in sorted(mentions.items())
    ]
    transaction.run_batched("store/put_mentions", rows=named)
    by_relation: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for (head, relation, tail), sayings in sorted(relations.items()):
        by_relation[relation].append({"head": head, "tail": tail, "properties": relation_properties(sayings)})
    for relation, ends in by_relation.items():
        transaction.run_batched("store/put_relations", relation=relation, rows=ends)
