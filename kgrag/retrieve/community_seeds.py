"""Seeds by communities: what is written about the nearest communities, and the chunks of their entities."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from kgrag.retrieve.candidates import Candidate
from kgrag.retrieve.seeds import Found, cosine, likeness
from kgrag.retrieve.settings import CommunitySeeds
from kgrag.retrieve.state import Query, Resources

__all__ = ["community_candidate", "find_communities", "no_communities"]

CHUNKS_BEHIND = 0.5
"""Share of its community's likeness in a chunk's score; the rest is its own."""


async def find_communities(resources: Resources, query: Query, settings: CommunitySeeds) -> Found:
    """Find the communities nearest to the question's vector and the chunks of their entities, in two round trips."""
    vector = list(query.vector)
    communities = await asyncio.to_thread(
        resources.store.search.read,
        "retrieve/nearest_communities",
        graph=resources.graph,
        vector=vector,
        level=settings.level,
        limit=settings.communities,
    )
    if not communities:
        return Found({}, remarks=(no_communities(resources.graph),))
    rows = await asyncio.to_thread(
        resources.store.search.read,
        "retrieve/community_chunks",
        keys=[community["key"] for community in communities],
        vector=vector,
        entities=settings.entities,
        chunks=settings.chunks,
    )
    best = max(max(cosine(community["similarity"]) for community in communities), 1e-9)
    by_key = {community["key"]: community for community in communities}
    candidates: dict[str, Candidate] = {}
    for community in communities:
        alike = max(cosine(community["similarity"]), 0.0)
        one = community_candidate(community, alike / best, f"community: likeness {alike:.2f}")
        candidates[one.key] = one
    for row in sorted(rows, key=lambda row: str(row["key"])):
        community = by_key[row["key"]]
        behind = max(cosine(community["similarity"]), 0.0) / best
        for found in row["chunks"]:
            chunk = likeness(found)
            score = CHUNKS_BEHIND * behind + (1.0 - CHUNKS_BEHIND) * max(chunk.cosine, 0.0) / best
            known = candidates.get(chunk.chunk_id)
            if known is None or score > known.score:
                why = f"community: {found['shared']} entities of {community['label']}"
                candidates[chunk.chunk_id] = Candidate(chunk.chunk_id, score, (why,), chunk.place)
    return Found(candidates, score_per_cosine=(1.0 - CHUNKS_BEHIND) / best)


def no_communities(graph: str) -> str:
    """Say that there is nothing to find, and what makes it."""
    return f"no community of graph {graph!r} was found: kgrag communities --graph {graph} makes them"


def community_candidate(row: Mapping[str, Any], score: float, *why: str) -> Candidate:
    """Make a candidate of what is written about a community (a row with `key`, `label`, `content`)."""
    return Candidate("", score, why, statement=row["content"], source=row["key"], title=row["label"] or "")
