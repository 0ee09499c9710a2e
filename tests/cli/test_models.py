"""Hosted models from the command line, against a local server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgrag.cli import run
from kgrag.testing import Behaviour, ModelRequest, ModelServer, refused, truncated

KEY = "sk-test-0123456789"


def script(request: ModelRequest) -> Any:
    if "Check " in request.last:
        return {"ok": True}
    if "weight" in request.last.rpartition("Question:")[2]:
        return {"quotes": [], "answered": False, "answer": "The passages do not say what the X-100 weighs."}
    return {"quotes": [], "answered": True, "answer": "It needs 3.3 V [1][99]."}


@pytest.fixture
def server(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.chdir(folder)
    (tmp_path / "key").write_text(KEY + "\n")
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(tmp_path / "key"))
    with ModelServer(script, models=["known"], api_key=KEY) as running:
        yield running


def test_a_hosted_model_answers_with_citations_and_notes(
    server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    question = ["ask", "Which supply voltage does the X-100 need?", "--model", "openai:known", "--base-url", server.url]
    assert run(question) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("It needs 3.3 V [1].\n\n[1] docs/x-100.md, X-100 board > Supply")
    assert "[99]" in shown.err
    assert run([*question, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["model"], said["abstained"], said["citations"][0]["number"]) == ("openai:known", False, 1)
    assert said["citations"][0]["quote"] == "The X-100 needs a supply voltage of 3.3 V."
    assert len(server.requests) == 1  # the second answer came from the cache


def test_a_hosted_model_abstains(server: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    question = [
        "ask",
        "What is the weight of the X-100?",
        "--model",
        "openai:known",
        "--base-url",
        server.url,
        "--json",
    ]
    assert run(question) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["abstained"], said["citations"]) == (True, [])


def test_the_prompt_may_come_from_a_file(server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("Antworte auf Deutsch: {question}\n{evidence}")
    options = ["--model", "openai:known", "--base-url", server.url, "--answer-prompt", str(tmp_path / "prompt.txt")]
    assert run(["ask", "Which voltage does the X-100 need?", *options]) == 0
    assert server.requests[0].last.startswith("Antworte auf Deutsch: Which voltage")


def test_check_says_how_each_model_is(server: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "check", "--model", "openai:known", "--base-url", server.url]) == 0
    out = capsys.readouterr().out
    assert "openai:known  ok      structured output native" in out
    assert "minilm  ok      384 dimensions" in out
    assert run(["models", "check", "--model", "openai:unknown", "--base-url", server.url, "--json"]) == 3
    (chat, embedder) = json.loads(capsys.readouterr().out)["models"]
    assert (chat["ok"], embedder["ok"]) == (False, True)
    assert "does not know the model 'unknown'" in chat["problem"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"OPENAI_API_KEY": "sk-wrong-9876543210"}, "refused the key (from OPENAI_API_KEY)"),
        ({"KGRAG_MODEL": "openai:unknown"}, "does not know the model 'unknown'"),
        ({"KGRAG_BASE_URL": "http://127.0.0.1:1/v1"}, "cannot be reached"),
    ],
)
def test_a_build_finds_out_before_it_reads_a_document(
    change: dict[str, str],
    says: str,
    server: ModelServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = {"KGRAG_MODEL": "openai:known", "KGRAG_BASE_URL": server.url, "KGRAG_EXTRACTOR": "path"}
    for name, value in (settings | change).items():
        monkeypatch.setenv(name, value)
    store = str(tmp_path / "store.kg")
    assert run(["build", "docs", "--store", store]) == 3
    err = capsys.readouterr().err
    assert says in err
    assert "Traceback" not in err
    assert "wrong-9876543210" not in err
    assert run(["status", "--store", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == 0


def test_a_build_says_what_to_do_about_chunks_that_failed_or_lost_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("resistor", "capacitor"):
        Path(f"{name}.md").write_text(f"# The {name}\n\nThe {name} R-{len(name)} is made by Acme.\n")
    named = [{"name": name, "type": "Part", "description": ""} for name in ("R-8", "R-9", "Acme")]
    reply = {"entities": named, "relations": [], "quantities": []}

    def said(request: ModelRequest) -> Behaviour | dict[str, Any]:
        if "Check " in request.last:
            return {"ok": True}
        return refused(400, "", "No.") if "R-8" in request.last.partition("<<<")[2] else truncated(reply)

    with ModelServer(said) as server:
        options = ["--extractor", "llm", "--model", "openai:any", "--base-url", server.url, "--model-cache", "off"]
        assert run(["build", ".", "--store", "made.kg", *options]) == 1
    shown = capsys.readouterr().out
    assert "refused the request (400): No." in shown
    assert "What failed is asked for again by the same command." in shown
    assert "Of 1 chunks a part of the reply was lost (partial): --retry partial asks for them again, too." in shown
