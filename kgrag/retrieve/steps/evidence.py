"""From ranked candidates to what is shown: texts read, cut to the budget, arranged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from kgrag.retrieve.state import Candidate, Resources, State, best_first
from kgrag.retrieve.step import Count, Step
from kgrag.store.rows import boxes_from_row
from kgrag.types import Citation, Evidence

__all__ = ["Arrange", "Budget", "Read", "arranged", "evidence_of_chunk", "fitting"]

READ_PER_SHOWN = 2
"""Candidates whose text is read for each piece that may be shown: room for near-duplicates and for what does not fit the budget."""


class Read(Step):
    """Rank the candidates and read the texts of the best."""

    kind: Literal["read"] = "read"
    needs: ClassVar = ("candidates",)
    gives: ClassVar = ("evidence",)
    pieces: Count = 60
    """How many are read at least."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Read them, and make evidence of them."""
        ranking = best_first(state.candidates.values())
        best = ranking[: max(self.pieces, READ_PER_SHOWN * (state.top or 0))]
        ids = list(dict.fromkeys(candidate.chunk_id for candidate in best if candidate.chunk_id))
        rows = await asyncio.to_thread(resources.store.search.chunks, ids=ids)
        by_id = {row["id"]: row for row in rows}
        written = [candidate for candidate in best if not candidate.chunk_id]
        cited = await asyncio.to_thread(_cited_by_communities, written, resources) if written else {}
        pieces = (
            evidence_of_chunk(candidate, by_id[candidate.chunk_id], resources)
            if candidate.chunk_id
            else _of_community(candidate, resources, cited)
            for candidate in best
            if not candidate.chunk_id or candidate.chunk_id in by_id
        )
        places = {key: row["position"] for key, row in by_id.items()}
        return replace(state, evidence=tuple(pieces), places=places)


class Budget(Step):
    """Take as many pieces and tokens as may be shown; what the caller asks for takes the place of both numbers."""

    kind: Literal["budget"] = "budget"
    needs: ClassVar = ("evidence",)
    gives: ClassVar = ("shown",)
    top: Count = 20
    tokens: Annotated[int, Field(ge=1)] | None = None
    """A piece that does not fit any more is left out and the next one tried."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Cut."""
        return replace(state, evidence=tuple(fitting(state.evidence, top=state.top, tokens=state.tokens)))


class Arrange(Step):
    """Put what is shown into another order than best first."""

    kind: Literal["arrange"] = "arrange"
    needs: ClassVar = ("shown",)
    gives: ClassVar = ("shown",)
    order: Literal["document", "ends"]
    """In reading order document by document, or the best at both ends."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Arrange."""
        return replace(state, evidence=tuple(arranged(state.evidence, self.order, places=state.places)))


def fitting(evidence: Iterable[Evidence], *, top: int | None, tokens: int | None) -> list[Evidence]:
    """Take evidence, best first, up to `top` pieces and `tokens` tokens: a piece that does not fit any more is left out, the next tried."""
    taken: list[Evidence] = []
    used = 0
    for piece in evidence:
        if top is not None and len(taken) >= top:
            break
        if tokens is None or used + piece.tokens <= tokens:
            taken.append(piece)
            used += piece.tokens
    return taken


def arranged(
    evidence: Sequence[Evidence], order: Literal["document", "ends"], *, places: Mapping[str, int]
) -> list[Evidence]:
    """Arrange evidence that comes best first; `places` are the positions of chunks in their documents.

    `document`: the pieces of one document together in reading order, documents by their best piece. `ends`: the best pieces first and
    last, the weakest in the middle, where models read least carefully (Liu et al., Lost in the Middle, TACL 2024).
    """
    if order == "ends":
        return [*evidence[::2], *reversed(evidence[1::2])]
    first: dict[str, int] = {}
    for place, piece in enumerate(evidence):
        first.setdefault(piece.document_id or piece.source_id, place)
    return sorted(
        evidence,
        key=lambda piece: (
            first[piece.document_id or piece.source_id],
            places.get(piece.chunk_id or "", 0),
            -piece.score,
        ),
    )


def evidence_of_chunk(candidate: Candidate, row: Mapping[str, Any], resources: Resources) -> Evidence:
    """Make evidence of a candidate and the row of its chunk."""
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
        tokens=resources.embedder.count_tokens(text) if candidate.statement else row["tokens"],
        score=round(candidate.score, 6),
        why=candidate.why,
    )


def _cited_by_communities(candidates: Sequence[Candidate], resources: Resources) -> dict[str, tuple[Citation, ...]]:
    """What is cited in what is written about communities, which these candidates are, by their keys."""
    keys = sorted({key for one in candidates for key in one.source.split(",")})
    rows = resources.store.search.community_citations(keys=keys)
    return {
        row["key"]: tuple(Citation.model_validate(one) for one in json.loads(row["citations"] or "[]")) for row in rows
    }


def _of_community(candidate: Candidate, resources: Resources, cited: Mapping[str, tuple[Citation, ...]]) -> Evidence:
    return Evidence(
        chunk_id=None,
        source_id=candidate.source,
        document=f"community of {resources.graph}",
        sources=tuple(one for key in candidate.source.split(",") for one in cited.get(key, ())),
        title=candidate.title,
        text=candidate.statement,
        tokens=resources.embedder.count_tokens(candidate.statement),
        score=round(candidate.score, 6),
        why=candidate.why,
    )
