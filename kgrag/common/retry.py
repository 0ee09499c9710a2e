"""Trying again: a request to a model that is busy, a whole job whose database or model is away for a while.

Ours and not tenacity's: what is needed besides its loop is one outage that many callers share, a wait that a thread can be called out of,
and Retry-After; as its `stop`, `wait`, `before_sleep` and `sleep` they would be longer than this with the loop in it.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from kgrag.errors import KgragError, ModelUnavailable

__all__ = ["LONGEST_RETRY_AFTER_S", "NO_RETRY", "RetryPolicy", "outage_policy"]

RESUMES = "What was done is kept: the same command goes on from here."

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
FIRST_OUTAGE_PAUSE_S = 0.25
LONGEST_OUTAGE_PAUSE_S = 5.0
LONGEST_RETRY_AFTER_S = 120.0
"""What asks to come back later than this is away: attempts end there, and whoever waits for longer (a build does) decides so itself."""
RETRY_AFTER_JITTER_S = 0.25
SAY_EVERY_S = 10.0

T = TypeVar("T")


@dataclass(slots=True)
class _Outage:
    since: float
    said_at: float


class RetryPolicy:
    """Does work again while it ends in the errors that are named: at most `attempts` times, or until `wait_s` seconds are over, or both.

    It pauses as long as Retry-After says, plus a little at random; without it for `first_pause_s`, twice as long each time up to
    `longest_pause_s`, of which a random half is left out, so that callers that failed together do not come back together. After the last
    attempt the error is raised as it is.

    With `wait_s` what is waited for has a name: all who wait for the same name share one outage, and `say` is told of it: when it begins,
    every 10 s, and when it is over; `then` ends the message of an error that was waited for in vain, or whose Retry-After is longer than
    is waited, which ends at once. Safe from several threads and from one event loop.
    """

    def __init__(
        self,
        *,
        attempts: int | None = None,
        wait_s: float | None = None,
        first_pause_s: float = FIRST_PAUSE_S,
        longest_pause_s: float = LONGEST_PAUSE_S,
        say: Callable[[str], None] = lambda line: None,
        then: str = RESUMES,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self.attempts = attempts
        self.wait_s = wait_s
        self._first_pause_s = first_pause_s
        self._longest_pause_s = longest_pause_s
        self._say = say
        self._then = then
        self._sleep = sleep
        self._random = rng or random.Random()  # noqa: S311  jitter, no secret
        self._outages: dict[str, _Outage] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def call(self, work: Callable[[], T], *, what: str, again_on: type[KgragError]) -> T:
        """Do `work`, blocking; raises the error that it ended in when the policy, or `stop`, has had enough."""
        failed = 0
        while True:
            try:
                result = work()
            except again_on as error:
                failed += 1
                if self._stopped.wait(self._next_pause_s(what, failed, error)):
                    raise
            else:
                self._answered(what)
                return result

    async def acall(
        self,
        work: Callable[[], Awaitable[T]],
        *,
        what: str,
        again_on: type[KgragError],
        after: KgragError | None = None,
    ) -> T:
        """Do `work`; `after` is an error that was met already: the pause comes first, and who listens is told at once."""
        failed = 0
        if after is not None:
            failed = 1
            await self._sleep(self._next_pause_s(what, failed, after))
        while True:
            try:
                result = await work()
            except again_on as error:
                failed += 1
                pause_s = self._next_pause_s(what, failed, error)
            else:
                self._answered(what)
                return result
            await self._sleep(pause_s)

    def stop(self) -> None:
        """Let threads that wait give up: the job was interrupted."""
        self._stopped.set()

    def pause_s(self, failed: int, retry_after_s: float | None = None) -> float:
        """Seconds to pause after so many failures, by the attempts alone."""
        if retry_after_s is not None:
            return retry_after_s + self._random.uniform(0.0, RETRY_AFTER_JITTER_S)
        # 2 ** 60 of anything is longer than the longest pause.
        longest = min(self._longest_pause_s, self._first_pause_s * 2.0 ** min(failed - 1, 60))
        return self._random.uniform(longest / 2, longest)

    def _next_pause_s(self, what: str, failed: int, error: KgragError) -> float:
        """Seconds until the next try. Raises `error`, or one of its kind that says how long it took, when there is to be none."""
        asked = error.retry_after_s if isinstance(error, ModelUnavailable) else None
        if self.attempts is not None and (failed >= self.attempts or (asked or 0.0) > LONGEST_RETRY_AFTER_S):
            raise error
        pause_s = self.pause_s(failed, asked)
        return pause_s if self.wait_s is None else min(pause_s, self._missed(what, error, self.wait_s, asked or 0.0))

    def _missed(self, what: str, error: KgragError, wait_s: float, asked_s: float) -> float:
        """Note that `what` is away; return the seconds that are left to wait for it, which are no fewer than it asked for."""
        if wait_s <= 0:
            raise error
        with self._lock:
            now = time.monotonic()
            outage = self._outages.setdefault(what, _Outage(since=now, said_at=float("-inf")))
            away_s = now - outage.since
            if away_s >= wait_s:
                raise type(error)(f"{error} Waited {away_s:.0f} s for it (wait_s). {self._then}".rstrip()) from error
            if asked_s > wait_s - away_s:
                longer = f"Its Retry-After, {asked_s:.0f} s, is longer than is waited (wait_s, {wait_s:.0f} s)."
                raise type(error)(f"{error} {longer} {self._then}".rstrip()) from error
            if now - outage.said_at >= SAY_EVERY_S:
                outage.said_at = now
                again = f" It is asked again in {asked_s:.0f} s (Retry-After)." if asked_s > SAY_EVERY_S else ""
                self._say(f"Waiting for {what}: {away_s:.0f} s of at most {wait_s:.0f} s. {error}{again}")
            return wait_s - away_s

    def _answered(self, what: str) -> None:
        """Note that `what` is there."""
        if what in self._outages:
            with self._lock:
                outage = self._outages.pop(what, None)
            if outage is not None:
                self._say(f"{what} answers again after {time.monotonic() - outage.since:.0f} s; going on.")


def outage_policy(wait_s: float, *, say: Callable[[str], None], then: str = RESUMES) -> RetryPolicy:
    """Return the policy of a job that outlives its database and its models being away for up to `wait_s` seconds."""
    return RetryPolicy(
        wait_s=wait_s, first_pause_s=FIRST_OUTAGE_PAUSE_S, longest_pause_s=LONGEST_OUTAGE_PAUSE_S, say=say, then=then
    )


NO_RETRY = RetryPolicy(attempts=1)
"""The first error is the last."""
