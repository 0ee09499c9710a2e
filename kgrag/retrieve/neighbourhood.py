"""Expansion over the graph as in the thesis: chunks that share a seed's entities, and the relations around these entities."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgrag.retrieve.candidates import Candidate, best_first
from kgrag.retrieve.links import BEHIND
from kgrag.retrieve.seeds import likeness
from kgrag.retrieve.settings import GraphExpansion
from kgrag.retrieve.state import Resources, State
from kgrag.store.graph import GraphStore
from kgrag.text.words import content_terms, share_said

__all__ = ["ExpandOverGraph", "expand_over_graph", "read_neighbourhood", "relation_text"]


async def read_neighbourhood(
    store: GraphStore, seeds: Sequence[str], vector: list[float], *, graph: str, settings: GraphExpansion
) -> list[dict[str, Any]]:
    """Read the graph around seeds, in one round trip: a row for each seed (`cypher/retrieve/graph_neighbourhood.cypher`)."""
    return await asyncio.to_thread(
        store.search.read,
        "retrieve/graph_neighbourhood",
        graph=graph,
        seeds=list(seeds),
        vector=vector,
        entities=settings.entities,
        chunks=settings.chunks,
        neighbours=settings.neighbours,
        hops=settings.hops,
    )


def expand_over_graph(
    state: State, neighbourhood: Sequence[dict[str, Any]], *, settings: GraphExpansion
) -> list[Candidate]:
    """Score related chunks and relations, and return them with the candidates.

    A related chunk adds to its own score the share of the seed's that its shared entities are of those of the best related chunk, by
    rarity; a relation gets the share of the question's words that it has, halved for the second hop. Neither gets ahead of its seed.
    """
    candidates = state.candidates
    reached = dict(candidates)
    statements: dict[tuple[str, str], Candidate] = {}
    asked = content_terms(state.query.question)
    for row in neighbourhood:
        seed = candidates[row["seed"]]
        most = max((chunk["rarity"] for chunk in row["chunks"]), default=1.0)
        for chunk in row["chunks"]:
            own = state.candidate(likeness(chunk))
            score = min(own.score + settings.weight * seed.score * chunk["rarity"] / most, seed.score - BEHIND)
            if chunk["id"] not in reached or score > reached[chunk["id"]].score:
                shared = (
                    f"graph: shares {chunk['shared']} {'entity' if chunk['shared'] == 1 else 'entities'} with a seed"
                )
                reached[chunk["id"]] = own.scored(max(score, own.score), shared)
        for relation in row["relations"]:
            statement = relation_text(relation)
            overlap = share_said(asked, content_terms(statement))
            score = settings.weight * seed.score * overlap / relation["hop"]
            key = (relation["chunk"], statement)
            if overlap and (key not in statements or score > statements[key].score):
                why = f"graph: relation {relation['hop']} {'hop' if relation['hop'] == 1 else 'hops'} from a seed"
                statements[key] = Candidate(relation["chunk"], score, (why,), statement=statement)
    return [*reached.values(), *best_first(statements.values())[: settings.relations]]


def relation_text(relation: Mapping[str, Any]) -> str:
    """Write a relation as evidence: `head - TYPE -> tail: what a chunk says of it`."""
    said = f": {relation['description']}" if relation["description"] else ""
    return f"{relation['head']} - {relation['type']} -> {relation['tail']}{said}"


@dataclass(frozen=True, slots=True)
class ExpandOverGraph:
    """The step: around the best candidates, chunks that share their entities, and relations of these."""

    settings: GraphExpansion
    resources: Resources
    name: str = "expansion: kg"

    async def __call__(self, state: State) -> State:
        """Read the graph around the best chunks and score what is there."""
        rows = await read_neighbourhood(
            self.resources.store,
            state.best_chunks(self.settings.seeds),
            state.vector,
            graph=self.resources.graph,
            settings=self.settings,
        )
        reached = expand_over_graph(state, rows, settings=self.settings)
        return replace(state, candidates={candidate.key: candidate for candidate in reached})
