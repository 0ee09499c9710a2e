"""Requests and tokens a minute, on a clock of the test's own."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import ModelUnavailable
from kgrag.models.around import around
from kgrag.models.base import Message, Reply
from kgrag.models.rate_limits import MINUTE_S, RateLimits, SlidingMinute
from kgrag.testing import ScriptedChatModel


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


ROUNDING_S = 1e-9

ARRIVALS = st.lists(st.tuples(st.floats(0, 30), st.integers(1, 120)), min_size=1, max_size=60)


@given(arrivals=ARRIVALS, requests=st.integers(1, 10) | st.none(), tokens=st.integers(50, 300) | st.none())
def test_no_minute_holds_more_than_allowed_and_nobody_overtakes(
    arrivals: list[tuple[float, int]], requests: int | None, tokens: int | None
) -> None:
    minute, now = SlidingMinute(requests=requests, tokens=tokens), 0.0
    places = []
    for gap, wanted in arrivals:
        now += gap
        place = minute.reserve(now, wanted)
        assert place.at >= now
        places.append((place.at, wanted))
    assert places == sorted(places, key=lambda place: place[0])
    for last, _ in places:
        inside = [wanted for at, wanted in places if last - MINUTE_S + ROUNDING_S < at <= last]
        if requests is not None:
            assert len(inside) <= requests
        if tokens is not None:
            assert sum(inside) <= tokens or len(inside) == 1


@given(arrivals=ARRIVALS)
def test_nobody_waits_without_need(arrivals: list[tuple[float, int]]) -> None:
    minute, now = SlidingMinute(requests=5, tokens=300), 0.0
    places: list[tuple[float, int]] = []
    for gap, wanted in arrivals:
        now += gap
        at = minute.reserve(now, wanted).at
        earliest = max(now, places[-1][0]) if places else now
        if at > earliest:  # a moment sooner would have been too much
            sooner = at - 1e-6
            inside = [tokens for when, tokens in places if sooner - MINUTE_S < when]
            assert len(inside) + 1 > 5 or sum(inside) + wanted > 300
        places.append((at, wanted))


def test_a_place_that_is_given_back_is_free_again() -> None:
    minute = SlidingMinute(requests=1)
    minute.give_back(minute.reserve(0.0, 1))
    assert minute.reserve(1.0, 1).at == 1.0


def test_requests_wait_for_the_minute_to_have_room() -> None:
    clock = Clock()
    limits = RateLimits(requests_per_minute=2, clock=clock, sleep=clock.sleep)
    model = around(ScriptedChatModel(lambda messages: "ok"), limits)
    times = []
    for _ in range(5):
        asyncio.run(model.reply([Message("user", "hello")]))
        times.append(clock.now)
    assert times == [0.0, 0.0, 60.0, 60.0, 120.0]


def test_a_request_counts_with_what_it_really_used() -> None:
    clock = Clock()
    limits = RateLimits(tokens_per_minute=1000, clock=clock, sleep=clock.sleep)
    model = around(ScriptedChatModel(lambda messages: "word " * 900), limits)
    asyncio.run(model.reply([Message("user", "a short question")]))
    asyncio.run(model.reply([Message("user", "a short question")]))
    assert clock.now == 60.0


def test_all_wait_when_the_endpoint_says_when_to_come_back() -> None:
    clock = Clock()
    model = around(
        ScriptedChatModel([ModelUnavailable("busy", retry_after_s=7.0), "ok"]),
        RateLimits(clock=clock, sleep=clock.sleep),
    )
    with pytest.raises(ModelUnavailable):
        asyncio.run(model.reply([Message("user", "one")]))
    assert asyncio.run(model.reply([Message("user", "another")])) == Reply("ok", usage=asyncio.run(_usage()))
    assert clock.slept == [7.0]


async def _usage() -> object:
    return (await ScriptedChatModel(["ok"]).reply([Message("user", "another")])).usage


def test_a_cancelled_wait_gives_its_place_back() -> None:
    limits = RateLimits(requests_per_minute=1)
    model = around(ScriptedChatModel(lambda messages: "ok"), limits)

    async def scenario() -> int:
        await model.reply([Message("user", "first")])
        waiting = asyncio.create_task(model.reply([Message("user", "second")]))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert limits._minute is not None
        return len(limits._minute._places)

    assert asyncio.run(scenario()) == 1
