"""One SHA-256 over the content of a store: equal content, equal digest, on either database, in whatever order it was built."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kgrag.store.connection import Connection
from kgrag.types import canonical_json

__all__ = ["ContentDigest", "digest"]

NODES = ("meta", "document", "chunk", "table_row", "entity", "member", "merge", "community", "work")
RELATIONSHIPS = (
    "from_document",
    "row_of",
    "next_chunk",
    "links_to",
    "from_chunk",
    "relation",
    "merged_into",
    "in_community",
    "parent_community",
)
LATER = frozenset({"table_row", "row_of"})
"""Kinds that count only where there are some: without them a store has the digest that it had before there was such a kind."""
INCIDENTAL = frozenset({"attempts", "calls", "tokens", "completion_tokens", "cost", "seconds", "at"})
"""Of a ledger entry: what it took, and when."""
EMPTY: Mapping[str, Mapping[str, Any]] = MappingProxyType({"from_chunk": {"says": []}})
"""By kind: properties that count as so where they are missing."""
MODULUS = 2**256


def digest(connection: Connection, *, meta: Mapping[str, Any] | None = None) -> str:
    """Return the digest as 64 hex digits.

    Every node and relationship is written as canonical JSON (labels and properties sorted, null as good as missing) without ids of the
    database and without what a ledger entry took (attempts, calls, tokens, cost, seconds, time). A vector counts as present with so many
    dimensions: its last bits depend on what it was computed together with. The SHA-256s of the records of one kind are added up modulo
    2^256, which takes no order and no memory, and the digest is the SHA-256 over number and sum of each kind. `meta` is what the store is
    made with, where it does not say so yet.
    """
    whole = ContentDigest()
    if meta is not None:
        whole.add("meta", {"properties": meta})
    for kind in (*NODES, *RELATIONSHIPS):
        for row in connection.stream(f"digest/{kind}"):
            whole.add(kind, row)
    return whole.hexdigest()


class ContentDigest:
    """The digest of rows that come in any order, each with its kind."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys((*NODES, *RELATIONSHIPS), 0)
        self._totals = dict(self._counts)

    def add(self, kind: str, row: Mapping[str, Any]) -> None:
        """Count a node or relationship: `properties`, and what else identifies it; of a vector the number of its dimensions."""
        self._totals[kind] += int.from_bytes(hashlib.sha256(_canonical(kind, row)).digest())
        self._counts[kind] += 1

    def hexdigest(self) -> str:
        """Return the digest of what was counted."""
        whole = hashlib.sha256()
        for kind, count in self._counts.items():
            if kind in LATER and not count:
                continue
            whole.update(f"{kind} {count} {self._totals[kind] % MODULUS:064x}\n".encode())
        return whole.hexdigest()


def _canonical(kind: str, row: Mapping[str, Any]) -> bytes:
    hidden = INCIDENTAL if kind == "work" else frozenset()
    content = {name: _plain(value) for name, value in row.items() if name != "properties"}
    content["properties"] = {
        name: _plain(value)
        for name, value in {**EMPTY.get(kind, {}), **row["properties"]}.items()
        if value is not None and name not in hidden
    }
    if "labels" in content:
        content["labels"] = sorted(content["labels"])
    return canonical_json(content).encode()


def _plain(value: Any) -> Any:
    """A whole number is the same whether the database keeps it as integer or as float."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
