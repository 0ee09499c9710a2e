"""Names in the question: chunks about something that the question names are preferred."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from kgrag.retrieve.candidates import Candidate
from kgrag.retrieve.seeds import likeness
from kgrag.retrieve.settings import Names
from kgrag.retrieve.state import NamedEntity, State
from kgrag.store.graph import GraphStore
from kgrag.text.names import Gazetteer, normal_form
from kgrag.text.words import FUNCTION_WORDS

__all__ = ["PreferNamed", "forms_of_sequences", "named_in_question", "names_said", "prefer_named", "word_sequences"]

MAX_WORDS = 12
"""Words of the longest name that is looked for."""
MAX_QUESTION_WORDS = 200
"""A longer question is looked at up to here: each word adds MAX_WORDS lookups."""
REMEMBERED_QUESTIONS = 64
"""Several steps ask for the forms of the same question."""
WORD = re.compile(r"[^\W_]+[+#%]*")


async def named_in_question(
    store: GraphStore, question: str, vector: list[float], *, graph: str, settings: Names
) -> tuple[NamedEntity, ...]:
    """Find the entities that the question names (longest names first, numeric-safe) and the chunks that are about them."""
    normals = forms_of_sequences(question)
    if not normals:
        return ()
    rows = await asyncio.to_thread(
        store.search.read, "retrieve/named_chunks", graph=graph, normals=normals, vector=vector, limit=settings.chunks
    )
    said = names_said(question, rows)
    return tuple(
        NamedEntity(
            key=row["key"],
            name=row["name"],
            chunks=tuple(likeness(chunk) for chunk in row["chunks"]),
        )
        for row in sorted(rows, key=lambda row: (row["key"], row["normal"]))
        if row["normal"] in said
    )


def word_sequences(question: str) -> Iterator[str]:
    """Yield every sequence of up to MAX_WORDS words of the question, as written, that is not only function words."""
    words = list(WORD.finditer(question))[:MAX_QUESTION_WORDS]
    for first, start in enumerate(words):
        telling = False
        for last in words[first : first + MAX_WORDS]:
            telling = telling or last.group().casefold() not in FUNCTION_WORDS
            if telling:
                yield question[start.start() : last.end()]


@lru_cache(maxsize=REMEMBERED_QUESTIONS)
def forms_of_sequences(question: str) -> tuple[str, ...]:
    """Return the normal forms of these sequences, each once, sorted: what an entity that the question names may be found by."""
    return tuple(sorted({normal_form(words) for words in word_sequences(question)} - {""}))


def prefer_named(state: State, *, weight: float) -> dict[str, Candidate]:
    """Add `weight` to the score of every chunk about a named entity, to all alike.

    Alike, because a question about two things is about both, however much there is to read of each.
    """
    candidates = dict(state.candidates)
    gaining: dict[str, str] = {}
    for entity in state.named:
        for chunk in entity.chunks:
            candidates.setdefault(chunk.chunk_id, state.candidate(chunk))
            gaining.setdefault(chunk.chunk_id, entity.name)
    for chunk_id, name in gaining.items():
        candidate = candidates[chunk_id]
        candidates[chunk_id] = candidate.scored(candidate.score + weight, f"question names {name}")
    return candidates


@dataclass(frozen=True, slots=True)
class PreferNamed:
    """The step: what the question names is preferred."""

    settings: Names
    name: str = "names"

    async def __call__(self, state: State) -> State:
        """Add to the scores of chunks about what is named."""
        return replace(state, candidates=prefer_named(state, weight=self.settings.weight))


def names_said(question: str, rows: Sequence[dict[str, Any]]) -> set[str]:
    """Keep the names (by normal form) that really stand in the question: not inside a longer name, word or part number."""
    gazetteer = Gazetteer(spelling for row in rows for spelling in (row["name"], *(row["aliases"] or ())))
    return {match.key for match in gazetteer.find(question)}
