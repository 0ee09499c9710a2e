"""Which types of entities exclude each other: no person is a place, whatever they are called."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["family", "says_little", "types_exclude"]

TYPES_BY_FAMILY = {
    "person": "person people human character author artist actor musician player",
    "place": "place location city country region state river building address geographic",
    "organization": "organization organisation company institution agency team band manufacturer vendor",
    "event": "event war battle election",
    "quantity": "quantity value measurement number amount voltage current temperature",
    "date": "date year time period",
    "work": "book film song album paper publication",
    "document": "document chapter page",
    "product": "product part component device board module sensor hardware connector chip microcontroller processor shield "
    "software library program tool framework application",
}  # fmt: skip
FAMILY_BY_TYPE = {type_: family for family, types in TYPES_BY_FAMILY.items() for type_ in types.split()}
GENERAL_TYPES = frozenset(
    ["", "thing", "entity", "node", "object", "concept", "term", "title", "section", "class", "other", "unknown"]
)
"""Types that anything may be of."""


@lru_cache(maxsize=1 << 14)
def family(type_: str) -> str:
    """Return the family of an entity type, "" for a general type (`Thing`, `Term`) and for one that is not known."""
    plain = type_.casefold().rstrip("_")
    return FAMILY_BY_TYPE.get(plain) or FAMILY_BY_TYPE.get(plain.removesuffix("s"), "")


def says_little(type_: str) -> bool:
    """Say whether anything may be of a type."""
    return type_.casefold().rstrip("_") in GENERAL_TYPES


def types_exclude(one: str, other: str) -> bool:
    """Say whether nothing can be of both types."""
    mine, theirs = family(one), family(other)
    return bool(mine and theirs and mine != theirs)
