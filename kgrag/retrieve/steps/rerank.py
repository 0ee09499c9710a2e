"""Reranking: question and passage are read together, and the best pieces are ordered by that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel, TokenVectors, expect_scores
from kgrag.models.reply_schema import NUMBER, list_of, object_of
from kgrag.retrieve import prompts
from kgrag.retrieve.state import Resources, State
from kgrag.retrieve.step import Model, ModelStep, Share, Step
from kgrag.types import Evidence, Usage

__all__ = [
    "Cohere",
    "CrossEncoder",
    "LateInteraction",
    "Listwise",
    "TokenEmbedder",
    "late_interaction",
    "order_by_windows",
    "windows",
]

OrderWindow = Callable[[Sequence[int]], Awaitable[Sequence[int]]]
"""Takes positions and returns the same positions, best first."""


class _Rerank(Step):
    """Orders the best pieces anew; the others stay behind them.

    A piece takes over the score of the place that it comes to, so that scores stay in order; `why` says what the reranker gave it.
    """

    needs: ClassVar = ("evidence",)
    gives: ClassVar = ("evidence",)
    candidates: Annotated[int, Field(ge=2, le=200)] = 25
    """Pieces that are read; the others stay behind them."""

    async def __call__(self, state: State, resources: Resources) -> State:
        """Rerank."""
        best = state.evidence[: self.candidates]
        if len(best) < 2:
            return state
        state, order, reasons = await self._order(state, best, resources)
        ranked = [
            best[place].model_copy(update={"score": best[position].score, "why": (*best[place].why, reasons[place])})
            for position, place in enumerate(order)
        ]
        return replace(state, evidence=(*ranked, *state.evidence[len(ranked) :]))

    async def _order(
        self, state: State, best: Sequence[Evidence], resources: Resources
    ) -> tuple[State, list[int], list[str]]:
        """Return the places of the pieces, best first, and the reason of each piece; no places where all stay as they are."""
        raise NotImplementedError


class _ByScores(_Rerank):
    weight: Share = 1.0
    """Of the new score, beside `1 - weight` of the old one, both scaled over these pieces."""

    async def _order(
        self, state: State, best: Sequence[Evidence], resources: Resources
    ) -> tuple[State, list[int], list[str]]:
        given = await self._scores(state.query.question, [piece.text for piece in best], resources)
        old = np.array([one.score for one in best])
        scores = self.weight * _scaled(given.astype(np.float64)) + (1.0 - self.weight) * _scaled(old)
        order = sorted(range(len(best)), key=lambda place: (-scores[place], place))
        return state, order, [f"{self.kind} {score:.2f}" for score in given]

    async def _scores(self, question: str, passages: Sequence[str], resources: Resources) -> NDArray[np.float32]:
        raise NotImplementedError


class LateInteraction(_ByScores):
    """By the token vectors of the embedder (MiniLM's where it has none): model-free."""

    kind: Literal["late_interaction"] = "late_interaction"

    async def _scores(self, question: str, passages: Sequence[str], resources: Resources) -> NDArray[np.float32]:
        return await asyncio.to_thread(late_interaction, resources.token_embedder, question, passages)


class _Reranker(_ByScores, ModelStep):
    without_model: Literal["late_interaction"] | None = None

    async def _order(
        self, state: State, best: Sequence[Evidence], resources: Resources
    ) -> tuple[State, list[int], list[str]]:
        try:
            return await super()._order(state, best, resources)
        except ModelReplyError as error:
            state = replace(state, usage=state.usage + error.usage)
            return state.remarked(f"{self.kind}: {len(best)} pieces stay in their order: {error}"), [], []

    async def _scores(self, question: str, passages: Sequence[str], resources: Resources) -> NDArray[np.float32]:
        if resources.reranker is None:
            raise ValueError(f"{self.kind} was run without a reranker")
        given = await resources.reranker.score(question, passages)
        return expect_scores(given, len(passages), model=resources.reranker.name)


class CrossEncoder(_Reranker):
    """By the configured reranker."""

    kind: Literal["cross_encoder"] = "cross_encoder"
    asks: ClassVar[Model] = "a reranker"


class Cohere(_Reranker):
    """By the configured reranker, which has to be one of Cohere's."""

    kind: Literal["cohere"] = "cohere"
    asks: ClassVar[Model] = "a reranker of Cohere"


class Listwise(_Rerank, ModelStep):
    """By the chat model, which orders a window of pieces at a time."""

    kind: Literal["listwise"] = "listwise"
    asks: ClassVar[Model] = "a chat model"
    window: Annotated[int, Field(ge=2, le=100)] = 20
    """Pieces that the model sees at once; half of them again in the next window, from the last to the first."""
    characters: Annotated[int, Field(ge=100, le=20_000)] = 1200
    """Of a piece that the model sees."""
    without_model: Literal["late_interaction"] | None = None

    async def _order(
        self, state: State, best: Sequence[Evidence], resources: Resources
    ) -> tuple[State, list[int], list[str]]:
        model = resources.chat
        if model is None:
            raise ValueError(f"{self.kind} was run without a chat model")
        texts = [piece.text[: self.characters] for piece in best]
        usage, remarks = state.usage, list(state.remarks)

        async def order_window(places: Sequence[int]) -> Sequence[int]:
            nonlocal usage
            order, cost, wrong = await _rank_window(model, state.query.question, [texts[place] for place in places])
            usage += cost
            if wrong:
                remarks.append(f"{self.kind}: {len(places)} pieces stay in their order: {wrong}")
            return [places[position] for position in order]

        order = await order_by_windows(len(best), self.window, order_window)
        reasons = [""] * len(best)
        for position, place in enumerate(order, start=1):
            reasons[place] = f"{model.name}: place {position}"
        return replace(state, usage=usage, remarks=tuple(remarks)), order, reasons


class TokenEmbedder(Protocol):
    """What gives a vector for each token of a text (`kgrag.models.minilm.MiniLM`)."""

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Embed every token of each text: a list of [tokens, dimensions], unit length."""
        ...


def late_interaction(embedder: TokenEmbedder, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
    """Score each passage between -1 and 1: over the question's tokens, the mean of the best cosine with a token of the passage.

    Every token of the question looks for the most similar token of the passage (ColBERT, Khattab and Zaharia, SIGIR 2020).
    """
    asked, *read = embedder.token_vectors([question, *passages])
    if not len(asked):
        return np.zeros(len(passages), dtype=np.float32)
    asked_exactly = asked.astype(np.float32)
    scores = [
        float((asked_exactly @ tokens.astype(np.float32).T).max(axis=1).mean()) if len(tokens) else -1.0
        for tokens in read
    ]
    return np.array(scores, dtype=np.float32)


def windows(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last + 1) of windows from the end of a list to its beginning, each half in the next one.

    Every position is in some window, and the best half of a window comes into the next: the best of the whole list can get to its top
    (Sun et al., RankGPT, EMNLP 2023).
    """
    last = count
    while True:
        first = max(0, last - size)
        yield first, last
        if first == 0:
            return
        last -= size - size // 2


async def order_by_windows(count: int, size: int, order_window: OrderWindow) -> list[int]:
    """Order the positions 0 to count - 1 by windows; return them best first."""
    order = list(range(count))
    for first, last in windows(count, size):
        order[first:last] = await order_window(order[first:last])
    return order


async def _rank_window(model: ChatModel, question: str, passages: Sequence[str]) -> tuple[list[int], Usage, str]:
    """Let the model order passages: positions best first, what it cost, and what was wrong with its reply (else empty).

    Numbers that are none of the passages', and repeated ones, are passed over; passages that it left out follow in their order. A reply
    without any number that counts leaves the order as it is.
    """
    as_is = list(range(len(passages)))
    try:
        reply = await model.reply(
            prompts.messages(prompts.LISTWISE, question=question, passages=prompts.numbered(passages)),
            schema=object_of(order=list_of(NUMBER)),
        )
    except ModelReplyError as error:
        return as_is, error.usage, str(error)
    said = _positions(reply.data, len(passages))
    if not said:
        return as_is, reply.usage, f"no number of a passage in {reply.text[:200]!r}"
    return [*said, *(position for position in as_is if position not in said)], reply.usage, ""


def _positions(data: Any, count: int) -> list[int]:
    order = data.get("order") if isinstance(data, Mapping) else None
    numbers = order if isinstance(order, list) else []
    valid = (number - 1 for number in numbers if isinstance(number, int) and not isinstance(number, bool))
    return list(dict.fromkeys(position for position in valid if 0 <= position < count))


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    span = float(scores.max() - scores.min())
    return (scores - scores.min()) / span if span > 0.0 else np.zeros(len(scores))
