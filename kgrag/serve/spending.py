"""What users' questions use of a hosted model: at most so many tokens a day each."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kgrag.serve.problems import TooMuch

__all__ = ["EXPECTED_TOKENS", "Bill", "Spending"]

DAY_S = 24 * 3600
EXPECTED_TOKENS = 4_000
"""What a question counts while it is under way, and for good where it was stopped: what a model had written until then is not told."""


@dataclass(slots=True)
class Bill:
    """What one question used."""

    tokens: int = 0


class Spending:
    """Counts the tokens of each user over the last 24 hours; what was used before a restart is read from the audit log."""

    def __init__(
        self, limit: int | None, audit: Iterable[Mapping[str, Any]] = (), *, now: Callable[[], float] = time.time
    ) -> None:
        self._limit = limit
        self._now = now
        self._used: defaultdict[str, deque[tuple[float, int]]] = defaultdict(deque)
        self._under_way: Counter[str] = Counter()
        for entry in audit if limit is not None else ():
            user, tokens, at = entry.get("user"), entry.get("tokens"), entry.get("at")
            if isinstance(user, str) and isinstance(tokens, int) and tokens and isinstance(at, str):
                self._used[user].append((datetime.fromisoformat(at).timestamp(), tokens))

    @contextmanager
    def question(self, user: str) -> Iterator[Bill]:
        """Count what a question uses, as it is billed within. Raises `TooMuch` where the user has nothing left."""
        used = self._of_today(user) + EXPECTED_TOKENS * self._under_way[user]
        if self._limit is not None and used >= self._limit:
            raise TooMuch(
                f"{used:,} tokens of the model were used for {user} in 24 hours, of {self._limit:,} (--user-tokens). Ask again tomorrow."
            )
        self._under_way[user] += 1
        bill = Bill()
        try:
            yield bill
        finally:
            self._under_way[user] -= 1
            if bill.tokens and self._limit is not None:
                self._used[user].append((self._now(), bill.tokens))

    def _of_today(self, user: str) -> int:
        used = self._used[user]
        while used and used[0][0] < self._now() - DAY_S:
            used.popleft()
        return sum(tokens for _, tokens in used)
