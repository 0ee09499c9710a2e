"""Work for a client that may go away: it ends with the client, and with it the call of a model that is under way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from kgrag.common.progress import Step

__all__ = ["ClientGone", "EventProgress", "EventStream", "Events", "while_connected"]

HEARTBEAT, HEARTBEAT_S = b": waiting\n\n", 15.0
"""A comment line goes out when nothing else does: proxies close what is silent."""

T = TypeVar("T")


class ClientGone(Exception):
    """The client went away; nobody is there to be told."""


async def while_connected(request: Request, job: Coroutine[Any, Any, T]) -> T:
    """Run a job as long as the client is there. Raises `ClientGone` where it goes, after the job was cancelled and has ended."""
    await request.body()  # what follows on the channel is only the end of the connection
    working = asyncio.ensure_future(job)
    watching = asyncio.ensure_future(_gone(request.receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        await _end(working)
        await _end(watching)


class Events:
    """What a job tells while it runs, in order: put in from the event loop, taken out by one stream."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()

    def tell(self, name: str, data: Any) -> None:
        """Tell something: a name and what JSON can say."""
        self._queue.put_nowait((name, data))

    def end(self) -> None:
        """Say that nothing more comes."""
        self._queue.put_nowait(None)

    async def take(self) -> tuple[str, Any] | None:
        """Wait for the next event; None after the last."""
        return await self._queue.get()


class EventStream(Response):
    """Server-sent events of a job, which is cancelled when the client goes away.

    `frame` turns an event into its bytes; a job that fails has told so itself.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        job: Callable[[Events], Coroutine[Any, Any, None]],
        *,
        frame: Callable[[str, Any], bytes] | None = None,
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._job = job
        self._frame = frame or event_frame

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events as they come."""
        events = Events()

        async def work() -> None:
            try:
                await self._job(events)
            finally:
                events.end()

        working = asyncio.ensure_future(work())
        watching = asyncio.ensure_future(_gone(receive))
        sending = asyncio.ensure_future(self._send(events, send))
        try:
            await asyncio.wait({watching, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (working, sending, watching):
                await _end(task)

    async def _send(self, events: Events, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for data in self._frames(events):
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _frames(self, events: Events) -> AsyncIterator[bytes]:
        while True:
            try:
                event = await asyncio.wait_for(events.take(), HEARTBEAT_S)
            except TimeoutError:
                yield HEARTBEAT
                continue
            if event is None:
                return
            yield self._frame(*event)


def event_frame(name: str, data: Any) -> bytes:
    """Write an event with its name."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode("utf-8", "replace")


class EventProgress:
    """A `Progress` that tells events `step` (its name, whether it began or ended, how many of what), and `text` as a model writes it."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self.wrote = False
        """Whether any of the answer's text was told."""

    def text(self, piece: str) -> None:
        """Tell a piece of the answer."""
        self.wrote = True
        self._events.tell("text", {"text": piece})

    def restart(self) -> None:
        """Tell that what was told of the answer is taken back."""
        if self.wrote:
            self._events.tell("restart", {})

    @contextmanager
    def step(self, name: str, total: int | None, unit: str) -> Iterator[Step]:
        """Tell that a step begins, and that it ended."""
        counted = _Counted()
        self._events.tell("step", {"name": name, "state": "begun", "total": total, "unit": unit})
        yield counted
        self._events.tell("step", {"name": name, "state": "done", "count": counted.count, "unit": unit})

    def say(self, line: str) -> None:
        """Tell a note."""
        self._events.tell("note", {"text": line})


class _Counted:
    def __init__(self) -> None:
        self.count = 0

    def advance(self, count: int = 1) -> None:
        self.count += count


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(task: asyncio.Future[Any]) -> None:
    """Cancel a task and wait until it has ended; what it came to is nobody's any more."""
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task
