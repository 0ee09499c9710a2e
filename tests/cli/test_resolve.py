"""`kgrag resolve` and `kgrag explain-merge` as users type them, on the embedded database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgrag.cli import run

TEXT = "# X-100 board\n\nThe X-100 needs 3.3 V.\n\n## Supply\n\nThe supply is 3300 mV, at most 33 V. The X-1000 needs 24 V.\n"


def test_a_store_is_planned_resolved_explained_and_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/x-100.md").write_text(TEXT)
    assert run(["build", "docs"]) == 0
    capsys.readouterr()

    assert run(["digest"]) == 0
    before = capsys.readouterr().out
    assert run(["resolve", "--dry-run", "--out", "plan.json"]) == 0
    out = capsys.readouterr().out
    assert "3.3 V (Quantity) + 3300 mV (Quantity): always 1.00, same normal form" in out
    assert "Nothing was changed" in out
    (plan,) = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert [[member["name"] for member in group["members"]] for group in plan["groups"]] == [["3.3 V", "3300 mV"]]

    assert run(["resolve", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["graphs"]["mention"]["applied"] == 1
    assert run(["explain-merge", "3300 mV"]) == 0
    assert "same normal form" in capsys.readouterr().out
    assert run(["explain-merge", "3.3 V", "33 V"]) == 0
    assert "Never one: numbers differ: 3.3 V against 33 V" in capsys.readouterr().out

    assert run(["resolve", "--undo"]) == 0
    assert "1 merges taken back" in capsys.readouterr().out
    assert run(["digest"]) == 0
    assert capsys.readouterr().out == before
    monkeypatch.setenv("KGRAG_RETRIES", "0")
    elsewhere = ["--model", "openai:any", "--base-url", "http://127.0.0.1:1/v1"]
    assert run(["resolve", "--dry-run", "--method", "llm", *elsewhere]) == 3
    assert "openai:any at http://127.0.0.1:1/v1 cannot be reached" in capsys.readouterr().err
    assert run(["resolve", "--method", "magic"]) == 2
    assert "expected one of rules, llm" in capsys.readouterr().err
    assert run(["explain-merge", "nothing of that name"]) == 2
