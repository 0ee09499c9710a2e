"""Diversification: a question about several things wants something about each of them, not all about the one that is most similar to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from kgrag.retrieve.state import Resources, State
from kgrag.retrieve.step import Share, Step
from kgrag.text.questions import asks_across
from kgrag.types import Evidence

__all__ = ["Diversification", "diversified"]


class Diversification(Step):
    """Fair shares, where a question names families or asks which things of a sort there are without naming one."""

    kind: Literal["diversification"] = "diversification"
    needs: ClassVar = ("evidence",)
    gives: ClassVar = ("evidence",)
    length: Share
    """What a piece loses for each 100 tokens, on the scale on which the best possible seed has 1: what is long costs others their place."""
    document: Share
    """What it loses for each better one of its document."""
    family: Share
    """What it loses for each better one of its family beyond those of the family that has fewest."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Diversify what is found for a question that names a family, or that asks across all things and names none."""
        families = {chunk.place[0]: entity.family for entity in state.named if entity.family for chunk in entity.chunks}
        if not families and (state.named or not asks_across(state.query.question)):
            return state
        return replace(state, evidence=tuple(diversified(state.evidence, families, settings=self)))


def diversified(
    evidence: Sequence[Evidence], families: Mapping[str, str], *, settings: Diversification
) -> list[Evidence]:
    """Take the pieces one by one, each time the one whose score is best after what it loses.

    A piece loses for its length, for every better one of its document, and for every better one of its family beyond those of the family
    that has fewest. `families` gives the family of a document, by its id.
    """
    waiting = list(evidence)
    documents: Counter[str] = Counter()
    taken = Counter(dict.fromkeys(families.values(), 0))

    def loss(piece: Evidence) -> float:
        lost = settings.length * piece.tokens / 100 + settings.document * documents[piece.document_id]
        if piece.document_id in families:
            lost += settings.family * (taken[families[piece.document_id]] - min(taken.values()))
        return lost

    ranked: list[Evidence] = []
    while waiting:
        # `min` takes the first of equals, so ties stay as they were.
        best = min(waiting, key=lambda piece: loss(piece) - piece.score)
        waiting.remove(best)
        lost = loss(best)
        why = (*best.why, f"diversification {-lost:.2f}")
        ranked.append(best.model_copy(update={"score": round(best.score - lost, 6), "why": why}))
        if best.document_id:
            documents[best.document_id] += 1
        if best.document_id in families:
            taken[families[best.document_id]] += 1
    return ranked
