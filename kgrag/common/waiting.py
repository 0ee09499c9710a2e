"""Waiting for asynchronous work from synchronous code, in one event loop that runs in the background."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["wait_for"]

CLOSE_TIMEOUT_S = 2.0
"""For what is open in the loop when Python leaves: connections to models."""

T = TypeVar("T")


def wait_for(job: Coroutine[Any, Any, T]) -> T:
    """Run a job to its end in the background loop, from whatever thread: connections that it opens are there for the next one.

    Ctrl-C cancels the job and waits for its end, a second one does not. From inside of the loop itself (a framework that calls back
    synchronously) the job gets a loop and a thread of its own.
    """
    background = _background()
    if threading.current_thread() is background.thread:
        context = contextvars.copy_context()
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(context.run, asyncio.run, job).result()
    return background.wait_for(job)


class _Background:
    """An event loop in a thread that does not keep Python from leaving."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self.thread = threading.Thread(target=asyncio.run, args=(self._live(),), name="kgrag", daemon=True)
        self.thread.start()
        self._loop = self._started.result()
        atexit.register(self.stop)

    async def _live(self) -> None:
        self._stopped = asyncio.Event()
        self._started.set_result(asyncio.get_running_loop())
        await self._stopped.wait()

    def wait_for(self, job: Coroutine[Any, Any, T]) -> T:
        done: Future[T] = Future()
        tasks: list[asyncio.Task[None]] = []

        async def run() -> None:
            try:
                done.set_result(await job)
            except BaseException as error:  # noqa: BLE001 - the waiting thread's to handle, a cancellation too
                done.set_exception(error)

        def start() -> None:
            tasks.append(self._loop.create_task(run(), context=context))

        def cancel() -> None:
            for task in tasks:  # none where Ctrl-C came before the job was handed over
                task.cancel()
            self._loop.call_soon(never_began)

        def never_began() -> None:  # a task that is cancelled before its first step runs nothing of `run`
            if not tasks or (tasks[0].done() and not done.done()):
                job.close()
                done.set_exception(asyncio.CancelledError())

        context = contextvars.copy_context()
        try:  # around the handing over, too: the job may run before this thread goes on
            self._loop.call_soon_threadsafe(start)
            return done.result()
        except KeyboardInterrupt:
            self._loop.call_soon_threadsafe(cancel)
            with suppress(asyncio.CancelledError, Exception):
                done.result()
            raise

    def stop(self) -> None:
        """Close what is open in the loop, and end it."""
        if os.getpid() == self.process and self.thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self.thread.join(CLOSE_TIMEOUT_S)


_running: _Background | None = None
_starting = threading.Lock()


def _background() -> _Background:
    """Return the loop of this process, started on first use (a forked child has none of its parent's threads)."""
    global _running
    with _starting:
        if _running is None or _running.process != os.getpid() or not _running.thread.is_alive():
            _running = _Background()
        return _running
