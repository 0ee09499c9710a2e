"""Many things as parts that are small enough: for a request, a message, a transaction, a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["parts_within"]

T = TypeVar("T")


def parts_within(
    items: Iterable[T], weigh: Callable[[T], int], *, most: int, most_items: int | None = None
) -> Iterator[list[T]]:
    """Divide items, in their order, into parts that weigh at most `most` together and are at most `most_items`, or are one item."""
    part: list[T] = []
    weight = 0
    for item in items:
        own = weigh(item)
        if part and (len(part) == most_items or weight + own > most):
            yield part
            part, weight = [], 0
        part.append(item)
        weight += own
    if part:
        yield part
