"""Expansion over links: from a seed to the chunks about what the seed mentions, and along its authors' hyperlinks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgrag.retrieve.candidates import Candidate
from kgrag.retrieve.rarity import rarity
from kgrag.retrieve.seeds import likeness
from kgrag.retrieve.settings import LinkExpansion
from kgrag.retrieve.state import Likeness, Resources, State
from kgrag.store.graph import GraphStore

__all__ = ["FollowLinks", "Link", "hand_on", "read_links"]

BEHIND = 1e-6
"""How far a linked chunk stays behind the seed that led to it."""


@dataclass(frozen=True, slots=True)
class Link:
    """A way from a seed to another chunk."""

    seed: str
    chunk: Likeness
    weight: float
    """Between 0 and 1: by the rarity of the name, shared among the chunks that are about it."""
    why: str


async def read_links(
    store: GraphStore,
    seeds: Sequence[str],
    vector: list[float],
    *,
    graph: str,
    known: Sequence[str],
    chunks: int,
    settings: LinkExpansion,
) -> list[Link]:
    """Read where seeds lead, in one round trip. Entities whose key is `known` (the question names them) are not followed."""
    rows = await asyncio.to_thread(
        store.search.read,
        "retrieve/linked_chunks",
        graph=graph,
        seeds=list(seeds),
        known=list(known),
        vector=vector,
        entities=settings.entities,
        limit=settings.chunks,
        hyperlinks=settings.hyperlinks,
    )
    return [
        Link(
            seed=row["seed"],
            chunk=likeness(chunk),
            weight=rarity(row["mentions"], chunks) / row["about"],
            why=f"link: {'title mention of' if row['kind'] == 'mention' else 'hyperlink'} {row['name']}",
        )
        for row in rows
        for chunk in row["chunks"]
    ]


def hand_on(state: State, links: Sequence[Link], *, weight: float) -> dict[str, Candidate]:
    """Hand a share of each seed's score on to the chunks that it leads to.

    A linked chunk adds the share to its own score, but never gets ahead of the seed through it: what a question finds by itself
    stays above what is only reached from there. Of several links the best counts.
    """
    reached = dict(state.candidates)
    for link in sorted(links, key=lambda link: (link.seed, link.chunk.chunk_id, link.why)):
        seed = state.candidates[link.seed]
        own = state.candidate(link.chunk)
        score = max(own.score, min(own.score + weight * link.weight * seed.score, seed.score - BEHIND))
        if link.chunk.chunk_id not in reached or score > reached[link.chunk.chunk_id].score:
            reached[link.chunk.chunk_id] = own.scored(score, link.why)
    return reached


@dataclass(frozen=True, slots=True)
class FollowLinks:
    """The step: from the best candidates to the chunks about what they mention, and along hyperlinks."""

    settings: LinkExpansion
    resources: Resources
    name: str = "expansion: links"

    async def __call__(self, state: State) -> State:
        """Read links of the best chunks and hand scores on."""
        links = await read_links(
            self.resources.store,
            state.best_chunks(self.settings.seeds),
            state.vector,
            graph=self.resources.graph,
            known=[entity.key for entity in state.named],
            chunks=self.resources.chunks,
            settings=self.settings,
        )
        return replace(state, candidates=hand_on(state, links, weight=self.settings.weight))
