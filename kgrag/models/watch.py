"""Outliving a model that is away: a job waits until it answers again, and tells an outage from one call that the model never answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from kgrag.common.retry import RetryPolicy
from kgrag.errors import ModelError, ModelReplyError, ModelUnavailable
from kgrag.models.base import ChatModel, Message
from kgrag.models.cached import fresh_replies

__all__ = ["PROBE", "TRIES_OF_A_CALL", "CallUnanswered", "ModelWatch"]

TRIES_OF_A_CALL = 3
"""A call that fails so often although the model answers others is its own fault."""
PROBE = "Reply with the single word: yes"

T = TypeVar("T")


class CallUnanswered(ModelError):
    """The model answers other calls, but not this one."""


class ModelWatch:
    """Knows when the model answered last, and waits until it does again: until it answers a call of no account."""

    def __init__(self, model: ChatModel | None, *, retry: RetryPolicy) -> None:
        self.model = model
        self._what = f"the model {model.name}" if model else "a model"
        self._retry = retry
        self._answered_at = float("-inf")
        self._probing = asyncio.Lock()

    def answered(self) -> None:
        """Note that a call came back."""
        self._answered_at = time.monotonic()

    async def outlast(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do what calls the model, again after each time that it was away.

        Raises `ModelUnavailable` when `retry` gives up, `CallUnanswered` where the model answers a call of no account and not this one.
        """
        tries = 0
        while True:
            try:
                done = await work()
            except ModelUnavailable as error:
                tries += 1
                await self.wait(error, failed_at=time.monotonic())
                if tries >= TRIES_OF_A_CALL:
                    raise CallUnanswered(
                        f"{error} (the model answers other calls; this one was tried {tries} times)"
                    ) from error
            else:
                self.answered()
                return done

    def stop_waiting(self) -> None:
        """Let threads that wait for something give up."""
        self._retry.stop()

    async def wait(self, error: ModelUnavailable, failed_at: float) -> None:
        """Return once the model answered a call, of whomever, after `failed_at`. Raises `ModelUnavailable` when `retry` gives up."""
        async with self._probing:
            if self._answered_at > failed_at:
                return
            if self.model is None:
                raise error
            await self._retry.acall(self._ask, what=self._what, again_on=ModelUnavailable, after=error)
            self.answered()

    async def _ask(self) -> None:
        if self.model is not None:
            # A kept reply would say nothing of the model, and one that cannot be used says that it is there.
            with fresh_replies(), suppress(ModelReplyError):
                await self.model.reply([Message("user", PROBE)])
