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
    """Makes one thing for each event loop that asks, and closes it when that loop ends.

    The synchronous face has one loop in the background, an asynchronous caller its own: connections cannot outlive theirs.
    """

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[None]] | None = None) -> None:
        self._make = make
        self._close = close
        self._made: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[None, None]]] = (
            weakref.WeakKeyDictionary()
        )
        self._lock = threading.Lock()

    async def get(self) -> T:
        """Return the running loop's own, made on first use."""
        loop = asyncio.get_running_loop()
        with self._lock:
            found = self._made.get(loop)
            if found is not None:
                return found[0]
            thing = self._make()
            keeper = self._keep(thing)
            self._made[loop] = thing, keeper
        await anext(keeper)
        return thing

    async def _keep(self, thing: T) -> AsyncGenerator[None, None]:
        """Wait for the loop's end: a loop that ends closes its asynchronous generators (`loop.shutdown_asyncgens`)."""
        try:
            yield
        finally:
            if self._close is not None:
                await self._close(thing)
