"""Requests and tokens a minute, on a clock of the test's own."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import ModelUnavailable
from kgrag.models.base import Message, Reply
from kgrag.models.middleware import around
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


ARRIVALS = st.lists(st.tuples(st.floats(0, 30), st.integers(1, 120)), min_size=1, max_size=40)


@given(arrivals=ARRIVALS, requests=st.integers(1, 10) | st.none(), tokens=st.integers(50, 300))
def test_no_minute_holds_more_than_allowed(
    arrivals: list[tuple[float, int]], requests: int | None, tokens: int
) -> None:
    minute, now = SlidingMinute(None, "m", requests=requests, tokens=tokens), 0.0
    places: list[tuple[float, int]] = []
    for gap, wanted in arrivals:
        now += gap
        while (waits := minute.take(now, wanted))[0] is None:
            assert waits[1] > 0
            now += waits[1] + 1e-6
        places.append((now, wanted))
    for last, _ in places:
        inside = [wanted for at, wanted in places if last - MINUTE_S < at <= last]
        assert requests is None or len(inside) <= requests
        assert sum(inside) <= tokens or len(inside) == 1


def test_calls_under_way_count_with_the_reply_that_is_expected() -> None:
    clock, sent = Clock(), []

    async def scenario() -> None:
        limits = RateLimits(tokens_per_minute=10_000, clock=clock, sleep=clock.sleep)
        model = around(ScriptedChatModel(lambda messages: sent.append(clock.now) or "word " * 800), limits)
        await asyncio.gather(*(model.reply([Message("user", "a short question")]) for _ in range(60)))

    asyncio.run(scenario())
    for last in sent:
        assert sum(last - MINUTE_S < at <= last for at in sent) * 800 <= 10_000


def test_limits_hold_across_processes_that_share_a_file(tmp_path: Path) -> None:
    clock = Clock()
    mine, theirs = (
        around(
            ScriptedChatModel(lambda messages: "ok"),
            RateLimits(requests_per_minute=2, file=tmp_path / "limits.sqlite", clock=clock, sleep=clock.sleep),
        )
        for _ in range(2)
    )
    for model in (mine, theirs, mine):
        asyncio.run(model.reply([Message("user", "hello")]))
    assert clock.now == 60.0


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


def test_nobody_waits_unasked_for_an_endpoint_that_asks_for_a_day() -> None:
    clock = Clock()
    model = around(
        ScriptedChatModel([ModelUnavailable("busy", retry_after_s=86_400.0), "ok"]),
        RateLimits(clock=clock, sleep=clock.sleep),
    )
    with pytest.raises(ModelUnavailable, match="busy"):
        asyncio.run(model.reply([Message("user", "one")]))
    clock.now = 400.0
    with pytest.raises(ModelUnavailable, match=r"asked to be left alone \(Retry-After\) for 86000 s more") as caught:
        asyncio.run(model.reply([Message("user", "another")]))
    assert (caught.value.retry_after_s, clock.slept) == (86_000.0, [])
    clock.now = 86_300.0
    assert asyncio.run(model.reply([Message("user", "another")])).text == "ok"
    assert clock.slept == [100.0]


async def _usage() -> object:
    return (await ScriptedChatModel(["ok"]).reply([Message("user", "another")])).usage


def test_a_cancelled_wait_takes_no_place() -> None:
    limits = RateLimits(requests_per_minute=1)
    model = around(ScriptedChatModel(lambda messages: "ok"), limits)

    async def scenario() -> int:
        await model.reply([Message("user", "first")])
        waiting = asyncio.create_task(model.reply([Message("user", "second")]))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        (minute,) = limits._minutes.values()
        return int(minute._connection.execute("SELECT count(*) FROM used").fetchone()[0])

    assert asyncio.run(scenario()) == 1
