"""Who is told how far a long job is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, runtime_checkable

__all__ = ["NamesUnits", "Progress", "ShowsText", "Silent", "Step"]


class Step(Protocol):
    """Something long, done in units."""

    def advance(self, count: int = 1) -> None:
        """Say that `count` more units are done."""
        ...


@runtime_checkable
class NamesUnits(Step, Protocol):
    """A `Step` that also shows which unit is being done, where one takes long."""

    def begin(self, unit: str) -> None:
        """Say which unit comes next."""
        ...


class Progress(Protocol):
    """Shows steps to somebody: a terminal, a log, nobody."""

    def step(self, name: str, total: int | None, unit: str) -> AbstractContextManager[Step]:
        """Open a step of `total` units (None: not known), named `unit` in the plural."""
        ...

    def say(self, line: str) -> None:
        """Say something that cannot wait for the end: what the job waits for."""
        ...


@runtime_checkable
class ShowsText(Progress, Protocol):
    """A `Progress` that also shows an answer while a model writes it; what counts is the answer in the end."""

    def text(self, piece: str) -> None:
        """Show a piece."""
        ...

    def restart(self) -> None:
        """Take back what was shown: the model is asked again."""
        ...


class Silent:
    """A `Progress` that tells nobody."""

    @contextmanager
    def step(self, name: str, total: int | None, unit: str) -> Iterator[Step]:
        """Open a step."""
        yield self

    def advance(self, count: int = 1) -> None:
        """Say nothing."""

    def say(self, line: str) -> None:
        """Say nothing."""
