"""`kgrag pipelines` and `kgrag bench retrieval` as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import kgrag
from kgrag.cli import run
from kgrag.retrieve import AdaptivePipeline, load_pipeline, pipeline_names

PASSAGES = [
    {"id": "a", "title": "X-100", "text": "The X-100 runs at 3.3 V and weighs 12 g."},
    {"id": "b", "title": "X-1000", "text": "The X-1000 runs at 33 V. It is mounted on the TCB-4."},
    {"id": "c", "title": "TCB-4", "text": "The TCB-4 is a carrier with two slots."},
    {"id": "d", "title": "Warranty", "text": "Send a device back within two years."},
]
QUESTIONS = [
    {"id": 1, "query_type": "factual", "question": "At what voltage does the X-100 run?", "evidence": ["a"]},
    {"id": 2, "query_type": "multi_hop", "question": "How many slots has what the X-1000 is mounted on?", "facts": [["b"], ["c"]]},
    {"id": 3, "question": "What does it cost?", "evidence": []},
]  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    for name, rows in (("passages.jsonl", PASSAGES), ("questions.jsonl", QUESTIONS)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with kgrag.open(folder / "store.kg") as opened:
        opened.build(folder / "passages.jsonl")
    return folder / "store.kg"


def bench(store: Path, *flags: str) -> int:
    questions = str(store.parent / "questions.jsonl")
    return run(["bench", "retrieval", "--store", str(store), "--questions", questions, *flags])


def test_pipelines_are_listed_with_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["pipelines"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == pipeline_names()
    assert all(len(line.split(maxsplit=1)) == 2 for line in lines)


@pytest.mark.parametrize("name", [*pipeline_names(), "adaptive"])
def test_a_pipeline_is_drawn_with_every_step_it_has(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["pipelines", "show", name]) == 0
    drawing = capsys.readouterr().out
    pipeline = load_pipeline(name)
    if isinstance(pipeline, AdaptivePipeline):
        assert all(kind in drawing for kind in pipeline.adaptive.map)
        return
    places = [drawing.index(f"\n  {kind}") for kind in dict.fromkeys(step.kind for step in pipeline.steps)]
    assert places == sorted(places)
    assert "top " in drawing


def test_gold_that_the_store_does_not_have_is_named(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "other.jsonl"
    gold = [["a"], ["z9"], ["passages.jsonl"], ["X-1000"], ["other.pdf#page=4"]]
    rows = [{"id": n, "question": "At what voltage does the X-100 run?", "evidence": one} for n, one in enumerate(gold)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = ["bench", "retrieval", "--store", str(store), "--questions", str(file), "--pipelines", "dense", "--json"]
    assert run(command) == 0
    shown = capsys.readouterr()
    said = json.loads(shown.out)
    assert said["gold_nowhere"] == [
        "1",
        "2",
        "4",
    ]  # passages are known by their ids and titles, not by the file that had them
    assert "gold of 3 of 5 questions is nowhere in this store" in shown.err and ": 1, 2, 4." in shown.err
    each = said["pipelines"]["dense"]["each"]
    assert [one["R@1"] for one in each] == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert {"digest", "kgrag", "questions_sha256", "bootstrap"} <= set(said["made_with"])


def test_the_bench_says_how_good_pipelines_are_and_what_each_step_changed(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--pipelines", "default,dense", "--baseline", "dense", "--k", "1,2", "--json")
    assert bench(store, *flags) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["questions"], said["without_gold"]) == (2, 1)
    default, dense = said["pipelines"]["default"], said["pipelines"]["dense"]
    assert default["all"]["facts"] == 1.0
    assert default["types"]["factual"]["R@1"] == 1.0
    assert default["types"]["factual"]["questions"] == 1
    assert set(default["against_baseline"]["R@2"]) == {"mean", "low", "high"}
    assert "against_baseline" not in dense
    assert [step["step"] for step in default["steps"]][:4] == ["listing", "embed", "hybrid", "names"]
    assert next(step for step in default["steps"] if step["step"] == "names")["questions"] == 2
    assert default["empty_contexts"] == []
    assert {(step["calls"], step["tokens"]) for step in default["steps"]} == {(0, 0)}
    assert said["graphs"] == {"mention": {"calls": 0, "tokens": 0, "usd": 0.0, "tokens_a_question": 0.0}}


def test_the_bench_prints_a_table_and_checks_that_every_step_does_something(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chart = store.parent / "chart.svg"
    assert (
        bench(store, "--pipelines", "links", "--check", "--chart", str(chart)) == 1
    )  # four passages that say nothing twice
    said = capsys.readouterr()
    assert "| links    | multi_hop | 1 |" in said.out
    assert "the step 'near_duplicates' changed nothing" in said.err
    drawing = ElementTree.fromstring(chart.read_text(encoding="utf-8"))
    assert "links" in [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]


def test_a_learnt_map_is_a_pipeline(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "mine.toml"
    assert bench(store, "--pipelines", "hybrid,sparse", "--learn", str(out)) == 0
    assert "cross-validated" in capsys.readouterr().out
    assert "# Cross-validated" in out.read_text(encoding="utf-8")
    with kgrag.open(store, create=False, pipeline=str(out)) as opened:
        (piece,) = opened.retrieve("At what voltage does the X-100 run?", top=1)
    assert piece.source_id == "a"
    assert piece.why[-1] == "adaptive: factual → hybrid"


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--pipelines", "default", "--baseline", "dense"), "--baseline to be one of"),
        (("--pipelines", "fancy"), "no pipeline 'fancy'"),
        (("--pipelines", "fancy*"), "to match one of LLMGraph_"),
        (("--pipelines", ","), "names of pipelines separated by commas"),
        (("--pipelines", "default", "--k", "0"), "--k to be numbers"),
        (("--pipelines", "SimpleKG_Dense_KG", "--graph", "simple_kg"), "one of the store's: mention"),
    ],
)
def test_wrong_use_is_told(
    store: Path, flags: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(store, *flags) == 2
    assert complaint in capsys.readouterr().err


def test_a_chart_without_matplotlib_is_refused_with_the_extra_before_anything_is_measured(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert bench(store, "--chart", str(store.parent / "none.svg")) == 2
    assert "pip install 'kgrag[charts]'" in capsys.readouterr().err
    assert not (store.parent / "none.svg").exists()
