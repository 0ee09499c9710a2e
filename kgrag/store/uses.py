"""Who uses a connection: its driver must not be closed while somebody does, or a connection of it stays open for good."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kgrag.errors import StoreUnavailable
from kgrag.store.embedded import CLOSED

__all__ = ["Uses"]

FORKED = (
    "This store was opened by the process that this one was forked from, and cannot be used in both. Open it here, with "
    "multiprocessing.get_context('spawn') in place of 'fork', or use threads: one open store serves several."
)


class Uses:
    """Counts the uses that are under way, in any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._under_way = 0
        self._ended = False
        self._process = os.getpid()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count the block as a use. Raises `StoreUnavailable` where none may begin any more, or another process opened it."""
        if self.are_of_another_process:  # before the lock, which a thread that is not here may hold
            raise StoreUnavailable(FORKED)
        with self._changed:
            if self._ended:
                raise StoreUnavailable(CLOSED)
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    @property
    def are_of_another_process(self) -> bool:
        """Whether this process was forked since: the connections are its parent's."""
        return os.getpid() != self._process

    def end(self, *, wait_s: float) -> bool:
        """Have none begin, and wait for those under way; say whether all of them ended within `wait_s` seconds."""
        with self._changed:
            self._ended = True
            return self._changed.wait_for(lambda: not self._under_way, wait_s)
