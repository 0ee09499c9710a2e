"""Clients that never finish the head of a request, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from kgrag.serve import connection
from kgrag.serve.running import server_config

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LONG_S = 30.0
"""Far more than is waited for a head here: what comes later comes never."""


async def answers_slowly(
    scope: dict[str, Any], receive: Callable[[], Any], send: Callable[[dict[str, Any]], Any]
) -> None:
    """An app whose response takes longer than a head may."""
    assert scope["type"] == "http"
    await asyncio.sleep(0.6)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def served() -> AsyncIterator[int]:
    bound = socket.create_server(("127.0.0.1", 0))
    config = server_config(answers_slowly)
    config.lifespan = "off"
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        await task
        bound.close()


@pytest.mark.parametrize("sent", [b"", REQUEST[:20], REQUEST[:-2]])
def test_a_connection_without_a_whole_head_is_closed(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    async def run() -> bytes:
        async with served() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            try:
                return await asyncio.wait_for(reader.read(), LONG_S)
            finally:
                writer.close()

    monkeypatch.setattr(connection, "HEAD_S", 0.2)
    assert asyncio.run(run()) == b""


def test_a_head_that_comes_byte_by_byte_is_not_waited_for_either(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> bool:
        async with served() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            until = time.monotonic() + LONG_S
            while time.monotonic() < until and not reader.at_eof():
                writer.write(b"X")
                await asyncio.sleep(0.05)
                if writer.is_closing() or reader.at_eof():
                    break
            writer.close()
            return reader.at_eof() or time.monotonic() < until

    monkeypatch.setattr(connection, "HEAD_S", 0.2)
    assert asyncio.run(run())


def test_a_response_may_take_longer_than_a_head_and_the_connection_is_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> list[bytes]:
        async with served() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            replies = []
            for _ in range(2):
                writer.write(REQUEST)
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LONG_S)
                replies.append(head.split(b"\r\n")[0] + await reader.readexactly(2))
                await asyncio.sleep(0.4)  # with nothing on the connection it is uvicorn's keep-alive that counts
            writer.write(REQUEST[:20])
            rest = await asyncio.wait_for(reader.read(), LONG_S)
            writer.close()
            return [*replies, rest]

    monkeypatch.setattr(connection, "HEAD_S", 0.2)
    assert asyncio.run(run()) == [b"HTTP/1.1 200 OKok", b"HTTP/1.1 200 OKok", b""]
