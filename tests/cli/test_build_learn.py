"""`kgrag build --learn`: the ranking adapted to the documents, or left as it is, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgrag.cli import run
from kgrag.retrieve import load_pipeline

NAMES = "pump valve motor filter sensor gauge hose tank fan belt lamp relay fuse switch spring piston bearing nozzle clutch gasket"


CHORES = {"Cleaning": "brush", "Storing": "box", "Fitting": "wrench", "Testing": "meter", "Painting": "roller"}


def write_pages(folder: Path, names: list[str]) -> None:
    """A page for each part, with sections whose headings say what their texts do not."""
    folder.mkdir(exist_ok=True)
    for name in names:
        sections = "".join(
            f"## {chore} the {name}\n\nDo it every {number} weeks, with the {tool} of set {number}.\n\n"
            for number, (chore, tool) in enumerate(CHORES.items(), start=len(name))
        )
        (folder / f"{name}.md").write_text(f"# The {name}\n\n{sections}", encoding="utf-8")


def test_the_ranking_is_written_exactly_where_held_out_questions_gain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_pages(tmp_path / "docs", NAMES.split())
    command = ["build", "docs", "--store", "my.kg", "--learn", "mine.toml", "--json"]
    assert run(command) == 0
    ranking = json.loads(capsys.readouterr().out)["ranking"]
    asked = Path("mine.questions.jsonl").read_text(encoding="utf-8").splitlines()
    assert ranking["asked"] == len(asked) >= ranking["with_gold_found"] >= 20
    better = ranking["difference"]["low"] > 0.0
    assert (ranking["out"] == "mine.toml") == Path("mine.toml").exists() == better
    if better:
        assert load_pipeline("mine.toml").name == "mine"

    # Nothing changed: nothing is learnt, and what was learnt stays.
    before = {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("mine.*")}
    assert run(command[:-1]) == 0
    assert "Ranking: no document changed" in capsys.readouterr().out
    assert {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("mine.*")} == before


def test_too_few_documents_are_built_and_the_ranking_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_pages(tmp_path / "docs", ["pump"])
    assert run(["build", "docs", "--store", "my.kg", "--learn", "mine.toml"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Documents: 1 new" in said
    assert "Ranking: not learnt, default stays as it is." in said
    assert not Path("mine.toml").exists()
