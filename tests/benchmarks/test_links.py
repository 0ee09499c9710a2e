"""The table of walks: a row for each question and walk, beside plain dense search with as many chunks."""

from __future__ import annotations

from pathlib import Path

from benchmarks.links import WALKS, measured, shown, walk_name, walk_pipeline
from kgrag.documents import discover, read
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.store.graph import open_store
from kgrag.testing import HashingEmbedder
from tests.vectors import embed_waiting_chunks

PAGES = {
    "pump.html": "<h1>Pump</h1><p>The pump moves water. See <a href='valve.html#open'>how it opens</a>.</p>",
    "valve.html": "<h1>Valve</h1><h2 id='open'>Opening</h2><p>Turn the red wheel to the left.</p>",
    "water.html": "<h1>Water</h1><p>The water of the pump is cold.</p>",
    "cold.html": "<h1>Cold</h1><p>Pump and water freeze in the cold.</p>",
    "other.html": "<h1>Other</h1><p>Nothing of that.</p>",
}


def test_a_walk_is_measured_beside_as_many_chunks_of_dense_search(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    embedder = HashingEmbedder(dimensions=64)
    for name, body in PAGES.items():
        Path(name).write_text(f"<!doctype html><html><body>{body}</body></html>", encoding="utf-8")
    pages = [
        (one.document, one.chunks)
        for source in discover([Path(name) for name in PAGES]).sources
        for one in read(source, count_tokens=embedder.count_tokens, max_tokens=200)
    ]
    with open_store(tmp_path / "store.kg") as store:
        store.bind(embedder.name, embedder.dimensions)
        store.documents.put(pages)
        store.documents.relink()
        embed_waiting_chunks(store, embedder)
        store.finish()
        question = GoldQuestion(
            "q", "The pump moves water. See how?", (frozenset({"valve.html#open"}),), document="valve.html"
        )
        ask = measured(store, embedder, [question], seeds=1, over="relationships", graph=None)
        rows = {walk_name(walk): ask(walk) for walk in WALKS}
        assert {walk_name(walk): ask(walk) for walk in WALKS} == rows
    assert len(rows) == len(WALKS)
    (none,), (one,) = rows["(0,0,0)"], rows["(1,1,1)"]
    assert (none["chunks"], none["recall"], none["dense_recall"]) == (1, 0.0, 0.0)
    assert none["tokens"] == none["dense_tokens"]
    assert (one["chunks"], one["recall"], one["dense_recall"]) == (2, 1.0, 0.0)
    assert one["dense_tokens"] > none["dense_tokens"], "dense search shows as many chunks"
    written = shown("(1,1,1)", [one])
    assert written[:2] == ["(1,1,1)", "2.00"] and written[4] == "1.000" and written[-1].startswith("+1.000")
    assert [step.kind for step in walk_pipeline(5, WALKS[0]).steps] == ["embed", "dense", "walk", "read", "budget"]
