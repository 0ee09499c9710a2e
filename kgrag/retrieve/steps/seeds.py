"""Seeds: the chunks that a question finds by itself, over the vector index, the full-text index, or both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from kgrag.models.base import share_read
from kgrag.retrieve.scores import cosine, minmax_fusion, reciprocal_rank_fusion, scaled
from kgrag.retrieve.state import Candidate, Query, Resources, Seeds, State, SubQuery, hit_of
from kgrag.retrieve.step import Count, CountOrNone, Share, Step, Weight
from kgrag.retrieve.texts import read_text
from kgrag.store.fulltext import fulltext_query
from kgrag.store.graph import GraphStore
from kgrag.store.search_rows import ChunkRow, SparseRow
from kgrag.text.words import content_terms, share_said

__all__ = ["Dense", "Hybrid", "SeedStep", "Sparse", "best_coverage", "joined_seeds"]

NO_ROWS = "no row of a table has a vector in this store: kgrag build --table-rows"
UNREAD = 0.2
"""What is left of the weight of dense where the embedder reads nothing of the question."""
HITS_READ = 10
"""Of the sparse list: those whose words are compared with the question's."""

Rows = Sequence[ChunkRow]


class SeedStep(Step):
    """A step that finds seeds. Several in a row: the scores of each times its weight, added."""

    needs: ClassVar = ("vector",)
    gives: ClassVar = ("seeds", "candidates")
    weight: Weight = 1.0
    """Beside other seeds, where the pipeline has several."""

    async def find(self, query: Query, resources: Resources) -> Seeds:
        """Find seeds, the best with a score of about 1."""
        raise NotImplementedError

    async def __call__(self, state: State, resources: Resources) -> State:
        """Find them and join them with those of the steps before."""
        found = replace(await self.find(state.query, resources), weight=self.weight)
        seeds = (*state.seeds, found)
        joined = joined_seeds(seeds)
        return replace(
            state,
            seeds=seeds,
            candidates=joined.candidates,
            score_per_cosine=joined.score_per_cosine,
            usage=state.usage + found.usage,
            remarks=(*state.remarks, *found.remarks),
        )


@dataclass(frozen=True, slots=True)
class _Sought:
    """What the indexes are asked for: a question, or a part of one."""

    text: str
    vector: Sequence[float]
    keywords: Sequence[str] = ()
    """Phrases that weigh `boost` times as much as a term."""
    boost: float = 1.0
    share_read: float = 1.0
    """How much of the text the embedder was trained to read."""


class _IndexSeeds(SeedStep):
    """Chunks over the indexes, for the question and for each of its parts at once."""

    candidates: Count = 100
    """Chunks taken from each index."""

    async def find(self, query: Query, resources: Resources) -> Seeds:
        """Find what the question and its parts find; of a chunk the best score counts, that of a part times its weight."""
        store, read = resources.store, share_read(resources.embedder, query.dense)
        whole, *others = await asyncio.gather(
            self._find(store, _Sought(query.sparse, query.vector, query.keywords, query.boost, read)),
            *(self._find(store, _Sought(part.text, part.vector, share_read=read)) for part in query.parts),
        )
        return _joined_parts(whole, others, query.parts)

    async def _find(self, store: GraphStore, sought: _Sought) -> Seeds:
        raise NotImplementedError

    async def _sparse(
        self, store: GraphStore, sought: _Sought, *, read: int = 0, among: Sequence[str] | None = None
    ) -> Sequence[SparseRow]:
        """Search for the words; the first `read` rows come with their text."""
        query = fulltext_query(sought.text, keywords=sought.keywords, boost=sought.boost)
        if not query:
            return []
        return await asyncio.to_thread(
            store.search.sparse_seeds,
            query=query,
            vector=sought.vector,
            limit=self.candidates,
            read=read,
            among=among,
        )


class _NearestSeeds(_IndexSeeds):
    """Chunks over the vector indexes, perhaps among others."""

    table_rows: bool = False
    """A chunk is as near to a question as the nearest of its own text and the rows of its tables (`kgrag build --table-rows`)."""

    async def find(self, query: Query, resources: Resources) -> Seeds:
        """Find what the question and its parts find, and say where rows were to be looked for and there are none."""
        if not self.table_rows or (await asyncio.to_thread(resources.store.search.count_table_rows)) > 0:
            return await super().find(query, resources)
        found = await self.model_copy(update={"table_rows": False}).find(query, resources)
        return replace(found, remarks=(*found.remarks, NO_ROWS))

    async def _dense(self, store: GraphStore, sought: _Sought, *, limit: int | None = None) -> Rows:
        limit = limit or self.candidates
        searches: list[Callable[..., Rows]] = [store.search.dense_seeds]
        if self.table_rows:
            searches.append(store.search.row_seeds)
        vector, candidates = sought.vector, store.search.candidates(limit)
        found = await asyncio.gather(
            *(asyncio.to_thread(search, vector=vector, limit=limit, candidates=candidates) for search in searches)
        )
        return _nearest(*found)[:limit]


class Dense(_NearestSeeds):
    """The chunks nearest to the question's vector."""

    kind: Literal["dense"] = "dense"

    async def _find(self, store: GraphStore, sought: _Sought) -> Seeds:
        rows = await self._dense(store, sought)
        dense = _cosines(rows)
        return _seeds(scaled(dense), rows, dense=dense, dense_weight=1.0)


class Sparse(_IndexSeeds):
    """The chunks that have the question's words, by the full-text index (BM25)."""

    kind: Literal["sparse"] = "sparse"

    async def _find(self, store: GraphStore, sought: _Sought) -> Seeds:
        rows = await self._sparse(store, sought)
        sparse = _words_scores(rows)
        return _seeds(scaled(sparse), rows, sparse=sparse)


class Hybrid(_NearestSeeds):
    """Both lists, joined."""

    kind: Literal["hybrid"] = "hybrid"
    fusion: Literal["minmax", "rrf"] = "minmax"
    """How they are joined: each list's scores over its best, then the weighted sum; or reciprocal ranks (`kgrag.retrieve.scores`)."""
    alpha: Share = 0.5
    """Weight of dense against sparse: of their scores, or of their reciprocal ranks.

    Of a question in letters that the embedder was not trained to read (Cyrillic or kana, for MiniLM) it is down to a fifth of that.
    """
    prefilter: CountOrNone = 0
    """Full text is only searched among so many of the nearest chunks, as Pazera's chatbot does (90); 0: among all.

    It then can bring in nothing that the vectors do not find. Its scores stay those of the whole index.
    """
    coverage: bool = False
    """For `minmax`: sparse counts only as far as the best sparse hits have the question's words.

    Scaled scores say who is best, not how good the best is. A long question that no chunk has the words of is one for the vectors;
    one whose words stand together in a chunk is one for the full-text index.
    """
    rrf_k: Count = 60
    """Rank offset of reciprocal rank fusion; 60 is that of Cormack, Clarke and Büttcher (SIGIR 2009)."""

    async def _find(self, store: GraphStore, sought: _Sought) -> Seeds:
        if self.prefilter:
            nearest = await self._dense(store, sought, limit=max(self.prefilter, self.candidates))
            dense_rows = nearest[: self.candidates]
            among = [row["id"] for row in nearest[: self.prefilter]]
            sparse_rows, trust = await self._trusted_sparse(store, sought, among=among)
        else:
            dense_rows, (sparse_rows, trust) = await asyncio.gather(
                self._dense(store, sought), self._trusted_sparse(store, sought)
            )
        # The sparse list comes with similarities, so that no chunk counts as unlike only for missing the dense list's cut.
        dense = {**_cosines(sparse_rows), **_cosines(dense_rows)}
        sparse = _words_scores(sparse_rows)
        rows = [*sparse_rows, *dense_rows]
        alpha = self.alpha * (UNREAD + (1.0 - UNREAD) * sought.share_read)
        if self.fusion == "rrf":
            rankings = [list(_cosines(dense_rows)), list(sparse)]
            fused = reciprocal_rank_fusion(rankings, self.rrf_k, (alpha, 1.0 - alpha))
            return _seeds(fused, rows, dense=dense, sparse=sparse)
        fused = minmax_fusion(dense, sparse, alpha, sparse_trust=trust)
        return _seeds(fused, rows, dense=dense, sparse=sparse, dense_weight=alpha)

    async def _trusted_sparse(
        self, store: GraphStore, sought: _Sought, *, among: Sequence[str] | None = None
    ) -> tuple[Sequence[SparseRow], float]:
        """Search for the words, and say how far the list counts: while the vector index, which takes longer, is asked."""
        rows = await self._sparse(store, sought, read=HITS_READ if self.coverage else 0, among=among)
        hits = [row["prompted"] for row in rows[:HITS_READ]]
        return rows, best_coverage(sought.text, hits) if self.coverage else 1.0


def _nearest(by_text: Rows, by_row: Rows = ()) -> Rows:
    """Join chunks found by their own text and by a row of their tables: the higher similarity counts. The best first."""
    if not by_row:
        return by_text
    found: dict[str, ChunkRow] = {row["id"]: row for row in by_text}
    for row in by_row:
        if row["id"] not in found or cosine(row["similarity"]) > cosine(found[row["id"]]["similarity"]):
            found[row["id"]] = row
    return sorted(found.values(), key=lambda row: (-cosine(row["similarity"]), row["id"]))


def best_coverage(question: str, hits: Iterable[str]) -> float:
    """Return the greatest share of the question's content terms that one of the best hits has. No hits, no coverage."""
    asked = content_terms(question)
    return max((share_said(asked, read_text(hit).terms) for hit in hits), default=0.0)


def joined_seeds(found: Sequence[Seeds]) -> Seeds:
    """Add the scores of several steps' seeds, each times the step's weight; first in all of them is 1."""
    if len(found) == 1:
        return found[0]
    total = sum(one.weight for one in found) or 1.0
    joined: dict[str, Candidate] = {}
    for one in found:
        for key, candidate in one.candidates.items():
            share = one.weight / total * candidate.score
            known = joined.get(key)
            if known is None:
                joined[key] = replace(candidate, score=share)
            else:
                joined[key] = replace(
                    known.scored(known.score + share, *candidate.why),
                    place=known.place or candidate.place,
                    cosine=max(known.cosine, candidate.cosine),
                    words=max(known.words, candidate.words),
                )
    return Seeds(joined, sum(one.weight / total * one.score_per_cosine for one in found))


def _joined_parts(whole: Seeds, others: Sequence[Seeds], parts: Sequence[SubQuery]) -> Seeds:
    candidates = dict(whole.candidates)
    for part, one in zip(parts, others, strict=True):
        for key, candidate in one.candidates.items():
            score = part.weight * candidate.score
            if key not in candidates or score > candidates[key].score:
                candidates[key] = candidate.scored(score, f"looked for: {part.text}")
    return Seeds(candidates, whole.score_per_cosine)


def _cosines(rows: Rows) -> dict[str, float]:
    return {row["id"]: cosine(row["similarity"]) for row in rows}


def _words_scores(rows: Sequence[SparseRow]) -> dict[str, float]:
    return {row["id"]: float(row["score"]) for row in rows}


def _seeds(
    scores: Mapping[str, float],
    rows: Rows,
    *,
    dense: Mapping[str, float] | None = None,
    sparse: Mapping[str, float] | None = None,
    dense_weight: float = 0.0,
) -> Seeds:
    places = {row["id"]: hit_of(row).place for row in rows}
    by_row = {row["id"]: said for row in rows if (said := row.get("said"))}
    best = max((dense or {}).values(), default=0.0)

    def why(key: str) -> tuple[str, ...]:
        said = (("dense", dense or {}), ("sparse", sparse or {}))
        scores = (f"{name} {found[key]:.2f}" for name, found in said if key in found)
        return (*scores, *([f"row of a table: {by_row[key]}"] if key in by_row else []))

    return Seeds(
        {
            key: Candidate(
                *(key, score, why(key), places[key]),
                cosine=(dense or {}).get(key, 0.0),
                words=(sparse or {}).get(key, 0.0),
            )
            for key, score in scores.items()
        },
        score_per_cosine=dense_weight / best if best > 0.0 else 0.0,
    )
