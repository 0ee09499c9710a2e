"""`kgrag train lp` as it is typed: what it says it cost, and its pipeline on a store that it was not trained on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgrag.cli import run

TOPICS = {"Carrier": "slots", "Pump": "valves", "Heater": "coils"}


def write_passages(file: Path, letter: str, count: int = 8) -> None:
    """Passages about things whose names have this letter; each names the next one."""
    rows = [
        {
            "id": f"{letter}{number}",
            "title": f"{topic} {letter}{number}",
            "text": f"The {topic} {letter}{number} has {number + 2} {part}. It holds the {topic} {letter}{(number + 1) % count}.",
        }
        for number, (topic, part) in enumerate([*TOPICS.items()] * count)
        if number < count
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_predictor_is_trained_on_one_store_and_asked_on_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for letter, count in (("Q", 12), ("Z", 3)):
        write_passages(tmp_path / f"{letter}.jsonl", letter, count)
        assert run(["build", f"{letter}.jsonl", "--store", f"{letter}.kg"]) == 0
    options = tmp_path / "few.toml"
    options.write_text("hidden = 8\nepochs = 3\n", encoding="utf-8")
    train = ["train", "lp", "--store", "Q.kg", "--out", "lp.toml", "--limit", "0", "--options", "few.toml"]
    capsys.readouterr()
    assert run([*train, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["chunks"] == 12
    assert said["bytes"] == Path("lp.npz").stat().st_size
    assert said["training_seconds"] > 0.0
    assert said["question_seconds"] > 0.0
    assert len(said["losses"]) == 3
    assert run(train) == 0
    assert f"the model takes {said['bytes'] / 1000:,.0f} kB" in " ".join(capsys.readouterr().out.split())
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        json.dumps({"id": "1", "question": "How many valves has the Pump Z1?"}) + "\n", encoding="utf-8"
    )
    assert (
        run(
            [
                "retrieve",
                "--questions",
                str(questions),
                "--store",
                "Z.kg",
                "--pipeline",
                "lp.toml",
                "--out",
                "out.jsonl",
            ]
        )
        == 0
    )
    (answered,) = map(json.loads, Path("out.jsonl").read_text(encoding="utf-8").splitlines())
    assert answered["evidence"][0]["source_id"] == "Z1"
