"""The wall time of stages, as reports give it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["timed"]


@contextmanager
def timed(stage: str, seconds: dict[str, float]) -> Iterator[None]:
    """Add the wall time of a block to `seconds[stage]`, whether it succeeds or not."""
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds[stage] = round(seconds.get(stage, 0.0) + time.perf_counter() - started, 3)
