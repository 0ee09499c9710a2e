"""More questions than places: they wait in turn, each user's after the other's, and whoever cannot wait is told so."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from kgrag.serve.access import Access, add_user, read_users
from kgrag.serve.places import Places
from kgrag.serve.problems import Crowded, Impatient
from kgrag.testing import Behaviour, ModelRequest, ModelServer, answer, hanging

from .conftest import OpenDesk

QUESTION = {"question": "What is the standby current of the X-100?"}
SAID = {"quotes": [], "answered": True, "answer": "The standby current is 0.5 mA [1]."}


def run(job: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(job())  # type: ignore[arg-type]


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_the_next_place_goes_to_another_user_however_many_one_asks() -> None:
    async def job() -> None:
        places, order, free = Places(1), [], asyncio.Event()

        async def first() -> None:
            async with places.taken("anna"):
                await free.wait()

        async def ask(user: str) -> None:
            async with places.taken(user):
                order.append(user)

        asking = [asyncio.create_task(first())]
        await settle()
        for user in ("anna", "anna", "anna", "bert", "carl", "bert"):
            asking.append(asyncio.create_task(ask(user)))
            await settle()
        assert places.waiting == 6
        free.set()
        await asyncio.gather(*asking)
        assert order == ["anna", "bert", "carl", "anna", "bert", "anna"]
        assert places.waiting == 0

    run(job)


def test_whoever_goes_away_or_waits_too_long_leaves_the_place_to_the_next() -> None:
    async def job() -> None:
        places, got = Places(1, wait_s=0.05), []

        async def ask(name: str) -> None:
            async with places.taken("anna"):
                got.append(name)

        async with places.taken("anna"):
            gone = asyncio.create_task(ask("gone"))
            await settle()
            gone.cancel()
            with pytest.raises(Crowded, match="Ask again"):
                await ask("late")
            last = asyncio.create_task(ask("last"))
            await settle()
        await last
        # A place that was given to whoever goes away in the same moment is given on.
        async with places.taken("anna"):
            gone = asyncio.create_task(ask("gone too"))
            await settle()
        gone.cancel()
        await asyncio.wait({gone})
        await ask("free again")
        assert got == ["last", "free again"]

    run(job)


def test_a_desk_that_closes_sends_away_who_waits_and_lets_who_is_answered_go_on() -> None:
    async def job() -> None:
        places = Places(1)

        async def ask(user: str) -> str:
            async with places.taken(user):
                return "answered"

        async with places.taken("anna"):
            waiting = [asyncio.create_task(ask(user)) for user in ("anna", "bert", "carl")]
            await settle()
            places.close()
            ended = await asyncio.gather(*waiting, return_exceptions=True)
            assert all(isinstance(one, Crowded) and "closing" in str(one) for one in ended)
            assert not places.waiting
        with pytest.raises(Crowded, match="closing"):
            await ask("dora")

    run(job)


def test_a_desk_that_closes_ends_what_is_not_answered_in_time() -> None:
    async def job() -> None:
        places = Places(2)

        async def work() -> None:
            async with places.taken("anna"):
                await asyncio.Event().wait()

        working = [asyncio.create_task(work()) for _ in range(2)]
        await settle()
        places.close(drain_s=0)
        ended = await asyncio.gather(*working, return_exceptions=True)
        assert all(isinstance(one, Crowded) and "closing" in str(one) for one in ended)

        async def slow() -> None:  # a time of its own that is up is no end of the desk
            async with Places(1).taken("anna"), asyncio.timeout(0):
                await asyncio.Event().wait()

        with pytest.raises(TimeoutError):
            await slow()

    run(job)


def test_a_crowd_of_one_user_or_of_all_is_limited() -> None:
    async def job() -> None:
        places = Places(1, waiting=3, of_one=2)

        async def ask(user: str) -> None:
            async with places.taken(user):
                pass

        async with places.taken("anna"):
            waiting = [asyncio.create_task(ask("anna")) for _ in range(2)]
            await settle()
            with pytest.raises(Impatient, match="anna"):
                await ask("anna")
            waiting.append(asyncio.create_task(ask("bert")))
            await settle()
            with pytest.raises(Crowded):
                await ask("carl")
        await asyncio.gather(*waiting)

    run(job)


def test_more_questions_than_places_are_all_answered_and_one_at_a_time(open_desk: OpenDesk) -> None:
    with ModelServer(lambda request: answer(SAID, latency_s=0.2)) as model:
        desk = open_desk(at_once=2, model="openai:any", base_url=model.url, model_cache="off")

        def ask(_: int) -> tuple[int, str]:
            with desk.client(headers={"Accept": "text/event-stream"}) as client:
                reply = client.post("/api/ask", json=QUESTION)
                return reply.status_code, reply.text

        with ThreadPoolExecutor(10) as pool:
            replies = list(pool.map(ask, range(10)))
    assert all(status == 200 and "event: answer" in text for status, text in replies)
    assert sum("Wait for a place" in text for _, text in replies) >= 5
    assert model.peak_concurrency <= 2


def test_a_model_that_hangs_ends_as_a_problem_and_leaves_its_place(open_desk: OpenDesk) -> None:
    hangs = [True]
    with ModelServer(lambda request: hanging() if hangs[0] else answer(SAID)) as model:
        desk = open_desk(at_once=1, question_s=3, model="openai:any", base_url=model.url, model_cache="off")
        with desk.client() as client:
            reply = client.post("/api/ask", json=QUESTION)
            assert reply.status_code == 504
            assert "--question-s" in reply.json()["detail"]
            desk.desk.question_s, hangs[0] = 600, False
            assert client.post("/api/ask", json=QUESTION).status_code == 200
    assert model.requests[0].state == "dropped"


def test_whoever_finds_no_place_is_told_when_to_come_again(open_desk: OpenDesk, tmp_path: Path) -> None:
    file = tmp_path / "users.toml"
    headers = {"Authorization": f"Bearer {add_user(file, 'anna', 'ask')}"}
    refused_one = threading.Event()

    def script(request: ModelRequest) -> Behaviour:
        refused_one.wait(60)  # those who have a place keep it until somebody found none
        return answer(SAID)

    with ModelServer(script) as model:
        desk = open_desk(
            access=Access(read_users(file)), at_once=1, model="openai:any", base_url=model.url, model_cache="off"
        )

        def ask(_: int) -> httpx2.Response:
            with desk.client(headers=headers) as client:
                reply = client.post("/api/ask", json=QUESTION)
            if reply.status_code == 429:
                refused_one.set()
            return reply

        with ThreadPoolExecutor(24) as pool:
            replies = list(pool.map(ask, range(24)))
    counted = Counter(reply.status_code for reply in replies)
    assert counted[429] >= 1
    assert set(counted) == {200, 429}
    refused = next(reply for reply in replies if reply.status_code == 429)
    assert "wait for an answer already" in refused.json()["detail"]
    assert refused.headers["retry-after"]
