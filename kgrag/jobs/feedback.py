"""`kgrag feedback export`: what people said about answers, as a question file, and what they ask that the documents do not say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgrag.answer.rules import PREAMBLE
from kgrag.common.whole_files import expect_place, write_whole
from kgrag.errors import InputError
from kgrag.evaluate.judge.rules import MARK

__all__ = ["Exported", "export_feedback"]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and the questions that the documents do not answer, with how often each was asked or passed on."""

    questions: int
    right: int
    unanswered: tuple[tuple[str, int], ...]
    left_out: int
    """Verdicts that say nothing that could be judged by: wrong, without a right answer."""


def export_feedback(feedback: Iterable[Mapping[str, Any]], tickets: Iterable[Mapping[str, Any]], out: Path) -> Exported:
    """Write a question file that `kgrag bench retrieval` and `kgrag compare` take; the last verdict on a question counts.

    An answer that is right gives a question with the chunks that it cites as evidence and what it says as gold answer. A question that was
    passed on after an abstention is written as one that the documents do not answer. Raises `InputError` where nothing can be written.
    """
    verdicts = {entry["completed"]: entry for entry in feedback if "completed" in entry}
    asked: dict[str, int] = {}
    for entry in tickets:
        if entry.get("abstained") and "completed" in entry:
            asked[entry["completed"]] = asked.get(entry["completed"], 0) + 1
    rows = []
    for question, entry in verdicts.items():
        evidence = [one["chunk_id"] for one in entry.get("citations", []) if one.get("chunk_id")]
        if entry.get("verdict") == "right" and evidence:
            rows.append(
                {
                    "question": question,
                    "gold_answer": _what_it_says(entry["answer"]),
                    "evidence": evidence,
                    "answerable": True,
                }
            )
    right = len(rows)
    known = {row["question"] for row in rows}
    rows += [{"question": question, "answerable": False} for question in asked if question not in known]
    if not rows:
        raise InputError(
            "Expected a verdict `right` or a question that was passed on, got none: there is nothing to export yet."
        )
    lines = [
        json.dumps({"id": f"desk-{number}", **row}, ensure_ascii=False) for number, row in enumerate(rows, start=1)
    ]
    expect_place(out)
    write_whole(out, "\n".join(lines) + "\n")
    unanswered = tuple(sorted(asked.items(), key=lambda one: (-one[1], one[0])))
    return Exported(len(rows), right, unanswered, len(verdicts) - right)


def _what_it_says(answer: str) -> str:
    """Return an answer without the numbers of its citations and the line that every answer without a model begins with: no facts."""
    lines = [
        re.sub(rf"\s*{MARK.pattern}", "", line).rstrip() for line in answer.splitlines() if line.strip() != PREAMBLE
    ]
    return "\n".join(lines).strip()
