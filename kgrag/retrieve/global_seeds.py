"""Map-reduce over communities: all that is written about a level is judged, and what has to do with the question becomes evidence.

This is the map, and the sorting and cutting of the reduce; the answer that is made of the evidence is the rest of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel
from kgrag.retrieve import prompts
from kgrag.retrieve.candidates import Candidate, best_first
from kgrag.retrieve.community_seeds import community_candidate, no_communities
from kgrag.retrieve.seeds import Found, cosine
from kgrag.retrieve.settings import GlobalSeeds
from kgrag.retrieve.state import Query, Resources
from kgrag.text.words import content_terms, share_said
from kgrag.types import Usage

__all__ = ["judge_communities"]

FULL_RELEVANCE = 100
Row = dict[str, Any]

POINTS = {
    "type": "array",
    "items": prompts.object_schema(
        point={"type": "string"},
        relevance={"type": "integer", "minimum": 0, "maximum": FULL_RELEVANCE},
        descriptions={"type": "array", "items": {"type": "integer"}},
    ),
}


async def judge_communities(resources: Resources, query: Query, settings: GlobalSeeds) -> Found:
    """Judge every community of a level, by the chat model in batches that are asked at once, or by likeness and words."""
    rows = await asyncio.to_thread(
        resources.store.search.read,
        "retrieve/communities_of_level",
        graph=resources.graph,
        vector=list(query.vector),
        level=settings.level,
    )
    if not rows:
        return Found({}, remarks=(no_communities(resources.graph),))
    if settings.without_model is not None and resources.chat is None:
        return _kept(_judged_by_words(rows, query.question), settings)
    if resources.chat is None:
        raise ValueError("seeds: global was made without a chat model")
    batches = list(_batches(rows, resources, settings.batch_tokens))
    judged = await asyncio.gather(*(_points(resources.chat, query.question, batch) for batch in batches))
    found = _kept([one for points, _, _ in judged for one in points], settings)
    usage = sum((usage for _, usage, _ in judged), Usage())
    return Found(found.candidates, usage=usage, remarks=tuple(wrong for _, _, wrong in judged if wrong))


def _judged_by_words(rows: Sequence[Row], question: str) -> list[Candidate]:
    """Score communities by the mean of their likeness, over the best one's, and the share of the question's words that they have."""
    best = max((cosine(row["similarity"]) for row in rows), default=0.0)
    asked = content_terms(question)
    found = []
    for row in rows:
        alike = max(cosine(row["similarity"]), 0.0)
        said = share_said(asked, content_terms(row["content"]))
        score = 0.5 * (alike / best if best > 0.0 else 0.0) + 0.5 * said
        why = f"community: relevance {round(FULL_RELEVANCE * score)} (likeness {alike:.2f}, words {said:.2f})"
        found.append(community_candidate(row, score, why))
    return found


async def _points(model: ChatModel, question: str, batch: Sequence[Row]) -> tuple[list[Candidate], Usage, str]:
    """Ask what a batch of communities says on the question."""
    try:
        reply = await model.reply(
            prompts.messages(
                prompts.MAP, question=question, descriptions=prompts.numbered([row["content"] for row in batch])
            ),
            schema=prompts.object_schema(points=POINTS),
        )
    except ModelReplyError as error:
        return [], error.usage, f"seeds: global: {len(batch)} communities could not be judged: {error}"
    points = reply.data.get("points", ()) if isinstance(reply.data, Mapping) else ()
    found = [one for point in points if (one := _candidate(point, batch, model.name)) is not None]
    return found, reply.usage, ""


def _candidate(point: Mapping[str, Any], batch: Sequence[Row], model: str) -> Candidate | None:
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


def _kept(candidates: Sequence[Candidate], settings: GlobalSeeds) -> Found:
    relevant = (one for one in candidates if one.score > 0.0)
    return Found({one.key: one for one in best_first(relevant)[: settings.points]})


def _batches(rows: Sequence[Row], resources: Resources, tokens: int) -> Iterator[list[Row]]:
    batch: list[Row] = []
    used = 0
    for row in rows:
        needed = resources.embedder.count_tokens(row["content"])
        if batch and used + needed > tokens:
            yield batch
            batch, used = [], 0
        batch.append(row)
        used += needed
    if batch:
        yield batch
