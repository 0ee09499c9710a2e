"""What a graph holds of its chunks: mentions on FROM_CHUNK relationships, sayings on relations, and what follows from several of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "DESCRIBED",
    "Edge",
    "Mention",
    "Saying",
    "better",
    "describe",
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


def relation_properties(said: Mapping[str, Saying]) -> dict[str, Any]:
    """Return the properties of a relation from what chunks say of it."""
    chunks = sorted(said)
    descriptions = [said[chunk_id][0] for chunk_id in chunks]
    reasons = [said[chunk_id][1] for chunk_id in chunks]
    grounded = "" in reasons
    return {
        "chunks": chunks,
        "descriptions": descriptions,
        "reasons": reasons,
        "weight": len(chunks),
        "description": descriptions[0],
        "grounded": grounded,
        "reason": "" if grounded else reasons[0],
    }


def describe(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what follows for an entity (DESCRIBED) from how often it is named how."""
    titles: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for row in rows:
        names[row["name"]] += row["times"]
        if row["role"] == "title":
            titles[row["name"]] += row["times"]
    name = min((titles or names).items(), key=lambda item: (-item[1], item[0]))[0]
    said = min(
        rows,
        key=lambda row: (not row["description"], row["role"] != "title", -len(row["description"]), row["description"]),
    )
    return {
        "name": name,
        "aliases": sorted(names.keys() - {name}),
        "mentions": names.total(),
        "titles": titles.total(),
        "description": said["description"],
    }
