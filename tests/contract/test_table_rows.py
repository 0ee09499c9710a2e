"""Rows of tables in the database: written, found, and gone with their chunk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kgrag.jobs.stages.embedding import embed_chunks, embed_table_rows
from kgrag.jobs.stages.job import Job
from kgrag.models.base import Vectors
from kgrag.retrieve import load_pipeline, open_retriever
from kgrag.retrieve.pipeline import Pipeline, read_pipeline
from kgrag.store.graph import GraphStore
from kgrag.store.schema import ROW_VECTOR_INDEX, drop_index

if TYPE_CHECKING:
    from tests.contract.conftest import Content

TABLE = """Limits of the parts

| Part | Pressure |
| --- | --- |
| {a} | 80 bar |
| {b} | 16 bar |"""
FIRST, SECOND = TABLE.format(a="V-7", b="V-8"), TABLE.format(a="W-1", b="W-2")
PROSE = "The valves V-7 and V-8 are sold with a pump | and a hose."
ASKED = "a.html. Section 0. Limits of the parts Part: V-8; Pressure: 16 bar"
"""What the second row of the first table says."""


class ContentEmbedder:
    """The vectors of the shared content, and what was embedded."""

    max_tokens = 254

    def __init__(self, content: Content) -> None:
        self.content, self.name, self.dimensions = content, content.embedder, content.dimensions
        self.texts: list[str] = []

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return self.content.vectors(texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.content.vectors(texts)


def embed(store: GraphStore, embedder: ContentEmbedder) -> None:
    """Embed as a build does."""
    for stage in (embed_chunks, embed_table_rows):
        asyncio.run(stage(Job(store, embedder)))
    store.finish()


def rows_of(store: GraphStore) -> list[dict[str, str]]:
    return store.query("MATCH (r:__TableRow__)-[:ROW_OF]->(c:Chunk) RETURN r.text AS text, c.id AS chunk ORDER BY text")


def test_each_row_of_a_table_has_a_vector_once_and_leads_to_its_chunk(store: GraphStore, content: Content) -> None:
    first, chunks = content.document("a.html", FIRST, PROSE)
    store.documents.put([(first, chunks), content.document("b.html", SECOND)])
    embedder = ContentEmbedder(content)
    assert store.documents.ids_without_table_rows() == sorted(
        chunk.id for chunk in store.documents.chunks() if "---" in chunk.text
    )
    embed(store, embedder)
    assert [row["text"] for row in rows_of(store) if row["chunk"] == chunks[0].id] == [
        "a.html. Section 0. Limits of the parts Part: V-7; Pressure: 80 bar",
        ASKED,
    ]
    assert len(rows_of(store)) == 4 and store.documents.ids_without_table_rows() == []
    embedded = len(embedder.texts)
    embed(store, embedder)
    assert len(embedder.texts) == embedded and len(rows_of(store)) == 4
    vector = content.vectors([ASKED])[0]
    found = store.search.row_seeds(vector=vector.tolist(), limit=5, candidates=20)
    assert len(found) == 2  # of each chunk once
    best = found[0]
    assert (best["id"], best["said"], best["position"]) == (chunks[0].id, ASKED, 0)
    assert np.isclose(best["similarity"], 1.0, atol=1e-4)
    assert found[0]["similarity"] > found[1]["similarity"]


def test_rows_go_with_their_chunk_and_come_again_with_the_next(store: GraphStore, content: Content) -> None:
    embedder = ContentEmbedder(content)
    store.documents.put([content.document("a.html", FIRST), content.document("b.html", SECOND)])
    embed(store, embedder)
    before = store.digest()
    changed = content.document("a.html", FIRST.replace("16 bar", "17 bar"))
    store.documents.put([changed])
    assert {row["chunk"] for row in rows_of(store)} == {content.document("b.html", SECOND)[1][0].id}
    embed(store, embedder)
    assert sum("17 bar" in row["text"] for row in rows_of(store)) == 1 and len(rows_of(store)) == 4
    assert store.digest() != before
    store.documents.put([content.document("a.html", FIRST)])
    embed(store, embedder)
    assert store.digest() == before  # as if it had never been another
    store.documents.delete([document.id for document in store.documents.all()])
    assert rows_of(store) == []


@pytest.mark.changes_indexes
def test_a_store_that_was_made_before_rows_had_an_index_is_used_as_it_was(store: GraphStore, content: Content) -> None:
    store.documents.put([content.document("a.html", FIRST, PROSE)])
    content.embed_all(store)
    drop_index(store._connection, ROW_VECTOR_INDEX)
    store.finish()
    limited = store.limited_to([document.id for document in store.documents.all()])
    retriever = open_retriever(limited, ContentEmbedder(content), load_pipeline("default"))
    assert asyncio.run(retriever.retrieve("Which part takes 16 bar?"))


def test_a_step_takes_the_nearest_of_text_and_rows_only_where_it_is_told_to(
    store: GraphStore, content: Content
) -> None:
    embedder = ContentEmbedder(content)
    first, chunks = content.document("a.html", FIRST, PROSE)
    store.documents.put([(first, chunks), content.document("b.html", SECOND, "Another text.")])

    def pipeline(step: dict[str, object]) -> Pipeline:
        steps = [{"kind": "embed"}, step, {"kind": "read"}, {"kind": "budget", "top": 4}]
        made = read_pipeline({"description": "d", "step": steps}, name="rows")
        assert isinstance(made, Pipeline)
        return made

    def found(step: dict[str, object]) -> list[tuple[str, float]]:
        evidence = asyncio.run(open_retriever(store, embedder, pipeline(step)).retrieve(ASKED))
        return [(piece.chunk_id, piece.score) for piece in evidence]

    asyncio.run(embed_chunks(Job(store, embedder)))
    for kind in ("dense", "hybrid"):
        # A store without rows, as those that were built before there were any, is asked as it was.
        assert found({"kind": kind, "table_rows": True}) == found({"kind": kind})
    trace = asyncio.run(open_retriever(store, embedder, pipeline({"kind": "dense", "table_rows": True})).trace(ASKED))
    assert [remark for remark in trace.remarks if "kgrag build --table-rows" in remark]
    embed(store, embedder)
    with_rows, without = found({"kind": "dense", "table_rows": True}), found({"kind": "dense"})
    assert with_rows[0][0] == chunks[0].id and np.isclose(with_rows[0][1], 1.0, atol=1e-4)
    assert with_rows != without
    evidence = asyncio.run(
        open_retriever(store, embedder, pipeline({"kind": "hybrid", "table_rows": True})).retrieve(ASKED)
    )
    assert f"row of a table: {ASKED}" in evidence[0].why
