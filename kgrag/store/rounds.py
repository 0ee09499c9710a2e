"""Relations in rounds of parts that can be written at once: no two parts of a round have an entity in common.

Who writes a relation locks the entities at both ends, so two transactions with an entity in common wait for each other. Entities are dealt
into twice as many groups as there are writers, and the groups are paired as the players of a tournament are: in each round each group has
one other, and after all rounds each has had every other. A part has the relations between the two groups of a pair; those within a group
go with its pair of the first round.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from zlib import crc32

from kgrag.store.connection import WRITERS
from kgrag.store.mentions import Edge

__all__ = ["rounds"]


def rounds(edges: Iterable[Edge], *, writers: int = WRITERS) -> list[list[list[Edge]]]:
    """Return rounds, each a list of at most `writers` parts, each a list of relations; all are in one of them, in their order."""
    groups = 2 * writers
    between: dict[frozenset[int], list[Edge]] = defaultdict(list)
    for edge in sorted(edges):
        head, _, tail = edge
        between[frozenset((_group(head, groups), _group(tail, groups)))].append(edge)
    found = []
    for number, pairs in enumerate(_pairings(groups)):
        parts = []
        for pair in pairs:
            within = [edge for group in sorted(pair) for edge in between[frozenset((group,))]] if number == 0 else []
            if part := [*within, *between[pair]]:
                parts.append(part)
        if parts:
            found.append(parts)
    return found


def _group(key: str, groups: int) -> int:
    return crc32(key.encode()) % groups


def _pairings(groups: int) -> Iterator[list[frozenset[int]]]:
    """Pair an even number of groups so that each meets every other once: one stays, the others move on by a place each round."""
    moving = list(range(1, groups))
    for _ in moving:
        around = [0, *moving]
        yield [frozenset((around[place], around[-1 - place])) for place in range(groups // 2)]
        moving = [moving[-1], *moving[:-1]]
