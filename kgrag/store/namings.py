"""How often well-known entities are named how: kept while a graph is written, as to count it anew takes longer and longer."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Naming", "Namings", "described", "naming_of", "together"]

FEWEST_MENTIONS = 8
"""Of an entity that is kept: those of fewer are as quickly counted."""
MOST_ENTITIES = 20_000

Naming = dict[tuple[str, str], tuple[int, str]]
"""By name and role: how often an entity is named so, and the description of those that is its description where theirs is taken."""


def naming_of(rows: Iterable[Mapping[str, Any]]) -> Naming:
    """Count rows of name, role, description and times."""
    counted: Naming = {}
    for row in rows:
        _count(counted, (row["name"], row["role"]), row["times"], row["description"])
    return counted


def together(one: Naming, other: Naming) -> Naming:
    """Add two counts."""
    counted = dict(one)
    for named, (times, description) in other.items():
        _count(counted, named, times, description)
    return counted


def _count(counted: Naming, named: tuple[str, str], times: int, description: str) -> None:
    before, known = counted.get(named, (0, ""))
    counted[named] = (before + times, min(known, description, key=lambda said: (-len(said), said)))


def described(naming: Naming) -> dict[str, Any]:
    """Return what follows for the entity (`kgrag.store.mentions.DESCRIBED`)."""
    titles: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for (name, role), (times, _) in naming.items():
        names[name] += times
        if role == "title":
            titles[name] += times
    most = min((titles or names).items(), key=lambda item: (-item[1], item[0]))[0]
    _, description = min(
        ((role, description) for (_, role), (_, description) in naming.items()),
        key=lambda said: (not said[1], said[0] != "title", -len(said[1]), said[1]),
    )
    return {
        "name": most,
        "aliases": sorted(names.keys() - {most}),
        "mentions": names.total(),
        "titles": titles.total(),
        "description": description,
    }


class Namings:
    """What was counted of entities, as long as the database still says of them what follows from that: others write to it, too."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Naming] = OrderedDict()

    def among(self, keys: Iterable[str]) -> list[str]:
        """Return those of `keys` that something is kept of."""
        return [key for key in keys if key in self._kept]

    def of(self, key: str, known: Mapping[str, Any]) -> Naming | None:
        """Return what is kept of an entity, where what the database says of it follows from that."""
        naming = self._kept.get(key)
        return naming if naming is not None and described(naming) == known else None

    def keep(self, key: str, naming: Naming) -> None:
        """Keep what was counted of an entity, if it is well known."""
        if sum(times for times, _ in naming.values()) < FEWEST_MENTIONS:
            return
        self._kept[key] = naming
        self._kept.move_to_end(key)
        if len(self._kept) > MOST_ENTITIES:
            self._kept.popitem(last=False)
