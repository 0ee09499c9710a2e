"""Proximity: words of the question that stand together in one sentence say more than the same words all over a chunk."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kgrag.retrieve.settings import Proximity
from kgrag.retrieve.state import State
from kgrag.text.sentences import sentences
from kgrag.text.words import content_terms, share_said

__all__ = ["PreferOneSentence", "share_of_one_sentence"]


def share_of_one_sentence(asked: frozenset[str], text: str) -> float:
    """Return the greatest share of the words `asked` for that one sentence, list item or table row of the text has."""
    return max((share_said(asked, content_terms(sentence.text)) for sentence in sentences(text)), default=0.0)


@dataclass(frozen=True, slots=True)
class PreferOneSentence:
    """The step: a piece in which one sentence says most of what the question asks gains."""

    settings: Proximity
    name: str = "proximity"

    async def __call__(self, state: State) -> State:
        """Score again, and order: `weight` for a sentence with all words of the question, nothing for `above` of them or fewer."""
        asked = content_terms(state.query.question)
        scored = []
        for piece in state.evidence:
            share = share_of_one_sentence(asked, piece.text)
            gain = self.settings.weight * max(share - self.settings.above, 0.0) / (1.0 - self.settings.above)
            if gain > 0.0:
                why = (*piece.why, f"a sentence with {share:.0%} of the question")
                piece = piece.model_copy(update={"score": round(piece.score + gain, 6), "why": why})
            scored.append(piece)
        return replace(state, evidence=tuple(sorted(scored, key=lambda piece: -piece.score)))
