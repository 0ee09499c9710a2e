"""Who uses a connection: its driver must not be closed while somebody does, or a connection of it stays open for good."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kgrag.errors import StoreUnavailable
from kgrag.store.embedded import CLOSED

__all__ = ["Uses"]


class Uses:
    """Counts the uses that are under way, in any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._under_way = 0
        self._ended = False

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count the block as a use. Raises `StoreUnavailable` where none may begin any more."""
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

    def end(self, *, wait_s: float) -> bool:
        """Have none begin, and wait for those under way; say whether all of them ended within `wait_s` seconds."""
        with self._changed:
            self._ended = True
            return self._changed.wait_for(lambda: not self._under_way, wait_s)
