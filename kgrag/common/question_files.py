"""Reading question files."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from kgrag.errors import InputError
from kgrag.types import Question

__all__ = ["read_questions"]


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
    return questions
