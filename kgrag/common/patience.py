"""Waiting for what is away for a while: the database, a model."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from kgrag.errors import KgragError

__all__ = ["IMPATIENT", "Patience"]

SHORTEST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 5.0
SAY_EVERY_S = 10.0

T = TypeVar("T")


@dataclass(slots=True)
class _Outage:
    since: float
    said_at: float


class Patience:
    """Tries again, for up to `wait_s` seconds, while something is away, and says so: once when it goes, every 10 s, when it is back.

    What is waited for has a name; all who wait for the same name share one outage. Safe from several threads and from one event loop.
    """

    def __init__(self, wait_s: float, *, say: Callable[[str], None]) -> None:
        self.wait_s = wait_s
        self._say = say
        self._outages: dict[str, _Outage] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def call(self, work: Callable[[], T], *, what: str, away: type[KgragError]) -> T:
        """Do `work`, again after each `away` error, blocking. Raises that error once `what` was away for `wait_s`, or after `stop`."""
        while True:
            try:
                result = work()
            except away as error:
                if self._stopped.wait(self.missed(what, error)):
                    raise
            else:
                self.answered(what)
                return result

    async def acall(self, work: Callable[[], Awaitable[T]], *, what: str, away: type[KgragError]) -> T:
        """Do `work`, again after each `away` error. Raises that error once `what` was away for `wait_s`."""
        while True:
            try:
                result = await work()
            except away as error:
                await asyncio.sleep(self.missed(what, error))
            else:
                self.answered(what)
                return result

    def missed(self, what: str, error: KgragError) -> float:
        """Note that `what` is away; return how many seconds to wait. Raises an error of the same kind once that took `wait_s`."""
        with self._lock:
            now = time.monotonic()
            outage = self._outages.setdefault(what, _Outage(since=now, said_at=float("-inf")))
            away_s = now - outage.since
            if away_s >= self.wait_s:
                waited = f" Waited {away_s:.0f} s for it (wait_s). What was done is kept: the same command goes on from here."
                raise type(error)(f"{error}{waited if self.wait_s > 0 else ''}") from error
            if now - outage.said_at >= SAY_EVERY_S:
                outage.said_at = now
                self._say(f"Waiting for {what}: {away_s:.0f} s of at most {self.wait_s:.0f} s. {error}")
            return min(max(SHORTEST_PAUSE_S, away_s / 4), LONGEST_PAUSE_S, self.wait_s - away_s)

    def answered(self, what: str) -> None:
        """Note that `what` is there."""
        if what in self._outages:
            with self._lock:
                outage = self._outages.pop(what, None)
            if outage is not None:
                self._say(f"{what} answers again after {time.monotonic() - outage.since:.0f} s; going on.")

    def stop(self) -> None:
        """Let threads that wait give up: the job was interrupted."""
        self._stopped.set()


IMPATIENT = Patience(0.0, say=lambda line: None)
"""Waits for nothing: the first error is the last."""
