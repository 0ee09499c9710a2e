"""Seeds by entities: what the question names or is near to, the chunks that mention it, and what relations say of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgrag.retrieve.candidates import Candidate, best_first
from kgrag.retrieve.names import forms_of_sequences, names_said
from kgrag.retrieve.neighbourhood import relation_text
from kgrag.retrieve.rarity import rarity
from kgrag.retrieve.seeds import INDEX_OVERSAMPLING, Found, cosine, likeness
from kgrag.retrieve.settings import EntitySeeds
from kgrag.retrieve.state import Query, Resources
from kgrag.store.schema import entity_vector_index
from kgrag.text.words import content_terms, share_said

__all__ = ["LinkedEntity", "find_entities", "link_entities"]

NAMED_LIKENESS = 1.0
"""What an entity that the question names counts, where one that is only near counts its cosine."""
LIKENESS_SHARE = 0.5
"""Of a chunk's own likeness to the question in its score; the rest is of the entities that it mentions."""


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """An entity that a question is linked to."""

    key: str
    name: str
    mentions: int
    likeness: float
    """1 where the question names it, else the cosine of their vectors."""


async def link_entities(resources: Resources, query: Query, *, nearest: int) -> list[LinkedEntity]:
    """Link a question, its keywords included, to entities: those that it names, and the `nearest` by vector. Most alike first."""
    if not resources.has_graph:
        return []
    said = " . ".join((query.question, *query.keywords))
    rows = await asyncio.to_thread(
        resources.store.search.read,
        "retrieve/linked_entities",
        graph=resources.graph,
        index=entity_vector_index(resources.graph),
        vector=list(query.vector),
        limit=nearest,
        candidates=nearest * INDEX_OVERSAMPLING,
        normals=forms_of_sequences(said),
    )
    named = names_said(said, rows)
    linked: dict[str, LinkedEntity] = {}
    for row in rows:
        alike = NAMED_LIKENESS if row["normal"] in named else max(cosine(row["similarity"]), 0.0)
        known = linked.get(row["key"])
        if alike > 0.0 and (known is None or alike > known.likeness):
            linked[row["key"]] = LinkedEntity(row["key"], row["name"], row["mentions"] or 0, alike)
    return sorted(linked.values(), key=lambda entity: (-entity.likeness, entity.key))


async def find_entities(resources: Resources, query: Query, settings: EntitySeeds) -> Found:
    """Find the chunks and relations of the entities that a question is linked to."""
    entities = await link_entities(resources, query, nearest=settings.entities)
    if not entities:
        return Found({})
    rows = await asyncio.to_thread(
        resources.store.search.read,
        "retrieve/entity_context",
        graph=resources.graph,
        keys=[entity.key for entity in entities],
        vector=list(query.vector),
        chunks=settings.chunks,
        relations=max(settings.relations, 1),
    )
    weights = {entity.key: entity.likeness * rarity(entity.mentions, resources.chunks) for entity in entities}
    names = {entity.key: entity.name for entity in entities}
    chunks = _chunks(rows, weights, names)[: settings.chunks]
    best = max((weights[row["key"]] for row in rows), default=0.0)
    relations = _relations(rows, weights, names, best, asked=content_terms(query.question))[: settings.relations]
    return Found({one.key: one for one in (*chunks, *relations)}, score_per_cosine=LIKENESS_SHARE)


def _chunks(rows: Sequence[dict[str, Any]], weights: dict[str, float], names: dict[str, str]) -> list[Candidate]:
    """Score chunks by the weight of the entities that they mention, over that of the best, and by their own likeness."""
    mentioned: dict[str, list[str]] = {}
    alike = {}
    for row in rows:
        for chunk in row["chunks"]:
            mentioned.setdefault(chunk["id"], []).append(row["key"])
            alike[chunk["id"]] = likeness(chunk)
    sums = {chunk: sum(weights[key] for key in keys) for chunk, keys in mentioned.items()}
    most = max(sums.values(), default=0.0) or 1.0
    return best_first(
        Candidate(
            chunk,
            LIKENESS_SHARE * max(alike[chunk].cosine, 0.0) + (1.0 - LIKENESS_SHARE) * sums[chunk] / most,
            tuple(f"entity: {name}" for name in sorted(names[key] for key in mentioned[chunk])),
            alike[chunk].place,
        )
        for chunk in mentioned
    )


def _relations(
    rows: Sequence[dict[str, Any]],
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
