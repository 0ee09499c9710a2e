"""Trying again, without waiting for real."""

import asyncio
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.common.retry import LONGEST_PAUSE_S, NO_RETRY, RETRY_AFTER_JITTER_S, RetryPolicy
from kgrag.errors import ModelError, ModelUnavailable, StoreUnavailable
from kgrag.models.base import Message
from kgrag.models.middleware import Retries, around
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


@given(failed=st.integers(1, 1000), seed=st.integers())
def test_pauses_are_between_half_and_the_whole_of_a_growing_limit(failed: int, seed: int) -> None:
    pause_s = RetryPolicy(attempts=5, rng=random.Random(seed)).pause_s(failed)
    whole = min(LONGEST_PAUSE_S, 0.5 * 2 ** (failed - 1))
    assert whole / 2 <= pause_s <= whole


class Away:
    """Work that fails so many times, or for ever, and then is done."""

    def __init__(self, failures: float) -> None:
        self.failures = failures
        self.tries = 0

    def __call__(self) -> int:
        self.tries += 1
        if self.tries <= self.failures:
            raise StoreUnavailable(f"no answer to try {self.tries}.")
        return self.tries


def test_an_outage_is_said_once_when_it_begins_and_once_when_it_is_over() -> None:
    said: list[str] = []
    policy = RetryPolicy(wait_s=60, first_pause_s=0.01, longest_pause_s=0.01, say=said.append)
    assert policy.call(Away(3), what="the database", again_on=StoreUnavailable) == 4
    assert said == [
        "Waiting for the database: 0 s of at most 60 s. no answer to try 1.",
        "the database answers again after 0 s; going on.",
    ]


def test_all_who_wait_for_one_thing_share_its_outage() -> None:
    said: list[str] = []
    policy = RetryPolicy(wait_s=60, first_pause_s=0.01, longest_pause_s=0.01, say=said.append)

    async def one(work: Away) -> int:
        async def do() -> int:
            return work()

        return await policy.acall(do, what="the database", again_on=StoreUnavailable)

    async def both() -> list[int]:
        return await asyncio.gather(one(Away(2)), one(Away(2)))

    assert asyncio.run(both()) == [3, 3]
    assert len([line for line in said if line.startswith("Waiting")]) == 1
    assert len([line for line in said if "answers again" in line]) == 1


def test_what_stays_away_ends_in_an_error_of_its_kind_that_says_how_long_it_was_waited_for() -> None:
    policy = RetryPolicy(wait_s=0.05, first_pause_s=0.02)
    with pytest.raises(StoreUnavailable, match=r"no answer to try \d+\. Waited 0 s for it \(wait_s\)"):
        policy.call(Away(math.inf), what="the database", again_on=StoreUnavailable)


def test_a_thread_that_waits_can_be_called_out_of_it() -> None:
    policy = RetryPolicy(wait_s=3600, first_pause_s=3600, longest_pause_s=3600)
    work = Away(math.inf)
    policy.stop()
    with pytest.raises(StoreUnavailable, match="try 1"):
        policy.call(work, what="the database", again_on=StoreUnavailable)
    assert work.tries == 1


@pytest.mark.parametrize("policy", [NO_RETRY, RetryPolicy(wait_s=0.0)], ids=["no retry", "no wait"])
def test_without_retries_the_first_error_is_raised_as_it_is(policy: RetryPolicy) -> None:
    work = Away(math.inf)
    with pytest.raises(StoreUnavailable, match=r"^no answer to try 1\.$"):
        policy.call(work, what="the database", again_on=StoreUnavailable)
    assert work.tries == 1


def test_after_an_error_that_was_met_already_the_pause_comes_first() -> None:
    done: list[float | str] = []

    async def sleep(seconds: float) -> None:
        done.append(seconds)

    async def work() -> str:
        done.append("work")
        return "ok"

    policy = RetryPolicy(wait_s=60, sleep=sleep)
    found = asyncio.run(policy.acall(work, what="the model", again_on=ModelUnavailable, after=away(7.0)))
    assert found == "ok"
    assert done == [pytest.approx(7.0, abs=RETRY_AFTER_JITTER_S), "work"]


def test_what_asks_to_be_left_alone_for_longer_than_is_waited_is_not_waited_for() -> None:
    said: list[str] = []
    asked = 0

    async def sleep(seconds: float) -> None:
        pytest.fail(f"it waited {seconds:.0f} s")

    retry = RetryPolicy(wait_s=600.0, say=said.append, sleep=sleep)

    async def work() -> str:
        nonlocal asked
        asked += 1
        raise away(3600.0)

    with pytest.raises(
        ModelUnavailable, match=r"Retry-After, 3600 s, is longer than is waited \(wait_s, 600 s\).*goes on"
    ):
        asyncio.run(retry.acall(work, what="a model", again_on=ModelUnavailable))
    assert (asked, said) == (1, [])


def test_an_outage_says_when_it_is_asked_again_where_it_was_told() -> None:
    said: list[str] = []

    async def sleep(seconds: float) -> None:
        assert 60.0 <= seconds <= 60.0 + RETRY_AFTER_JITTER_S

    replies = iter([away(60.0), "ok"])

    async def work() -> str:
        if isinstance(reply := next(replies), ModelUnavailable):
            raise reply
        return reply

    retry = RetryPolicy(wait_s=600.0, say=said.append, sleep=sleep)
    assert asyncio.run(retry.acall(work, what="a model", again_on=ModelUnavailable)) == "ok"
    assert said[0] == "Waiting for a model: 0 s of at most 600 s. away It is asked again in 60 s (Retry-After)."
