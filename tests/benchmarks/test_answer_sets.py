from pathlib import Path

import pytest

from benchmarks.answer_sets import AnswerSet


def test_answers_are_kept_until_a_document_or_a_question_is_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manuals = tmp_path / "manuals"
    manuals.mkdir()
    (manuals / "pump.md").write_text("# Pump\n\nThe default pressure of the pump is 40 kPa.\n", encoding="utf-8")
    asked = {"question": "What is the default pressure of the pump?"}
    also_asked = {"question": "What is the default speed of the fan?"}

    def answers(*rows: dict[str, str]) -> list[str]:
        return [answer.text for answer in AnswerSet("desk", lambda _: manuals, rows).answers(tmp_path / "kept")]

    [first] = answers(asked)
    assert "40 kPa" in first
    kept = tmp_path / "kept" / "desk.answers.jsonl"
    written = kept.stat().st_mtime_ns
    assert answers(asked) == [first]
    assert kept.stat().st_mtime_ns == written
    assert capsys.readouterr().err == ""

    (manuals / "fan.md").write_text("# Fan\n\nThe default speed of the fan is 900 rpm.\n", encoding="utf-8")
    answers(asked)
    assert "asked anew" in capsys.readouterr().err
    assert "900 rpm" in answers(asked, also_asked)[1]
    assert "asked anew" in capsys.readouterr().err
