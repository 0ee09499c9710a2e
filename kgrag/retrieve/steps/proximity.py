"""Proximity: words of the question that stand together in one sentence say more than the same words all over a chunk."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kgrag.retrieve.state import Resources, State
from kgrag.retrieve.step import Share, Step
from kgrag.retrieve.texts import read_text
from kgrag.text.words import content_terms, share_said

__all__ = ["Proximity", "share_of_one_sentence"]


class Proximity(Step):
    """Preference for what says most of the question in one sentence."""

    kind: Literal["proximity"] = "proximity"
    needs: ClassVar = ("evidence",)
    gives: ClassVar = ("evidence",)
    weight: Share
    """What a piece gains with a sentence that has all words of the question, on the scale on which the best possible seed has 1."""
    above: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.5
    """The share of the question's words up to which a sentence gains nothing; between that and all of them it gains in proportion."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Score again, and order."""
        asked = content_terms(state.query.question)
        scored = []
        for piece in state.evidence:
            share = share_of_one_sentence(asked, piece.text)
            gain = self.weight * max(share - self.above, 0.0) / (1.0 - self.above)
            if gain > 0.0:
                why = (*piece.why, f"a sentence with {share:.0%} of the question")
                piece = piece.model_copy(update={"score": round(piece.score + gain, 6), "why": why})
            scored.append(piece)
        return replace(state, evidence=tuple(sorted(scored, key=lambda piece: -piece.score)))


def share_of_one_sentence(asked: frozenset[str], text: str) -> float:
    """Return the greatest share of the words `asked` for that one sentence, list item or table row of the text has."""
    return max((share_said(asked, terms) for terms in read_text(text).said_together(asked)), default=0.0)
