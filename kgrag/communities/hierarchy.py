"""Communities in communities: seeded Leiden, again inside every community that is too large."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import graspologic_native
import numpy as np
from numpy.typing import NDArray

from kgrag.communities.entity_graph import Edges, EntityGraph
from kgrag.types import content_id

__all__ = ["Earlier", "Found", "Hierarchy", "find_communities", "modularity"]

ITERATIONS = 5
"""Full Leiden cycles of one run: after a few nothing moves any more."""
TRIALS = 4
"""Runs of which the best is taken."""
RANDOMNESS = 0.001
"""Leiden's theta (Traag, Waltman and van Eck, Scientific Reports 9:5233, 2019, use 0.01; graspologic's default is this)."""

FEWEST_RANDOM_GRAPHS, MOST_RANDOM_GRAPHS = 2, 12
RANDOM_EDGES = 20_000
"""So many edges of random graphs are divided at least; large graphs hardly differ from each other."""
SIGNIFICANT_DEVIATIONS = 2.0
"""A division counts when its modularity is so many standard deviations above the mean of random graphs."""

Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Found:
    """A community: its members' places in the graph, and where it lies in the tree."""

    key: str
    """content_id of graph, level and the members' keys: the same members at the same level are the same community."""
    level: int
    """0 is the coarsest."""
    members: tuple[int, ...]
    """Sorted places; every member is also one of the parent's."""
    structure: str
    """Hash of the members with all their edges, those that leave the community included."""
    parent: str | None


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """All communities, coarsest level first, the largest first within a level."""

    communities: tuple[Found, ...]
    isolated: tuple[int, ...]
    """Places of entities without any edge: they are in no community."""
    modularity: float
    """Of level 0, with the edges' weights; 0.0 for a graph without edges."""
    kept: int = 0
    """How many communities are those of the earlier hierarchy, because nothing in or at them changed."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A community of an earlier hierarchy, as the store has it."""

    level: int
    members: tuple[str, ...]
    structure: str
    size: int
    """Of when it was found: more than `members` where some of them are gone."""


def find_communities(
    graph: EntityGraph, *, name: str, seed: int, max_size: int, earlier: Iterable[Earlier] = ()
) -> Hierarchy:
    """Divide the entities that have edges into communities, and again those with more than `max_size` members that can be divided.

    The same graph, seed and `max_size` give the same communities, in whatever order the graph was built: entities and edges are sorted.
    With `earlier` communities of the same graph, those that are as they were (same members, same edges of each) stay with all that is
    in them; Leiden divides the rest, in which entities that were together and are still joined stay together. So a small change of the
    graph changes few communities. `name` is the graph's, and a part of the keys.
    """
    search = _Search(graph, name=name, seed=seed, max_size=max_size, earlier=earlier)
    edges = graph.edges
    connected = np.unique(np.concatenate([edges.first, edges.second]))
    if len(connected):
        search.divide(connected, edges, level=0, parent=None)
    isolated = np.setdiff1d(np.arange(len(graph.keys)), connected)
    ordered = sorted(search.found, key=lambda one: (one.level, -len(one.members), one.members))
    roots = [one.members for one in ordered if one.level == 0]
    return Hierarchy(tuple(ordered), tuple(isolated.tolist()), modularity(graph, roots), search.kept)


def modularity(graph: EntityGraph, communities: Sequence[Sequence[int]]) -> float:
    """Weighted modularity (Newman and Girvan, Physical Review E 69:026113, 2004) of disjoint communities of places; 0.0 without edges."""
    total = float(graph.edges.weight.sum())
    if total == 0.0:
        return 0.0
    label = np.full(len(graph.keys), -1, dtype=np.int64)
    for number, members in enumerate(communities):
        label[list(members)] = number
    inside = (label[graph.edges.first] == label[graph.edges.second]) & (label[graph.edges.first] >= 0)
    ends = np.bincount(label + 1, graph.strengths(), len(communities) + 1)[1:]
    return float(graph.edges.weight[inside].sum() / total - np.square(ends / (2 * total)).sum())


class _Search:
    """One walk down the tree."""

    def __init__(self, graph: EntityGraph, *, name: str, seed: int, max_size: int, earlier: Iterable[Earlier]) -> None:
        self.found: list[Found] = []
        self.kept = 0
        self._name, self._seed, self._max_size = name, seed, max_size
        self._keys, self._surroundings = graph.keys, graph.surroundings()
        self._label = np.full(len(graph.keys), -1, dtype=np.int64)
        self._earlier: dict[int, list[Earlier]] = defaultdict(list)
        for one in earlier:
            self._earlier[one.level].append(one)
        place = {key: number for number, key in enumerate(graph.keys)}
        # At which level an entity was in which community: level -> place -> number of the community, -1 for none.
        self._before: dict[int, Places] = {}
        for level, communities in self._earlier.items():
            before = np.full(len(graph.keys), -1, dtype=np.int64)
            for number, one in enumerate(communities):
                before[[place[key] for key in one.members if key in place]] = number
            self._before[level] = before

    def divide(self, places: Places, edges: Edges, *, level: int, parent: str | None, known: bool = False) -> None:
        """Divide some places, with the edges among them, into communities of a level, and those again.

        `known`: they were a community before, and are as they were.
        """
        stay = self._unchanged(places, level)
        if known and not stay:
            return  # it could not be divided then, and cannot now
        stay, free = self._free(places, edges, stay)
        groups = stay + self._leiden(free, edges, level, of=edges.weight.sum())
        if len(groups) > 1 and not self._is_significant(groups, places, edges):
            # What divides the graph is not in how it is joined: only what is not joined at all is apart.
            groups = self._joined(places, edges)
        if parent is not None and len(groups) < 2:
            return
        unchanged = {members.tobytes() for members in stay}
        for members, inside in zip(groups, self._inside(groups, edges), strict=True):
            same = members.tobytes() in unchanged
            key = content_id("community", self._name, str(level), *(self._keys[place] for place in members))
            self.found.append(Found(key, level, tuple(members.tolist()), self._structure(members), parent))
            self.kept += same
            if len(members) > self._max_size:
                self.divide(members, inside, level=level + 1, parent=key, known=same)

    def _structure(self, members: Places) -> str:
        return f"{int(self._surroundings[members].sum(dtype=np.uint64)):016x}"

    def _unchanged(self, places: Places, level: int) -> list[Places]:
        """Return the members of the earlier communities of a level that lie in `places` and are as they were."""
        if level not in self._before:
            return []
        before = self._before[level][places]
        order = np.argsort(before, kind="stable")
        numbers, begins = np.unique(before[order], return_index=True)
        stay = []
        for number, members in zip(numbers, np.split(places[order], begins[1:]), strict=True):
            one = self._earlier[level][number]
            if number >= 0 and len(members) == one.size and self._structure(members) == one.structure:
                stay.append(members)
        return stay

    def _free(self, places: Places, edges: Edges, stay: list[Places]) -> tuple[list[Places], Places]:
        """Take out of `stay` what the free places cannot do without: whoever is left without an edge joins those that it has edges to."""
        label = self._label
        while stay:
            for number, members in enumerate(stay):
                label[members] = number
            free = places[label[places] < 0]
            one, other = label[edges.first], label[edges.second]
            label[places] = -1
            among = (one < 0) & (other < 0)
            lonely = np.setdiff1d(free, np.concatenate([edges.first[among], edges.second[among]]))
            wanted = {
                *other[np.isin(edges.first, lonely)].tolist(),
                *one[np.isin(edges.second, lonely)].tolist(),
            } - {-1}
            if not wanted:
                return stay, free
            stay = [members for number, members in enumerate(stay) if number not in wanted]
        return stay, places

    def _leiden(self, free: Places, edges: Edges, level: int, *, of: float) -> list[Places]:
        """Divide the free places by Leiden. Those that were together before, and that edges still join, stay together."""
        label = self._label
        label[free] = np.arange(len(free))
        among = (label[edges.first] >= 0) & (label[edges.second] >= 0)
        first, second, weight = label[edges.first[among]], label[edges.second[among]], edges.weight[among]
        label[free] = -1
        if not len(weight):
            return [free[i : i + 1] for i in range(len(free))]
        unit = np.arange(len(free))
        if level in self._before:
            before = self._before[level][free]
            joined = (before[first] == before[second]) & (before[first] >= 0)
            unit = _components(len(free), first[joined], second[joined])
        _, found = graspologic_native.leiden(
            _contracted(unit[first], unit[second], weight, len(free)),
            # A part is divided by the modularity of what it is a part of: gamma scales with its share of the edges.
            resolution=float(weight.sum() / of),
            randomness=RANDOMNESS,
            iterations=ITERATIONS,
            seed=self._seed,
            trials=TRIALS,
        )
        groups: dict[int, list[int]] = defaultdict(list)
        for place, one in zip(free.tolist(), unit.tolist(), strict=True):
            # Without an edge to any other free one: a community of its own.
            groups[found.get(str(one), -1 - one)].append(place)
        return [np.array(group, dtype=np.int64) for group in sorted(groups.values())]

    def _is_significant(self, groups: Sequence[Places], places: Places, edges: Edges) -> bool:
        """Whether a division gains more than one of random graphs in which every entity has as many edges as here.

        Modularity finds communities in graphs without any (Guimerà, Sales-Pardo and Amaral, Physical Review E 70:025101, 2004): the
        gain of random graphs of the same degrees, their edges with the same weights in another order, is what chance alone gives.
        """
        label = self._label
        label[places] = np.arange(len(places))
        first, second = label[edges.first], label[edges.second]
        group = np.empty(len(places), dtype=np.int64)
        for number, members in enumerate(groups):
            group[label[members]] = number
        label[places] = -1
        gain = _gain(first, second, edges.weight, group)
        chance = np.random.default_rng((self._seed, len(places), len(first)))
        runs = max(FEWEST_RANDOM_GRAPHS, min(MOST_RANDOM_GRAPHS, RANDOM_EDGES // len(first)))
        gains = []
        for _ in range(runs):
            ends = chance.permutation(np.concatenate([first, second])).reshape(2, -1)
            weight = chance.permutation(edges.weight)
            kept = ends[0] != ends[1]
            one, other, weight = ends[0][kept], ends[1][kept], weight[kept]
            if not len(weight):
                return True
            _, found = graspologic_native.leiden(
                _contracted(one, other, weight, len(places)),
                resolution=1.0,
                randomness=RANDOMNESS,
                iterations=ITERATIONS,
                seed=self._seed,
                trials=1,
            )
            random_group = np.array([found.get(str(place), -1 - place) for place in range(len(places))])
            gains.append(_gain(one, other, weight, np.unique(random_group, return_inverse=True)[1]))
        return gain > float(np.mean(gains) + SIGNIFICANT_DEVIATIONS * np.std(gains))

    def _joined(self, places: Places, edges: Edges) -> list[Places]:
        """Return the places that edges lead to from each other, in groups."""
        label = self._label
        label[places] = np.arange(len(places))
        lowest = _components(len(places), label[edges.first], label[edges.second])
        label[places] = -1
        return [places[lowest == one] for one in np.unique(lowest)]

    def _inside(self, groups: Sequence[Places], edges: Edges) -> list[Edges]:
        """Return the edges inside each group."""
        label = self._label
        for number, members in enumerate(groups):
            label[members] = number
        inside = np.flatnonzero(label[edges.first] == label[edges.second])
        order = inside[np.argsort(label[edges.first[inside]], kind="stable")]
        ends = np.searchsorted(label[edges.first[order]], np.arange(len(groups)), side="right")
        for members in groups:
            label[members] = -1
        return [Edges(edges.first[some], edges.second[some], edges.weight[some]) for some in np.split(order, ends[:-1])]


def _contracted(first: Places, second: Places, weight: NDArray[np.float64], count: int) -> list[tuple[str, str, float]]:
    """Write the edges between units as graspologic takes them, sorted.

    What is inside a unit has to count for its strength, and graspologic knows no loops: it becomes an edge to a node of its own,
    number of the unit plus `count`, that can be with nobody else.
    """
    inside = first == second
    one, other = np.minimum(first, second), np.where(inside, first + count, np.maximum(first, second))
    codes, place = np.unique(one * (2 * count) + other, return_inverse=True)
    total = np.bincount(place, weight, len(codes))
    ends = zip((codes // (2 * count)).tolist(), (codes % (2 * count)).tolist(), total.tolist(), strict=True)
    return [(str(a), str(b), w) for a, b, w in ends]


def _gain(first: Places, second: Places, weight: NDArray[np.float64], group: Places) -> float:
    """Modularity of a division, `group` saying where each place is."""
    total = float(weight.sum())
    inside = float(weight[group[first] == group[second]].sum())
    count = int(group.max()) + 1
    ends = np.bincount(group[first], weight, count) + np.bincount(group[second], weight, count)
    return inside / total - float(np.square(ends / (2 * total)).sum())


def _components(count: int, first: Places, second: Places) -> Places:
    """Return for each of `count` nodes the lowest node that edges lead to, over any number of edges."""
    lowest = np.arange(count)
    while True:
        smaller = np.minimum(lowest[first], lowest[second])
        found = lowest.copy()
        np.minimum.at(found, first, smaller)
        np.minimum.at(found, second, smaller)
        found = found[found]
        if (found == lowest).all():
            return lowest
        lowest = found
