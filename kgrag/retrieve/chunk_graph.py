"""The graph of a store's chunks as a link predictor reads it."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from kgrag.link_prediction.graph import ChunkGraph, mutual_neighbours, nearest
from kgrag.link_prediction.options import Edges, TrainingOptions
from kgrag.retrieve.walk_graph import WalkGraph, walk_graph
from kgrag.store.graph import GraphStore
from kgrag.types import content_id

__all__ = ["StoredChunks", "stored_chunks"]

SHARED_BY_AT_MOST = 15
"""Chunks that have a name which joins them: one that more have says little, and makes hubs."""
MENTIONED_TOGETHER = 4
"""The same where none of the chunks is about what is named."""

Pairs = NDArray[np.intp]


@dataclass(frozen=True)
class StoredChunks:
    """Chunks with vectors, and what joins them."""

    ids: tuple[str, ...]
    """Sorted: the chunk of each node."""
    graph: ChunkGraph

    @property
    def digest(self) -> str:
        """Of the ids."""
        return content_id(*self.ids)


@dataclass
class _Kept:
    walked: WalkGraph
    by_edges: dict[tuple[tuple[Edges, ...], int], StoredChunks]


_kept: WeakKeyDictionary[GraphStore, dict[str, _Kept]] = WeakKeyDictionary()
_reading = threading.Lock()


def stored_chunks(store: GraphStore, graph: str, options: TrainingOptions) -> StoredChunks:
    """Return the chunks of a store, joined by the options' edges; names are those of a graph. Read once, and again after a build."""
    walked = walk_graph(store, graph)
    with _reading:
        by_graph = _kept.setdefault(store, {})
        if graph not in by_graph or by_graph[graph].walked is not walked:
            by_graph[graph] = _Kept(walked, {})
        known = by_graph[graph].by_edges
        if (options.edges, options.neighbours) not in known:
            known[options.edges, options.neighbours] = _read(store, walked, options)
        return known[options.edges, options.neighbours]


def _read(store: GraphStore, walked: WalkGraph, options: TrainingOptions) -> StoredChunks:
    ids, vectors = store.documents.vectors()
    place = {chunk: number for number, chunk in enumerate(ids)}
    # Chunks of the walk graph that have no vector yet are left out.
    node = np.array([place.get(chunk, -1) for chunk in walked.chunks], dtype=np.intp)
    adjacency = csr_array((len(ids), len(ids)), dtype=np.float32)
    for kind in options.edges:
        if kind == "nearest":
            edges = mutual_neighbours(nearest(vectors, options.neighbours))
        else:
            edges = _joined(_pairs(walked, kind, node), len(ids))
        adjacency = csr_array(adjacency.maximum(edges))
    return StoredChunks(tuple(ids), ChunkGraph(vectors, csr_array(adjacency, dtype=np.float32), len(ids)))


def _pairs(walked: WalkGraph, kind: Edges, node: Pairs) -> Pairs:
    if kind == "names":
        return _sharing(walked, node)
    ends = walked.hyperlinks if kind == "hyperlinks" else walked.adjacent
    return np.column_stack([node[ends[0]], node[ends[1]]])


def _sharing(walked: WalkGraph, node: Pairs) -> Pairs:
    """Return pairs of chunks that share a name: one is about it and few mention it, or very few mention it."""
    about, mentioning = _chunks_by_entity(walked.titles, node), _chunks_by_entity(walked.mentions, node)
    pairs: set[tuple[int, int]] = set()
    for entity in about.keys() | mentioning.keys():
        together = about[entity] | mentioning[entity]
        if len(together) > SHARED_BY_AT_MOST:
            continue
        pairs |= {(one, other) for one in about[entity] for other in mentioning[entity]}
        if len(together) <= MENTIONED_TOGETHER:
            pairs |= set(combinations(sorted(together), 2))
    return np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)


def _chunks_by_entity(edges: Sequence[NDArray[np.generic]], node: Pairs) -> defaultdict[int, set[int]]:
    found: defaultdict[int, set[int]] = defaultdict(set)
    ends: Iterable[tuple[int, int]] = zip(edges[0].tolist(), edges[1].tolist(), strict=True)
    for chunk, entity in ends:
        if node[chunk] >= 0:
            found[entity].add(int(node[chunk]))
    return found


def _joined(pairs: Pairs, size: int) -> csr_array:
    pairs = pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    return csr_array(coo_array((np.ones(len(ends), dtype=np.float32), ends.T), shape=(size, size))).sign()
