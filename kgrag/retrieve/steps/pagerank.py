"""Personalised PageRank: where a walk often is that starts at what the question is linked to (HippoRAG 2, Gutiérrez et al., ICML 2025)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from kgrag.retrieve.scores import idf
from kgrag.retrieve.state import Resources, State, hit_of
from kgrag.retrieve.step import Count, Share, Step, Weight
from kgrag.retrieve.steps.entity import LinkedEntity, link_entities
from kgrag.retrieve.walk_graph import EdgeWeights, WalkGraph, walk, walk_graph

__all__ = ["PageRank", "reset_vector"]


class PageRank(Step):
    """Rank all chunks by a walk over the graph with the chunks as nodes, from linked entities, linked relations and the seeds."""

    kind: Literal["pagerank"] = "pagerank"
    needs: ClassVar = ("seeds",)
    gives: ClassVar = ("candidates",)
    weight: Share = 0.5
    """Of the rank in a candidate's score, beside `1 - weight` of what it had."""
    damping: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.5
    """Chance of walking on; 0.5 is HippoRAG's."""
    entities: Weight = 1.0
    """Reset weight of the entities that the question names or is near to, together."""
    relations: Weight = 1.0
    """Reset weight of the ends of the relations whose words the question has, together."""
    passages: Weight = 0.5
    """Reset weight of the seeds, by their scores, together."""
    linked: Count = 5
    """Entities nearest to the question that are linked, besides those that it names."""
    facts: Count = 10
    """Relations that are linked."""
    title: Weight = 2.0
    """Weight of the edge from an entity to a chunk about it."""
    mention: Weight = 1.0
    """Weight of the edge from an entity to a chunk that mentions it."""
    relation: Weight = 1.0
    """Weight of an edge between two related entities."""
    similar: Weight = 0.5
    """Weight of an edge between two similar entities, times their similarity."""
    adjacent: Weight = 0.25
    """Weight of the edge between a chunk and the next one."""
    hyperlink: Weight = 0.5
    """Weight of an author's hyperlink."""
    candidates: Count = 200
    """Chunks with the highest rank that become candidates."""

    @property
    def edge_weights(self) -> EdgeWeights:
        """The weights of the edges."""
        return EdgeWeights(**self.model_dump(include={*EdgeWeights._fields}))

    async def __call__(self, state: State, resources: Resources) -> State:
        """Link, walk, and mix the ranks with the scores."""
        linked = await link_entities(resources, state.query, nearest=self.linked)
        ranks = await asyncio.to_thread(self._ranks, state, resources, linked)
        if not ranks:
            return state
        best = max(ranks.values())
        order = sorted(ranks, key=lambda key: (-ranks[key], key))[: self.candidates]
        new = [key for key in order if key not in state.candidates]
        rows = await asyncio.to_thread(resources.store.search.chunk_similarity, ids=new, vector=state.vector)
        candidates = {**state.candidates, **{row["id"]: state.candidate(hit_of(row)) for row in rows}}
        for key, candidate in candidates.items():
            if candidate.is_chunk:
                rank = ranks.get(key, 0.0) / best
                score = (1.0 - self.weight) * candidate.score + self.weight * rank
                candidates[key] = candidate.scored(score, f"pagerank {rank:.2f}")
        return replace(state, candidates=candidates)

    def _ranks(self, state: State, resources: Resources, linked: list[LinkedEntity]) -> dict[str, float]:
        """Walk: chunk ids with their ranks, those that the walk reaches."""
        graph = walk_graph(resources.store, resources.graph)
        reset = reset_vector(graph, state, linked, settings=self)
        if not reset.any():
            return {}
        ranks = walk(graph.transitions(self.edge_weights), reset, damping=self.damping)
        reached = np.flatnonzero(ranks[: len(graph.chunks)])
        return {graph.chunks[position]: float(ranks[position]) for position in reached}


def reset_vector(
    graph: WalkGraph, state: State, linked: list[LinkedEntity], *, settings: PageRank
) -> NDArray[np.float64]:
    """Say where the walk starts: shares of all nodes that sum to 1, or all 0 where nothing is linked.

    Entities count by their similarity and idf, the ends of relations by the words that the relation shares with the question, chunks by
    their scores; each group together by its weight in the settings.
    """
    chunks = len(graph.chunks)
    entities = {one.key: one.similarity * idf(one.mentions, chunks) for one in linked}
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
