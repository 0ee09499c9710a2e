"""Clients that never finish the head of a request, or do not take its response, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
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


async def answers_at_length(
    scope: dict[str, Any], receive: Callable[[], Any], send: Callable[[dict[str, Any]], Any]
) -> None:
    """An app whose response is more than the sockets hold, and that reads a body before it answers."""
    while (message := await receive())["type"] == "http.request" and message["more_body"]:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(400):
        await send({"type": "http.response.body", "body": bytes(100_000), "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def served(app: Any = answers_slowly) -> AsyncIterator[int]:
    bound = socket.create_server(("127.0.0.1", 0))
    config = server_config(app, drain_s=LONG_S)
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


def test_a_connection_whose_response_nobody_takes_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> tuple[int, int]:
        async with served(answers_at_length) as port:
            taken = []
            for takes in (True, False):
                with socket.create_connection(("127.0.0.1", port)) as client:
                    client.setblocking(False)
                    loop = asyncio.get_running_loop()
                    await loop.sock_sendall(client, REQUEST[:-2] + b"Connection: close\r\n\r\n")
                    if not takes:
                        await asyncio.sleep(1.5)
                    count = 0
                    with suppress(ConnectionError):
                        while part := await asyncio.wait_for(loop.sock_recv(client, 1_000_000), LONG_S):
                            count += len(part)
                    taken.append(count)
            return taken[0], taken[1]

    monkeypatch.setattr(connection, "TAKEN_S", 0.5)
    whole, cut = asyncio.run(run())
    assert whole > 400 * 100_000 > cut


def test_a_body_that_is_not_whole_does_not_keep_the_desk_from_ending() -> None:
    async def run() -> bytes:
        async with served(answers_at_length) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
            await asyncio.sleep(0.3)
        # The server waits for its connections before it comes here, else it would be cut only now.
        rest = await asyncio.wait_for(reader.read(), LONG_S)
        writer.close()
        return rest

    assert asyncio.run(asyncio.wait_for(run(), LONG_S / 2)) == b""
