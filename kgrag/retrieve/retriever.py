"""A question → evidence: seeds, names, expansion, ranking, budget, each as the pipeline says."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from kgrag.errors import InputError
from kgrag.models.base import Embedder
from kgrag.retrieve.adjacent import support_adjacent
from kgrag.retrieve.budget import fitting
from kgrag.retrieve.candidates import Candidate, best_first
from kgrag.retrieve.links import hand_on, read_links
from kgrag.retrieve.names import NamedEntity, named_in_question, prefer_named
from kgrag.retrieve.near_duplicates import first_of_each
from kgrag.retrieve.neighbourhood import expand_over_graph, read_neighbourhood
from kgrag.retrieve.pipeline import GraphExpansion, LinkExpansion, Pipeline
from kgrag.retrieve.seeds import Found, find_seeds
from kgrag.store.graph import GraphStore
from kgrag.types import Evidence

__all__ = ["Retriever"]

FETCHED_PER_SHOWN = 2
"""Candidates whose text is read for each piece that may be shown: room for near-duplicates and for what does not fit the budget."""
FETCHED_AT_LEAST = 60


class Retriever:
    """Finds evidence in a store by one pipeline. Safe to use concurrently from one event loop."""

    def __init__(self, store: GraphStore, embedder: Embedder, pipeline: Pipeline) -> None:
        self.store = store
        self.embedder = embedder
        self.pipeline = pipeline

    async def retrieve(self, question: str, *, top: int | None = None, budget: int | None = None) -> list[Evidence]:
        """Find evidence for a question, best first.

        `top` (pieces) and `budget` (tokens) replace the pipeline's own limits: where one is given, only that one holds. Raises
        `InputError` for an empty question or a limit below 1, `StoreUnavailable` and `ModelError` where these fail.
        """
        if not question.strip():
            raise InputError("Expected a question, got an empty text.")
        for name, limit in (("top", top), ("budget", budget)):
            if limit is not None and limit < 1:
                raise InputError(f"Expected {name} to be at least 1, got {limit}.")
        if top is None and budget is None:
            top, budget = self.pipeline.context.top, self.pipeline.context.tokens
        vector = (await self.embedder.embed_queries([question]))[0].tolist()
        found, named = await self._find(question, vector)
        ranking = best_first(await self._expand(question, vector, found, named))
        shown = ranking[: max(FETCHED_AT_LEAST, FETCHED_PER_SHOWN * (top or 0))]
        evidence = await self._evidence(shown)
        subjects = [
            frozenset(e.key for e in named if any(piece.chunk_id == chunk.chunk_id for chunk in e.chunks))
            for piece in evidence
        ]
        texts = [piece.text for piece in evidence]
        kept = first_of_each(texts, threshold=self.pipeline.context.near_duplicate, subjects=subjects)
        return fitting((evidence[position] for position in kept), top=top, tokens=budget)

    async def _find(self, question: str, vector: list[float]) -> tuple[Found, list[NamedEntity]]:
        """Find seeds and names at once."""
        pipeline = self.pipeline
        seeds = find_seeds(self.store, question, vector, pipeline.seeds)
        if pipeline.names is None:
            return await seeds, []
        names = named_in_question(self.store, question, vector, graph=pipeline.graph, settings=pipeline.names)
        found, named = await asyncio.gather(seeds, names)
        return found, named

    async def _expand(
        self, question: str, vector: list[float], found: Found, named: Sequence[NamedEntity]
    ) -> list[Candidate]:
        """Prefer what the question names, then follow links or the graph from the best seeds."""
        candidates = dict(found.candidates)
        if self.pipeline.names is not None:
            candidates = prefer_named(found, named, weight=self.pipeline.names.weight)
        if self.pipeline.adjacent is not None:
            candidates = support_adjacent(candidates, weight=self.pipeline.adjacent.weight)
        match self.pipeline.expansion:
            case None:
                return list(candidates.values())
            case LinkExpansion() as settings:
                links = await read_links(
                    self.store,
                    [seed.chunk_id for seed in best_first(candidates.values())[: settings.seeds]],
                    vector,
                    graph=self.pipeline.graph,
                    known=[entity.key for entity in named],
                    chunks=self._chunks,
                    settings=settings,
                )
                return list(hand_on(candidates, links, found, weight=settings.weight).values())
            case GraphExpansion() as settings:
                seeds = [seed.chunk_id for seed in best_first(candidates.values())[: settings.seeds]]
                rows = await read_neighbourhood(self.store, seeds, vector, graph=self.pipeline.graph, settings=settings)
                return expand_over_graph(candidates, rows, found, question=question, settings=settings)

    async def _evidence(self, candidates: Sequence[Candidate]) -> list[Evidence]:
        """Read the chunks of candidates and make evidence of them, in order."""
        ids = list(dict.fromkeys(candidate.chunk_id for candidate in candidates))
        rows = {row["id"]: row for row in await asyncio.to_thread(self.store.read, "retrieve/chunks", ids=ids)}
        return [
            self._piece(candidate, rows[candidate.chunk_id]) for candidate in candidates if candidate.chunk_id in rows
        ]

    def _piece(self, candidate: Candidate, row: dict[str, Any]) -> Evidence:
        text = candidate.statement or row["prompted"]
        return Evidence(
            chunk_id=candidate.chunk_id,
            source_id=row["source_id"],
            document=row["document_title"] if row["format"] == "jsonl" and row["document_title"] else row["path"],
            document_id=row["document_id"],
            title=row["title"] or "",
            section=row["section"] or "",
            anchors=tuple(row["anchors"] or ()),
            page_start=row["page_start"],
            page_end=row["page_end"],
            text=text,
            tokens=self.embedder.count_tokens(text) if candidate.statement else row["tokens"],
            score=round(candidate.score, 6),
            why=candidate.why,
        )

    @cached_property
    def _chunks(self) -> int:
        """How many chunks the store has. Only rarity uses it, so that it may be a little out of date does no harm."""
        return self.store.count_chunks()
