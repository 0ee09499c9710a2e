"""Expansion over the graph as in the thesis: chunks that share a seed's entities, and the relations around these entities."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from kgrag.retrieve.scores import BEHIND
from kgrag.retrieve.state import Candidate, Resources, State, best_first, hit_of
from kgrag.retrieve.step import Count, CountOrNone, Share, Step
from kgrag.store.search import HUB_MENTIONS
from kgrag.store.search_rows import NeighbourhoodRow
from kgrag.text.words import content_terms, share_said

__all__ = ["GraphExpansion", "relation_text"]


class GraphExpansion(Step):
    """Expand seeds over entities and relations, as in the thesis."""

    kind: Literal["kg"] = "kg"
    needs: ClassVar = ("seeds",)
    gives: ClassVar = ("candidates",)
    seeds: Count = 8
    weight: Share = 0.5
    """Share of a seed's score that a chunk sharing all its entities gets."""
    entities: Count = 20
    """Entities of one seed, rarest first."""
    common: Count = HUB_MENTIONS
    """A name that more chunks mention is followed no further."""
    chunks: Count = 10
    """Chunks that share them, by the idf of what is shared."""
    neighbours: Count = 30
    """Relations of these entities to others, best supported first; as many again for the second hop."""
    hops: Literal[1, 2] = 2
    relations: CountOrNone = 10
    """Relations shown as evidence of their own."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Read the graph around the best chunks, in one round trip, and score what is there."""
        rows = await asyncio.to_thread(
            resources.store.search.graph_neighbourhood,
            graph=resources.graph,
            seeds=state.best_chunks(self.seeds),
            vector=state.vector,
            entities=self.entities,
            chunks=self.chunks,
            neighbours=self.neighbours,
            hops=self.hops,
            common=self.common,
        )
        reached = self._expanded(state, rows)
        return replace(state, candidates={candidate.key: candidate for candidate in reached})

    def _expanded(self, state: State, neighbourhood: Sequence[NeighbourhoodRow]) -> list[Candidate]:
        """Score related chunks and relations, and return them with the candidates.

        A related chunk adds to its own score the share of the seed's that its shared entities are of those of the best related chunk, by
        idf; a relation gets the share of the question's words that it has, halved for the second hop. Neither gets ahead of its seed.
        """
        reached = dict(state.candidates)
        statements: dict[tuple[str, str], Candidate] = {}
        asked = content_terms(state.query.question)
        for row in neighbourhood:
            seed = state.candidates[row["seed"]]
            most = max((chunk["weight"] for chunk in row["chunks"]), default=1.0)
            for chunk in row["chunks"]:
                own = state.candidate(hit_of(chunk))
                score = min(own.score + self.weight * seed.score * chunk["weight"] / most, seed.score - BEHIND)
                if chunk["id"] not in reached or score > reached[chunk["id"]].score:
                    why = f"graph: shares {counted_entities(chunk['shared'])} with a seed"
                    reached[chunk["id"]] = own.scored(max(score, own.score), why)
            for relation in row["relations"]:
                statement = relation_text(relation)
                overlap = share_said(asked, content_terms(statement))
                score = self.weight * seed.score * overlap / relation["hop"]
                key = (relation["chunk"], statement)
                if overlap and (key not in statements or score > statements[key].score):
                    why = f"graph: relation {relation['hop']} {'hop' if relation['hop'] == 1 else 'hops'} from a seed"
                    statements[key] = Candidate(relation["chunk"], score, (why,), statement=statement)
        return [*reached.values(), *best_first(statements.values())[: self.relations]]


def relation_text(relation: Mapping[str, Any]) -> str:
    """Write a relation as evidence: `head - TYPE -> tail: what a chunk says of it`."""
    said = f": {relation['description']}" if relation["description"] else ""
    return f"{relation['head']} - {relation['type']} -> {relation['tail']}{said}"


def counted_entities(count: int) -> str:
    """Write `1 entity`, `2 entities`."""
    return f"{count} {'entity' if count == 1 else 'entities'}"
