"""Triples against gold ones: exact, by normalised names, by names alone, by meaning."""

import asyncio
import json
from pathlib import Path

import pytest

from kgrag.cli import run
from kgrag.errors import InputError
from kgrag.evaluate import Triple, TripleScore, read_triples, score_triples
from kgrag.evaluate.extraction import gold_chunks, triples_of_graph
from kgrag.extract import open_extractor
from kgrag.jobs.build import build
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder

DIMENSIONS = HashingEmbedder().dimensions
GOLD = [Triple("X-100", "has part", "Wi-Fi module", "c"), Triple("X-100", "needs", "3.3 V", "c")]


def scored(predicted: list[Triple], **options: object) -> dict[str, TripleScore]:
    return {s.compared: s for s in asyncio.run(score_triples(GOLD, predicted, **options))}


def test_each_way_of_comparing_forgives_what_it_says_and_no_more() -> None:
    predicted = [
        Triple("x-100 ", "Has part", "wi-fi MODULE", "c"),
        Triple("X-100", "NEEDS", "3.3V", "c"),
        Triple("3.3 V", "FOR", "X-100", "c"),
        Triple("X-1000", "needs", "3.3 V", "c"),
        Triple("X-100", "needs", "3.3 V", "another chunk"),
    ]
    by = scored(predicted, embedder=HashingEmbedder(dimensions=4096), threshold=0.99)
    assert (by["exact"].matched, by["exact"].predicted, by["exact"].gold) == (1, 5, 2)
    assert by["normalised"].matched == 2
    assert (by["names"].matched, by["names"].predicted) == (2, 4)
    assert by["exact"].precision == 0.2 and by["exact"].recall == 0.5
    assert by["exact"].f1 == pytest.approx(2 * 0.2 * 0.5 / 0.7)


def test_by_meaning_triples_match_one_to_one_the_nearest_first() -> None:
    predicted = [
        Triple("X-100", "needs", "3.3 V", "c"),
        Triple("X-100", "needs", "a 3.3 V", "c"),
        Triple("X-100", "weighs", "7 g", "c"),
    ]
    score = scored(predicted, embedder=HashingEmbedder(dimensions=4096), threshold=0.7)["embeddings"]
    assert (score.predicted, score.matched) == (3, 1)


def test_nothing_predicted_scores_nothing() -> None:
    for score in scored([], embedder=HashingEmbedder()).values():
        assert (score.matched, score.precision, score.recall, score.f1) == (0, 0.0, 0.0, 0.0)


def test_a_file_without_a_column_or_a_value_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("head,tail\na,b\n")
    with pytest.raises(InputError, match=r"relation \(or predicate\)"):
        read_triples(file)
    file.write_text("subject,relation,object\na,,b\n")
    with pytest.raises(InputError, match=r"line 2.*relation is empty"):
        read_triples(file)


@pytest.fixture
def gold_file(tmp_path: Path) -> Path:
    file = tmp_path / "gold.csv"
    file.write_text(
        "chunk_id,head,relation,tail,text\n"
        'n1,X-100,HAS_VALUE,3.3 V,"The X-100 needs 3.3 V."\n'
        'unknown id,LQ22,IS_A,pressure sensor,"The LQ22 is a pressure sensor."\n'
    )
    return file


def test_a_graph_is_compared_by_the_chunks_that_the_gold_file_means(
    store_target: str, gold_file: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes.jsonl"
    lines = [("n1", "X-100", "The X-100 needs 3.3 V."), ("n2", "LQ22", "Here it is. The LQ22 is a pressure sensor.")]
    notes.write_text("".join(json.dumps({"id": i, "title": t, "text": x}) + "\n" for i, t, x in lines))
    gold = read_triples(gold_file)
    store: GraphStore
    with open_store(store_target) as store:
        asyncio.run(
            build(
                [notes],
                store=store,
                embedder=HashingEmbedder(),
                extractors=[open_extractor("mention")],
                settings=Settings(),
            )
        )
        chunks = gold_chunks(gold, store.documents.chunks())
        assert {name: chunk.source_id for name, chunk in chunks.items()} == {"n1": "n1", "unknown id": "n2"}
        said = triples_of_graph(store, "mention", chunks=chunks)
        assert ("LQ22", "IS_A", "pressure sensor", "unknown id") in {
            (t.head, t.relation, t.tail, t.chunk) for t in said
        }
        with pytest.raises(InputError, match=r"no graph 'other'.*mention"):
            triples_of_graph(store, "other", chunks=chunks)


def test_the_command_prints_one_table_or_json(gold_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "extraction", str(gold_file), "--against", str(gold_file)]) == 0
    assert "| all" in capsys.readouterr().out
    assert run(["bench", "extraction", str(gold_file), "--extractor", "mention", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]["mention"]
    assert {one["compared"]: one["gold"] for one in scores} == {
        "exact": 2,
        "normalised": 2,
        "names": 2,
        "embeddings": 2,
    }
    assert run(["bench", "extraction", str(gold_file)]) == 2


@pytest.mark.data
def test_the_arduino_triples_score_as_the_thesis_says(shared_data: Path) -> None:
    gold = read_triples(shared_data / "arduino/triples_gold.csv")
    said = read_triples(shared_data / "arduino/triples_extracted.csv")
    exact = asyncio.run(score_triples(gold, said))[0]
    assert (exact.gold, exact.predicted, exact.matched) == (47, 76, 3)
