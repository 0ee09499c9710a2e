"""Expansion to communities: what is written about those that the seeds' entities are in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgrag.retrieve.candidates import Candidate, best_first
from kgrag.retrieve.community_seeds import community_candidate, no_communities
from kgrag.retrieve.links import BEHIND
from kgrag.retrieve.seeds import cosine
from kgrag.retrieve.settings import CommunityExpansion
from kgrag.retrieve.state import Resources, State

__all__ = ["AddCommunities", "score_communities"]


def score_communities(state: State, rows: Sequence[dict[str, Any]], settings: CommunityExpansion) -> list[Candidate]:
    """Score the communities that seeds lead to: a share of the best seed's score, by the likeness of what is written about them.

    A community never gets ahead of the seed that led to it.
    """
    best = max((cosine(row["similarity"]) for row in rows), default=0.0)
    found: dict[str, Candidate] = {}
    for row in rows:
        seed = state.candidates[row["seed"]]
        alike = max(cosine(row["similarity"]), 0.0) / best if best > 0.0 else 0.0
        score = min(settings.weight * seed.score * alike, seed.score - BEHIND)
        why = f"community: {row['shared']} {'entity' if row['shared'] == 1 else 'entities'} of a seed"
        one = community_candidate(row, score, why)
        if score > 0.0 and (one.key not in found or score > found[one.key].score):
            found[one.key] = one
    return best_first(found.values())[: settings.communities]


@dataclass(frozen=True, slots=True)
class AddCommunities:
    """The step: what is written about the communities of the best candidates' entities."""

    settings: CommunityExpansion
    resources: Resources
    name: str = "expansion: communities"

    async def __call__(self, state: State) -> State:
        """Read the communities of the best chunks, in one round trip."""
        rows = await asyncio.to_thread(
            self.resources.store.search.read,
            "retrieve/communities_of_seeds",
            graph=self.resources.graph,
            seeds=state.best_chunks(self.settings.seeds),
            vector=state.vector,
            level=self.settings.level,
            entities=self.settings.entities,
        )
        if not rows and state.candidates:
            return replace(state, remarks=(*state.remarks, f"{self.name}: {no_communities(self.resources.graph)}"))
        communities = score_communities(state, rows, self.settings)
        return replace(state, candidates={**state.candidates, **{one.key: one for one in communities}})
