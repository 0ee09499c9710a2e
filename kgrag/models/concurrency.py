"""How many requests are under way at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kgrag.models.middleware import Call
from kgrag.models.per_loop import PerLoop

__all__ = ["ConcurrencyCap"]

T = TypeVar("T")


class ConcurrencyCap:
    """Lets at most `limit` requests be under way at once; the others wait in order. A cancelled one gives its place back."""

    def __init__(self, limit: int) -> None:
        self._places = PerLoop(lambda: asyncio.Semaphore(limit))

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request when there is a place."""
        async with await self._places.get():
            return await send()
