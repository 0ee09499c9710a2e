"""Trying again: when a model is away or too busy, after as long as it asks for, or longer each time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kgrag.errors import ModelUnavailable
from kgrag.models.middleware import Call

__all__ = ["Retries"]

T = TypeVar("T")
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
LONGEST_RETRY_AFTER_S = 120.0
"""An endpoint that asks to come back later than this is away; whoever waits for longer (a build does) decides so itself."""
RETRY_AFTER_JITTER_S = 0.25


class Retries:
    """Makes a request up to `attempts` times while it ends in `ModelUnavailable`; no other error would go away by asking again.

    Waits as long as Retry-After says, plus a little at random; without it from half a second, twice as long each time up to 30 s, of which
    a random half is left out, so that callers that failed together do not come back together. The last error is raised as it is.
    """

    def __init__(
        self,
        attempts: int,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._attempts = attempts
        self._sleep = sleep
        self._random = rng or random.Random()  # noqa: S311  jitter, no secret

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request."""
        failed = 0
        while True:
            try:
                return await send()
            except ModelUnavailable as error:
                failed += 1
                asked = error.retry_after_s
                if failed >= self._attempts or (asked is not None and asked > LONGEST_RETRY_AFTER_S):
                    raise
            await self._sleep(self.wait_s(failed, asked))

    def wait_s(self, failed: int, retry_after_s: float | None) -> float:
        """Seconds to wait after so many failures."""
        if retry_after_s is not None:
            return retry_after_s + self._random.uniform(0.0, RETRY_AFTER_JITTER_S)
        longest = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (failed - 1))
        return self._random.uniform(longest / 2, longest)
