"""Expansion over links: from a seed to the chunks about what the seed mentions, and along its authors' hyperlinks."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from kgrag.retrieve.scores import BEHIND, idf
from kgrag.retrieve.state import Candidate, Hit, Resources, State, hit_of
from kgrag.retrieve.step import Count, CountOrNone, Share, Step
from kgrag.store.search import HUB_MENTIONS
from kgrag.store.search_rows import LinkRow
from kgrag.text.words import content_terms

__all__ = ["Link", "Links", "hand_on", "said_around"]


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
    """Hyperlinks followed from one chunk, in reading order."""
    around: Share = 0.0
    """What a chunk gains that a hyperlink leads to, where the words around the link have all of the question's; with fewer, by their
    share."""
    linking: Count = 30
    """Candidates, best first, whose hyperlinks are read for what stands around them."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Read where chunks lead, in one round trip, and hand scores on. What the question names is not followed."""
        seeds = state.best_chunks(self.seeds)
        rows = await asyncio.to_thread(
            resources.store.search.linked_chunks,
            graph=resources.graph,
            seeds=seeds,
            linking=state.best_chunks(max(self.seeds, self.linking)) if self.around else seeds,
            known=[entity.key for entity in state.named],
            vector=state.vector,
            entities=self.entities,
            limit=self.chunks,
            hyperlinks=self.hyperlinks,
            common=self.common,
        )
        links = [
            Link(
                seed=row["seed"],
                chunk=hit_of(chunk),
                weight=_weight(row, resources, rank),
                why=f"link: {'title mention of' if row['kind'] == 'mention' else 'hyperlink'} {row['name']}",
            )
            for row in rows
            if row["seed"] in seeds
            for rank, chunk in enumerate(row["chunks"], start=1)
        ]
        state = replace(state, candidates=hand_on(state, links, weight=self.weight))
        hyperlinks = [row for row in rows if row["kind"] == "hyperlink"]
        return replace(state, candidates=said_around(state, hyperlinks, weight=self.around)) if self.around else state


def _weight(row: LinkRow, resources: Resources, rank: int) -> float:
    """Weigh a link by how rare its name is and the chunk's rank among those that it leads to.

    Of what a name leads to, the chunk nearest to the question counts in full: a product has many, and one of them says what is asked
    for. The hyperlinks of a seed share its weight.
    """
    return idf(row["mentions"], resources.chunks) / (rank if row["kind"] == "mention" else row["about"])


@dataclass(frozen=True, slots=True)
class Link:
    """A way from a seed to another chunk."""

    seed: str
    chunk: Hit
    weight: float
    """Between 0 and 1: by the idf of the name, over the chunk's rank among those about it; of a hyperlink over those of its seed."""
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


def said_around(state: State, rows: Sequence[LinkRow], *, weight: float) -> dict[str, Candidate]:
    """Add to the score of each chunk that hyperlinks lead to `weight` times the share of the question's words that stand around one.

    What authors write where they link says what the other chunk is about, in other words than its own. Each word counts by how few of
    the links have it around them (idf as BM25 has it); of several links to a chunk the best counts, however good the chunk is that has it.
    """
    asked = content_terms(state.query.question)
    around = [asked & content_terms(" ".join(row["said"])) for row in rows]
    having = Counter(term for said in around for term in said)
    weights = {term: math.log(1.0 + (len(rows) - having[term] + 0.5) / (having[term] + 0.5)) for term in sorted(asked)}
    best: dict[str, tuple[float, Hit, str]] = {}
    for row, said in zip(rows, around, strict=True):
        share = _share(said, weights)
        hit = hit_of(row["chunks"][0])
        if share > best.get(hit.chunk_id, (0.0,))[0]:
            best[hit.chunk_id] = share, hit, row["name"]
    reached = dict(state.candidates)
    for chunk_id, (share, hit, name) in best.items():
        own = state.candidate(hit)
        why = f"linked as {name} beside {share:.2f} of the question's words"
        reached[chunk_id] = own.scored(own.score + weight * share, why, by="links")
    return reached


def _share(said: frozenset[str], weights: Mapping[str, float]) -> float:
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in said) / total if total > 0.0 else 0.0
