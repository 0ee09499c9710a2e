"""Actors of one kind, and the work that they are given: what ends is replaced, and what it had is begun again with another one."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from kgrag.documents.processes import Stopped
from kgrag.errors import InputError, KgragError

__all__ = ["IN_FLIGHT", "LOOK_AGAIN_S", "TRIES", "AgainError", "LostError", "Pool", "Work"]

IN_FLIGHT = 2
"""Pieces of work that an actor has: one under way, one waiting."""
TRIES = 3
"""Actors that end with the same piece of work: then it is that work's fault."""
LOOK_AGAIN_S = 0.05
SAY_AFTER_S = 20.0
"""Without a single actor that can work."""


@dataclass(slots=True)
class Work:
    """A piece of work: a method of an actor and its arguments."""

    method: str
    arguments: tuple[Any, ...]
    actor: _Actor | None = None
    ref: Any = None
    returns: int = 1
    """2: of something that stays in the object store, beside what came of the work."""
    value: Any = None
    """A reference to that."""
    tries: int = 0
    began: float = 0.0


@dataclass(slots=True, eq=False)
class _Actor:
    handle: Any
    starting: Any
    """The answer to `ready`; None once it has come."""
    refs: list[Any] = field(default_factory=list)
    """Of the work whose results were not taken yet: whoever holds a reference keeps the result."""
    given: int = 0
    retired: bool = False
    held: Work | None = None
    """What it is kept for: work with which an actor has ended gets one for itself, so that no other work is blamed for it."""

    @property
    def under_way(self) -> int:
        return len(self.refs)


class Pool:
    """Actors of one kind. What ends is replaced, and what it had is given to others. Safe from several threads; close it."""

    def __init__(
        self,
        ray: Any,
        make: Callable[[], Any],
        count: int,
        *,
        say: Callable[[str], None],
        in_flight: int = IN_FLIGHT,
        recycle_after: int | None = None,
    ) -> None:
        from ray.exceptions import RayError, RayTaskError

        self._ray, self._make, self._say = ray, make, say
        self._in_flight, self._recycle_after = in_flight, recycle_after
        self._task_error, self.error = RayTaskError, RayError
        self._lock = threading.RLock()
        self._closed = False
        self.count = count
        self._actors = [self._start() for _ in range(count)]
        self._idle_since = time.monotonic()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            for actor in self._actors:
                with suppress(self.error):
                    self._ray.kill(actor.handle)

    def _start(self) -> _Actor:
        handle = self._make()
        return _Actor(handle, handle.ready.remote())

    def _is_ready(self, actor: _Actor) -> bool:
        """Whether an actor has started: one that waits for a processor gets no work. Raises `InputError` where it cannot work."""
        if actor.starting is None:
            return True
        done, _ = self._ray.wait([actor.starting], timeout=0)
        if not done:
            return False
        try:
            problem = self._ray.get(actor.starting)
        except self._task_error as error:
            raise InputError(
                f"A worker cannot start: {_last_line(error)}. Install kgrag and its extras on every node."
            ) from error
        except self.error:
            self._replace(actor)
            return False
        if problem:
            raise InputError(problem)
        actor.starting = None
        return True

    def begin(self, work: Work) -> bool:
        """Give work to the actor that has least; False where each has enough, or none has started."""
        with self._lock:
            if self._closed:
                raise Stopped
            actor = self._for_itself(work) if work.tries else self._least_busy()
            if actor is None:
                self._complain()
                return False
            self._idle_since = math.inf
            work.actor, work.began = actor, time.monotonic()
            method = getattr(actor.handle, work.method)
            if work.returns == 1:
                work.ref = method.remote(*work.arguments)
            else:
                work.ref, work.value = method.options(num_returns=work.returns).remote(*work.arguments)
            actor.refs.append(work.ref)
            actor.given += 1
            if self._recycle_after is not None and actor.given >= self._recycle_after:
                self._retire(actor)
            return True

    def _least_busy(self) -> _Actor | None:
        return self._least([one for one in self._actors if one.under_way < self._in_flight and one.held is None])

    def _least(self, actors: list[_Actor]) -> _Actor | None:
        """Of those that have started, the one that has least to do: one for which no processor is left may never start."""
        return min((one for one in actors if self._is_ready(one)), key=lambda one: one.under_way, default=None)

    def _for_itself(self, work: Work) -> _Actor | None:
        """Keep an actor for this work; return it once it has nothing else."""
        actor = next((one for one in self._actors if one.held is work), None)
        if actor is None:
            actor = self._least([one for one in self._actors if one.held is None])
        if actor is None:
            return None
        actor.held = work
        _, pending = self._ray.wait(actor.refs, num_returns=len(actor.refs), timeout=0) if actor.refs else ([], [])
        return actor if not pending and self._is_ready(actor) else None

    def _let_go(self, work: Work) -> None:
        with self._lock:
            for actor in self._actors:
                if actor.held is work:
                    actor.held = None

    def result(self, work: Work) -> Any:
        """Return what came of work whose `ref` is there. Raises `AgainError` where it has to be begun again."""
        actor, ref = work.actor, work.ref
        if actor is None:
            raise AgainError
        try:
            return self._ray.get(ref)
        except self._task_error as error:
            cause: Exception = error.as_instanceof_cause()  # type: ignore[no-untyped-call]
            raise cause from error
        except self.error as error:  # its actor or node has ended, or its result is lost
            work.tries += 1
            with self._lock:
                self._replace(actor)
            work.actor = work.ref = None
            if work.tries >= TRIES:
                raise LostError(_last_line(error)) from error
            raise AgainError from error
        finally:
            self._let_go(work)
            with self._lock:
                actor.refs.remove(ref)
                if actor.retired and actor.under_way == 0:
                    with suppress(self.error):
                        self._ray.kill(actor.handle)

    async def done(self, work: Work) -> Any:
        """Do work. Raises `KgragError` where no worker can."""
        try:
            while True:
                while not self.begin(work):
                    await asyncio.sleep(LOOK_AGAIN_S)
                try:
                    await asyncio.wrap_future(work.ref.future())
                except asyncio.CancelledError:
                    raise
                except Exception:  # noqa: BLE001, S110  `result` says what it is
                    pass
                try:
                    return self.result(work)
                except AgainError:
                    continue
        finally:
            self._let_go(work)

    def _replace(self, actor: _Actor) -> None:
        """Start another actor in the place of one that has ended."""
        with self._lock:
            if actor in self._actors and not self._closed:
                with suppress(self.error):
                    self._ray.kill(actor.handle)
                self._actors[self._actors.index(actor)] = self._start()

    def _retire(self, actor: _Actor) -> None:
        """Start another actor in the place of one that has done enough; it ends when its last work is done."""
        actor.retired = True
        self._actors[self._actors.index(actor)] = self._start()

    def kill(self, work: Work) -> None:
        """End the actor that does this work."""
        if work.actor is not None:
            with suppress(self.error):
                self._ray.kill(work.actor.handle)

    def _complain(self) -> None:
        now = time.monotonic()
        if any(one.starting is None for one in self._actors):
            self._idle_since = math.inf
        elif math.isinf(self._idle_since):
            self._idle_since = now
        elif now - self._idle_since > SAY_AFTER_S:
            self._say("Waiting for a worker of the Ray cluster: no processor is free.")
            self._idle_since = now


class AgainError(Exception):
    """The work has to be begun again, with another actor."""


class LostError(KgragError):
    """Every actor that was given this work ended with it."""


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
