"""Waiting for asynchronous work from synchronous code."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["wait_for"]

T = TypeVar("T")


def wait_for(job: Coroutine[Any, Any, T]) -> T:
    """Run a job to its end, also from inside a running event loop (a notebook), where it gets a loop and a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(job)
    context = contextvars.copy_context()
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(context.run, asyncio.run, job).result()
