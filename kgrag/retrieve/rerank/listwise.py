"""A chat model orders passages, a window at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel
from kgrag.retrieve import prompts
from kgrag.types import Usage

__all__ = ["order_by_windows", "rank_window", "windows"]

OrderWindow = Callable[[Sequence[int]], Awaitable[Sequence[int]]]
"""Takes positions and returns the same positions, best first."""


def windows(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last + 1) of windows from the end of a list to its beginning, each half in the next one.

    Every position is in some window, and the best half of a window comes into the next: the best of the whole list can get to its top
    (Sun et al., RankGPT, EMNLP 2023).
    """
    last = count
    while True:
        first = max(0, last - size)
        yield first, last
        if first == 0:
            return
        last -= size - size // 2


async def order_by_windows(count: int, size: int, order_window: OrderWindow) -> list[int]:
    """Order the positions 0 to count - 1 by windows; return them best first."""
    order = list(range(count))
    for first, last in windows(count, size):
        order[first:last] = await order_window(order[first:last])
    return order


async def rank_window(model: ChatModel, question: str, passages: Sequence[str]) -> tuple[list[int], Usage, str]:
    """Let the model order passages: positions best first, what it cost, and what was wrong with its reply (else empty).

    Numbers that are none of the passages', and repeated ones, are passed over; passages that it left out follow in their order. A reply
    without any number that counts leaves the order as it is.
    """
    as_is = list(range(len(passages)))
    try:
        reply = await model.reply(
            prompts.messages(prompts.LISTWISE, question=question, passages=prompts.numbered(passages)),
            schema=prompts.object_schema(order={"type": "array", "items": {"type": "integer"}}),
        )
    except ModelReplyError as error:
        return as_is, error.usage, str(error)
    said = _positions(reply.data, len(passages))
    if not said:
        return as_is, reply.usage, f"no number of a passage in {reply.text[:200]!r}"
    return [*said, *(position for position in as_is if position not in said)], reply.usage, ""


def _positions(data: Any, count: int) -> list[int]:
    order = data.get("order") if isinstance(data, Mapping) else None
    numbers = order if isinstance(order, list) else []
    valid = (number - 1 for number in numbers if isinstance(number, int) and not isinstance(number, bool))
    return list(dict.fromkeys(position for position in valid if 0 <= position < count))
