"""Communities: those nearest to the question, those of the seeds' entities, and all of a level, each judged (map-reduce)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from kgrag.common.parts import parts_within
from kgrag.errors import ModelReplyError, PipelineError
from kgrag.models.base import ChatModel
from kgrag.models.reply_schema import NUMBER, TEXT, list_of, object_of
from kgrag.retrieve import prompts
from kgrag.retrieve.scores import BEHIND, cosine
from kgrag.retrieve.state import Candidate, Query, Resources, Seeds, State, best_first, hit_of
from kgrag.retrieve.step import Count, CountOrNone, Model, ModelStep, Share, Step
from kgrag.retrieve.steps.kg import counted_entities
from kgrag.retrieve.steps.seeds import SeedStep
from kgrag.text.words import content_terms, share_said
from kgrag.types import Usage

__all__ = ["CommunityExpansion", "CommunitySeeds", "GlobalSeeds", "GlobalSimilarity"]

CHUNKS_BEHIND = 0.5
"""Share of its community's similarity in a chunk's score; the rest is its own."""
FULL_RELEVANCE = 100
POINTS = list_of(
    object_of(
        point=TEXT,
        relevance={**NUMBER, "minimum": 0, "maximum": FULL_RELEVANCE},
        descriptions=list_of(NUMBER),
    )
)

Level = Annotated[int, Field(ge=0, le=20)]
Row = Mapping[str, Any]


class _CommunitySeeds(SeedStep):
    """Seeds that are communities: a store without any has nothing for them."""

    def check(self, resources: Resources) -> None:
        """Refuse a graph without communities, with the command that makes them."""
        if resources.has_graph and not resources.store.search.has_communities(graph=resources.graph):
            raise PipelineError(f"the step {self.kind!r} looks for communities: {_no_communities(resources.graph)}.")


class CommunitySeeds(_CommunitySeeds):
    """The communities nearest to the question: what is written about them, and the chunks of their entities."""

    kind: Literal["community"] = "community"
    level: Level = 1
    """Finest level that is looked at, 0 the coarsest; a community that has none so fine stands for itself."""
    communities: Count = 5
    entities: Count = 25
    """Entities of one community, most mentioned first."""
    chunks: Count = 15
    """Chunks that mention these, nearest to the question first."""

    async def find(self, query: Query, resources: Resources) -> Seeds:
        """Find the communities nearest to the question's vector and the chunks of their entities, in two round trips."""
        vector = query.vector
        communities = await asyncio.to_thread(
            resources.store.search.nearest_communities,
            graph=resources.graph,
            vector=vector,
            level=self.level,
            limit=self.communities,
        )
        if not communities:
            return Seeds({}, remarks=(_no_communities(resources.graph),))
        rows = await asyncio.to_thread(
            resources.store.search.community_chunks,
            keys=[community["key"] for community in communities],
            vector=vector,
            entities=self.entities,
            chunks=self.chunks,
        )
        best = max(max(cosine(community["similarity"]) for community in communities), 1e-9)
        by_key = {community["key"]: community for community in communities}
        candidates: dict[str, Candidate] = {}
        for community in communities:
            similarity = max(cosine(community["similarity"]), 0.0)
            one = _candidate(community, similarity / best, f"community: similarity {similarity:.2f}")
            candidates[one.key] = one
        for row in sorted(rows, key=lambda row: str(row["key"])):
            community = by_key[row["key"]]
            behind = max(cosine(community["similarity"]), 0.0) / best
            for found in row["chunks"]:
                chunk = hit_of(found)
                score = CHUNKS_BEHIND * behind + (1.0 - CHUNKS_BEHIND) * max(chunk.cosine, 0.0) / best
                known = candidates.get(chunk.chunk_id)
                if known is None or score > known.score:
                    why = f"community: {found['shared']} entities of {community['label']}"
                    candidates[chunk.chunk_id] = Candidate(chunk.chunk_id, score, (why,), chunk.place)
        return Seeds(candidates, score_per_cosine=(1.0 - CHUNKS_BEHIND) / best)


class CommunityExpansion(Step):
    """Show what is written about the communities of the seeds' entities."""

    kind: Literal["communities"] = "communities"
    needs: ClassVar = ("seeds",)
    gives: ClassVar = ("candidates",)
    seeds: Count = 8
    weight: Share = 0.5
    """Share of a seed's score that its nearest community gets."""
    level: Level = 1
    """Finest level that is looked at, 0 the coarsest; an entity that is in none so fine has the finest that it is in."""
    entities: Count = 20
    """Entities of one seed, rarest first."""
    communities: CountOrNone = 10
    """Communities shown as evidence of their own, by the seeds that lead there and similarity to the question."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Read the communities of the best chunks, in one round trip."""
        rows = await asyncio.to_thread(
            resources.store.search.communities_of_seeds,
            graph=resources.graph,
            seeds=state.best_chunks(self.seeds),
            vector=state.vector,
            level=self.level,
            entities=self.entities,
        )
        if not rows and state.candidates:
            return state.remarked(f"{self.kind}: {_no_communities(resources.graph)}")
        communities = self._scored(state, rows)
        return replace(state, candidates={**state.candidates, **{one.key: one for one in communities}})

    def _scored(self, state: State, rows: Sequence[Row]) -> list[Candidate]:
        """Score communities: a share of the best seed's score, by the similarity of what is written about them; none gets ahead of it."""
        best = max((cosine(row["similarity"]) for row in rows), default=0.0)
        found: dict[str, Candidate] = {}
        for row in rows:
            seed = state.candidates[row["seed"]]
            similarity = max(cosine(row["similarity"]), 0.0) / best if best > 0.0 else 0.0
            score = min(self.weight * seed.score * similarity, seed.score - BEHIND)
            one = _candidate(row, score, f"community: {counted_entities(row['shared'])} of a seed")
            if score > 0.0 and (one.key not in found or score > found[one.key].score):
                found[one.key] = one
        return best_first(found.values())[: self.communities]


class _GlobalSeeds(_CommunitySeeds):
    """All communities of a level, each judged by how much it has to say on the question.

    This is the map, and the sorting and cutting of the reduce; the answer that is made of the evidence is the rest of it.
    """

    level: Level = 0
    points: Count = 50
    """What is kept, the most relevant first."""

    async def find(self, query: Query, resources: Resources) -> Seeds:
        """Judge every community of the level."""
        rows = await asyncio.to_thread(
            resources.store.search.communities_of_level,
            graph=resources.graph,
            vector=query.vector,
            level=self.level,
        )
        if not rows:
            return Seeds({}, remarks=(_no_communities(resources.graph),))
        found = await self._judged(rows, query, resources)
        relevant = best_first(one for one in found.candidates.values() if one.score > 0.0)
        return replace(found, candidates={one.key: one for one in relevant[: self.points]})

    async def _judged(self, rows: Sequence[Row], query: Query, resources: Resources) -> Seeds:
        raise NotImplementedError


class GlobalSimilarity(_GlobalSeeds):
    """All communities of a level by their similarity to the question and the words that they share with it."""

    kind: Literal["global_similarity"] = "global_similarity"

    async def _judged(self, rows: Sequence[Row], query: Query, resources: Resources) -> Seeds:
        """Score them by the mean of their similarity, over the best one's, and the share of the question's words that they have."""
        best = max((cosine(row["similarity"]) for row in rows), default=0.0)
        asked = content_terms(query.question)
        found = []
        for row in rows:
            similarity = max(cosine(row["similarity"]), 0.0)
            said = share_said(asked, content_terms(row["content"]))
            score = 0.5 * (similarity / best if best > 0.0 else 0.0) + 0.5 * said
            why = (
                f"community: relevance {round(FULL_RELEVANCE * score)} (similarity {similarity:.2f}, words {said:.2f})"
            )
            found.append(_candidate(row, score, why))
        return Seeds({one.key: one for one in best_first(found)[::-1]})


class GlobalSeeds(_GlobalSeeds, ModelStep):
    """What batches of a level's communities say on the question, by the chat model, in points with a relevance of 0 to 100."""

    kind: Literal["global"] = "global"
    asks: ClassVar[Model] = "a chat model"
    batch_tokens: Annotated[int, Field(ge=200, le=100_000)] = 4000
    """Of communities shown to the model at once."""
    without_model: Literal["global_similarity"] | None = None

    async def _judged(self, rows: Sequence[Row], query: Query, resources: Resources) -> Seeds:
        """Ask about all batches at once."""
        if resources.chat is None:
            raise ValueError(f"{self.kind} was run without a chat model")
        count_tokens = resources.embedder.count_tokens
        batches = parts_within(rows, lambda row: count_tokens(row["content"]), most=self.batch_tokens)
        judged = await asyncio.gather(*(self._points(resources.chat, query.question, batch) for batch in batches))
        points = best_first(one for found, _, _ in judged for one in found)
        return Seeds(
            {one.key: one for one in points[::-1]},
            usage=sum((usage for _, usage, _ in judged), Usage()),
            remarks=tuple(wrong for _, _, wrong in judged if wrong),
        )

    async def _points(
        self, model: ChatModel, question: str, batch: Sequence[Row]
    ) -> tuple[list[Candidate], Usage, str]:
        """Ask what a batch of communities says on the question."""
        try:
            reply = await model.reply(
                prompts.messages(
                    prompts.MAP, question=question, descriptions=prompts.numbered([row["content"] for row in batch])
                ),
                schema=object_of(points=POINTS),
            )
        except ModelReplyError as error:
            return [], error.usage, f"{self.kind}: {len(batch)} communities could not be judged: {error}"
        points = reply.data.get("points", ()) if isinstance(reply.data, Mapping) else ()
        found = [one for point in points if (one := _point(point, batch, model.name)) is not None]
        return found, reply.usage, ""


def _no_communities(graph: str) -> str:
    """Say that there is nothing to find, and what makes it."""
    return f"no community of graph {graph!r} was found: kgrag communities --graph {graph} makes them"


def _candidate(row: Row, score: float, *why: str) -> Candidate:
    """Make a candidate of what is written about a community (a row with `key`, `label`, `content`)."""
    return Candidate("", score, why, statement=row["content"], source=row["key"], title=row["label"] or "")


def _point(point: Row, batch: Sequence[Row], model: str) -> Candidate | None:
    """Make a candidate of a point that has any relevance and says which descriptions it is from."""
    rows = [batch[number - 1] for number in dict.fromkeys(point["descriptions"]) if 1 <= number <= len(batch)]
    relevance = min(max(int(point["relevance"]), 0), FULL_RELEVANCE)
    if not rows or relevance == 0 or not point["point"].strip():
        return None
    labels = ", ".join(row["label"] or row["key"] for row in rows)
    return Candidate(
        "",
        relevance / FULL_RELEVANCE,
        (f"community: relevance {relevance} by {model}, from {labels}",),
        statement=point["point"].strip(),
        source=",".join(row["key"] for row in rows),
        title=labels,
    )
