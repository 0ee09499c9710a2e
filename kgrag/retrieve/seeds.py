"""Seeds: the chunks that a question finds by itself, over the vector index, the full-text index, or both."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgrag.retrieve.candidates import Candidate
from kgrag.retrieve.coverage import best_coverage
from kgrag.retrieve.fusion import minmax_fusion, reciprocal_rank_fusion, scaled
from kgrag.retrieve.settings import Seeds
from kgrag.retrieve.state import Likeness
from kgrag.store.fulltext import fulltext_query
from kgrag.store.graph import GraphStore
from kgrag.store.schema import CHUNK_FULLTEXT_INDEX, CHUNK_VECTOR_INDEX
from kgrag.types import Usage

__all__ = ["Found", "cosine", "find_seeds", "likeness"]

INDEX_OVERSAMPLING = 5
"""An approximate index is asked for so many times what is wanted: recall@10 on 6,119 passages rises from 0.91 to 1.0."""

HITS_READ = 10
"""Of the sparse list: those whose words are compared with the question's."""


@dataclass(frozen=True, slots=True)
class Found:
    """Seeds by key, and the scale on which another chunk's similarity to the question becomes a score."""

    candidates: Mapping[str, Candidate]
    score_per_cosine: float = 0.0
    usage: Usage = field(default_factory=Usage)
    remarks: tuple[str, ...] = ()


def cosine(similarity: float | None) -> float:
    """Turn what the databases return, (1 + cosine) / 2, into the cosine; a chunk without a vector is like nothing."""
    return 0.0 if similarity is None else 2.0 * similarity - 1.0


def likeness(row: Mapping[str, Any]) -> Likeness:
    """Read a chunk's id, similarity, document and position from a row."""
    return Likeness(row["id"], cosine(row["similarity"]), (row["document_id"], row["position"]))


async def find_seeds(
    store: GraphStore,
    text: str,
    vector: list[float],
    settings: Seeds,
    *,
    keywords: Sequence[str] = (),
    boost: float = 1.0,
) -> Found:
    """Find seeds by the words of `text`, `keywords` besides, and by `vector`. Both lists are read at once."""
    dense_rows, sparse_rows = await asyncio.gather(
        _dense(store, vector, settings) if settings.kind != "sparse" else _nothing(),
        _sparse(store, fulltext_query(text, keywords=keywords, boost=boost), vector, settings)
        if settings.kind != "dense"
        else _nothing(),
    )
    sparse = {row["id"]: float(row["score"]) for row in sparse_rows}
    dense = {row["id"]: cosine(row["similarity"]) for row in dense_rows}
    dense_ranking = list(dense)
    if settings.kind == "hybrid":
        # The sparse list comes with similarities, so that no chunk counts as unlike only for missing the dense list's cut.
        dense = {**{row["id"]: cosine(row["similarity"]) for row in sparse_rows}, **dense}
    match settings.kind, settings.fusion:
        case "dense", _:
            scores, dense_weight = scaled(dense), 1.0
        case "sparse", _:
            scores, dense_weight = scaled(sparse), 0.0
        case _, "minmax":
            hits = [row["prompted"] for row in sparse_rows[:HITS_READ]]
            known = best_coverage(text, hits) if settings.coverage else 1.0
            scores, dense_weight = minmax_fusion(dense, sparse, settings.alpha, sparse_trust=known), settings.alpha
        case _:
            scores, dense_weight = reciprocal_rank_fusion([dense_ranking, list(sparse)], settings.rrf_k), 0.0
    best = max(dense.values(), default=0.0)
    places = {row["id"]: likeness(row).place for row in (*sparse_rows, *dense_rows)}
    return Found(
        candidates={key: Candidate(key, score, _why(key, dense, sparse), places[key]) for key, score in scores.items()},
        score_per_cosine=dense_weight / best if best > 0.0 else 0.0,
    )


async def _nothing() -> list[dict[str, Any]]:
    return []


async def _dense(store: GraphStore, vector: list[float], settings: Seeds) -> list[dict[str, Any]]:
    return await asyncio.to_thread(
        store.search.read,
        "retrieve/dense_seeds",
        index=CHUNK_VECTOR_INDEX,
        vector=vector,
        limit=settings.candidates,
        candidates=settings.candidates * INDEX_OVERSAMPLING,
    )


async def _sparse(store: GraphStore, query: str, vector: list[float], settings: Seeds) -> list[dict[str, Any]]:
    if not query:
        return []
    return await asyncio.to_thread(
        store.search.read,
        "retrieve/sparse_seeds",
        index=CHUNK_FULLTEXT_INDEX,
        query=query,
        vector=vector,
        limit=settings.candidates,
        read=HITS_READ if settings.coverage else 0,
    )


def _why(key: str, dense: Mapping[str, float], sparse: Mapping[str, float]) -> tuple[str, ...]:
    reasons = []
    if key in dense:
        reasons.append(f"dense {dense[key]:.2f}")
    if key in sparse:
        reasons.append(f"sparse {sparse[key]:.2f}")
    return tuple(reasons)
