"""Personalised PageRank: where a walk often is that starts at what the question is linked to (HippoRAG 2, Gutiérrez et al., ICML 2025)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kgrag.retrieve.entity_seeds import LinkedEntity, link_entities
from kgrag.retrieve.rarity import rarity
from kgrag.retrieve.seeds import likeness
from kgrag.retrieve.settings import PageRankExpansion
from kgrag.retrieve.state import Resources, State
from kgrag.retrieve.walk_graph import WalkGraph, walk, walk_graph

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["RankByWalk", "reset_vector"]


@dataclass(frozen=True)
class RankByWalk:
    """The step: rank all chunks by a walk from linked entities, linked relations and the seeds."""

    settings: PageRankExpansion
    resources: Resources
    name: str = "expansion: pagerank"
    _transitions: dict[int, tuple[WalkGraph, csr_matrix]] = field(default_factory=dict, compare=False)

    async def __call__(self, state: State) -> State:
        """Link, walk, and mix the ranks with the scores."""
        linked = await link_entities(self.resources, state.query, nearest=self.settings.linked)
        ranks = await asyncio.to_thread(self._ranks, state, linked)
        if not ranks:
            return state
        best = max(ranks.values())
        order = sorted(ranks, key=lambda key: (-ranks[key], key))[: self.settings.candidates]
        new = [key for key in order if key not in state.candidates]
        rows = await asyncio.to_thread(
            self.resources.store.search.read, "retrieve/chunk_likeness", ids=new, vector=state.vector
        )
        candidates = {**state.candidates, **{row["id"]: state.candidate(likeness(row)) for row in rows}}
        weight = self.settings.weight
        for key, candidate in candidates.items():
            if candidate.is_chunk:
                rank = ranks.get(key, 0.0) / best
                score = (1.0 - weight) * candidate.score + weight * rank
                candidates[key] = candidate.scored(score, f"pagerank {rank:.2f}")
        return replace(state, candidates=candidates)

    def _ranks(self, state: State, linked: list[LinkedEntity]) -> dict[str, float]:
        """Walk: chunk ids with their ranks, those that the walk reaches."""
        graph = walk_graph(self.resources.store, self.resources.graph)
        reset = reset_vector(graph, state, linked, settings=self.settings)
        if not reset.any():
            return {}
        ranks = walk(self._matrix(graph), reset, damping=self.settings.damping)
        reached = np.flatnonzero(ranks[: len(graph.chunks)])
        return {graph.chunks[position]: float(ranks[position]) for position in reached}

    def _matrix(self, graph: WalkGraph) -> csr_matrix:
        """The transitions of this graph by these settings, made once for a graph."""
        kept = self._transitions.get(0)
        if kept is None or kept[0] is not graph:
            kept = (graph, graph.transitions(self.settings))
            self._transitions[0] = kept
        return kept[1]


def reset_vector(
    graph: WalkGraph, state: State, linked: list[LinkedEntity], *, settings: PageRankExpansion
) -> NDArray[np.float64]:
    """Say where the walk starts: shares of all nodes that sum to 1, or all 0 where nothing is linked.

    Entities count by their likeness and rarity, the ends of relations by the words that the relation shares with the question, chunks by
    their scores; each group together by its weight in the settings.
    """
    chunks = len(graph.chunks)
    entities = {one.key: one.likeness * rarity(one.mentions, chunks) for one in linked}
    heads, tails, _ = graph.relations
    names = (*graph.chunks, *graph.entities)
    ends: dict[str, float] = {}
    for position, score in graph.facts(state.query.question, settings.facts):
        for end in (names[heads[position]], names[tails[position]]):
            ends[end] = ends.get(end, 0.0) + score
    passages = {one.chunk_id: one.score for one in state.candidates.values() if one.is_chunk}
    reset = np.zeros(len(names))
    for group, weight in ((entities, settings.entities), (ends, settings.relations), (passages, settings.passages)):
        _add(reset, group, weight, graph.node)
    total = float(reset.sum())
    return reset / total if total > 0.0 else reset


def _add(reset: NDArray[np.float64], group: Mapping[str, float], weight: float, node: Mapping[str, int]) -> None:
    known = {key: score for key, score in group.items() if key in node and score > 0.0}
    total = sum(known.values())
    for key, score in known.items():
        reset[node[key]] += weight * score / total
