"""Communities in the database: SIMILAR, IN_COMMUNITY, PARENT_COMMUNITY, and what communities are about."""

from __future__ import annotations

import json
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.models.base import Vectors
from kgrag.store.connection import Connection, Transaction
from kgrag.store.ledger import WorkRecord, put_work
from kgrag.store.rows import BATCH_ROWS, batches_by_size, storable
from kgrag.store.schema import Schema
from kgrag.store.vectors import vector_rows
from kgrag.types import Citation, Community, canonical_json

__all__ = [
    "PARTITION",
    "SUMMARISE",
    "Communities",
    "Membership",
    "StoredCommunity",
    "delete_communities",
]

WRITE_MEMBERS = 5000
"""Memberships of one transaction, at least: a community is written with all of its members."""

PARTITION, SUMMARISE = "communities", "summarise"
"""Stages of the ledger: the division of a graph into communities (subject: the graph), what each is about (subject: the community)."""

Places = NDArray[np.int64]
Scores = NDArray[np.float64]
Step = Callable[[Transaction], Any]


@dataclass(frozen=True, slots=True)
class Membership:
    """A community as the graph's structure gives it: who is in it, and in what it lies."""

    key: str
    level: int
    members: tuple[str, ...]
    """Keys of entities, sorted."""
    structure: str
    """Hash of the members with their edges."""
    parent: str | None = None
    size: int = 0
    """As it was written, where it was read: more than the members that are there, where some went."""


@dataclass(frozen=True, slots=True)
class StoredCommunity:
    """A community as the database has it; `community` is None where nothing was written about it yet."""

    membership: Membership
    community: Community | None = None
    content_hash: str = ""


class Communities:
    """The communities of the graphs of an open store."""

    def __init__(self, connection: Connection, schema: Schema) -> None:
        self._connection = connection
        self._schema = schema

    def of_graph(self, graph: str) -> dict[str, StoredCommunity]:
        """Return the communities of a graph with the keys of their members, by key, coarsest and largest first."""
        if self._schema.meta is None:
            return {}
        members: dict[str, list[str]] = defaultdict(list)
        for row in self._connection.stream("communities/members", graph=graph):
            members[row["key"]].append(row["member"])
        found = []
        for row in self._schema.read("communities/communities", graph=graph):
            stored = row["community"]
            membership = Membership(
                stored["key"],
                stored["level"],
                tuple(sorted(members[stored["key"]])),
                stored["structure"],
                row["parent"],
                stored["size"],
            )
            found.append(
                StoredCommunity(membership, _community(stored, row["parent"]), stored.get("content_hash") or "")
            )
        found.sort(key=lambda one: (one.membership.level, -len(one.membership.members), one.membership.members))
        return {one.membership.key: one for one in found}

    def levels(self) -> list[tuple[str, int]]:
        """Return the graphs and levels that have communities, sorted."""
        rows = self._schema.read("communities/levels")
        return sorted((row["graph"], row["level"]) for row in rows)

    def put_similar(self, graph: str, keys: Sequence[str], first: Places, second: Places, scores: Scores) -> None:
        """Make the SIMILAR relationships of a graph these: pair i is `keys[first[i]]` and `keys[second[i]]` with `scores[i]`.

        The pairs are sorted and each is there once, with `first` < `second`; `keys` are sorted. Numbers are all that is held of a pair: a
        million entities have several millions.
        """
        place = {key: number for number, key in enumerate(keys)}
        there, known, gone = array("q"), array("d"), []
        for row in self._connection.stream("communities/similar", graph=graph):
            one, other = place.get(row["one"]), place.get(row["other"])
            if one is None or other is None:
                gone.append({"one": row["one"], "other": row["other"]})
            else:
                there.append(one * len(keys) + other)
                known.append(row["score"])
        del place
        wanted, held = first * len(keys) + second, np.array(there, dtype=np.int64)
        at = np.minimum(np.searchsorted(wanted, held), len(wanted) - 1)
        stays = (
            (wanted[at] == held) & (scores[at] == np.array(known)) if len(wanted) else np.zeros(len(held), dtype=bool)
        )
        new = np.ones(len(wanted), dtype=bool)
        new[at[stays]] = False
        stale = np.sort(held[~stays])

        def pairs(some: Places) -> list[dict[str, Any]]:
            ends = zip((some // len(keys)).tolist(), (some % len(keys)).tolist(), strict=True)
            return [{"one": keys[one], "other": keys[other]} for one, other in ends]

        write = self._connection.write
        for rows in chain(batches_by_size(gone), map(pairs, _slices(stale))):
            write(partial(Transaction.run, name="communities/delete_similar", rows=rows))
        for some, score in zip(_slices(wanted[new]), _slices(scores[new]), strict=True):
            come = [{**pair, "score": one} for pair, one in zip(pairs(some), score.tolist(), strict=True)]
            write(partial(Transaction.run, name="communities/put_similar", rows=come))

    def put_memberships(self, graph: str, wanted: Sequence[Membership], *, record: WorkRecord, atomic: bool) -> int:
        """Make the communities of a graph these, with their indexes; return how many are new. Those that stay keep their texts.

        In `wanted` parents come before children. `atomic`: all of it is one transaction, with the ledger's `record`. Else each of some
        thousand memberships is one, and the record is forgotten first and written last: without it whoever was interrupted knows that the
        communities are not those of one run.
        """
        for level in sorted({one.level for one in wanted}):
            self._schema.ensure_level(graph, level)
        there = {key: one.membership for key, one in self.of_graph(graph).items()}
        create: list[Membership] = []
        move: list[Membership] = []
        restructure: list[dict[str, Any]] = []
        stale = there.keys() - {one.key for one in wanted}
        for one in wanted:
            known = there.get(one.key)
            if known is None or known.members != one.members:
                # Entities that went and came back are the same members, and are not in it any more: it is written anew.
                stale |= {one.key} if known else set()
                create.append(one)
                continue
            if known.structure != one.structure:
                restructure.append({"key": one.key, "structure": one.structure})
            if known.parent != one.parent or one.parent in stale:
                move.append(one)
        steps: list[Step] = [
            *(partial(delete_communities, keys=keys) for keys in batches_by_size(sorted(stale))),
            *(partial(_create, graph=graph, communities=some) for some in _batches(create)),
            *(
                partial(Transaction.run, name="communities/restructure", rows=rows)
                for rows in batches_by_size(restructure)
            ),
            *(partial(_move, communities=some) for some in batches_by_size(move)),
            partial(Transaction.run, name="store/put_work", rows=[record.row()]),
        ]

        def write_all(transaction: Transaction) -> None:
            for step in steps:
                step(transaction)

        if atomic:
            self._connection.write(write_all)
        else:
            self._connection.write(
                lambda transaction: transaction.run(
                    "store/delete_work", subjects=[record.subject], stages=[record.stage]
                )
            )
            for step in steps:
                self._connection.write(step)
        return len(create)

    def put_summaries(
        self,
        results: Sequence[tuple[Community | None, str, WorkRecord]],
        vectors: Vectors,
        *,
        without_vector: Collection[str] = (),
    ) -> None:
        """Write what communities are about, with the hash of what that was made of; ledger `summarise`.

        None in the place of a community: it failed, and only the ledger hears of it. `vectors` are those of the communities that have a
        summary, in order; those whose keys are in `without_vector` have none.
        """
        rows = [
            _summary_row(community, content_hash) for community, content_hash, _ in results if community is not None
        ]
        summarised = [row for row in rows if row["summary"] and row["key"] not in without_vector]
        embedded = vector_rows([row["key"] for row in summarised], vectors, self._schema.dimensions)
        for row, vector in zip(summarised, embedded, strict=True):
            row["embedding"] = vector["embedding"]

        def write(transaction: Transaction) -> None:
            transaction.run_batched("communities/put_summaries", rows=rows)
            put_work(transaction, [record for _, _, record in results])

        self._connection.write(write)


def _summary_row(community: Community, content_hash: str) -> dict[str, Any]:
    """Return what the database keeps of what a community is about, its vector left out."""
    return {
        "key": community.key,
        "label": storable(community.label),
        "summary": storable(community.summary),
        "key_terms": storable(list(community.key_terms)),
        "full_content": storable(community.full_content),
        "citations": storable(canonical_json([c.model_dump(exclude={"sources"}) for c in community.citations])),
        "content_hash": content_hash,
        "embedding": None,
    }


def _community(row: Mapping[str, Any], parent: str | None) -> Community | None:
    if row.get("label") is None:
        return None
    return Community(
        key=row["key"],
        graph=row["graph"],
        level=row["level"],
        size=row["size"],
        parent=parent,
        label=row["label"],
        summary=row["summary"],
        key_terms=tuple(row["key_terms"]),
        full_content=row["full_content"],
        citations=tuple(Citation.model_validate(citation) for citation in json.loads(row["citations"])),
    )


def _slices(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (values[begin : begin + BATCH_ROWS] for begin in range(0, len(values), BATCH_ROWS))


def _batches(communities: Iterable[Membership]) -> Iterator[list[Membership]]:
    """Cut communities into transactions, each of one level."""
    batch: list[Membership] = []
    size = 0
    for one in communities:
        if batch and (size >= WRITE_MEMBERS or one.level != batch[0].level):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += len(one.members)
    if batch:
        yield batch


def _create(transaction: Transaction, *, graph: str, communities: Sequence[Membership]) -> None:
    level = communities[0].level
    nodes: list[dict[str, Any]] = [
        {"key": one.key, "graph": graph, "level": level, "size": len(one.members), "structure": one.structure}
        for one in communities
    ]
    transaction.run_batched("communities/put_communities", graph=graph, level=level, rows=nodes)
    members = [{"key": one.key, "member": member} for one in communities for member in one.members]
    transaction.run_batched("communities/put_members", rows=members)
    _put_parents(transaction, communities)


def _move(transaction: Transaction, *, communities: Sequence[Membership]) -> None:
    transaction.run("communities/delete_parents", keys=[one.key for one in communities])
    _put_parents(transaction, communities)


def _put_parents(transaction: Transaction, communities: Sequence[Membership]) -> None:
    rows = [{"key": one.key, "parent": one.parent} for one in communities if one.parent is not None]
    transaction.run_batched("communities/put_parents", rows=rows)


def delete_communities(transaction: Transaction, *, keys: Sequence[str]) -> None:
    """Delete communities with what was noted of their summaries."""
    transaction.run("communities/delete_communities", keys=keys)
    transaction.run("store/delete_work", subjects=keys, stages=[SUMMARISE])
