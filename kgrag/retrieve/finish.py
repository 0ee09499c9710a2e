"""The last steps: from ranked candidates to what is shown."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Literal

from kgrag.retrieve.arrangement import arranged
from kgrag.retrieve.budget import fitting
from kgrag.retrieve.candidates import Candidate, best_first
from kgrag.retrieve.near_duplicates import first_of_each
from kgrag.retrieve.state import Resources, State
from kgrag.store.rows import boxes_from_row
from kgrag.types import Evidence

__all__ = ["FETCHED_AT_LEAST", "Arrange", "FitBudget", "LeaveOutNearDuplicates", "ReadTexts"]

FETCHED_PER_SHOWN = 2
"""Candidates whose text is read for each piece that may be shown: room for near-duplicates and for what does not fit the budget."""
FETCHED_AT_LEAST = 60


@dataclass(frozen=True, slots=True)
class ReadTexts:
    """Read the texts of the best candidates, in order, and make evidence of them."""

    resources: Resources
    at_least: int = FETCHED_AT_LEAST
    name: str = "texts"

    async def __call__(self, state: State) -> State:
        """Rank and read."""
        ranking = best_first(state.candidates.values())
        best = ranking[: max(self.at_least, FETCHED_PER_SHOWN * (state.top or 0))]
        ids = list(dict.fromkeys(candidate.chunk_id for candidate in best if candidate.chunk_id))
        rows = await asyncio.to_thread(self.resources.store.search.read, "retrieve/chunks", ids=ids)
        by_id = {row["id"]: row for row in rows}
        pieces = (
            self._of_chunk(candidate, by_id[candidate.chunk_id])
            if candidate.chunk_id
            else self._of_community(candidate)
            for candidate in best
            if not candidate.chunk_id or candidate.chunk_id in by_id
        )
        places = {key: row["position"] for key, row in by_id.items()}
        return replace(state, evidence=tuple(pieces), places=places)

    def _of_chunk(self, candidate: Candidate, row: dict[str, Any]) -> Evidence:
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
            boxes=boxes_from_row(row),
            text=text,
            tokens=self.resources.embedder.count_tokens(text) if candidate.statement else row["tokens"],
            score=round(candidate.score, 6),
            why=candidate.why,
        )

    def _of_community(self, candidate: Candidate) -> Evidence:
        return Evidence(
            chunk_id=None,
            source_id=candidate.source,
            document=f"community of {self.resources.graph}",
            title=candidate.title,
            text=candidate.statement,
            tokens=self.resources.embedder.count_tokens(candidate.statement),
            score=round(candidate.score, 6),
            why=candidate.why,
        )


@dataclass(frozen=True, slots=True)
class LeaveOutNearDuplicates:
    """Leave out what says the same again."""

    threshold: float
    name: str = "near-duplicates"

    async def __call__(self, state: State) -> State:
        """Keep the first of each."""
        subjects = [
            frozenset(e.key for e in state.named if any(piece.chunk_id == chunk.chunk_id for chunk in e.chunks))
            for piece in state.evidence
        ]
        texts = [piece.text for piece in state.evidence]
        kept = first_of_each(texts, threshold=self.threshold, subjects=subjects)
        return replace(state, evidence=tuple(state.evidence[position] for position in kept))


@dataclass(frozen=True, slots=True)
class FitBudget:
    """Take as many pieces and tokens as may be shown."""

    name: str = "budget"

    async def __call__(self, state: State) -> State:
        """Cut."""
        return replace(state, evidence=tuple(fitting(state.evidence, top=state.top, tokens=state.tokens)))


@dataclass(frozen=True, slots=True)
class Arrange:
    """Put what is shown into another order than best first."""

    order: Literal["document", "ends"]

    @property
    def name(self) -> str:
        """With the order."""
        return f"order: {self.order}"

    async def __call__(self, state: State) -> State:
        """Arrange."""
        return replace(state, evidence=tuple(arranged(state.evidence, self.order, places=state.places)))
