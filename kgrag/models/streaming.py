"""The text of a reply while it is written: whoever listens around a call is told each piece, through all that is put around a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Listener", "listener", "listening"]

Listener = Callable[[str | None], None]
"""Is told a piece of text, or None where a reply begins (anew: what came before was not taken)."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(told: Listener | None) -> Iterator[None]:
    """Have `told` hear the replies of chat models within the block, where they are asked through this protocol and not kept ones."""
    token = _LISTENER.set(told)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def listener() -> Listener | None:
    """Return who listens here."""
    return _LISTENER.get()
