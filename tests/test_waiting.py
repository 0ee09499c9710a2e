"""Synchronous callers of asynchronous work: one loop in the background, connections kept, Ctrl-C."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import pytest

import kgrag
from kgrag import errors
from kgrag.common.waiting import wait_for
from kgrag.models import open_chat_model
from kgrag.models.base import Message
from kgrag.testing import ModelServer


@contextmanager
def counted_connections(url: str) -> Iterator[tuple[str, list[int]]]:
    """Stand before a server and note each connection that comes."""
    upstream, seen = (urlsplit(url).hostname, urlsplit(url).port), []

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            seen.append(self.client_address[1])
            with socket.create_connection(upstream) as server:
                back = threading.Thread(target=relay, args=(server, self.request), daemon=True)
                back.start()
                relay(self.request, server)

    def relay(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):  # the other side was closed
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Relay) as front:
        front.daemon_threads = True
        threading.Thread(target=front.serve_forever, daemon=True).start()
        yield url.replace(str(upstream[1]), str(front.server_address[1])), seen
        front.shutdown()


def test_connections_to_a_model_are_kept_between_calls(tmp_path: Path) -> None:
    passages = tmp_path / "passages.jsonl"
    passages.write_text('{"id": "a", "title": "X-100", "text": "The X-100 runs at 3.3 V."}\n', encoding="utf-8")
    with ModelServer() as server, counted_connections(server.url) as (url, seen):
        settings = {"embedder": "openai:any", "base_url": url, "model_cache": "off"}
        with kgrag.open(tmp_path / "store.kg", **settings) as graph:
            graph.build(passages)
            built = len(seen)
            for question in ("At what voltage?", "Which board?", "What runs?"):
                assert graph.retrieve(question)[0].source_id == "a"
            assert len(server.calls("embeddings")) >= 4
        assert len(seen) == built


def test_the_asynchronous_face_answers_in_the_callers_loop(tmp_path: Path) -> None:
    passages = tmp_path / "passages.jsonl"
    passages.write_text('{"id": "a", "title": "X-100", "text": "The X-100 runs at 3.3 V."}\n', encoding="utf-8")

    async def use() -> list[str]:
        async with await kgrag.AsyncKnowledgeGraph.open(tmp_path / "store.kg") as graph:
            await graph.build(passages)
            answers = await asyncio.gather(*(graph.ask(f"At what voltage does the X-100 run? {i}") for i in range(3)))
            return [answer.text for answer in answers]

    assert all("3.3 V" in text for text in asyncio.run(use()))


def test_a_job_may_wait_for_another_from_inside() -> None:
    async def inner() -> int:
        return 1

    async def outer() -> int:
        return wait_for(inner()) + wait_for(inner())

    async def from_a_loop() -> int:
        return wait_for(outer())

    assert wait_for(outer()) == 2
    assert asyncio.run(from_a_loop()) == 2


def test_ctrl_c_cancels_the_job_and_waits_for_its_end() -> None:
    ended = []

    async def job() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(600)
        finally:
            ended.append(True)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            wait_for(job())
    finally:
        signal.signal(signal.SIGINT, handler)
    assert ended == [True]


@pytest.mark.parametrize("handed_over", [False, True])
def test_ctrl_c_while_the_job_is_handed_over_leaves_none_running(
    monkeypatch: pytest.MonkeyPatch, *, handed_over: bool
) -> None:
    began, ended = threading.Event(), []

    async def job() -> None:
        began.set()
        try:
            await asyncio.sleep(600)
        finally:
            ended.append(True)

    wait_for(asyncio.sleep(0))  # the background loop is there
    hand_over = asyncio.BaseEventLoop.call_soon_threadsafe
    presses = iter([True])

    def pressed_meanwhile(loop: asyncio.BaseEventLoop, *args: Any, **more: Any) -> asyncio.Handle:
        if not next(presses, False):
            return hand_over(loop, *args, **more)
        if handed_over:
            hand_over(loop, *args, **more)
            began.wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(asyncio.BaseEventLoop, "call_soon_threadsafe", pressed_meanwhile)
    with pytest.raises(KeyboardInterrupt):
        wait_for(job())
    assert (began.is_set(), ended) == (handed_over, [True] * handed_over)


def test_an_error_of_a_job_is_raised_where_it_is_waited_for() -> None:
    async def job() -> None:
        raise SystemExit(7)

    with pytest.raises(SystemExit):
        wait_for(job())
    assert wait_for(asyncio.sleep(0, "alive")) == "alive"


def test_every_public_name_is_there() -> None:
    assert all(getattr(kgrag, name) for name in kgrag.__all__)
    assert set(kgrag.__all__) <= set(dir(kgrag))
    classes = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}
    assert "KgragError" in classes
    assert classes <= set(kgrag.__all__)


def test_a_script_that_ends_by_an_error_without_closing_ends(tmp_path: Path) -> None:
    program = """
import kgrag, pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / "p.jsonl").write_text('{"id": "a", "title": "X-100", "text": "The X-100 runs at 3.3 V."}')
graph = kgrag.open(folder / "store.kg")
graph.build(folder / "p.jsonl")
rows = graph.store.stream_query("UNWIND range(1, 9000000) AS n RETURN n")
print(next(rows)["n"], graph.ask("At what voltage does the X-100 run?").text, flush=True)
raise RuntimeError("our own")
"""
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert ended.returncode == 1
    assert ended.stdout.startswith("1 ") and "3.3 V" in ended.stdout
    assert ended.stderr.strip().endswith("RuntimeError: our own")


def open_sessions() -> int:
    return sum(isinstance(one, aiohttp.ClientSession) and not one.closed for one in gc.get_objects())


def test_what_a_model_has_open_is_closed_when_the_model_goes(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")

    async def ask_and_forget(url: str) -> None:
        model = open_chat_model("openai:m", base_url=url, model_cache="off")
        await model.reply([Message("user", "Say ok.")])
        assert open_sessions()
        del model
        gc.collect()
        await asyncio.sleep(0.1)  # the loop closes what was let go
        assert not open_sessions()

    with warnings.catch_warnings(record=True) as seen, ModelServer(lambda request: "ok") as server:
        warnings.simplefilter("always")
        asyncio.run(ask_and_forget(server.url))
    assert [str(one.message) for one in seen if "nclosed" in str(one.message)] == []
