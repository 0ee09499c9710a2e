"""Commands that only read a store: they read its last finished build while somebody else has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kgrag
from kgrag.cli import run


def test_what_only_reads_reads_the_last_finished_build_of_a_store_that_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": f"p{n}", "title": f"Board Q{n}", "text": f"The Board Q{n} has {n + 2} slots."} for n in range(6)]
    Path("boards.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = [{"id": n, "question": f"How many slots has the Board Q{n}?", "evidence": [f"p{n}"]} for n in range(4)]
    asked = [{**one, "gold_answer": "slots"} for one in asked]
    Path("asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked), encoding="utf-8")
    Path("switches.toml").write_text(
        '[search]\nsparse = [{ kind = "sparse" }]\ndense = [{ kind = "dense" }]\n', encoding="utf-8"
    )
    with kgrag.open("boards.kg") as graph:
        graph.build("boards.jsonl")
    with kgrag.open("boards.kg"):
        for command, code in (
            (["bench", "retrieval", "--questions", "asked.jsonl", "--pipelines", "sparse"], 0),
            (["compare", "--questions", "asked.jsonl", "--pipelines", "sparse", "--out", "run"], 0),
            (["tune", "--questions", "asked.jsonl", "--switches", "switches.toml"], 0),
            (["questions", "make", "--out", "made.jsonl", "--kinds", "headings"], 2),
            (["train", "ranker", "--questions", "asked.jsonl", "--out", "r.toml", "--pipeline", "sparse"], 2),
            (["train", "lp", "--limit", "0", "--no-cloze", "--out", "lp.toml"], 2),
            (["communities", "show"], 0),
            (["explain-merge", "Board Q1"], 0),
        ):
            said = run([*command, "--store", "boards.kg"])
            told = capsys.readouterr().err
            assert "note: Read from the snapshot" in told, (command, told)
            assert said == code, (command, told)
