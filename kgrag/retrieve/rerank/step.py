"""The rerank step, by whichever means the pipeline says."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kgrag.retrieve.rerank.late_interaction import late_interaction
from kgrag.retrieve.rerank.listwise import order_by_windows, rank_window
from kgrag.retrieve.settings import Rerank
from kgrag.retrieve.state import Resources, State
from kgrag.types import Evidence

__all__ = ["RerankEvidence"]


@dataclass(frozen=True, slots=True)
class RerankEvidence:
    """Order the best pieces anew; the others stay behind them.

    A piece takes over the score of the place that it comes to, so that scores stay in order; `why` says what the reranker gave it.
    """

    settings: Rerank
    resources: Resources

    @property
    def name(self) -> str:
        """By what."""
        return f"rerank: {self.settings.kind}"

    async def __call__(self, state: State) -> State:
        """Rerank."""
        best = state.evidence[: self.settings.candidates]
        if len(best) < 2:
            return state
        if self.settings.kind == "listwise":
            state, order, reasons = await self._listwise(state, best)
        else:
            given = await self._scores(state.query.question, [piece.text for piece in best])
            scores = _mixed(given, best, self.settings.weight)
            order = sorted(range(len(best)), key=lambda place: (-scores[place], place))
            reasons = [f"{self.settings.kind} {score:.2f}" for score in given]
        ranked = [
            best[place].model_copy(update={"score": best[position].score, "why": (*best[place].why, reasons[place])})
            for position, place in enumerate(order)
        ]
        return replace(state, evidence=(*ranked, *state.evidence[len(best) :]))

    async def _scores(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        if self.settings.kind == "late_interaction":
            return await asyncio.to_thread(late_interaction, self.resources.token_embedder, question, passages)
        if self.resources.reranker is None:
            raise ValueError(f"{self.name} was made without a reranker")
        return await self.resources.reranker.score(question, passages)

    async def _listwise(self, state: State, best: Sequence[Evidence]) -> tuple[State, list[int], list[str]]:
        model = self.resources.chat
        if model is None:
            raise ValueError(f"{self.name} was made without a chat model")
        texts = [piece.text[: self.settings.characters] for piece in best]
        usage, remarks = state.usage, list(state.remarks)

        async def order_window(places: Sequence[int]) -> Sequence[int]:
            nonlocal usage
            order, cost, wrong = await rank_window(model, state.query.question, [texts[place] for place in places])
            usage += cost
            if wrong:
                remarks.append(f"{self.name}: {len(places)} pieces stay in their order: {wrong}")
            return [places[position] for position in order]

        order = await order_by_windows(len(best), self.settings.window, order_window)
        reasons = [""] * len(best)
        for position, place in enumerate(order, start=1):
            reasons[place] = f"{model.name}: place {position}"
        return replace(state, usage=usage, remarks=tuple(remarks)), order, reasons


def _mixed(given: NDArray[np.float32], best: Sequence[Evidence], weight: float) -> NDArray[np.float64]:
    """Add old and new scores, each scaled to 0 to 1 over these pieces."""
    return weight * _scaled(given.astype(np.float64)) + (1.0 - weight) * _scaled(np.array([one.score for one in best]))


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    span = float(scores.max() - scores.min())
    return (scores - scores.min()) / span if span > 0.0 else np.zeros(len(scores))
