"""A questionnaire with its answers, for a person to check: a table as CSV or Markdown, a row for each question."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgrag.common.spreadsheets import plain_cell
from kgrag.errors import InputError
from kgrag.types import Answer, Question, place

__all__ = ["COLUMNS", "Filled", "check_report", "head", "row"]

COLUMNS = ("id", "question", "form", "status", "answer", "reasoning", "sources", "notes", "checked")
"""`checked` is left empty: it is for whoever checks the row."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A question with its answer, or with the reason why there is none; with neither it was not asked yet."""

    question: Question
    answer: Answer | None
    error: str = ""

    @property
    def status(self) -> str:
        """What became of the question: answered, `not mentioned` (no document has its words), not answered, failed, not asked."""
        if self.answer is None:
            return "failed" if self.error else "not asked"
        if not self.answer.abstained:
            return "answered"
        return "not mentioned" if self.answer.silence else "not answered"

    def cells(self) -> list[str]:
        """Return the row, in the order of `COLUMNS`."""
        asked, found = self.question, self.answer
        if found is None:
            return [str(asked.id), asked.question, asked.form, self.status, "", "", "", self.error, ""]
        sources = found.sources
        said = [
            *(f"[{citation.number}] {place(citation)}" for citation in sources),
            *((f"searched: {', '.join(found.silence.documents)}",) if found.silence else ()),
        ]
        cells = (found.told, found.reasoning, "\n".join(said), "\n".join(found.notes))
        return [str(asked.id), asked.question, asked.form, self.status, *cells, ""]


def check_report(file: Path) -> None:
    """Raise `InputError` where a report cannot be written as the file's name says."""
    if file.suffix.lower() not in (".csv", ".md"):
        raise InputError(f"--report {file}: expected a name that ends in .csv or .md.")
    if not file.parent.is_dir():
        raise InputError(f"--report {file}: there is no folder {file.parent}. Make it first.")


def head(*, suffix: str) -> str:
    """Return what stands above the rows: of `.csv` with commas and quotes as RFC 4180 has them, of `.md` with line breaks as `<br>`."""
    if suffix.lower() == ".md":
        return f"{_markdown_row(COLUMNS)}\n|{' --- |' * len(COLUMNS)}\n"
    return _csv_row(COLUMNS)


def row(filled: Filled, *, suffix: str) -> str:
    """Return a question's row of the table, its end included."""
    if suffix.lower() == ".md":
        return f"{_markdown_row(filled.cells())}\n"
    return _csv_row(map(plain_cell, filled.cells()))


def _csv_row(cells: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()


def _markdown_row(cells: Sequence[str]) -> str:
    shown = (cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells)  # `vector<int>` would be gone on the page
    return "| " + " | ".join("<br>".join(cell.splitlines()) for cell in shown) + " |"
