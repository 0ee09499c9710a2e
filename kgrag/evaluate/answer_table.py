"""Every answer of a run as a row of a table: what was asked how, what was found, cited and answered, and what it cost."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from kgrag.common.spreadsheets import plain_cell
from kgrag.evaluate.runs import Result, Run
from kgrag.types import place

__all__ = ["COLUMNS", "write_answers"]

COLUMNS = (
    *(
        "question",
        "query_type",
        "pipeline",
        "repeat",
        "model",
        "made_with",
        "top",
        "budget",
        "embedder",
        "corpus",
        "status",
    ),
    *("asked", "answer", "reasoning", "found", "cited", "calls", "tokens", "cost", "seconds", "notes"),
)
"""`made_with`, `found` and `cited` are JSON: what `RunSettings.made_with` says, and the places in the order of evidence and citations."""


def write_answers(run: Run, out: Path) -> None:
    """Write the table as CSV (RFC 4180), a row for each cell of the run, in the order of the run; a file there is replaced."""
    asked = {question.id: question for question in run.questions()}
    settings = run.settings
    made_with = json.dumps(settings.made_with, ensure_ascii=False, sort_keys=True)
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for result in run.results():
            question = asked[result.cell.question]
            about = (
                *(
                    question.id,
                    question.query_type,
                    result.cell.pipeline,
                    str(result.cell.repeat),
                    settings.model,
                    made_with,
                ),
                *("" if limit is None else str(limit) for limit in (settings.top, settings.budget)),
                *(settings.embedder, settings.corpus),
            )
            writer.writerow(map(plain_cell, (*about, *_answered(result, question.question))))


def _answered(result: Result, question: str) -> tuple[str, ...]:
    answer = result.answer
    if answer is None:
        reason = result.failures.get("answer", "")
        return "failed" if reason else "missing", question, *[""] * 8, reason
    usage = answer.usage
    found, cited = ([place(one) for one in some] for some in (answer.evidence, answer.citations))
    return (
        *("abstained" if answer.abstained else "answered", question, answer.text, answer.reasoning),
        *(json.dumps(places, ensure_ascii=False) for places in (found, cited)),
        *(
            str(usage.calls),
            str(usage.prompt_tokens + usage.completion_tokens),
            f"{usage.cost:g}",
            f"{answer.seconds:g}",
        ),
        "\n".join(answer.notes),
    )
