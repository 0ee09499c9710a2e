"""Verdicts as a question file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgrag.cli import run
from kgrag.common.journal import Journal
from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import read_gold_questions, read_questions_to_judge
from kgrag.jobs.feedback import export_feedback


def said(question: str, verdict: str = "right", *, abstained: bool = False) -> dict[str, Any]:
    citations = [] if abstained else [{"chunk_id": "c1"}]
    return {
        "completed": question,
        "verdict": verdict,
        "answer": "From the documents, as they say it:\n- It is 5 V. [1]\n- It has a fuse [1, 2].",
        "abstained": abstained,
        "citations": citations,
    }


def test_right_answers_and_passed_on_questions_are_what_bench_and_compare_read(tmp_path: Path) -> None:
    out = tmp_path / "questions.jsonl"
    feedback = [said("Which supply?", "wrong"), said("Which supply?"), said("Which weight?", "wrong source")]
    tickets = [said("Is it blue?", abstained=True), said("Is it blue?", abstained=True), said("Which supply?")]
    done = export_feedback(feedback, tickets, out)
    assert (done.questions, done.right, done.left_out) == (2, 1, 1)
    assert done.unanswered == (("Is it blue?", 2),)
    found, without = read_gold_questions(out)
    assert [(one.question, one.facts) for one in found] == [("Which supply?", (frozenset({"c1"}),))]
    assert without == 1
    assert json.loads(out.read_text().splitlines()[0])["gold_answer"] == "- It is 5 V.\n- It has a fuse."
    assert [one.answerable for one in read_questions_to_judge(out)] == [True, False]


def test_nothing_to_export_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to export"):
        export_feedback([said("Which weight?", "wrong")], [], tmp_path / "x.jsonl")


def test_a_folder_that_is_no_desks_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["feedback", "export", "--desk", str(tmp_path / "desk"), "--out", str(tmp_path / "x.jsonl")]) == 2
    assert "expected the folder that kgrag serve --desk names" in capsys.readouterr().err
    Journal(tmp_path / "desk").write("feedback", said("Which supply?"))
    out = tmp_path / "new" / "x.jsonl"
    assert run(["feedback", "export", "--desk", str(tmp_path / "desk"), "--out", str(out)]) == 0
    assert len(out.read_text().splitlines()) == 1


def test_a_journal_survives_a_line_that_a_crash_cut(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "desk")
    journal.write("feedback", {"n": 1})
    file = tmp_path / "desk" / "feedback.jsonl"
    file.write_text(file.read_text() + '{"n": 2, "cut')
    journal.write("feedback", {"n": 3, "half": "\ud83d"})
    assert [entry["n"] for entry in journal.read("feedback")] == [1, 3]
    assert file.stat().st_mode & 0o077 == 0
