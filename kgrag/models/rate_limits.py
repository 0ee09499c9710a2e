"""How many requests and tokens a minute: what a provider's plan allows."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from kgrag.common.retry import LONGEST_RETRY_AFTER_S
from kgrag.errors import InputError, ModelReplyError, ModelUnavailable
from kgrag.models.base import Reply
from kgrag.models.middleware import Call
from kgrag.models.per_loop import PerLoop
from kgrag.models.tokens import estimate_tokens

__all__ = ["RateLimits", "SlidingMinute"]

T = TypeVar("T")
MINUTE_S = 60.0
MEAN_WEIGHT = 0.1
"""Of the newest reply in the running mean of completion tokens."""
FIRST_COMPLETION_TOKENS = 1_000
"""Reserved for a reply before one was seen, unless a longest reply is set."""
LOOK_AGAIN_S = 1.0
"""A reply that was shorter than reserved makes room sooner than the minute passes."""
BUSY_TIMEOUT_S = 60.0


class SlidingMinute:
    """What was used in the last 60 seconds, in a SQLite file that any number of processes share; without a file, in memory."""

    def __init__(self, file: Path | None, model: str, *, requests: int | None, tokens: int | None) -> None:
        self._file = file
        self._model = model
        self._requests = requests
        self._tokens = tokens
        self._lock = threading.Lock()
        self._opened: sqlite3.Connection | None = None

    def take(self, now: float, tokens: float) -> tuple[int | None, float]:
        """Take a place for so many tokens: its number, or None and the seconds until there may be one.

        A request of more tokens than a minute allows gets a minute to itself.
        """
        with self._lock, self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            # A clock that was set back must not hold anybody up.
            connection.execute("DELETE FROM used WHERE at <= ? OR at > ?", (now - MINUTE_S, now + MINUTE_S))
            rows = connection.execute(
                "SELECT at, tokens FROM used WHERE model = ? ORDER BY at", (self._model,)
            ).fetchall()
            free_at = now
            if self._requests is not None and len(rows) >= self._requests:
                free_at = rows[len(rows) - self._requests][0] + MINUTE_S
            if self._tokens is not None:
                too_many = sum(used for _, used in rows) + tokens - self._tokens
                for at, used in rows:
                    if too_many <= 0:
                        break
                    too_many -= used
                    free_at = max(free_at, at + MINUTE_S)
            if free_at > now:
                return None, free_at - now
            added = connection.execute(
                "INSERT INTO used (model, at, tokens) VALUES (?, ?, ?)", (self._model, now, tokens)
            )
            return added.lastrowid, 0.0

    def correct(self, place: int, tokens: float) -> None:
        """Note what a request really used."""
        with self._lock, self._connection as connection:
            connection.execute("UPDATE used SET tokens = ? WHERE id = ?", (tokens, place))

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            try:
                if self._file is not None:
                    self._file.parent.mkdir(parents=True, exist_ok=True)
                self._opened = sqlite3.connect(
                    self._file or ":memory:", timeout=BUSY_TIMEOUT_S, check_same_thread=False, isolation_level=None
                )
                self._opened.execute("PRAGMA synchronous = OFF")  # a minute that is lost is no loss
                self._opened.execute(
                    "CREATE TABLE IF NOT EXISTS used (id INTEGER PRIMARY KEY, model TEXT NOT NULL, at REAL NOT NULL, tokens REAL NOT NULL)"
                )
            except (sqlite3.Error, OSError) as error:
                raise InputError(
                    f"{self._file}: the file of requests a minute cannot be used ({error}). Delete it, or name another model_cache."
                ) from error
        return self._opened


class RateLimits:
    """Holds requests back so that a minute has at most so many of them, and so many tokens; None is no limit.

    A request counts with its estimated prompt and what replies take in the mean so far (before the first one: the longest that is set,
    or 1,000 tokens), and with what it really used once its reply is there. With a `file` the limits hold for all processes that name it.
    When the endpoint answers with Retry-After, every request waits for that time: those already known to be refused are not sent. Where
    that is longer than `LONGEST_RETRY_AFTER_S` they end in `ModelUnavailable` at once.
    """

    def __init__(
        self,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        longest_reply: int | None = None,
        file: Path | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._file = file
        self._clock = clock
        self._sleep = sleep
        self._completion = float(longest_reply or FIRST_COMPLETION_TOKENS)
        self._seen = False
        self._minutes: dict[str, SlidingMinute] = {}
        self._in_order = PerLoop(asyncio.Lock)
        self._paused_until = float("-inf")

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request when its time has come."""
        place = await self._place(call)
        used = 0.0
        try:
            await self._pause(call)
            used = call.tokens
            result = await send()
            if isinstance(result, Reply):
                prompt, written = result.usage.prompt_tokens, result.usage.completion_tokens
                used = (prompt or call.tokens) + self._learn(written or estimate_tokens(result.text))
            return result
        except ModelReplyError as error:
            if error.usage.calls:
                used = (error.usage.prompt_tokens or call.tokens) + error.usage.completion_tokens
            raise
        except ModelUnavailable as error:
            if error.retry_after_s is not None:
                self._paused_until = max(self._paused_until, self._clock() + error.retry_after_s)
            raise
        finally:
            if place is not None:
                self._minutes[call.model].correct(place, used)

    async def _pause(self, call: Call) -> None:
        """Wait as long as the endpoint asked for. Raises `ModelUnavailable` where that is longer than anybody should wait unasked."""
        while (pause_s := self._paused_until - self._clock()) > 0:
            if pause_s > LONGEST_RETRY_AFTER_S:
                raise ModelUnavailable(
                    f"{call.model} asked to be left alone (Retry-After) for {pause_s:.0f} s more.",
                    retry_after_s=pause_s,
                )
            await self._sleep(pause_s)

    async def _place(self, call: Call) -> int | None:
        """Wait for a place, in order of asking; None where there is no limit."""
        if self._requests is None and self._tokens is None:
            return None
        minute = self._minutes.setdefault(
            call.model, SlidingMinute(self._file, call.model, requests=self._requests, tokens=self._tokens)
        )
        async with await self._in_order.get():
            while True:
                expected = call.tokens + (self._completion if call.kind == "chat" else 0.0)
                place, wait_s = minute.take(self._clock(), expected)
                if place is not None:
                    return place
                await self._sleep(min(wait_s, LOOK_AGAIN_S))

    def _learn(self, completion: int) -> int:
        weight = MEAN_WEIGHT if self._seen else 1.0
        self._completion += weight * (completion - self._completion)
        self._seen = True
        return completion
