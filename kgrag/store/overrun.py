"""Statements that a database does not end when their time is over: a loop inside one expression, a reply that stops in the middle."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["Overrun", "cut_overruns"]

LOOKS_EVERY_S = 0.2

T = TypeVar("T")


class Overrun:
    """Knows since when a database is waited for."""

    def __init__(self) -> None:
        self.cut = False
        """Whether it was waited for too long."""
        self.since: float | None = None

    def wait(self, ask: Callable[[], T]) -> T:
        """Return what `ask` does, which waits for the database."""
        self.since = time.monotonic()
        try:
            return ask()
        finally:
            self.since = None

    def each(self, rows: Iterable[T]) -> Iterator[T]:
        """Yield rows; whoever takes them may take any time."""
        left, end = iter(rows), object()
        while (row := self.wait(lambda: next(left, end))) is not end:
            yield row  # type: ignore[misc]


@contextmanager
def cut_overruns(limit_s: float, cut: Callable[[], object]) -> Iterator[Overrun]:
    """Within the block, call `cut` from another thread once the database was waited for longer than `limit_s` at a time."""
    watched, ended = Overrun(), threading.Event()

    def look() -> None:
        while not ended.wait(LOOKS_EVERY_S):
            if watched.since is not None and time.monotonic() - watched.since > limit_s:
                watched.cut = True
                cut()
                return

    watcher = threading.Thread(target=look, daemon=True, name="kgrag-overrun")
    watcher.start()
    try:
        yield watched
    finally:
        ended.set()
        watcher.join()
