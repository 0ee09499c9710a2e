"""The dry run: what a build would do and cost, held against the build that follows."""

import json
from pathlib import Path

import pytest

from kgrag.cli import run
from kgrag.common.progress import Silent
from kgrag.jobs.estimate import Estimate
from kgrag.knowledge_graph import estimate_build
from kgrag.models.minilm import MiniLM
from kgrag.store.graph import open_store
from kgrag.testing import ModelRequest, ModelServer

DIMENSIONS = MiniLM.dimensions
CHUNKS = 30


def script(request: ModelRequest) -> object:
    if "Check " in request.last:
        return {"ok": True}
    return "(X-100, NEEDS, 3.3 V)"


@pytest.fixture
def vector_dimensions(request: pytest.FixtureRequest) -> int | None:
    """Where the embedded database stands there is nothing before the build."""
    return DIMENSIONS if request.node.get_closest_marker("neo4j") else None


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    lines = [
        {"id": f"n{i}", "title": f"Note {i % 5}", "text": f"The X-100 needs 3.3 V, says {i}."} for i in range(CHUNKS)
    ]
    Path("notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("prices.toml").write_text('[models]\n"openai:scripted" = { input = 1.0, output = 2.0 }\n')
    command = ["build", "notes.jsonl", "--store", "store.kg", "--extractor", "path", "--model", "openai:scripted"]
    return [*command, "--prices", "prices.toml", "--model-cache", "replies.sqlite", "--json"]


def test_a_dry_run_calls_and_writes_nothing_and_foresees_the_build(
    arguments: list[str], store_target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(script) as server:
        arguments = [*arguments, "--base-url", server.url, "--store", store_target]
        assert run([*arguments, "--dry-run"]) == 0
        dry = json.loads(capsys.readouterr().out)
        assert server.requests == []
        if "://" not in store_target:
            assert not Path(store_target).exists()
        assert run(arguments) == 0
        real = json.loads(capsys.readouterr().out)
        with open_store(store_target) as store:
            before = store.digest()
        assert run([*arguments, "--dry-run"]) == 0
        again = json.loads(capsys.readouterr().out)
    graph = dry["graphs"]["path"]
    assert (dry["documents"], dry["chunks"], graph["chunks"], graph["calls"]) == (5, CHUNKS, CHUNKS, CHUNKS)
    expected = real["graphs"]["path"]["expected"]
    assert graph["prompt_tokens"] == expected["prompt_tokens"]
    assert graph["completion_tokens"] == expected["completion_tokens"]
    assert graph["cost"] == pytest.approx(expected["cost"])
    assert real["graphs"]["path"]["usage"]["calls"] == CHUNKS
    assert real["models"]["openai:scripted"]["calls"] == CHUNKS + 1, "the check of the model is a call, too"
    assert (again["unchanged_files"], again["chunks"], again["graphs"]["path"]["calls"]) == (1, CHUNKS, 0)
    assert again["cost"] == 0.0
    with open_store(store_target) as store:
        assert store.digest() == before


def test_the_time_is_that_of_the_limits(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*arguments, "--dry-run", "--requests-per-minute", "10"]) == 0
    by_requests = json.loads(capsys.readouterr().out)["graphs"]["path"]
    assert by_requests["seconds"] == pytest.approx(60 * CHUNKS / 10)
    assert run([*arguments, "--dry-run", "--tokens-per-minute", "1000"]) == 0
    by_tokens = json.loads(capsys.readouterr().out)["graphs"]["path"]
    tokens = by_tokens["prompt_tokens"] + by_tokens["completion_tokens"]
    assert by_tokens["seconds"] == pytest.approx(60 * tokens / 1000)


def test_what_the_cache_answers_costs_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with ModelServer(script) as server:
        arguments = [*arguments, "--base-url", server.url]
        assert run(arguments) == 0
        capsys.readouterr()
        elsewhere = [*arguments, "--graph", "elsewhere", "--dry-run"]
        assert run(elsewhere) == 0
    graph = json.loads(capsys.readouterr().out)["graphs"]["elsewhere"]
    assert (graph["chunks"], graph["calls"], graph["cached_calls"], graph["cost"]) == (CHUNKS, 0, CHUNKS, 0.0)


def test_after_enough_calls_the_ledger_says_how_long_replies_are(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with ModelServer(script) as server:
        arguments = [*arguments, "--base-url", server.url]
        assert run(arguments) == 0
        capsys.readouterr()
        assert run([*arguments, "--dry-run", "--max-paths-per-chunk", "3"]) == 0
    dry = json.loads(capsys.readouterr().out)
    assert dry["graphs"]["path"]["calls"] == CHUNKS, "another prompt is another extraction"
    assert dry["graphs"]["path"]["completion_tokens"] < 20 * CHUNKS
    assert any("mean of 30 calls" in note for note in dry["assumptions"])


class InterruptsAfterTwo(Silent):
    """A `Progress` that is interrupted, as by Ctrl-C, when two files are read."""

    done = 0

    def advance(self, count: int = 1) -> None:
        self.done += count
        if self.done == 2:
            raise KeyboardInterrupt


def test_an_interrupted_estimate_says_what_was_counted_and_of_how_many_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(8):
        Path(f"{number}.md").write_text(f"# Valve {number}\n\nIt opens at {number} bar.\n")
    result = Estimate()
    with pytest.raises(KeyboardInterrupt):
        estimate_build(tmp_path, store="store.kg", progress=InterruptsAfterTwo(), result=result)
    assert (result.found_files, result.files, result.documents, result.times_read) == (8, 2, 2, 4.0)
    assert estimate_build(tmp_path, store="store.kg").times_read == 1


def test_without_a_model_the_time_on_this_machine_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("valve.md").write_text("# Valve\n\nIt opens at 3 bar.\n")
    assert run(["build", "valve.md", "--store", "store.kg", "--dry-run", "--json"]) == 0
    dry = json.loads(capsys.readouterr().out)
    assert dry["reading_seconds"] > 0
    assert dry["embedding_seconds"] > 0
    assert (dry["cost"], dry["graphs"]["mention"]["chunks"], dry["graphs"]["mention"]["calls"]) == (0, 1, 0)
    assert run(["build", "valve.md", "--store", "store.kg"]) == 0
    capsys.readouterr()
    assert run(["build", "valve.md", "--store", "store.kg", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["graphs"]["mention"]["chunks"] == 0, "it is done"
