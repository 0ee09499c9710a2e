"""From ranked candidates to what is shown: texts read, near-duplicates left out, cut to the budget, arranged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from kgrag.retrieve.state import Candidate, Resources, State, best_first
from kgrag.retrieve.step import Count, Share, Step
from kgrag.store.rows import boxes_from_row
from kgrag.text.words import folded_words
from kgrag.types import Citation, Evidence

__all__ = ["Arrange", "Budget", "NearDuplicates", "Read", "arranged", "evidence_of_chunk", "first_of_each", "fitting"]

READ_PER_SHOWN = 2
"""Candidates whose text is read for each piece that may be shown: room for near-duplicates and for what does not fit the budget."""
REMEMBERED_TEXTS = 2000
"""Of pieces that were read lately: a warm store asks for the same ones again."""


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
        cited = await asyncio.to_thread(_cited_by_communities, best, resources)
        pieces = (
            evidence_of_chunk(candidate, by_id[candidate.chunk_id], resources)
            if candidate.chunk_id
            else _of_community(candidate, resources, cited)
            for candidate in best
            if not candidate.chunk_id or candidate.chunk_id in by_id
        )
        places = {key: row["position"] for key, row in by_id.items()}
        return replace(state, evidence=tuple(pieces), places=places)


class NearDuplicates(Step):
    """Leave out what says the same again, numeric-safe."""

    kind: Literal["near_duplicates"] = "near_duplicates"
    needs: ClassVar = ("evidence",)
    gives: ClassVar = ("evidence",)
    threshold: Share = 1.0
    """A chunk that shares this share of its words with a better one is not shown; 1 leaves out exact copies only."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Keep the first of each; chunks about different things that the question names are both kept."""
        about: dict[str, set[str]] = {}
        for entity in state.named:
            about.setdefault(entity.key, set()).update(chunk.chunk_id for chunk in entity.chunks)
        subjects = [
            frozenset(key for key, chunks in about.items() if piece.chunk_id in chunks) for piece in state.evidence
        ]
        texts = [piece.text for piece in state.evidence]
        kept = first_of_each(texts, threshold=self.threshold, subjects=subjects)
        return replace(state, evidence=tuple(state.evidence[position] for position in kept))


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


def first_of_each(
    texts: Sequence[str], *, threshold: float, subjects: Sequence[frozenset[str]] | None = None
) -> list[int]:
    """Return the positions of the texts that are no near-duplicate of an earlier one, in order.

    Two texts are near-duplicates when they have the same words with digits in them (a rating, a part number or a revision that differs is
    another fact) and share at least `threshold` of all their words (Jaccard index). Texts about different `subjects` of the question
    are both kept: who asks about two products wants to know of each.
    """
    kept: list[int] = []
    # Only texts with the same numbers about the same subject can be near-duplicates: most are compared with none.
    alike: dict[tuple[frozenset[str], frozenset[str]], list[frozenset[str]]] = {}
    for position, text in enumerate(texts):
        said, numbers = _words_and_numbers(text)
        seen = alike.setdefault((numbers, subjects[position] if subjects else frozenset()), [])
        if not any(_jaccard(said, other) >= threshold for other in seen):
            kept.append(position)
            seen.append(said)
    return kept


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
    """What is cited in what is written about communities, by their keys."""
    keys = sorted({key for one in candidates if not one.chunk_id for key in one.source.split(",")})
    rows = resources.store.search.community_citations(keys=keys) if keys else []
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


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _words_and_numbers(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a text, and those of them with digits."""
    said = folded_words(text)
    return said, frozenset(word for word in said if any(c.isdigit() for c in word))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 1.0
