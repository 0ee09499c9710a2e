"""Questions with gold evidence, gold answers or both: what has to be found, and what a good answer says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kgrag.common.question_files import json_lines
from kgrag.errors import InputError
from kgrag.store.search_rows import ChunkPlaceRow
from kgrag.types import Evidence

__all__ = ["GoldQuestion", "read_gold_questions", "read_questions_to_judge", "states", "without_place"]

SHOWN_CHARACTERS = 80
EXPECTED = '{"id": ..., "question": "..."}'
GOLD = '"evidence": ["id", ...] or "facts": [["id", ...], ...]'


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with the facts that answer it."""

    id: str
    question: str
    facts: tuple[frozenset[str], ...]
    """For each fact the sources that state it, any of which will do: the id of a passage, a chunk or an HTML element, `path` or
    `path#page=4`."""
    query_type: str = ""
    references: tuple[str, ...] = ()
    """Gold answers, any of which is right."""
    gold_facts: tuple[str, ...] = ()
    """What a good answer says, fact by fact."""
    answerable: bool | None = None
    """Whether the documents answer it; None where nobody says."""
    document: str = ""
    """What its gold evidence is in, where somebody says: questions of one document are not independent of each other."""
    synthetic: bool = False
    """Whether it was made (`kgrag questions make`), not asked by somebody."""
    hidden: frozenset[str] = frozenset()
    """Ids of chunks that it was taken from word for word: retrieval has to do without them."""

    @property
    def cluster(self) -> str:
        """The document that its gold evidence is in: as it says, else what stands before `#`, `|` or `::` of its first source."""
        if self.document:
            return self.document
        first = next(iter(sorted(min(map(sorted, self.facts), default=[]))), "")
        for mark in ("#", "::", "|"):
            first = first.partition(mark)[0]
        return first or self.id


def read_gold_questions(file: Path) -> tuple[list[GoldQuestion], int]:
    """Read JSON lines with `facts` (lists of alternatives) or `evidence` (each a fact of its own); other keys are ignored.

    Returns the questions and how many lines were left out because they have neither. Raises `InputError` with the line.
    """
    read = _read(file)
    questions = [question for question in read if question.facts]
    if not questions:
        raise InputError(f"{file}: expected at least one line with {GOLD}, got none of {len(read)}.")
    return questions, len(read) - len(questions)


def read_questions_to_judge(file: Path) -> list[GoldQuestion]:
    """Read JSON lines with `id`, `question`, and of `gold_answer` (a text or several), `gold_facts`, `answerable` what is known.

    Raises `InputError` with the line, where an id stands twice, and where no line says what a good answer is.
    """
    read = _read(file)
    ids = [question.id for question in read]
    if twice := sorted({one for one in ids if ids.count(one) > 1}):
        raise InputError(f"{file}: expected each id once, got {', '.join(twice)} several times.")
    if not any(question.references or question.gold_facts or question.answerable is not None for question in read):
        raise InputError(
            f'{file}: expected lines with "gold_answer", "gold_facts" or "answerable", got none: there is nothing to judge by. '
            "Write what a good answer says, or have the questions only answered: kgrag ask --questions FILE."
        )
    return read


def _read(file: Path) -> list[GoldQuestion]:
    return [_question(line, where=f"{file}, line {number}") for number, line in json_lines(file)]


def without_place(questions: Sequence[GoldQuestion], places: Sequence[ChunkPlaceRow]) -> list[str]:
    """Return the ids of questions of which a fact is nowhere in a store, so that nothing finds it: another store, a typing error."""
    named = {name for row in places for name in (row["id"], row["source_id"], *(row["anchors"] or ()))}
    by_document: dict[str, list[Evidence]] = {}
    for row in places:
        by_document.setdefault(row["document"], []).append(
            Evidence(
                chunk_id=row["id"],
                source_id=row["source_id"],
                document=row["document"],
                anchors=tuple(row["anchors"] or ()),
                page_start=row["page_start"],
                page_end=row["page_end"],
                text="",
                tokens=0,
                score=0.0,
            )
        )

    @cache
    def there(fact: frozenset[str]) -> bool:
        if not fact.isdisjoint(named):
            return True
        paths = {source.partition("#")[0] for source in fact}
        return any(
            states(piece, fact)
            for document, pieces in by_document.items()
            if any(document == path or document.endswith(f"/{path}") for path in paths)
            for piece in pieces
        )

    return [question.id for question in questions if not all(map(there, question.facts))]


def states(piece: Evidence, fact: frozenset[str]) -> bool:
    """Whether a piece of evidence is one of the sources that state a fact."""
    return not fact.isdisjoint((piece.source_id, piece.chunk_id, *piece.anchors)) or any(
        _is_place(piece, source) for source in fact
    )


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
    except ValueError as error:
        raise InputError(f"{where}: expected a JSON object ({EXPECTED}), got what is no JSON: {error}.") from error
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected a JSON object ({EXPECTED}) on a line of its own, got {_shown(row)}.")
    if missing := [key for key in ("id", "question") if row.get(key) is None]:
        raise InputError(f"{where}: expected {EXPECTED}, got no {' and no '.join(missing)}.")
    try:
        return GoldQuestion(
            id=str(row["id"]),
            question=_text("question", row["question"]),
            facts=tuple(_facts(row)),
            query_type=str(row.get("query_type") or ""),
            references=_texts("gold_answer", row.get("gold_answer")),
            gold_facts=_texts("gold_facts", row.get("gold_facts")),
            answerable=_answerable(row.get("answerable")),
            document=str(row.get("document") or ""),
            synthetic=bool(row.get("synthetic")),
            hidden=frozenset(_texts("hidden", row.get("hidden"))),
        )
    except ValueError as error:
        raise InputError(f"{where}: {error}.") from error


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key}: expected a text, got {_shown(value)}")
    return value


def _texts(key: str, value: Any) -> tuple[str, ...]:
    """Read a text, or a list of texts; nothing where there is none."""
    if value is None or value == "":
        return ()
    if not isinstance(value, str | list):
        raise ValueError(f"{key}: expected a text or a list of texts, got {_shown(value)}")
    return tuple(_text(key, one) for one in ([value] if isinstance(value, str) else value))


def _shown(value: Any) -> str:
    """Write what came as JSON does, of something long the beginning."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def _answerable(value: Any) -> bool | None:
    """Read true, false, or `full`, `partial`, `none`; what is answered in part is answerable."""
    known = {"full": True, "partial": True, "none": False}
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"answerable: expected true, false, full, partial or none, got {_shown(value)}")
    return known[value]


def _facts(row: dict[str, Any]) -> Iterator[frozenset[str]]:
    if not isinstance(evidence := row.get("evidence") or [], list):
        raise ValueError(f"evidence: expected a list of ids, got {_shown(evidence)}")
    if not isinstance(facts := row.get("facts") or [[source] for source in evidence], list):
        raise ValueError(f"facts: expected a list of lists of ids, got {_shown(facts)}")
    for sources in facts:
        if not isinstance(sources, list) or not sources or not all(isinstance(one, str | int) for one in sources):
            raise ValueError(f"facts: expected a list of ids for each fact, got {_shown(sources)}")
        yield frozenset(map(str, sources))
