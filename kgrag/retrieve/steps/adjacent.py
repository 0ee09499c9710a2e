"""Support from neighbours in reading order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median
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
    """Share that a candidate gains of what the better neighbour, a candidate itself, has above the median candidate."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Add to the scores of chunks beside other candidates."""
        return replace(state, candidates=support_adjacent(state.candidates, weight=self.weight))


def support_adjacent(candidates: Mapping[str, Candidate], *, weight: float) -> dict[str, Candidate]:
    """Add to each candidate `weight` times what the better of its neighbours, the chunks right before and after it, has above the median.

    In a long document most candidates have neighbours that are candidates, too: one that is like most is no support. The neighbours' scores
    are those from before, so support does not travel along a document.
    """
    usual = median(candidate.score for candidate in candidates.values()) if candidates else 0.0
    by_place = {candidate.place: candidate for candidate in candidates.values() if candidate.place is not None}
    supported = dict(candidates)
    for key, candidate in candidates.items():
        if candidate.place is None:
            continue
        document, position = candidate.place
        beside = [by_place[p] for p in ((document, position - 1), (document, position + 1)) if p in by_place]
        best = max((neighbour.score for neighbour in beside), default=0.0)
        if (gain := weight * (best - usual)) > 0.0:
            supported[key] = candidate.scored(candidate.score + gain, f"beside a chunk with {best:.2f}", by="adjacent")
    return supported
