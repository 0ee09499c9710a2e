"""Expansion over links: from a seed to the chunks about what the seed mentions, and along its authors' hyperlinks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from kgrag.retrieve.scores import BEHIND, idf
from kgrag.retrieve.state import Candidate, Hit, Resources, State, hit_of
from kgrag.retrieve.step import Count, CountOrNone, Share, Step
from kgrag.store.search import HUB_MENTIONS, LinkRow
from kgrag.text.words import content_terms, share_said

__all__ = ["Link", "Links", "hand_on"]


class Links(Step):
    """Follow names and hyperlinks from seeds to the chunks that they lead to."""

    kind: Literal["links"] = "links"
    needs: ClassVar = ("seeds",)
    gives: ClassVar = ("candidates",)
    seeds: Count = 10
    """Seeds whose links are followed."""
    weight: Share
    """Share of a seed's score that a link by the rarest of names hands on."""
    entities: Count = 30
    """Names followed from one seed, rarest first."""
    common: Count = HUB_MENTIONS
    """A name that more chunks mention is followed no further."""
    chunks: Count = 10
    """Chunks that one name leads to, nearest to the question first."""
    hyperlinks: CountOrNone = 10
    """Hyperlinks followed from one seed, in reading order."""
    around: Share = 0.0
    """What a hyperlink's weight gains where the words around it have all of the question's; with fewer, in proportion."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Read where the best chunks lead, in one round trip, and hand scores on. What the question names is not followed."""
        rows = await asyncio.to_thread(
            resources.store.search.linked_chunks,
            graph=resources.graph,
            seeds=state.best_chunks(self.seeds),
            known=[entity.key for entity in state.named],
            vector=state.vector,
            entities=self.entities,
            limit=self.chunks,
            hyperlinks=self.hyperlinks,
            common=self.common,
        )
        asked = content_terms(state.query.question)
        links = [
            Link(
                seed=row["seed"],
                chunk=hit_of(chunk),
                weight=self._weight(row, asked, resources, rank),
                why=f"link: {'title mention of' if row['kind'] == 'mention' else 'hyperlink'} {row['name']}",
            )
            for row in rows
            for rank, chunk in enumerate(row["chunks"], start=1)
        ]
        return replace(state, candidates=hand_on(state, links, weight=self.weight))

    def _weight(self, row: LinkRow, asked: frozenset[str], resources: Resources, rank: int) -> float:
        """Weigh a link by how rare its name is and the chunk's rank among those that it leads to, and by what stands around it.

        Of what a name leads to, the chunk nearest to the question counts in full: a product has many, and one of them says what is asked
        for. The hyperlinks of a seed share its weight.
        """
        own = idf(row["mentions"], resources.chunks) / (rank if row["kind"] == "mention" else row["about"])
        return min(own + self.around * share_said(asked, content_terms(" ".join(row["said"]))), 1.0)


@dataclass(frozen=True, slots=True)
class Link:
    """A way from a seed to another chunk."""

    seed: str
    chunk: Hit
    weight: float
    """Between 0 and 1: by the idf of the name, over the chunk's rank among those about it, and by what stands around a hyperlink."""
    why: str


def hand_on(state: State, links: Sequence[Link], *, weight: float, by: str = "links") -> dict[str, Candidate]:
    """Hand a share of each seed's score on to the chunks that it leads to.

    A linked chunk adds the share to its own score, but never gets ahead of the seed through it: what a question finds by itself
    stays above what is only reached from there. Of several links the best counts. `by` is the kind of the step.
    """
    reached = dict(state.candidates)
    for link in sorted(links, key=lambda link: (link.seed, link.chunk.chunk_id, link.why)):
        seed = state.candidates[link.seed]
        own = state.candidate(link.chunk)
        score = max(own.score, min(own.score + weight * link.weight * seed.score, seed.score - BEHIND))
        if link.chunk.chunk_id not in reached or score > reached[link.chunk.chunk_id].score:
            reached[link.chunk.chunk_id] = own.scored(score, link.why, by=by)
    return reached
