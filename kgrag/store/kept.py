"""What is made from a store's content once, and again after something was built."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

__all__ = ["KeptUntilBuilt"]

CHECKED_EVERY_S = 30.0
"""The state is asked for so often at most: another process may have built something since."""

T = TypeVar("T")


@dataclass
class _Kept:
    making: threading.Lock = field(default_factory=threading.Lock)
    state: object = None
    checked: float = -math.inf
    value: Any = None


class KeptUntilBuilt:
    """Values by key, each made anew when the store's state is another one. Safe to share between threads: who needs one waits for it."""

    def __init__(self, state: Callable[[], object], *, checked_every_s: float = CHECKED_EVERY_S) -> None:
        """`state` says what changes whenever something is built; it is never None."""
        self._state = state
        self._checked_every_s = checked_every_s
        self._kept: dict[Hashable, _Kept] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` made last for a key, unless something was built since: then it makes it anew."""
        kept = self._kept.setdefault(key, _Kept())
        with kept.making:
            if time.monotonic() - kept.checked >= self._checked_every_s:
                state = self._state()
                if kept.state != state:
                    kept.value, kept.state = make(), state
                kept.checked = time.monotonic()
            return cast("T", kept.value)

    def forget(self) -> None:
        """Make everything anew when it is next asked for: something was written."""
        self._kept = {}
