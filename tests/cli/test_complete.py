"""`kgrag complete` as users type it, on the embedded database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgrag.cli import run


def test_edges_are_tried_predicted_and_taken_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lands = ("Italy", "France", "Spain", "Norway", "Chile")
    passages, records = [], []
    for i in range(30):
        person, city, land = (
            f"Person {'abcdefghijklmnopqrstuvwxyzABCD'[i] * 3}",
            f"City of {lands[i % 5]}",
            lands[i % 5],
        )
        passages.append({"id": f"p{i}", "title": person, "text": f"{person} lives in {city}, which lies in {land}."})
        triples = [[person, "lives in", city], [city, "lies in", land]]
        triples += [[person, "citizen of", land]] if i < 27 else []
        records.append({"id": f"p{i}", "entities": [], "triples": triples})
    for name, rows in (("passages", passages), ("recorded", records)):
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert run(["build", "passages.jsonl", "--extractor", "recorded", "--recorded", "recorded.jsonl"]) == 0
    capsys.readouterr()
    assert run(["digest"]) == 0
    before = capsys.readouterr().out

    assert run(["complete", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "method rules: 62 relations" in out
    assert "edges would be written" in out
    assert "CITIZEN_OF" in out
    assert run(["complete", "--precision", "0.2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)["graphs"]["recorded"]
    assert report["edges"] >= 3
    assert run(["digest"]) == 0
    assert capsys.readouterr().out == before
    assert run(["complete", "--undo"]) == 0
    assert f"{report['edges']} predicted edges taken out" in capsys.readouterr().out
    assert run(["complete", "--undo", "--dry-run"]) == 2
    assert "give one of them" in capsys.readouterr().err
    for command in (["complete", "--undo"], ["resolve", "--undo"], ["communities", "show"]):
        assert run([*command, "--graph", "recordings"]) == 2
        assert "has no graph 'recordings', only: recorded" in capsys.readouterr().err
    assert run(["complete", "--method", "guess"]) == 2
    assert "expected one of rules" in capsys.readouterr().err
