"""Seeds by entities: what the question names or is near to, the chunks that mention it, and what relations say of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kgrag.retrieve.scores import cosine, idf
from kgrag.retrieve.state import Candidate, Query, Resources, Seeds, best_first, hit_of
from kgrag.retrieve.step import Count, CountOrNone
from kgrag.retrieve.steps.kg import relation_text
from kgrag.retrieve.steps.names import forms_of_sequences, names_said
from kgrag.retrieve.steps.seeds import SeedStep
from kgrag.store.search import HUB_MENTIONS
from kgrag.store.search_rows import ContextRow
from kgrag.text.words import content_terms, share_said

__all__ = ["EntitySeeds", "LinkedEntity", "link_entities"]

NEAR_CHUNKS = 200
NAMED_SIMILARITY = 1.0
"""What an entity that the question names counts, where one that is only near counts its cosine."""
RELATIONS_READ = 200
"""Of one entity, the best supported, where the question does not choose among them."""
SIMILARITY_SHARE = 0.5
"""Of a chunk's own similarity to the question in its score; the rest is of the entities that it mentions."""


class EntitySeeds(SeedStep):
    """The entities that the question names or is near to, with their relations and the chunks that mention them."""

    kind: Literal["entity"] = "entity"
    entities: Count = 10
    """Entities nearest to the question, by the graph's vector index; those that it names come besides."""
    common: Count = HUB_MENTIONS
    """Of a name that more chunks mention, chunks are found among those that are nearest to the question, and no relations."""
    chunks: Count = 30
    """Chunks that mention them, by the idf of what they mention and their similarity to the question."""
    relations: CountOrNone = 30
    """Relations of these entities shown as evidence of their own, those with the question's words first."""
    by: Literal["question", "support"] = "question"
    """Which relations are shown: those with the question's words; or, whatever it says, the best supported, so many between these
    entities and so many of them with others (Pazera, 2025: 12 of each)."""

    async def find(self, query: Query, resources: Resources) -> Seeds:
        """Find the chunks and relations of the entities that a question is linked to."""
        entities = await link_entities(resources, query, nearest=self.entities)
        if not entities:
            return Seeds({})
        hubs = any(entity.mentions > self.common for entity in entities)
        rows = await asyncio.to_thread(
            resources.store.search.entity_context,
            graph=resources.graph,
            keys=[entity.key for entity in entities],
            vector=query.vector,
            chunks=self.chunks,
            relations=max(self.relations, 1) if self.by == "question" else RELATIONS_READ,
            near=await _nearest(resources, query) if hubs else (),
            common=self.common,
        )
        weights = {entity.key: entity.similarity * idf(entity.mentions, resources.chunks) for entity in entities}
        names = {entity.key: entity.name for entity in entities}
        chunks = _chunks(rows, weights, names)[: self.chunks]
        best = max((weights[row["key"]] for row in rows), default=0.0)
        if self.by == "support":
            relations = _supported(rows, weights, names, best, most=self.relations)
        else:
            relations = _relations(rows, weights, names, best, asked=content_terms(query.question))[: self.relations]
        return Seeds({one.key: one for one in (*chunks, *relations)}, score_per_cosine=SIMILARITY_SHARE)


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """An entity that a question is linked to."""

    key: str
    name: str
    mentions: int
    similarity: float
    """1 where the question names it, else the cosine of their vectors."""


async def link_entities(resources: Resources, query: Query, *, nearest: int) -> list[LinkedEntity]:
    """Link a question, its keywords included, to entities: those that it names, and the `nearest` by vector. Most similar first."""
    if not resources.has_graph:
        return []
    said = " . ".join((query.question, *query.keywords))
    rows = await asyncio.to_thread(
        resources.store.search.linked_entities,
        graph=resources.graph,
        vector=query.vector,
        limit=nearest,
        candidates=resources.store.search.candidates(nearest),
        normals=forms_of_sequences(said),
    )
    named = names_said(said, rows)
    linked: dict[str, LinkedEntity] = {}
    for row in rows:
        similarity = NAMED_SIMILARITY if row["normal"] in named else max(cosine(row["similarity"]), 0.0)
        known = linked.get(row["key"])
        if similarity > 0.0 and (known is None or similarity > known.similarity):
            linked[row["key"]] = LinkedEntity(row["key"], row["name"], row["mentions"] or 0, similarity)
    return sorted(linked.values(), key=lambda entity: (-entity.similarity, entity.key))


async def _nearest(resources: Resources, query: Query) -> list[str]:
    """Return the ids of the chunks nearest to a question, among which those of hubs are looked for."""
    rows = await asyncio.to_thread(
        resources.store.search.dense_seeds,
        vector=query.vector,
        limit=NEAR_CHUNKS,
        candidates=NEAR_CHUNKS,
    )
    return [row["id"] for row in rows]


def _chunks(rows: Sequence[ContextRow], weights: dict[str, float], names: dict[str, str]) -> list[Candidate]:
    """Score chunks by the weight of the entities that they mention, over that of the best, and by their own similarity."""
    mentioned: dict[str, list[str]] = {}
    hits = {}
    for row in rows:
        for chunk in row["chunks"]:
            mentioned.setdefault(chunk["id"], []).append(row["key"])
            hits[chunk["id"]] = hit_of(chunk)
    sums = {chunk: sum(weights[key] for key in keys) for chunk, keys in mentioned.items()}
    most = max(sums.values(), default=0.0) or 1.0
    return best_first(
        Candidate(
            chunk,
            SIMILARITY_SHARE * max(hits[chunk].cosine, 0.0) + (1.0 - SIMILARITY_SHARE) * sums[chunk] / most,
            tuple(f"entity: {name}" for name in sorted(names[key] for key in mentioned[chunk])),
            hits[chunk].place,
        )
        for chunk in mentioned
    )


def _relations(
    rows: Sequence[ContextRow],
    weights: dict[str, float],
    names: dict[str, str],
    best: float,
    *,
    asked: frozenset[str],
) -> list[Candidate]:
    """Score relations by the weight of their entity and the share of the question's words that they have."""
    found: dict[str, Candidate] = {}
    for row in rows:
        for relation in row["relations"]:
            text = relation_text(relation)
            score = weights[row["key"]] / (best or 1.0) * share_said(asked, content_terms(text))
            one = Candidate(relation["chunk"], score, (f"entity: a relation of {names[row['key']]}",), statement=text)
            if score > 0.0 and (one.key not in found or score > found[one.key].score):
                found[one.key] = one
    return best_first(found.values())


def _supported(
    rows: Sequence[ContextRow], weights: dict[str, float], names: dict[str, str], best: float, *, most: int
) -> list[Candidate]:
    """Take the best supported relations, `most` between these entities and `most` of them with others, scored by their entity's weight."""
    found: dict[str, tuple[int, bool, Candidate]] = {}
    for row in rows:
        for relation in row["relations"]:
            inside = relation["head"] in names.values() and relation["tail"] in names.values()
            why = f"entity: a relation of {names[row['key']]}, said {relation['weight']}x"
            score = weights[row["key"]] / (best or 1.0)
            one = Candidate(relation["chunk"], score, (why,), statement=relation_text(relation))
            if one.key not in found or score > found[one.key][2].score:
                found[one.key] = (relation["weight"], inside, one)
    ordered = sorted(found.values(), key=lambda one: (-one[0], one[2].key))
    return [one for within in (True, False) for _, _, one in [some for some in ordered if some[1] is within][:most]]
