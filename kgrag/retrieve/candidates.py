"""A chunk, or a relation that a chunk states, on its way to being evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

__all__ = ["Candidate", "best_first"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be shown, with its score so far (between 0 and about 1) and how it was found."""

    chunk_id: str
    score: float
    why: tuple[str, ...] = ()
    place: tuple[str, int] | None = None
    """The chunk's document and its position there, where they were read."""
    statement: str = ""
    """The relation, where not the chunk itself but a relation that it states would be shown."""

    def scored(self, score: float, *why: str) -> Candidate:
        """Return it with another score and more reasons."""
        return replace(self, score=score, why=(*self.why, *why))


def best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Order candidates by score; equal scores by id and statement, so that the order never depends on chance."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.chunk_id, candidate.statement))
