"""`kgrag judge calibrate` with a model as the judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgrag.cli import run
from kgrag.testing import ModelServer, answer, fenced


def test_a_model_is_asked_for_what_is_compared_alone_and_what_it_does_not_judge_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, Any]] = [
        {"question": "Which current?", "gold_answer": "0.5 mA", "answer": f"It draws {said}.", "human": right}
        for said, right in (("0.5 mA", 1), ("5 mA", 0), ("no words", 1))
    ]
    pair = {"question": "Which supply?", "reference": "3.3 V", "answer_a": "It is 3.3 V.", "answer_b": "It is 5 V."}
    rows.append({**pair, "human_b_over_a": [{"overall": -2}]})
    file = tmp_path / "people.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def script(request: Any) -> Any:
        if "no words" in request.prompt:
            return answer("I cannot say.")
        right = "draws 0.5 mA" in request.last or "It is 3.3 V" in request.last
        severity = "low" if right else "high"
        return fenced({"reason": "", "answered": True, "coverage": 1.0 if right else 0.0, "severity": severity})

    flags = ["judge", "calibrate", str(file), "--judge", "openai:known", "--model-cache", "off"]
    with ModelServer(script, models=["known"]) as server:
        assert run([*flags, "--base-url", server.url, "--concurrency", "2"]) == 0
        asked = [one.prompt for one in server.requests]
    shown = capsys.readouterr()
    others = ("Count what", "For each numbered fact", "Divide the answer", "Each numbered sentence", "How helpful")
    assert asked and not [one for one in asked if any(other in one for other in others)]
    assert "Right or wrong, 2 answers (1 not judged): accuracy 1.00" in shown.out
    assert "Better or worse, overall, 1 pairs" in shown.out
    assert "not judged, the first: " in shown.err


def test_a_judge_that_is_none_is_named_by_its_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "people.jsonl").write_text('{"question": "q", "gold_answer": "x", "answer": "x", "human": 1}', "utf-8")
    assert run(["judge", "calibrate", str(tmp_path / "people.jsonl"), "--judge", "gpt"]) == 2
    told = capsys.readouterr().err
    assert "Unknown judge 'gpt'" in told and "Set --judge. Did you mean openai:gpt?" in told
    assert run(["judge", "pairs", str(tmp_path), "default", "hybrid", "--judge", "rules"]) == 2
    assert "rules judges each by itself" in capsys.readouterr().err
