"""Union-find that refuses: entities that may never be one stay apart, also where others would join them.

The edges are taken best first and ties by key, so the same edges give the same groups in whatever order they come. No library's connected
components do this (scipy's know no edge that must not be followed): each join is tested against all that both sides hold already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kgrag.resolve.reading import NameReading
from kgrag.resolve.similarity import model_conflict
from kgrag.resolve.type_families import family

__all__ = ["Edge", "Member", "Refusal", "unite"]


class Member(NamedTuple):
    """What union-find knows of an entity."""

    key: str
    type: str
    reading: NameReading


class Edge(NamedTuple):
    """Two entities, by index, that were found to be one."""

    one: int
    other: int
    score: float


class Refusal(NamedTuple):
    """An edge that was not followed."""

    one: int
    other: int
    reason: str


@dataclass(slots=True)
class _Cluster:
    """What a set of joined entities must not meet."""

    members: list[int]
    families: set[str]
    readings: dict[tuple[str, frozenset[str]], NameReading]
    """The names that differ in form or model numbers."""
    has_models: bool
    apart: set[int] = field(default_factory=set)
    """Entities that a decision keeps apart from a member."""


def unite(
    members: Sequence[Member], edges: Iterable[Edge], *, apart: Iterable[tuple[int, int]] = (), guarded: bool = True
) -> tuple[list[list[int]], list[Refusal]]:
    """Join what edges join, except where that brings two together that are never one; return groups of two or more, and refusals.

    Never one are: different signatures, model numbers that conflict, types that exclude each other, and the pairs in `apart`. With
    `guarded` false nothing is refused: plain connected components.
    """
    parent = list(range(len(members)))
    clusters: dict[int, _Cluster] = {}
    forbidden: dict[int, set[int]] = {}
    for one, other in apart if guarded else ():
        forbidden.setdefault(one, set()).add(other)
        forbidden.setdefault(other, set()).add(one)

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    def cluster(index: int) -> _Cluster:
        known = clusters.get(index)
        if known is None:
            member = members[index]
            kind = family(member.type)
            known = clusters[index] = _Cluster(
                [index],
                {kind} if kind else set(),
                {(member.reading.form, member.reading.models): member.reading},
                bool(member.reading.models),
                set(forbidden.get(index, ())),
            )
        return known

    refusals: list[Refusal] = []

    def order(edge: Edge) -> tuple[float, str, str]:
        one, other = sorted((members[edge.one].key, members[edge.other].key))
        return -edge.score, one, other

    for edge in sorted(edges, key=order):
        one, other = sorted((edge.one, edge.other), key=lambda index: members[index].key)
        first, second = root(one), root(other)
        if first == second:
            continue
        mine, theirs = cluster(first), cluster(second)
        if guarded and (reason := _refuse(members, mine, theirs)):
            refusals.append(Refusal(edge.one, edge.other, reason))
            continue
        if len(mine.members) < len(theirs.members):
            first, second, mine, theirs = second, first, theirs, mine
        parent[second] = first
        mine.members += theirs.members
        mine.families |= theirs.families
        mine.readings.update(theirs.readings)
        mine.has_models = mine.has_models or theirs.has_models
        mine.apart |= theirs.apart
        del clusters[second]
    groups = [sorted(c.members, key=lambda i: members[i].key) for c in clusters.values() if len(c.members) > 1]
    return sorted(groups, key=lambda group: members[group[0]].key), refusals


def _refuse(members: Sequence[Member], mine: _Cluster, theirs: _Cluster) -> str:
    """Say what keeps two clusters apart."""
    one, other = members[mine.members[0]], members[theirs.members[0]]
    if one.reading.signature != other.reading.signature:
        return f"numbers differ: {one.reading.signature or 'none'} against {other.reading.signature or 'none'}"
    if mine.families and theirs.families and mine.families != theirs.families:
        return (
            f"types exclude each other: {', '.join(sorted(mine.families))} against {', '.join(sorted(theirs.families))}"
        )
    if mine.has_models or theirs.has_models:
        for a in mine.readings.values():
            for b in theirs.readings.values():
                if reason := model_conflict(a, b):
                    return reason
    fewer, there = (mine, theirs) if len(mine.apart) <= len(theirs.apart) else (theirs, mine)
    if not fewer.apart.isdisjoint(there.members):
        return "a member of the one was found to be another thing than a member of the other"
    return ""
