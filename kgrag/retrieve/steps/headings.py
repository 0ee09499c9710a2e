"""Headings in the question: a piece whose heading the question names is preferred."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import ClassVar, Literal

from kgrag.retrieve.state import Resources, State
from kgrag.retrieve.step import Share, Step
from kgrag.text.names import Gazetteer, normal_form
from kgrag.text.words import FUNCTION_WORDS

__all__ = ["Headings"]

SEPARATOR = " > "
"""Between the headings of `Evidence.section`."""
FEWEST_WORDS = 2
"""A heading of one word (`Settings`) is said by many questions that are not about its section."""
NUMBERED = re.compile(
    r"^(?:(?:chapter|section|appendix)\s+)?(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)+)[.):]?\s+(?=\S)", re.IGNORECASE
)
WORD = re.compile(r"[^\W_]+")


class Headings(Step):
    """Preference for pieces under a heading that the question has in full."""

    kind: Literal["headings"] = "headings"
    needs: ClassVar = ("evidence",)
    gives: ClassVar = ("evidence",)
    weight: Share
    """What such a piece gains, on the scale on which the best possible seed has 1."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Score again, and order. A heading that pieces of several documents have says nothing of one."""
        paths = [[_name(heading) for heading in piece.section.split(SEPARATOR)] for piece in state.evidence]
        documents: defaultdict[str, set[str]] = defaultdict(set)
        for path, piece in zip(paths, state.evidence, strict=True):
            for heading in path:
                documents[normal_form(heading)].add(piece.document_id)
        telling = {h for path in paths for h in path if len(documents[normal_form(h)]) == 1 and _says_something(h)}
        said = {match.key for match in Gazetteer(telling).find(state.query.question)}
        scored = []
        for path, piece in zip(paths, state.evidence, strict=True):
            if named := next((h for h in reversed(path) if h in telling and normal_form(h) in said), None):
                why = (*piece.why, f"question names the heading {named}")
                piece = piece.model_copy(update={"score": round(piece.score + self.weight, 6), "why": why})
            scored.append(piece)
        return replace(state, evidence=tuple(sorted(scored, key=lambda piece: -piece.score)))


def _name(heading: str) -> str:
    """A heading without its number."""
    return NUMBERED.sub("", heading).strip().rstrip(":").strip() or heading


def _says_something(heading: str) -> bool:
    words = WORD.findall(heading)
    return len(words) >= FEWEST_WORDS and any(word.casefold() not in FUNCTION_WORDS for word in words)
