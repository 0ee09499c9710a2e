"""What somebody may read of a store, and what entities are called in that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kgrag.store.connection import Connection

__all__ = ["Readable", "name_as_readable"]

NAMED_BY: tuple[tuple[str, str], ...] = (
    ("key", "name"),
    ("head_key", "head"),
    ("tail_key", "tail"),
    ("head", "head_name"),
    ("tail", "tail_name"),
)
"""Fields of rows that have the key of an entity, and its name."""


@dataclass(frozen=True, slots=True)
class Readable:
    """What somebody may read of a store: ids of documents and of their chunks, and how many chunks are hidden; None is all."""

    documents: list[str] | None = None
    chunks: list[str] | None = None
    hidden: int = 0
    """A vector index is asked for so many more candidates: it knows nothing of who may read what."""
    hidden_rows: int = 0
    """Of the tables in hidden chunks, likewise."""


def name_as_readable(connection: Connection, rows: list[dict[str, Any]], *, documents: list[str]) -> None:
    """Give the entities of rows the names, and the number of mentions, that they have in what may be read.

    An entity of several documents, above all one that others were merged into, may have the name that a hidden one writes.
    """
    named = list(_named_entities(rows))
    keys = sorted({row[key] for row, key, _ in named})
    if not keys:
        return
    said: dict[str, list[dict[str, Any]]] = {key: [] for key in keys}
    names = connection.read_plain("retrieve/readable_names", keys=keys, documents=documents)
    for one in names:
        said[one["key"]].append(one)
    for row, key, name in named:
        spellings = list(dict.fromkeys(one["name"] for one in said[row[key]]))
        row[name] = spellings[0] if spellings else ""
        if name == "name" and "aliases" in row:
            row["aliases"] = sorted(spellings[1:])
        if name == "name" and "mentions" in row:
            row["mentions"] = sum(one["times"] for one in said[row[key]])


def _named_entities(rows: Iterable[Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield the entities in rows and in what is nested in them: where one stands, and the fields of its key and of its name."""
    for row in rows:
        if isinstance(row, dict):
            yield from ((row, key, name) for key, name in NAMED_BY if row.get(key) and name in row)
            yield from _named_entities(value for value in row.values() if isinstance(value, list))
        elif isinstance(row, list):
            yield from _named_entities(row)
