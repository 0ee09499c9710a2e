"""Reading question files."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kgrag.common.csv_quotes import check_quotes
from kgrag.common.standard_streams import read_text_once
from kgrag.errors import InputError
from kgrag.types import Question

__all__ = ["QuestionTable", "json_lines", "read_question_table", "read_questions"]


@dataclass(frozen=True, slots=True)
class QuestionTable:
    """The questions of a table."""

    questions: list[Question]
    without_question: list[int]
    """Numbers of the rows that have something but no question: a questionnaire's headings, or a question that was forgotten."""


def json_lines(file: Path) -> list[tuple[int, str]]:
    """Read the lines of a file that are not empty, each with its number, from 1. Raises `InputError` where it cannot be read as text."""
    if file.suffix.lower() == ".csv":
        raise InputError(
            f"{file}: expected a file of JSON lines, got a CSV table. kgrag ask --questions answers the questions of a table."
        )
    try:
        lines = read_text_once(file).split("\n")  # not splitlines: JSON may have U+2028 in its text
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: expected a file of JSON lines in UTF-8: {_reason(error)}") from error
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def read_questions(file: Path) -> list[Question]:
    """Read JSON lines with `id` and `question`; other keys that are not a question's are ignored. Raises `InputError` with the line."""
    questions = []
    for number, line in json_lines(file):
        try:
            questions.append(Question.model_validate_json(line))
        except ValidationError as error:
            problem = error.errors()[0]
            wrong = ": ".join(filter(None, (".".join(map(str, problem["loc"])), problem["msg"])))
            raise InputError(f'{file}, line {number}: expected {{"id": ..., "question": "..."}}: {wrong}') from error
    if not questions:
        raise InputError(f"{file}: expected JSON lines with questions, got an empty file.")
    return questions


def _reason(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror}."
    return f"byte {error.start} is {error.object[error.start]:#04x}. Save it as UTF-8."


def read_question_table(file: Path) -> QuestionTable:
    """Read a CSV table with a column `question`, and `id` (else the row's number), `form` and `explanation` where there are such columns.

    Other columns are ignored, and empty rows, too. Raises `InputError`, also where no row has a question.
    """
    try:
        text = read_text_once(file)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: expected a CSV table in UTF-8: {_reason(error)}") from error
    delimiter = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        check_quotes(text, delimiter=delimiter)
        columns = [column.strip() for column in rows.fieldnames or ()]
        read = list(rows)
    except csv.Error as error:
        raise InputError(f"{file}: expected a CSV table: {error}.") from error
    if "question" not in columns:
        raise InputError(f"{file}: expected a column `question`, got {', '.join(columns) or 'an empty file'}.")
    questions, without = [], []
    for number, row in enumerate(read, start=1):
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
