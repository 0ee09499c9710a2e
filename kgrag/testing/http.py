"""A small HTTP/1.1 server on asyncio: keep-alive, bodies with Content-Length, and as little work for a request as can be.

Thousands of requests a second from one thread, so that it does not hide the speed of what is measured against it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal, cast

__all__ = ["HttpConnection", "HttpRequest", "HttpResponse"]

MAX_HEAD_BYTES = 64 * 1024
REASONS = {status.value: status.phrase for status in HTTPStatus}


@dataclass(slots=True)
class HttpRequest:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(slots=True)
class HttpResponse:
    """What to send, when, and what to do with the connection."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    latency_s: float = 0.0
    connection: Literal["keep", "hang", "close", "close_midway"] = "keep"
    sent: Callable[[], None] = field(default=lambda: None)
    """Called when the whole response goes out."""
    dropped: Callable[[], None] = field(default=lambda: None)
    """Called when the connection ends before."""


class HttpConnection(asyncio.Protocol):
    """One connection; requests on it are answered one after the other by `respond`."""

    def __init__(
        self, respond: Callable[[HttpRequest], HttpResponse], *, connections: set[asyncio.BaseTransport]
    ) -> None:
        self._respond = respond
        self._connections = connections
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._pending: HttpResponse | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._needed = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a new connection."""
        self._transport = cast(asyncio.Transport, transport)
        self._connections.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection; a response that waits is dropped."""
        if self._transport is not None:
            self._connections.discard(self._transport)
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        if self._pending is not None:
            self._pending.dropped()
            self._pending = None

    def data_received(self, data: bytes) -> None:
        """Collect bytes until there is a whole request."""
        self._buffer += data
        if len(self._buffer) >= self._needed and self._pending is None:
            self._next_request()

    def _next_request(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            self._needed = 0
            if len(self._buffer) > MAX_HEAD_BYTES:
                self._refuse(431)
            return
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if "transfer-encoding" in headers:
            return self._refuse(411)  # no client of ours sends chunks
        length = headers.get("content-length", "0")
        parts = first.split(" ")
        if len(parts) != 3 or not length.isdigit():
            return self._refuse(400)
        self._needed = end + 4 + int(length)
        if len(self._buffer) < self._needed:
            if headers.get("expect", "").lower() == "100-continue" and self._transport is not None:
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return
        body = bytes(self._buffer[end + 4 : self._needed])
        del self._buffer[: self._needed]
        self._needed = 0
        response = self._respond(HttpRequest(parts[0], parts[1], headers, body))
        self._pending = response
        if response.connection == "hang":
            return
        if response.latency_s > 0:
            self._timer = asyncio.get_running_loop().call_later(response.latency_s, self._send)
        else:
            self._send()

    def _send(self) -> None:
        response, self._timer = self._pending, None
        if response is None or self._transport is None:
            return
        if response.connection == "close":
            self._transport.abort()
            return
        head = [f"HTTP/1.1 {response.status} {REASONS.get(response.status, 'Unknown')}"]
        head.append(f"Content-Type: {response.content_type}")
        head.append(f"Content-Length: {len(response.body)}")
        head.extend(f"{name}: {value}" for name, value in response.headers)
        message = "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + response.body
        if response.connection == "close_midway":
            self._transport.write(message[: len(message) - len(response.body) // 2 - 1])
            self._transport.close()
            return
        self._pending = None
        response.sent()  # before the write: a caller that has its reply finds it recorded
        self._transport.write(message)
        if self._buffer:
            self._next_request()

    def _refuse(self, status: int) -> None:
        if self._transport is not None:
            self._transport.write(f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Length: 0\r\n\r\n".encode())
            self._transport.close()
