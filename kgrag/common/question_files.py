"""Reading question files."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kgrag.errors import InputError
from kgrag.types import Question

__all__ = ["QuestionTable", "read_question_table", "read_questions"]


@dataclass(frozen=True, slots=True)
class QuestionTable:
    """The questions of a table."""

    questions: list[Question]
    without_question: list[int]
    """Numbers of the rows that have something but no question: a questionnaire's headings, or a question that was forgotten."""


def read_questions(file: Path) -> list[Question]:
    """Read JSON lines with `id` and `question`; other keys that are not a question's are ignored. Raises `InputError` with the line."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: expected a file of JSON lines in UTF-8: {error}") from error
    questions = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                questions.append(Question.model_validate_json(line))
            except ValidationError as error:
                problem = error.errors()[0]
                key = ".".join(map(str, problem["loc"]))
                raise InputError(
                    f'{file}, line {number}: expected {{"id": ..., "question": "..."}}: {key}: {problem["msg"]}'
                ) from error
    if not questions:
        raise InputError(f"{file}: expected JSON lines with questions, got an empty file.")
    return questions


def read_question_table(file: Path) -> QuestionTable:
    """Read a CSV table with a column `question`, and `id` (else the row's number), `form` and `explanation` where there are such columns.

    Other columns are ignored, and empty rows, too. Raises `InputError`, also where no row has a question.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: expected a CSV table in UTF-8: {error}") from error
    delimiter = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    columns = [column.strip() for column in rows.fieldnames or ()]
    if "question" not in columns:
        raise InputError(f"{file}: expected a column `question`, got {', '.join(columns) or 'an empty file'}.")
    questions, without = [], []
    for number, row in enumerate(rows, start=1):
        said = {
            key.strip(): (value or "").strip()
            for key, value in row.items()
            if isinstance(key, str) and not isinstance(value, list)
        }
        if said["question"]:
            known = {key: said.get(key, "") for key in ("question", "form", "explanation")}
            questions.append(Question.model_validate({"id": said.get("id") or number, **known}))
        elif any(said.values()):
            without.append(number)
    if not questions:
        raise InputError(f"{file}: expected a question in at least one row, got none.")
    return QuestionTable(questions, without)
