"""Trying again, without waiting for real."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import ModelError, ModelUnavailable
from kgrag.models.base import Message
from kgrag.models.middleware import around
from kgrag.models.retries import LONGEST_WAIT_S, RETRY_AFTER_JITTER_S, Retries
from kgrag.testing import ScriptedChatModel

ASKED = [Message("user", "hello")]


def away(retry_after_s: float | None = None) -> ModelUnavailable:
    return ModelUnavailable("away", retry_after_s=retry_after_s)


def test_it_asks_again_until_there_is_an_answer_and_waits_longer_each_time() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    scripted = ScriptedChatModel([away(), away(), away(2.0), "ok"])
    model = around(scripted, Retries(4, sleep=sleep))
    assert asyncio.run(model.reply(ASKED)).text == "ok"
    assert len(scripted.calls) == 4
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0
    assert 2.0 <= waits[2] <= 2.0 + RETRY_AFTER_JITTER_S


def test_the_last_error_is_raised_as_it_is() -> None:
    async def sleep(seconds: float) -> None:
        pass

    last = away()
    scripted = ScriptedChatModel([away(), away(), last, "never asked"])
    with pytest.raises(ModelUnavailable) as caught:
        asyncio.run(around(scripted, Retries(3, sleep=sleep)).reply(ASKED))
    assert caught.value is last
    assert len(scripted.calls) == 3


def test_other_errors_are_not_asked_again() -> None:
    scripted = ScriptedChatModel([ModelError("a bad key"), "never asked"])
    with pytest.raises(ModelError, match="bad key"):
        asyncio.run(around(scripted, Retries(5)).reply(ASKED))
    assert len(scripted.calls) == 1


@given(failed=st.integers(1, 50), seed=st.integers())
def test_waits_are_between_half_and_the_whole_of_a_growing_limit(failed: int, seed: int) -> None:
    wait_s = Retries(5, rng=random.Random(seed)).wait_s(failed, None)
    whole = min(LONGEST_WAIT_S, 0.5 * 2 ** (failed - 1))
    assert whole / 2 <= wait_s <= whole
