"""How many requests and tokens a minute: what a provider's plan allows."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from kgrag.errors import ModelUnavailable
from kgrag.models.around import Call
from kgrag.models.base import Reply

__all__ = ["Place", "RateLimits", "SlidingMinute"]

T = TypeVar("T")
MINUTE_S = 60.0
MEAN_WEIGHT = 0.1
"""Of the newest reply in the running mean of completion tokens."""


@dataclass(slots=True)
class Place:
    """When one request may begin, and how many tokens it counts for."""

    at: float
    tokens: float


class SlidingMinute:
    """Places for requests such that no 60 seconds hold more than `requests` of them or more than `tokens` tokens.

    A request with more tokens than a minute allows gets a minute to itself. Places are given in order of asking.
    """

    def __init__(self, *, requests: int | None = None, tokens: int | None = None) -> None:
        self._requests = requests
        self._tokens = tokens
        self._places: deque[Place] = deque()

    def reserve(self, now: float, tokens: float) -> Place:
        """Take the earliest place at or after `now` and after every place given before."""
        at = max(now, self._places[-1].at) if self._places else now
        self._forget(at)
        if self._requests is not None and len(self._places) >= self._requests:
            at = max(at, self._places[len(self._places) - self._requests].at + MINUTE_S)
        if self._tokens is not None:
            too_many = sum(place.tokens for place in self._places) + tokens - self._tokens
            for place in self._places:
                if too_many <= 0:
                    break
                too_many -= place.tokens
                at = max(at, place.at + MINUTE_S)
        place = Place(at, tokens)
        self._places.append(place)
        return place

    def give_back(self, place: Place) -> None:
        """Free a place that is not used after all."""
        if place in self._places:
            self._places.remove(place)

    def _forget(self, at: float) -> None:
        while self._places and self._places[0].at <= at - MINUTE_S:
            self._places.popleft()


class RateLimits:
    """Holds requests back so that a minute has at most so many of them, and so many tokens; None is no limit.

    A request counts with its estimated prompt and the mean completion so far, and with what it really used once its reply is there. When
    the endpoint answers with Retry-After, every request waits for that time: those already known to be refused are not sent.
    """

    def __init__(
        self,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        limited = requests_per_minute is not None or tokens_per_minute is not None
        self._minute = SlidingMinute(requests=requests_per_minute, tokens=tokens_per_minute) if limited else None
        self._clock = clock
        self._sleep = sleep
        self._mean_completion = 0.0
        self._paused_until = float("-inf")

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request when its time has come."""
        place = None
        if self._minute is not None:
            place = self._minute.reserve(self._clock(), call.tokens + self._mean_completion)
            try:
                await self._wait_until(place.at)
            except BaseException:
                self._minute.give_back(place)
                raise
        while self._paused_until > self._clock():
            await self._wait_until(self._paused_until)
        try:
            result = await send()
        except ModelUnavailable as error:
            if error.retry_after_s is not None:
                self._paused_until = max(self._paused_until, self._clock() + error.retry_after_s)
            raise
        if place is not None and isinstance(result, Reply):
            usage = result.usage
            place.tokens = usage.prompt_tokens + usage.completion_tokens
            self._mean_completion += MEAN_WEIGHT * (usage.completion_tokens - self._mean_completion)
        return result

    async def _wait_until(self, at: float) -> None:
        if (wait_s := at - self._clock()) > 0:
            await self._sleep(wait_s)
