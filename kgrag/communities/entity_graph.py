"""The weighted graph in which communities are found: who is near whom in meaning, blended with what the documents say about both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgrag.communities.similarity import Pairs

__all__ = ["Edges", "EntityGraph", "entity_graph", "relation_strength"]

Hashes = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_WEIGHT_STEPS = 1000
"""Weights are told apart by thousandths: the scores that they are made of have three decimals."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Undirected edges: edge i joins the places `first[i]` < `second[i]`; sorted, each pair once."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    weight: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """An undirected graph whose node i is the entity `keys[i]`; keys are sorted."""

    keys: tuple[str, ...]
    edges: Edges

    def strengths(self) -> NDArray[np.float64]:
        """Sum the weights at each entity: shape [len(keys)]."""
        n = len(self.keys)
        ends = np.bincount(self.edges.first, self.edges.weight, n) + np.bincount(
            self.edges.second, self.edges.weight, n
        )
        return ends.astype(np.float64)

    def surroundings(self) -> Hashes:
        """Hash each entity with its edges: shape [len(keys)]. Equal hashes mean the same neighbours with the same weights."""
        own = np.array([int(key[:16], 16) for key in self.keys], dtype=np.uint64)
        steps = np.rint(self.edges.weight * _WEIGHT_STEPS).astype(np.uint64)
        # Symmetric in the ends, so that an edge counts the same for both.
        edges = _mix(_mix(own[self.edges.first]) + _mix(own[self.edges.second]) + _mix(steps))
        found = _mix(own)
        np.add.at(found, self.edges.first, edges)
        np.add.at(found, self.edges.second, edges)
        return found


def entity_graph(
    keys: Sequence[str],
    similar: Pairs,
    *,
    related: Pairs,
    relation_weight: float,
    values: NDArray[np.bool_] | None = None,
) -> EntityGraph:
    """Blend: an edge weighs its similarity score plus `relation_weight` times the strength of the relations between both.

    `keys` are sorted, and both kinds of pairs are places in them. A weight of 0 leaves the relations out. An edge of 0 or less in all, as
    a cutoff below 0 gives, joins nobody. `values` says which entities
    are values (`is_value`): two of them are not joined, and each is joined only to the thing that it has the strongest edge to, so that a
    date or a voltage is where its thing is and brings no things together.
    """
    kinds = [similar] + ([related] if relation_weight else [])
    factors = [1.0, relation_weight]
    size = max(len(keys), 1)
    codes = np.concatenate([pairs.first * size + pairs.second for pairs in kinds])
    weights = np.concatenate([pairs.score * factor for pairs, factor in zip(kinds, factors, strict=False)])
    unique, place = np.unique(codes, return_inverse=True)
    total: NDArray[np.float64] = np.round(np.bincount(place, weights, len(unique)), 6)
    unique, total = unique[total > 0.0], total[total > 0.0]
    edges = Edges(unique // size, unique % size, total)
    return EntityGraph(tuple(keys), edges if values is None else _with_values_as_leaves(edges, values))


def _with_values_as_leaves(edges: Edges, values: NDArray[np.bool_]) -> Edges:
    first, second = values[edges.first], values[edges.second]
    value = np.where(first, edges.first, edges.second)
    # The strongest edge of each value comes first; of equal ones that of the lower place, as edges are sorted.
    order = np.lexsort((np.arange(len(value)), -edges.weight))
    order = order[(first ^ second)[order]]
    _, strongest = np.unique(value[order], return_index=True)
    kept = np.sort(np.concatenate([np.flatnonzero(~first & ~second), order[strongest]]))
    return Edges(edges.first[kept], edges.second[kept], edges.weight[kept])


def relation_strength(chunks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn the number of sayings between two entities into a strength in [0.5, 1): 1 saying 0.5, 2 two thirds, 9 nine tenths.

    It levels off, so that one table that repeats a pair does not outweigh everything else.
    """
    return np.asarray(chunks / (1.0 + chunks), dtype=np.float64)


def _mix(values: Hashes) -> Hashes:
    """Scatter 64-bit numbers (the finaliser of SplitMix64, Steele, Lea and Flood, OOPSLA 2014)."""
    with np.errstate(over="ignore"):
        z = values + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)
