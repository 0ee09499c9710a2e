"""Relations as chunks state them: read, and written anew from what all of their chunks say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from kgrag.store.connection import Transaction
from kgrag.store.mentions import Edge, Saying, read_sayings, relation_properties
from kgrag.store.predictions import forget_predictions

__all__ = ["Changed", "sayings_of", "update_relations", "write_relations"]


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


def sayings_of(
    transaction: Transaction, edges: Iterable[Edge], successors: Mapping[str, str]
) -> dict[Edge, dict[str, Saying]]:
    """What some chunks say of relations, by relation and then by the id of the chunk that takes the place of each."""
    found: dict[Edge, dict[str, Saying]] = {}
    for type_, ends in _ends_by_type(edges).items():
        for row in transaction.run_list("store/relations", relation=type_, rows=ends):
            found[row["head"], type_, row["tail"]] = {
                successors[chunk_id]: saying for chunk_id, saying in read_sayings(row).items() if chunk_id in successors
            }
    return found


def update_relations(
    transaction: Transaction, edges: Iterable[Edge], *, chunks: set[str], sayings: Mapping[Edge, Mapping[str, Saying]]
) -> int:
    """Replace what `chunks` say about `edges` by `sayings`, and forget what was predicted of these; return how many relations went."""
    changed = write_relations(transaction, edges, chunks=chunks, sayings=sayings)
    forget_predictions(transaction, changed.ends)
    return changed.removed


def write_relations(
    transaction: Transaction,
    edges: Iterable[Edge],
    *,
    chunks: set[str],
    sayings: Mapping[Edge, Mapping[str, Saying]],
    created: Set[str] = frozenset(),
) -> Changed:
    """Replace what `chunks` say about `edges` by `sayings`. `created` entities had no relations before."""
    all_changed = Changed()
    for type_, ends in _ends_by_type(edges).items():
        new: list[dict[str, Any]] = []
        changed: list[dict[str, Any]] = []
        deleted: list[dict[str, str]] = []
        old = [end for end in ends if end["head"] not in created and end["tail"] not in created]
        found = transaction.run_list("store/relations", relation=type_, rows=old)
        known = {(row["head"], row["tail"]): row for row in found}
        for end in ends:
            row = known.get((end["head"], end["tail"]))
            kept = read_sayings(row) if row else {}
            said = {chunk_id: saying for chunk_id, saying in kept.items() if chunk_id not in chunks}
            said.update(sayings.get((end["head"], type_, end["tail"]), {}))
            if not said:
                deleted += [end] if row else []
            elif said != kept:
                (changed if row else new).append({**end, "properties": relation_properties(said)})
        for name, rows in (("put", new), ("update", changed), ("delete", deleted)):
            transaction.run_batched(f"store/{name}_relations", relation=type_, rows=rows)
        moved = {end for ends_of in (*new, *deleted) for end in (ends_of["head"], ends_of["tail"])}
        all_changed.add(Changed(len(new), len(deleted), moved))
    return all_changed


def _ends_by_type(edges: Iterable[Edge]) -> dict[str, list[dict[str, str]]]:
    """Group relations by type, in order: a statement is of one type."""
    by_type: dict[str, list[dict[str, str]]] = defaultdict(list)
    for head, type_, tail in sorted(edges):
        by_type[type_].append({"head": head, "tail": tail})
    return by_type
