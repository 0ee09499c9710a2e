"""Things that belong to one event loop: clients with open connections, semaphores."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

__all__ = ["PerLoop"]

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Makes one thing for each event loop that asks, and closes it when that loop ends or nobody can ask any more.

    The synchronous face has one loop in the background, an asynchronous caller its own: connections cannot outlive theirs.
    """

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[None]] | None = None) -> None:
        self._make = make
        self._close = close
        self._made: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, T] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    async def get(self) -> T:
        """Return the running loop's own, made on first use."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop in self._made:
                return self._made[loop]
            thing = self._made[loop] = self._make()
        if self._close is not None:
            keeper = _keep(thing, self._close)
            # Kept alive from outside of the ring of objects that a model is: collected with the thing, it would come too late to close it.
            weakref.finalize(self, _let_go, keeper).atexit = False
            await anext(keeper)
        return thing


async def _keep(thing: T, close: Callable[[T], Awaitable[None]]) -> AsyncGenerator[None, None]:
    """Wait for the loop's end: a loop closes its asynchronous generators when it ends, and one that nothing refers to."""
    try:
        yield
    finally:
        await close(thing)


def _let_go(keeper: AsyncGenerator[None, None]) -> None:
    """Be the last that refers to a keeper."""
