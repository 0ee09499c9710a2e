"""Other programs' retrievers beside ours, over one Neo4j and by one score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kgrag
from benchmarks.peer_retrievers import Peer, Record, read_corpus
from benchmarks.retrieval_peers import measure_peer, over_our_schema, rows_of
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.models.minilm import MiniLM
from kgrag.types import Evidence

DIMENSIONS = MiniLM.dimensions
PASSAGES = {
    "lille": ("Lille Stesichorus", "Lille Stesichorus is a papyrus. It was found by Gustave Lefebvre in Memphis Hall."),
    "lefebvre": ("Gustave Lefebvre", "Gustave Lefebvre was an archaeologist. He was born in Bar-le-Duc."),
    "memphis": ("Memphis Hall", "Memphis Hall is a museum with forty rooms/galleries."),
    "orange": ("Orange", "An orange is a fruit of the citrus species."),
}
QUESTIONS = [
    GoldQuestion("1", "Who found the Lille Stesichorus?", (frozenset({"lille"}),)),
    # A slash that opens what is a regular expression for Lucene.
    GoldQuestion("2", "Which museum has rooms/galleries, Memphis Hall?", (frozenset({"memphis"}),)),
]


@pytest.mark.neo4j
@pytest.mark.filterwarnings("ignore:The default returned 'id' field:DeprecationWarning")
def test_all_read_what_kgrag_built_and_are_scored_alike(neo4j_empty: str, tmp_path: Path) -> None:
    file = tmp_path / "passages.jsonl"
    rows = ({"id": name, "title": title, "text": text} for name, (title, text) in PASSAGES.items())
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with kgrag.open(neo4j_empty) as graph:
        graph.build(file)
        corpus = read_corpus(graph.store, "mention")
    assert {chunk.source_id for chunk in corpus.chunks.values()} == set(PASSAGES)
    assert all(len(vector) == 384 for vector in corpus.vectors.values())
    assert "Lille Stesichorus" in {name for name, _, _ in corpus.entities.values()}

    results = {one.pipeline: one for one in over_our_schema(neo4j_empty, corpus, QUESTIONS, ["default", "sparse"])}
    found = {name: {q.question.id: q.found.evidence for q in one.asked} for name, one in results.items()}
    first = {name: {key: pieces[0].source_id for key, pieces in of.items() if pieces} for name, of in found.items()}
    assert first.pop("neo4j-graphrag HybridRetriever") == {"1": "lille"}  # Lucene cannot read the other question
    assert all(of == {"1": "lille", "2": "memphis"} for of in first.values())
    for expanded in (name for name in results if "VectorCypherRetriever" in name):
        shown = found[expanded]["1"]
        assert {"lefebvre", "memphis"} <= {piece.source_id for piece in shown[1:]}
        assert "Gustave Lefebvre" in next(piece.text for piece in shown if not piece.source_id)
    plain = results["neo4j-graphrag VectorRetriever"]
    assert plain.mean("tokens") == sum(chunk.tokens for chunk in corpus.chunks.values())
    assert len(list(rows_of("set", results.values()))) == len(results)


def test_a_result_of_several_chunks_is_ranked_as_one_and_by_its_chunks() -> None:
    records: list[Record] = [
        (_piece("a", 1000), _piece("b", 400)),
        (_piece("c", 10), _piece("", 50), _piece("b", 400)),
    ]
    question = GoldQuestion("1", "?", (frozenset({"b"}), frozenset({"z"})))
    as_one, by_chunk = measure_peer(Peer("p", lambda question: records, lambda found: found), [question])
    assert (as_one.pipeline, by_chunk.pipeline) == ("p", "p, by chunk")
    assert (as_one.mean("hit@1"), by_chunk.mean("hit@1")) == (1.0, 0.0)
    assert (as_one.mean("MRR"), by_chunk.mean("MRR")) == (1.0, 0.5)
    assert [piece.source_id for piece in by_chunk.asked[0].found.evidence] == ["a", "b", "c", "", "b"]
    # What is shown is the same, its repetitions included.
    assert as_one.mean("facts") == by_chunk.mean("facts") == 0.5
    assert as_one.mean("tokens") == by_chunk.mean("tokens") == 1860.0


def _piece(source: str, tokens: int) -> Evidence:
    return Evidence(chunk_id=source or None, source_id=source, document="d", text=source, tokens=tokens, score=0.0)
