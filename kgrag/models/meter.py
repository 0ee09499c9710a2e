"""What was used and what it cost, by model."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from kgrag.errors import ModelReplyError
from kgrag.models.base import Reply
from kgrag.models.middleware import Call
from kgrag.models.prices import PriceTable, load_prices
from kgrag.models.tokens import estimate_tokens
from kgrag.types import Usage

__all__ = ["Meter", "Spent", "report_usage"]

T = TypeVar("T")


@dataclass(slots=True)
class Spent:
    """What one request used besides what a `Reply` says: embedders and rerankers return only numbers."""

    prompt_tokens: int = 0
    searches: int = 0
    reported: bool = False


_SPENT: ContextVar[Spent | None] = ContextVar("spent", default=None)


def report_usage(*, prompt_tokens: int = 0, searches: int = 0) -> None:
    """Tell the meter around this request what the endpoint says was used: for embedders and rerankers."""
    spent = _SPENT.get()
    if spent is not None:
        spent.prompt_tokens += prompt_tokens
        spent.searches += searches
        spent.reported = True


@contextmanager
def _collecting() -> Iterator[Spent]:
    spent = Spent()
    token = _SPENT.set(spent)
    try:
        yield spent
    finally:
        _SPENT.reset(token)


@dataclass
class Meter:
    """Adds up calls, tokens, dollars and seconds by model, and puts the price into every `Reply.usage`.

    Put it around single requests, so that every attempt counts. Where an endpoint does not say what an embedding or a ranking used, the
    estimate of its texts is taken. A model without a price costs 0 and is named in `unpriced`.
    """

    prices: PriceTable = field(default_factory=load_prices)
    usage: dict[str, Usage] = field(default_factory=dict)
    """Of requests that were answered, usable or not."""
    errors: Counter[str] = field(default_factory=Counter)
    """Requests that were not answered: refused, timed out, failed."""
    cached: Counter[str] = field(default_factory=Counter)
    """Replies that came from the cache and cost nothing."""
    unpriced: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def total(self) -> Usage:
        """Of all models together."""
        with self._lock:
            return sum(self.usage.values(), Usage())

    def note_cached(self, model: str, count: int = 1) -> None:
        """Count replies that came from the cache."""
        with self._lock:
            self.cached[model] += count

    async def __call__(self, call: Call, send: Callable[[], Awaitable[T]]) -> T:
        """Make the request and count it."""
        started = time.perf_counter()
        with _collecting() as spent:
            try:
                result = await send()
            except Exception as error:
                if isinstance(error, ModelReplyError) and error.usage.calls:  # answered, paid for, not usable
                    error.usage = self._count(call, error.usage, time.perf_counter() - started)
                    raise
                with self._lock:
                    self.errors[call.model] += 1
                raise
        seconds = time.perf_counter() - started
        if isinstance(result, Reply):
            usage = result.usage
            if not usage.completion_tokens and result.text:
                usage = usage.model_copy(update={"completion_tokens": estimate_tokens(result.text)})
            return cast(T, replace(result, usage=self._count(call, usage, seconds)))
        tokens = spent.prompt_tokens if spent.reported else call.tokens
        searches = spent.searches or int(call.kind == "rerank")
        self._count(call, Usage(calls=1, prompt_tokens=tokens), seconds, searches=searches)
        return result

    def _count(self, call: Call, usage: Usage, seconds: float, *, searches: int = 0) -> Usage:
        if not usage.prompt_tokens and call.kind == "chat":  # the model counts nothing
            usage = usage.model_copy(update={"prompt_tokens": call.tokens})
        price = self.prices.of(call.model)
        cost = usage.cost if price is None else price.of(usage, searches=searches)
        counted = usage.model_copy(update={"cost": cost, "seconds": seconds})
        with self._lock:
            self.usage[call.model] = self.usage.get(call.model, Usage()) + counted
            if price is None:
                self.unpriced.add(call.model)
        return counted
