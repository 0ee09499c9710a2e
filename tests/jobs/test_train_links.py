"""`kgrag train lp`: trained from documents alone, and used as seeds, on both databases."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import kgrag
from kgrag.common.progress import Silent
from kgrag.errors import InputError, PipelineError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.jobs.train_links import LinkOptions, chunks_of_facts, supervision_of, training_options
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.link_prediction.graph import mutual_neighbours, nearest
from kgrag.link_prediction.model_file import read_model
from kgrag.link_prediction.options import PAPER, TrainingOptions
from kgrag.models.minilm import MiniLM
from kgrag.retrieve.chunk_graph import stored_chunks
from kgrag.retrieve.pipeline import load_pipeline

DIMENSIONS = MiniLM.dimensions
FEW = LinkOptions(TrainingOptions(hidden=8, epochs=3), made=0)


@pytest.fixture
def opened(filled_once: Callable[[Callable[[str], object]], str], tmp_path: Path) -> Iterator[KnowledgeGraph]:
    """The boards, for tests that only read them."""
    with kgrag.open(filled_once(lambda target: fill(target, tmp_path))) as graph:
        yield graph


@pytest.fixture
def own(store_target: str, tmp_path: Path) -> Iterator[KnowledgeGraph]:
    """The boards, for a test that adds to them."""
    fill(store_target, tmp_path)
    with kgrag.open(store_target) as graph:
        yield graph


def fill(target: str, folder: Path) -> None:
    """Twelve boards, each mentioned on the page of the next one."""
    rows = [
        {
            "id": f"p{number}",
            "title": f"Carrier Q{number}",
            "text": f"The Carrier Q{number} has {number + 2} slots and a fan. It holds the Carrier Q{(number + 1) % 12}.",
        }
        for number in range(12)
    ]
    corpus = folder / "boards.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with kgrag.open(target) as graph:
        graph.build(corpus)


def test_a_predictor_is_trained_from_the_documents_and_finds_seeds(opened: KnowledgeGraph, tmp_path: Path) -> None:
    counts = opened.store.query("MATCH (n) RETURN count(n) AS nodes")
    edges = opened.store.query("MATCH ()-[r]->() RETURN count(r) AS edges")
    trained = opened.train_links(tmp_path / "boards.toml", options=FEW)
    assert trained.chunks == 12
    assert trained.questions >= 0.95 * 12
    assert not (tmp_path / "boards.checkpoint").exists()
    retriever = opened.retriever(str(trained.out))
    first, *_ = opened.retrieve("How many slots has the Carrier Q4?", pipeline=str(trained.out))
    assert first.source_id == "p4"
    assert any(why.startswith("link 0.") for why in first.why)
    assert retriever.pipeline.step_names == ["embed", "lp", "read", "near_duplicates", "budget"]
    # The question never becomes a node, and a predictor is a file.
    assert opened.store.query("MATCH (n) RETURN count(n) AS nodes") == counts
    assert opened.store.query("MATCH ()-[r]->() RETURN count(r) AS edges") == edges
    again = opened.train_links(tmp_path / "again.toml", options=FEW)
    assert read_model(again.model).fingerprint == read_model(trained.model).fingerprint


def test_clozes_are_about_chunks_drawn_of_all_where_they_are_limited(opened: KnowledgeGraph) -> None:
    stored = stored_chunks(opened.store, opened.graph_name(), TrainingOptions())

    def chunks_asked_about(most: int) -> set[int]:
        options = LinkOptions(TrainingOptions(), made=0, most_clozes=most)
        embedder = MiniLM()
        asked = supervision_of([], stored, store=opened.store, embedder=embedder, options=options, progress=Silent())
        supervision, _ = asyncio.run(asked)
        assert len(supervision.vectors) <= most
        return set(supervision.edges[:, 1].tolist())

    assert chunks_asked_about(24) == set(range(12))
    few = chunks_asked_about(6)
    assert few
    assert few < set(range(12))
    assert few != {0, 1, 2, 3}
    assert chunks_asked_about(6) == few


def test_the_graph_of_a_store_joins_chunks_by_names_order_and_nearness(opened: KnowledgeGraph) -> None:
    def joined(*edges: str) -> set[frozenset[str]]:
        options = TrainingOptions.model_validate({"edges": edges, "neighbours": 2}, strict=False)
        stored = stored_chunks(opened.store, opened.graph_name(), options)
        sources = {chunk.id: chunk.source_id for chunk in opened.store.documents.chunks()}
        rows, columns = stored.graph.adjacency.nonzero()
        return {frozenset({sources[stored.ids[a]], sources[stored.ids[b]]}) for a, b in zip(rows, columns, strict=True)}

    following = {frozenset({f"p{number}", f"p{(number + 1) % 12}"}) for number in range(12)}
    assert following <= joined("names")
    assert joined("hyperlinks") == set()
    ids, vectors = opened.store.documents.vectors()
    sources = {chunk.id: chunk.source_id for chunk in opened.store.documents.chunks()}
    rows, columns = mutual_neighbours(nearest(vectors, 2)).nonzero()
    near = {frozenset({sources[ids[a]], sources[ids[b]]}) for a, b in zip(rows, columns, strict=True)}
    assert joined("nearest") == near
    assert joined("nearest", "names") == near | joined("names")
    assert ids == sorted(ids)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(12), abs=1e-3)


def test_a_chunk_that_came_later_is_found_by_the_predictor_of_before(own: KnowledgeGraph, tmp_path: Path) -> None:
    trained = own.train_links(tmp_path / "boards.toml", options=FEW)
    more = tmp_path / "more.jsonl"
    more.write_text(
        json.dumps({"id": "new", "title": "Zeta pump", "text": "The Zeta pump lifts water."}) + "\n", encoding="utf-8"
    )
    own.build(more)
    first, *_ = own.retrieve("What does the Zeta pump lift?", pipeline=str(trained.out))
    assert first.source_id == "new"


def test_what_a_group_may_not_read_is_no_node(opened: KnowledgeGraph) -> None:
    document, *others = opened.store.documents.all()
    limited = opened.store.limited_to([document.id])
    ids, vectors = limited.documents.vectors()
    assert ids == [chunk.id for chunk in opened.store.documents.chunks_of([document.id])]
    assert vectors.shape == (1, 384)
    assert len(others) == 11
    assert stored_chunks(limited, opened.graph_name(), TrainingOptions()).ids == tuple(ids)


def test_a_threshold_leaves_what_is_likely_and_never_nothing(opened: KnowledgeGraph, tmp_path: Path) -> None:
    trained = opened.train_links(tmp_path / "boards.toml", options=FEW)
    text = trained.out.read_text(encoding="utf-8")
    counts = {}
    for threshold in ("0.0", "1.0"):
        file = tmp_path / f"{threshold}.toml"
        file.write_text(text.replace("threshold = 0.0", f"threshold = {threshold}", 1), encoding="utf-8")
        counts[threshold] = len(opened.retrieve("How many slots has the Carrier Q4?", pipeline=str(file)))
    assert counts == {"0.0": 12, "1.0": 1}


def test_a_predictor_for_other_vectors_or_none_is_refused(opened: KnowledgeGraph, tmp_path: Path) -> None:
    trained = opened.train_links(tmp_path / "boards.toml", options=FEW)
    with np.load(trained.model) as kept:
        arrays = {name: kept[name] for name in kept.files}
    about = json.loads(str(arrays["about"]))
    arrays["about"] = np.array(json.dumps({**about, "embedder": "another"}))
    with trained.model.open("wb") as out:
        np.savez(out, **arrays)
    with pytest.raises(PipelineError, match=r"reads vectors of another \(384 dimensions\).*kgrag train lp"):
        opened.retriever(str(trained.out))
    trained.model.unlink()
    with pytest.raises(PipelineError, match="got no file"):
        opened.retriever(str(trained.out))


def test_gold_is_found_by_source_chunk_and_file(opened: KnowledgeGraph) -> None:
    stored = stored_chunks(opened.store, opened.graph_name(), TrainingOptions())
    facts_of = chunks_of_facts(opened.store, stored)
    chunk = next(chunk for chunk in opened.store.documents.chunks() if chunk.source_id == "p3")
    place = stored.ids.index(chunk.id)
    facts = (frozenset({"p3"}), frozenset({chunk.id}), frozenset({"nowhere"}))
    assert facts_of(GoldQuestion("q", "?", facts)) == [[place], [place], []]
    assert facts_of(GoldQuestion("q", "?", (frozenset({"boards.jsonl"}),))) == [list(range(12))]


def test_settings_are_read_and_wrong_ones_named(tmp_path: Path) -> None:
    assert training_options(Path("paper"), seed=3) == PAPER.model_copy(update={"seed": 3})
    file = tmp_path / "settings.toml"
    file.write_text('hidden = 32\nedges = ["nearest"]\n', encoding="utf-8")
    assert training_options(file, predictor="mlp") == TrainingOptions(hidden=32, edges=("nearest",), predictor="mlp")
    file.write_text("hiden = 32\nepochs = 0\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"settings.toml: expected settings .* epochs: .* hiden: "):
        training_options(file)
    with pytest.raises(InputError, match="expected a TOML file"):
        training_options(tmp_path / "none.toml")


def test_the_pipeline_of_a_predictor_is_one_like_any_other(opened: KnowledgeGraph, tmp_path: Path) -> None:
    trained = opened.train_links(tmp_path / "boards.toml", options=FEW)
    assert load_pipeline(str(trained.out)).name == "boards"


def test_a_pipeline_and_its_predictor_can_be_moved_together(opened: KnowledgeGraph, tmp_path: Path) -> None:
    trained = opened.train_links(tmp_path / "made" / "boards.toml", options=FEW)
    moved = trained.out.parent.rename(tmp_path / "moved")
    first, *_ = opened.retrieve("How many slots has the Carrier Q4?", pipeline=str(moved / "boards.toml"))
    assert first.source_id == "p4"


def test_a_place_for_no_pipeline_is_told_before_the_training(opened: KnowledgeGraph, tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InputError, match="got a folder"):
        opened.train_links(tmp_path / "folder.toml", options=FEW)
    with pytest.raises(InputError, match=r"which ends in \.toml"):
        opened.train_links(tmp_path / "boards.npz", options=FEW)
    assert not (tmp_path / "boards.npz").exists() and not (tmp_path / "folder.npz").exists()


def test_lines_without_gold_are_counted(opened: KnowledgeGraph, tmp_path: Path) -> None:
    asked = [{"id": n, "question": f"How many slots has the Carrier Q{n}?", "evidence": [f"p{n}"]} for n in range(8)]
    rows = [*asked, {"id": "none", "question": "Is it blue?", "answerable": False}]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    trained = opened.train_links(tmp_path / "boards.toml", questions=tmp_path / "asked.jsonl", options=FEW)
    assert (trained.without_gold, trained.unplaced) == (1, 0)
