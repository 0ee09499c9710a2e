"""Names in the question: chunks about something that the question names are preferred."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kgrag.names import Gazetteer, normal_form
from kgrag.retrieve.candidates import Candidate
from kgrag.retrieve.pipeline import Names
from kgrag.retrieve.seeds import Found, Likeness, likeness
from kgrag.store.fulltext import STOP_WORDS
from kgrag.store.graph import GraphStore

__all__ = ["NamedEntity", "named_in_question", "prefer_named", "word_sequences"]

MAX_WORDS = 12
"""Words of the longest name that is looked for."""
MAX_QUESTION_WORDS = 200
"""A longer question is looked at up to here: each word adds MAX_WORDS lookups."""
WORD = re.compile(r"[^\W_]+[+#%]*")


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that the question names."""

    key: str
    name: str
    chunks: tuple[Likeness, ...]
    """The chunks about it (its title or heading stands over them) that are most like the question."""


async def named_in_question(
    store: GraphStore, question: str, vector: list[float], *, graph: str, settings: Names
) -> list[NamedEntity]:
    """Find the entities that the question names (longest names first, numeric-safe) and the chunks that are about them."""
    normals = sorted({normal_form(words) for words in word_sequences(question)} - {""})
    if not normals:
        return []
    rows = await asyncio.to_thread(
        store.read, "retrieve/named_chunks", graph=graph, normals=normals, vector=vector, limit=settings.chunks
    )
    said = _said(question, rows)
    return [
        NamedEntity(
            key=row["key"],
            name=row["name"],
            chunks=tuple(likeness(chunk) for chunk in row["chunks"]),
        )
        for row in rows
        if row["normal"] in said
    ]


def word_sequences(question: str) -> Iterator[str]:
    """Yield every sequence of up to MAX_WORDS words of the question, as written, that is not only stop words."""
    words = list(WORD.finditer(question))[:MAX_QUESTION_WORDS]
    for first, start in enumerate(words):
        telling = False
        for last in words[first : first + MAX_WORDS]:
            telling = telling or last.group().casefold() not in STOP_WORDS
            if telling:
                yield question[start.start() : last.end()]


def prefer_named(found: Found, named: Sequence[NamedEntity], *, weight: float) -> dict[str, Candidate]:
    """Add `weight` to the score of every chunk about a named entity, to all alike.

    Alike, because a question about two things is about both, however much there is to read of each.
    """
    candidates = dict(found.candidates)
    gaining: dict[str, str] = {}
    for entity in named:
        for chunk in entity.chunks:
            candidates.setdefault(chunk.chunk_id, found.candidate(chunk))
            gaining.setdefault(chunk.chunk_id, entity.name)
    for chunk_id, name in gaining.items():
        candidate = candidates[chunk_id]
        candidates[chunk_id] = candidate.scored(candidate.score + weight, f"question names {name}")
    return candidates


def _said(question: str, rows: Sequence[dict[str, Any]]) -> set[str]:
    """Keep the names that really stand in the question: not inside a longer name, word or part number."""
    gazetteer = Gazetteer(spelling for row in rows for spelling in (row["name"], *(row["aliases"] or ())))
    return {match.key for match in gazetteer.find(question)}
