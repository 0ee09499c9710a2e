"""Places for questions that are worked on at once: when more come, they wait in turn, and are told so; nobody's crowd keeps others out."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext

from kgrag.serve.problems import Crowded, Impatient

__all__ = ["AT_ONCE", "AT_ONCE_HOSTED", "DRAIN_S", "MAX_WAITING_OF_ONE", "Places"]

AT_ONCE = 4
"""Questions that this machine answers itself: more at once make each slower, and no answer sooner."""
AT_ONCE_HOSTED = 32
"""Questions that a hosted model answers: this machine waits for most of the time."""
MAX_WAITING = 200
MAX_WAITING_OF_ONE = 20
MAX_WAIT_S = 60.0
CLOSING = "The desk is closing. Ask again in a moment."
DRAIN_S = 3.0
"""That questions have to be answered once the desk closes. With what else is closed the process ends within 5 s of SIGTERM."""


class Places:
    """Lets `at_once` questions be worked on; others wait, the next place going to the user who has waited longest for a turn.

    `of_one` is how many of one user may wait (None: as many as of all, where users are not told apart). Use it from one event loop.
    """

    def __init__(
        self,
        at_once: int,
        *,
        waiting: int = MAX_WAITING,
        of_one: int | None = MAX_WAITING_OF_ONE,
        wait_s: float = MAX_WAIT_S,
    ) -> None:
        self._free = at_once
        self._most_waiting = waiting
        self._most_of_one = of_one
        self._wait_s = wait_s
        self._turns: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        """Who waits: the next place goes to the first user's first question, and that user to the end."""
        self._ends: float | None = None
        """When, by the event loop's clock, what is worked on ends: None before the desk closes."""
        self._clocks: set[asyncio.Timeout] = set()
        """Of the questions that are worked on."""

    def close(self, *, drain_s: float = DRAIN_S) -> None:
        """Let nobody in any more: who waits is told so at once, who is not answered `drain_s` later is told so then."""
        self._ends = asyncio.get_running_loop().time() + drain_s
        for clock in self._clocks:
            clock.reschedule(self._ends)
        for turn in (turn for turns in self._turns.values() for turn in turns):
            turn.set_exception(Crowded(CLOSING))
        self._turns.clear()

    @property
    def waiting(self) -> int:
        """How many questions wait."""
        return sum(map(len, self._turns.values()))

    @asynccontextmanager
    async def taken(
        self, user: str, *, shown: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> AsyncIterator[None]:
        """Hold a place. `shown` is entered while one has to wait for it.

        Raises `Crowded` where too many wait, it takes too long to get one or the desk closes, `Impatient` where too many of this user wait.
        """
        if self._ends is not None:
            raise Crowded(CLOSING)
        if self._free:
            self._free -= 1
        else:
            with shown():
                await self._wait(user)
        try:
            async with asyncio.timeout_at(self._ends) as clock:
                self._clocks.add(clock)
                try:
                    yield
                finally:
                    self._clocks.discard(clock)
        except TimeoutError as error:
            if not clock.expired():
                raise
            raise Crowded(CLOSING) from error
        finally:
            self._pass_on()

    async def _wait(self, user: str) -> None:
        own = self._turns.get(user, ())
        if self._most_of_one is not None and len(own) >= self._most_of_one:
            raise Impatient(f"{len(own)} questions of {user} wait for an answer already. Wait for those.")
        if (waiting := self.waiting) >= self._most_waiting:
            raise Crowded(f"{waiting} questions wait for an answer already. Ask again in a moment.")
        turn = asyncio.get_running_loop().create_future()
        self._turns.setdefault(user, deque()).append(turn)
        try:
            await asyncio.wait({turn}, timeout=self._wait_s)
        except asyncio.CancelledError:
            if turn.done():
                self._pass_on()
            raise
        finally:
            if not turn.done():
                self._turns[user].remove(turn)
                if not self._turns[user]:
                    del self._turns[user]
        if not turn.done():
            raise Crowded(f"More is asked than can be answered: no place was free in {self._wait_s:.0f} s. Ask again.")
        turn.result()  # raises what `close` gave it

    def _pass_on(self) -> None:
        """Give a place that is left to whoever is next."""
        if not self._turns:
            self._free += 1
            return
        user, turns = self._turns.popitem(last=False)
        turns.popleft().set_result(None)
        if turns:
            self._turns[user] = turns
