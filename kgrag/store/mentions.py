"""What a graph holds of its chunks: mentions on FROM_CHUNK relationships, sayings on relations, and what follows from several of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "DESCRIBED",
    "Edge",
    "Mention",
    "Saying",
    "better",
    "listed_sayings",
    "read_sayings",
    "relation_properties",
    "said_once",
    "without_empty_says",
]

DESCRIBED = ("name", "aliases", "mentions", "titles", "description")
"""Properties of an entity that follow from its mentions."""

Mention = dict[str, Any]
"""Properties of a FROM_CHUNK relationship: name, role, description, and says: `<TYPE> <key of the tail>` for each relation from it.

In the database one that says none has no `says`; stores of before have an empty list there, which is the same.
"""
Edge = tuple[str, str, str]
"""A relation: key of the head, type, key of the tail."""
Saying = tuple[str, str]
"""What a chunk says about a relation: description, and the reason why it is not grounded (empty where it is)."""


def without_empty_says(mention: Mention) -> Mention:
    """Return the properties that a database keeps of a mention."""
    return mention if mention.get("says") else {name: value for name, value in mention.items() if name != "says"}


def better(one: Mention, other: Mention) -> Mention:
    """Choose between two ways in which one chunk names an entity: as its title, with the longer description, the first by the alphabet."""
    return min(one, other, key=lambda m: (m["role"] != "title", -len(m["description"]), m["description"], m["name"]))


def said_once(one: Saying, other: Saying) -> Saying:
    """Choose between two ways in which one chunk says a relation: the grounded one, then the first by the alphabet."""
    return min(one, other, key=lambda saying: (saying[1], saying[0]))


def read_sayings(row: Mapping[str, Any]) -> dict[str, Saying]:
    """Return by chunk what is said of a relation, from its parallel lists."""
    return {
        chunk_id: (description, reason)
        for chunk_id, description, reason in zip(row["chunks"], row["descriptions"], row["reasons"], strict=True)
    }


def listed_sayings(said: Mapping[str, Saying]) -> dict[str, list[str]]:
    """Return the parallel lists that `read_sayings` reads, sorted by chunk."""
    chunks = sorted(said)
    return {
        "chunks": chunks,
        "descriptions": [said[chunk_id][0] for chunk_id in chunks],
        "reasons": [said[chunk_id][1] for chunk_id in chunks],
    }


def relation_properties(said: Mapping[str, Saying]) -> dict[str, Any]:
    """Return the properties of a relation from what chunks say of it."""
    lists = listed_sayings(said)
    grounded = "" in lists["reasons"]
    return {
        **lists,
        "weight": len(said),
        "description": lists["descriptions"][0],
        "grounded": grounded,
        "reason": "" if grounded else lists["reasons"][0],
    }
