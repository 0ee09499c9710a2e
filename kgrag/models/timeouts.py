"""How long a request may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kgrag.errors import ModelUnavailable
from kgrag.models.middleware import Call

__all__ = ["Timeout"]

T = TypeVar("T")


class Timeout:
    """Gives a request `seconds` from its sending to the end of its reply, then raises `ModelUnavailable`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request."""
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                return await send()
        except TimeoutError:
            if not limit.expired():
                raise
            raise ModelUnavailable(
                f"{call.model}: no reply within {self._seconds:g} s. A slow model needs a higher timeout_s (KGRAG_TIMEOUT_S)."
            ) from None
