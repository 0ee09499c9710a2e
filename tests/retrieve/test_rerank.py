import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import ModelReplyError, ModelUnavailable, PipelineError
from kgrag.models.base import ChatModel, Message, Reranker
from kgrag.models.cached import CachedReranker
from kgrag.models.reply_cache import ReplyCache
from kgrag.retrieve import Pipeline, Resources, State, Step, load_pipeline, read_pipeline
from kgrag.retrieve.retriever import with_models
from kgrag.retrieve.state import Query
from kgrag.retrieve.steps.rerank import CrossEncoder, Listwise, late_interaction, order_by_windows, windows
from kgrag.testing import HashingEmbedder, ScriptedChatModel, ScriptedReranker
from kgrag.types import Evidence, Usage

TEXTS = ("one", "two words", "the answer is three", "four", "five")


def state(texts: Sequence[str] = TEXTS) -> State:
    evidence = tuple(
        Evidence(chunk_id=f"c{n}", source_id=f"c{n}", document="d", text=text, tokens=2, score=1.0 - n / 100)
        for n, text in enumerate(texts)
    )
    return State(Query("?", "?", "?"), evidence=evidence)


def reranked(step: Step, *, chat: ChatModel | None = None, reranker: Reranker | None = None) -> State:
    resources = Resources(None, HashingEmbedder(), "mention", chat=chat, reranker=reranker)  # type: ignore[arg-type]
    return asyncio.run(step(state(), resources))


@given(st.integers(1, 60), st.integers(2, 25))
def test_windows_cover_everything_and_the_best_of_all_gets_to_the_top(count: int, size: int) -> None:
    spans = list(windows(count, size))
    assert sorted({place for first, last in spans for place in range(first, last)}) == list(range(count))
    assert all(last - first <= size for first, last in spans)

    async def by_size(places: Sequence[int]) -> Sequence[int]:
        return sorted(places, reverse=True)

    order = asyncio.run(order_by_windows(count, size, by_size))
    assert sorted(order) == list(range(count))
    moved_on = min(size // 2, count) or 1
    assert order[:moved_on] == sorted(range(count), reverse=True)[:moved_on]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"order": [3, 1, 2, 5, 4]}, ["c2", "c0", "c1", "c4", "c3"]),
        ({"order": [3, 3, 99, 0, -1, 1]}, ["c2", "c0", "c1", "c3", "c4"]),
        ({"order": ["3", True, None, 2]}, ["c1", "c0", "c2", "c3", "c4"]),
    ],
)
def test_a_listwise_order_takes_the_numbers_that_count_and_keeps_the_rest(reply: object, expected: list[str]) -> None:
    found = reranked(Listwise(), chat=ScriptedChatModel([json.dumps(reply)]))
    assert [piece.chunk_id for piece in found.evidence] == expected
    assert [piece.score for piece in found.evidence] == [piece.score for piece in state().evidence]
    assert not found.remarks
    assert found.usage.calls == 1


@pytest.mark.parametrize("reply", ["no", '{"order": []}', '{"order": "3, 1"}', '{"order": [99]}'])
def test_a_reply_without_an_order_leaves_the_order_and_is_remarked(reply: str) -> None:
    found = reranked(Listwise(), chat=ScriptedChatModel([reply]))
    assert [piece.chunk_id for piece in found.evidence] == ["c0", "c1", "c2", "c3", "c4"]
    (remark,) = found.remarks
    assert remark.startswith("listwise: 5 pieces stay in their order")


def test_passages_are_data_for_the_model() -> None:
    seen: list[Sequence[Message]] = []

    def answer(messages: Sequence[Message]) -> str:
        seen.append(messages)
        return '{"order": [1]}'

    reranked(Listwise(window=3), chat=ScriptedChatModel(answer))
    system, user = seen[0]
    assert "do not follow" in system.content
    assert "<passages>\n[1] the answer is three" in user.content
    assert len(seen) == 2  # 5 pieces by windows of 3: the best of the first comes into the second


def test_a_reranker_orders_the_best_and_leaves_the_others_behind() -> None:
    found = reranked(CrossEncoder(candidates=3), reranker=ScriptedReranker(lambda _, text: len(text)))
    assert [piece.chunk_id for piece in found.evidence] == ["c2", "c1", "c0", "c3", "c4"]
    assert found.evidence[0].why == ("cross_encoder 19.00",)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([0.1, float("nan"), 0.3, 0.4, 0.5], "got 1 that are not finite"),
        ([0.1, 1e39, 0.3, 0.4, 0.5], "got 1 that are not finite"),
        ([0.1, 0.2], r"another shape: \(2,\)"),
        ([[0.1], [0.2], [0.3], [0.4], [0.5]], r"another shape: \(5, 1\)"),
        (["high", "low", "low", "low", "low"], "got list"),
        (None, "expected 5 scores"),
        (ModelReplyError("odd: no scores.", usage=Usage(calls=1)), "no scores"),
    ],
)
@pytest.mark.parametrize("cached", [False, True])
def test_a_reranker_without_a_score_for_each_piece_leaves_the_order_and_is_remarked(
    tmp_path: Path, scores: object, said: str, cached: bool
) -> None:
    class Odd:
        name = "odd"

        async def score(self, query: str, passages: Sequence[str]) -> Any:
            if isinstance(scores, Exception):
                raise scores
            return scores

    reranker = CachedReranker(Odd(), ReplyCache(tmp_path / "replies.sqlite")) if cached else Odd()
    found = reranked(CrossEncoder(), reranker=reranker)
    assert found.evidence == state().evidence
    (remark,) = found.remarks
    assert re.search(rf"^cross_encoder: 5 pieces stay in their order: odd: .*{said}", remark)
    assert found.usage.calls == isinstance(scores, Exception)


def test_a_reranker_that_cannot_be_reached_is_an_error() -> None:
    def away(*_: str) -> float:
        raise ModelUnavailable("scripted cannot be reached.")

    with pytest.raises(ModelUnavailable):
        reranked(CrossEncoder(), reranker=ScriptedReranker(away))


class WordVectors:
    """A vector for each word, equal words equal."""

    def token_vectors(self, texts: Sequence[str]) -> list[np.ndarray]:
        return [HashingEmbedder(dimensions=512).embed(text.split()) if text else np.zeros((0, 512)) for text in texts]


def test_late_interaction_looks_for_every_word_of_the_question() -> None:
    scores = late_interaction(
        WordVectors(), "supply voltage", ["the supply voltage range", "the supply", "nothing", ""]
    )
    assert scores[0] == pytest.approx(1.0)
    assert scores[0] > scores[1] > scores[2] > scores[3] == -1.0


def shipped(name: str) -> Pipeline:
    pipeline = load_pipeline(name)
    assert isinstance(pipeline, Pipeline)
    return pipeline


def kinds(pipeline: Pipeline) -> list[str]:
    return [step.kind for step in pipeline.steps]


def test_a_step_without_its_model_is_the_model_free_one_that_the_file_declares() -> None:
    shipped_one = shipped("RAG_Advanced_Hybrid")
    free = with_models(shipped_one, chat=None, reranker=None)
    assert kinds(free)[:2] == ["content_terms", "rule_keywords"]
    assert "late_interaction" in kinds(free)
    stands_in, asked = free.steps[1], shipped_one.steps[1]
    assert stands_in.model_dump(include={"boost", "channel"}) == asked.model_dump(include={"boost", "channel"})
    full = with_models(shipped_one, chat=ScriptedChatModel([]), reranker=None)
    assert full == shipped_one


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        (["rewrite", "embed", "dense", "read", "budget"], "'rewrite' needs a chat model.*--model"),
        (["embed", "global", "read", "budget"], "'global' needs a chat model"),
        (["embed", "dense", "read", "listwise", "budget"], "'listwise' needs a chat model"),
        (["embed", "dense", "read", "cross_encoder", "budget"], "needs a reranker.*KGRAG_RERANKER"),
        (["embed", "dense", "read", "cohere", "budget"], "needs a reranker of Cohere"),
    ],
)
def test_a_pipeline_without_a_variant_names_the_model_that_it_lacks(steps: list[str], complaint: str) -> None:
    pipeline = read_pipeline({"description": "x", "step": [{"kind": kind} for kind in steps]}, name="mine")
    assert isinstance(pipeline, Pipeline)
    reranker = ScriptedReranker(lambda *_: 0.0) if "Cohere" in complaint else None
    with pytest.raises(PipelineError, match=complaint):
        with_models(pipeline, chat=None, reranker=reranker)
