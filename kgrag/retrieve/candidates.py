"""A chunk, a relation that a chunk states, or what is written about a community, on its way to being evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

__all__ = ["Candidate", "best_first"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be shown, with its score so far (between 0 and about 1) and how it was found."""

    chunk_id: str
    """The chunk, or the one that states the relation; empty for what is written about a community."""
    score: float
    why: tuple[str, ...] = ()
    place: tuple[str, int] | None = None
    """The chunk's document and its position there, where they were read."""
    statement: str = ""
    """The text, where not the chunk itself but a relation that it states or a community would be shown."""
    source: str = ""
    """The key of the community."""
    title: str = ""
    """The community's label."""

    @property
    def key(self) -> str:
        """What tells it from others: a chunk's id, or that with the statement."""
        return self.chunk_id if self.is_chunk else f"{self.chunk_id}{self.source} {self.statement}"

    @property
    def is_chunk(self) -> bool:
        """Whether the chunk itself would be shown."""
        return not self.statement

    def scored(self, score: float, *why: str) -> Candidate:
        """Return it with another score and more reasons."""
        return replace(self, score=score, why=(*self.why, *why))


def best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Order candidates by score; equal scores by id and statement, so that the order never depends on chance."""
    return sorted(candidates, key=lambda one: (-one.score, one.chunk_id, one.source, one.statement))
