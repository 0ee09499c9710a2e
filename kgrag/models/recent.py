"""Vectors of texts that were embedded lately, in memory: the same chunks are read for many questions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

__all__ = ["RecentVectors"]

Array = TypeVar("Array", bound=NDArray[Any])


class RecentVectors(Generic[Array]):
    """Arrays by text, up to `capacity_bytes`; who was not asked for the longest goes first. Safe across threads."""

    def __init__(self, capacity_bytes: int) -> None:
        self._capacity = capacity_bytes
        self._kept: OrderedDict[str, Array] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def of(self, texts: Sequence[str], embed: Callable[[Sequence[str]], Sequence[Array]]) -> list[Array]:
        """Return an array for each text; `embed` is asked once, for those that are not kept. The arrays are read-only."""
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
            for text in found:
                self._kept.move_to_end(text)
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            made = dict(zip(missing, embed(missing), strict=True))
            found |= made
            self._keep(made)
        return [found[text] for text in texts]

    def forget(self) -> None:
        """Keep nothing of before."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _keep(self, made: dict[str, Array]) -> None:
        with self._lock:
            for text, vectors in made.items():
                vectors.flags.writeable = False
                before = self._kept.pop(text, None)
                self._kept[text] = vectors
                self._bytes += vectors.nbytes - (before.nbytes if before is not None else 0)
            while self._bytes > self._capacity:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= oldest.nbytes
