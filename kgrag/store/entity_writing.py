"""Entities, and what follows for them from all of their mentions: name, description, counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import Any

from kgrag.store.connection import Transaction
from kgrag.store.entity_deletion import delete_entities
from kgrag.store.mentions import DESCRIBED
from kgrag.store.namings import Naming, Namings, described, naming_of, together

__all__ = ["add_to_entities", "put_entities", "update_entities"]


def put_entities(
    transaction: Transaction, graph: str, entities: Mapping[str, dict[str, str]], naming: Mapping[str, Naming]
) -> Set[str]:
    """Write those that are not there with what follows from how they are named, and return which they are.

    Look, then CREATE: ArcadeDB takes ten times as long to MERGE on three labels.
    """
    known = set(transaction.run_list("store/entity_keys", keys=sorted(entities)))
    by_type: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for key, row in sorted(entities.items()):
        if key not in known:
            by_type[row["type"]].append({**row, **described(naming[key])})
    for type_, typed in sorted(by_type.items()):
        transaction.run_batched("store/put_entities", graph=graph, entity=type_, rows=typed)
    return entities.keys() - known


def add_to_entities(transaction: Transaction, naming: Mapping[str, Naming], namings: Namings) -> set[str]:
    """Write what follows for entities that were named again, where `namings` knows how they were named before; return which these are."""
    counted: set[str] = set()
    changed: list[dict[str, Any]] = []
    renamed: list[str] = []
    for row in transaction.run_list("store/known_names", keys=sorted(namings.among(naming))):
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


def update_entities(transaction: Transaction, keys: Set[str], namings: Namings | None = None) -> int:
    """Compute anew what follows from the mentions of entities; return how many have none and went."""
    changed: list[dict[str, Any]] = []
    renamed: list[str] = []
    unnamed: list[str] = []
    by_key: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in transaction.run_list("store/spellings", keys=sorted(keys)):
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
    transaction.run_batched("store/describe_entities", rows=changed)
    transaction.run_batched("store/forget_entity_embeddings", keys=renamed)
