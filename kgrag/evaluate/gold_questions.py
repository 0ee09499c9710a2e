"""Questions with gold evidence: what has to be found to answer them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgrag.errors import InputError
from kgrag.types import Evidence

__all__ = ["GoldQuestion", "read_gold_questions", "states"]

EXPECTED = '{"id": ..., "question": "...", "evidence": ["id", ...]} or {"id": ..., "question": "...", "facts": [["id", ...], ...]}'


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with the facts that answer it."""

    id: str
    question: str
    facts: tuple[frozenset[str], ...]
    """For each fact the sources that state it, any of which will do: a passage's id, the id of an HTML element, `path` or `path#page=4`."""
    query_type: str = ""


def read_gold_questions(file: Path) -> tuple[list[GoldQuestion], int]:
    """Read JSON lines with `facts` (lists of alternatives) or `evidence` (each a fact of its own); other keys are ignored.

    Returns the questions and how many lines were left out because they have neither. Raises `InputError` with the line.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: expected a file of JSON lines in UTF-8: {error}") from error
    rows = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    read = [_question(line, where=f"{file}, line {number}") for number, line in rows]
    questions = [question for question in read if question.facts]
    if not questions:
        raise InputError(f"{file}: expected at least one line {EXPECTED}, got none of {len(rows)} with either.")
    return questions, len(read) - len(questions)


def states(piece: Evidence, fact: frozenset[str]) -> bool:
    """Whether a piece of evidence is one of the sources that state a fact."""
    return not fact.isdisjoint((piece.source_id, *piece.anchors)) or any(_is_place(piece, source) for source in fact)


def _is_place(piece: Evidence, source: str) -> bool:
    """Whether a piece is from `path`, `path#page=4` or `path#id`; a path may be the end of the document's."""
    path, _, fragment = source.partition("#")
    if piece.document != path and not piece.document.endswith(f"/{path}"):
        return False
    kind, _, number = fragment.partition("=")
    if kind == "page" and number.isdigit():
        first, last = piece.page_start, piece.page_end
        return first is not None and first <= int(number) <= (last or first)
    return not fragment or fragment in piece.anchors


def _question(line: str, *, where: str) -> GoldQuestion:
    try:
        row = json.loads(line)
        facts = tuple(_facts(row))
        return GoldQuestion(str(row["id"]), _text(row["question"]), facts, str(row.get("query_type") or ""))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{where}: expected {EXPECTED}: {type(error).__name__}: {error}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"question: expected a text, got {value!r}")
    return value


def _facts(row: dict[str, Any]) -> Iterator[frozenset[str]]:
    facts: Sequence[Any] = row.get("facts") or [[source] for source in row.get("evidence") or ()]
    for sources in facts:
        if not isinstance(sources, list) or not sources or not all(isinstance(one, str | int) for one in sources):
            raise ValueError(f"facts: expected a list of ids for each fact, got {sources!r}")
        yield frozenset(map(str, sources))
