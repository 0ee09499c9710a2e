"""A merge plan: which entities are to be one, with the reason of every pair. Data: it is shown, stored, applied and taken back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from kgrag.resolve.read_many import without_collector
from kgrag.resolve.reading import NameReading
from kgrag.resolve.similarity import conflict
from kgrag.resolve.type_families import types_exclude
from kgrag.resolve.union_find import Edge, Member, unite
from kgrag.types import Usage

__all__ = [
    "Decisions",
    "Found",
    "GraphEntity",
    "MergeGroup",
    "MergePlan",
    "PairReason",
    "PlanMember",
    "make_plan",
    "never",
]

MAX_LISTED_MEMBERS = 40
"""In larger groups only the pairs that were decided are listed, not those that follow."""


class GraphEntity(NamedTuple):
    """An entity as extracted."""

    key: str
    name: str
    type: str = ""
    normal: str = ""
    description: str = ""
    mentions: int = 1


class PairReason(BaseModel):
    """Why two entities are one, or are kept apart."""

    model_config = ConfigDict(frozen=True)

    a: str
    """Key of the one."""
    b: str
    verdict: str
    """`always`: by rule. `same`: by score or by a model. `joined`: through other pairs. `never`, `different`: kept apart."""
    reason: str
    score: float = 1.0


class PlanMember(BaseModel):
    """One of the entities that become one."""

    model_config = ConfigDict(frozen=True)

    key: str
    name: str
    type: str


class MergeGroup(BaseModel):
    """Entities that become one."""

    model_config = ConfigDict(frozen=True)

    survivor: str
    """Key of the member that stays: the most mentioned, ties by name and key."""
    members: tuple[PlanMember, ...]
    pairs: tuple[PairReason, ...]


class MergePlan(BaseModel):
    """What a resolution wants to do to one graph."""

    model_config = ConfigDict(frozen=True)

    graph: str
    method: str
    settings: dict[str, Any] = Field(default_factory=dict)
    entities: int
    """As extracted."""
    candidates: int
    """Pairs that were compared."""
    groups: tuple[MergeGroup, ...]
    refused: tuple[PairReason, ...] = ()
    """Pairs that were found to be one and are not, because a third forbids it."""
    apart: tuple[PairReason, ...] = ()
    """Candidates that were found to be different things: cannot-links."""
    usage: Usage = Usage()

    @property
    def merged(self) -> int:
        """How many entities go into another."""
        return sum(len(group.members) - 1 for group in self.groups)


class Found(NamedTuple):
    """What was found of a pair."""

    verdict: str
    reason: str
    score: float = 1.0


class Decisions(NamedTuple):
    """What a method found: pairs of entities, by index (the lower first), that are one, and pairs that are not."""

    same: Mapping[tuple[int, int], Found]
    apart: Mapping[tuple[int, int], Found]
    candidates: int
    guarded: bool = True
    """Whether union-find refuses what may never be one; only methods for comparison do without."""
    usage: Usage = Usage()
    unanswered: tuple[str, ...] = ()
    """Of each question without a usable answer, why: its pairs are apart."""


@without_collector
def make_plan(
    graph: str,
    entities: Sequence[GraphEntity],
    readings: Sequence[NameReading],
    decisions: Decisions,
    *,
    method: str,
    settings: Mapping[str, Any],
) -> MergePlan:
    """Join what was found to be one into groups. The same entities and decisions give the same plan, whatever their order."""
    members = [Member(entity.key, entity.type, reading) for entity, reading in zip(entities, readings, strict=True)]
    edges = [Edge(one, other, reason.score) for (one, other), reason in decisions.same.items()]
    joined, refusals = unite(members, edges, apart=decisions.apart, guarded=decisions.guarded)
    large = {index: at for at, group in enumerate(joined) if len(group) > MAX_LISTED_MEMBERS for index in group}
    decided: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for one, other in decisions.same if large else ():
        if one in large and large[one] == large.get(other):
            decided[large[one]].append((one, other))
    groups = [_group(entities, readings, group, decisions, decided[at]) for at, group in enumerate(joined)]
    refused = [
        _pair(entities, r.one, r.other, Found("never", f"{decisions.same[r.one, r.other].reason}, but {r.reason}", 0.0))
        for r in refusals
    ]
    apart = [_pair(entities, one, other, found) for (one, other), found in decisions.apart.items()]
    return MergePlan(
        graph=graph,
        method=method,
        settings=dict(settings),
        entities=len(entities),
        candidates=decisions.candidates,
        groups=tuple(sorted(groups, key=lambda g: g.survivor)),
        refused=tuple(sorted(refused, key=lambda p: (p.a, p.b))),
        apart=tuple(sorted(apart, key=lambda p: (p.a, p.b))),
        usage=decisions.usage,
    )


def never(one: GraphEntity, mine: NameReading, other: GraphEntity, theirs: NameReading) -> str:
    """Say why two entities can never be one; "" where nothing forbids it. The same whichever comes first."""
    if other.key < one.key:
        one, mine, other, theirs = other, theirs, one, mine
    if reason := conflict(mine, theirs):
        return reason
    return f"types exclude each other: {one.type} against {other.type}" if types_exclude(one.type, other.type) else ""


def _group(
    entities: Sequence[GraphEntity],
    readings: Sequence[NameReading],
    group: Sequence[int],
    decisions: Decisions,
    decided: Sequence[tuple[int, int]],
) -> MergeGroup:
    survivor = min(group, key=lambda i: (-entities[i].mentions, entities[i].name, entities[i].key))
    if len(group) <= MAX_LISTED_MEMBERS:
        pairs = [
            _pair(
                entities,
                one,
                other,
                decisions.same.get((one, other)) or _implied(readings[one], readings[other], decisions),
            )
            for one, other in combinations(sorted(group), 2)
        ]
    else:
        pairs = [_pair(entities, one, other, decisions.same[one, other]) for one, other in decided]
    return MergeGroup(
        survivor=entities[survivor].key,
        members=tuple(
            PlanMember(key=entities[i].key, name=entities[i].name, type=entities[i].type)
            for i in sorted(group, key=lambda i: (i != survivor, entities[i].name, entities[i].key))
        ),
        pairs=tuple(sorted(pairs, key=lambda p: (p.a, p.b))),
    )


def _implied(mine: NameReading, theirs: NameReading, decisions: Decisions) -> Found:
    """What holds of two of a group that were not compared themselves."""
    if decisions.guarded and mine.form == theirs.form:
        return Found("always", "same normal form")
    return Found("joined", "each is the same as others of the group", 0.0)


def _pair(entities: Sequence[GraphEntity], one: int, other: int, found: Found) -> PairReason:
    a, b = sorted((entities[one].key, entities[other].key))
    return PairReason(a=a, b=b, verdict=found.verdict, reason=found.reason, score=round(found.score, 3))
