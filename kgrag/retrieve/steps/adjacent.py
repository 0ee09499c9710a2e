"""Support from neighbours in reading order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

from kgrag.retrieve.state import Candidate, Resources, State
from kgrag.retrieve.step import Share, Step

__all__ = ["Adjacent", "support_adjacent"]


class Adjacent(Step):
    """Support from the chunk before or after: what a document says of one thing often goes on in the next chunk."""

    kind: Literal["adjacent"] = "adjacent"
    needs: ClassVar = ("seeds",)
    gives: ClassVar = ("candidates",)
    weight: Share
    """Share of the better neighbour's score that a candidate gains, where that neighbour is a candidate itself."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Add to the scores of chunks beside other candidates."""
        return replace(state, candidates=support_adjacent(state.candidates, weight=self.weight))


def support_adjacent(candidates: Mapping[str, Candidate], *, weight: float) -> dict[str, Candidate]:
    """Add to each candidate `weight` times the score of the better of its neighbours, the chunks right before and after it.

    The neighbours' scores are those from before, so support does not travel along a document.
    """
    by_place = {candidate.place: candidate for candidate in candidates.values() if candidate.place is not None}
    supported = dict(candidates)
    for key, candidate in candidates.items():
        if candidate.place is None:
            continue
        document, position = candidate.place
        beside = [by_place[p] for p in ((document, position - 1), (document, position + 1)) if p in by_place]
        if gain := weight * max((neighbour.score for neighbour in beside), default=0.0):
            supported[key] = candidate.scored(
                candidate.score + gain, f"beside a chunk with {gain / weight:.2f}", by="adjacent"
            )
    return supported
