"""The first steps: the question's vector, and the seeds of every kind that the pipeline has."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kgrag.retrieve.candidates import Candidate
from kgrag.retrieve.community_seeds import find_communities
from kgrag.retrieve.entity_seeds import find_entities
from kgrag.retrieve.families import families_in_question
from kgrag.retrieve.global_seeds import judge_communities
from kgrag.retrieve.names import named_in_question
from kgrag.retrieve.seeds import Found, find_seeds
from kgrag.retrieve.settings import CommunitySeeds, EntitySeeds, GlobalSeeds, Names, Seeds, SeedsOfAKind
from kgrag.retrieve.state import NamedEntity, Part, Query, Resources, State

__all__ = ["EmbedQuery", "FindSeeds"]


@dataclass(frozen=True, slots=True)
class EmbedQuery:
    """Embed what is looked for, the question and its parts at once."""

    resources: Resources
    name: str = "embed"

    async def __call__(self, state: State) -> State:
        """Fill in the vectors."""
        query = state.query
        vectors = (
            await self.resources.embedder.embed_queries([query.dense, *(part.text for part in query.parts)])
        ).tolist()
        parts = tuple(
            replace(part, vector=tuple(vector)) for part, vector in zip(query.parts, vectors[1:], strict=True)
        )
        return replace(state, query=replace(query, vector=tuple(vectors[0]), parts=parts))


@dataclass(frozen=True, slots=True)
class FindSeeds:
    """Find what the question finds by itself, and the entities that it names: all read at once."""

    seeds: tuple[SeedsOfAKind, ...]
    names: Names | None
    resources: Resources

    @property
    def name(self) -> str:
        """The kinds of seeds."""
        return f"seeds: {' + '.join(one.kind for one in self.seeds)}"

    async def __call__(self, state: State) -> State:
        """Read seeds and names, and join seeds of several kinds."""
        found, named = await asyncio.gather(
            asyncio.gather(*(self._find(one, state.query) for one in self.seeds)), self._named(state)
        )
        joined = joined_kinds([(kind.weight, one) for kind, one in zip(self.seeds, found, strict=True)])
        return replace(
            state,
            named=named,
            candidates=joined.candidates,
            score_per_cosine=joined.score_per_cosine,
            usage=sum((one.usage for one in found), state.usage),
            remarks=(*state.remarks, *(remark for one in found for remark in one.remarks)),
        )

    async def _named(self, state: State) -> tuple[NamedEntity, ...]:
        if self.names is None:
            return ()
        store, question, vector = self.resources.store, state.query.question, state.vector
        named, members = await asyncio.gather(
            named_in_question(store, question, vector, graph=self.resources.graph, settings=self.names),
            families_in_question(store, question, vector, graph=self.resources.graph, settings=self.names),
        )
        keys = {member.key for member in members}
        return (*members, *(entity for entity in named if entity.key not in keys))

    async def _find(self, settings: SeedsOfAKind, query: Query) -> Found:
        match settings:
            case Seeds():
                whole = Part(query.sparse, 1.0, query.vector)
                found = await asyncio.gather(
                    *(
                        find_seeds(
                            self.resources.store,
                            part.text,
                            list(part.vector),
                            settings,
                            keywords=query.keywords if part is whole else (),
                            boost=query.boost,
                        )
                        for part in (whole, *query.parts)
                    )
                )
                return joined_parts(found, query.parts)
            case EntitySeeds():
                return await find_entities(self.resources, query, settings)
            case CommunitySeeds():
                return await find_communities(self.resources, query, settings)
            case GlobalSeeds():
                return await judge_communities(self.resources, query, settings)


def joined_parts(found: Sequence[Found], parts: Sequence[Part]) -> Found:
    """Join what the question found with what its parts found, each times the part's weight: the best score of a chunk counts."""
    whole, *others = found
    candidates = dict(whole.candidates)
    for part, one in zip(parts, others, strict=True):
        for key, candidate in one.candidates.items():
            score = part.weight * candidate.score
            if key not in candidates or score > candidates[key].score:
                candidates[key] = candidate.scored(score, f"looked for: {part.text}")
    return Found(candidates, whole.score_per_cosine)


def joined_kinds(found: Iterable[tuple[float, Found]]) -> Found:
    """Add the scores of seeds of several kinds, each times the weight of its kind; first in all of them is 1."""
    kinds = list(found)
    if len(kinds) == 1:
        return kinds[0][1]
    total = sum(weight for weight, _ in kinds) or 1.0
    joined: dict[str, Candidate] = {}
    for weight, one in kinds:
        for key, candidate in one.candidates.items():
            share = weight / total * candidate.score
            known = joined.get(key)
            if known is None:
                joined[key] = replace(candidate, score=share)
            else:
                joined[key] = replace(
                    known.scored(known.score + share, *candidate.why), place=known.place or candidate.place
                )
    return Found(joined, sum(weight / total * one.score_per_cosine for weight, one in kinds))
