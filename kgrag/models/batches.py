"""Many texts as few requests, and a long text as windows: what the contract of `Embedder` promises and an endpoint does not do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from kgrag.common.parts import parts_within
from kgrag.models.base import Embedder, Vectors, expect_vectors
from kgrag.models.wrapped import WrappedEmbedder

__all__ = ["BatchingEmbedder", "split_into_windows"]

BATCH_TOKENS = 100_000
"""Of one request: OpenAI takes 300,000 in all, and a smaller request is a smaller loss when it fails."""
EMPTY_TEXT = " "
"""Endpoints refuse an empty input."""


class BatchingEmbedder(WrappedEmbedder):
    """An `Embedder` around one whose calls are single requests: batches of at most `batch_texts` texts, windows of `max_tokens`."""

    def __init__(self, model: Embedder, *, batch_texts: int) -> None:
        super().__init__(model)
        self._batch_texts = batch_texts

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: [len(texts), dimensions]; a long text is the mean of its windows."""
        return await self._embed(self._model.embed_documents, texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries: the same shape."""
        return await self._embed(self._model.embed_queries, texts)

    async def _embed(self, embed: Callable[[Sequence[str]], Awaitable[Vectors]], texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        windows = [
            (owner, window)
            for owner, text in enumerate(texts)
            for window in split_into_windows(text, max_tokens=self.max_tokens, count_tokens=self.count_tokens)
        ]
        try:
            async with asyncio.TaskGroup() as tasks:
                running = [
                    tasks.create_task(self._request(embed, [window or EMPTY_TEXT for _, window in batch]))
                    for batch in parts_within(
                        windows,
                        lambda window: self.count_tokens(window[1]),
                        most=BATCH_TOKENS,
                        most_items=self._batch_texts,
                    )
                ]
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None  # the first that failed; the others were cancelled
        vectors = np.concatenate([task.result() for task in running])
        sums = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, [owner for owner, _ in windows], vectors)
        unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
        return unit

    async def _request(self, embed: Callable[[Sequence[str]], Awaitable[Vectors]], texts: Sequence[str]) -> Vectors:
        return expect_vectors(await embed(texts), len(texts), model=self.name)


def split_into_windows(text: str, *, max_tokens: int, count_tokens: Callable[[str], int]) -> list[str]:
    """Cut a text into windows of nearly equal length, each of at most `max_tokens`, between words where there are any."""
    # A character is at most two tokens, so most texts need not be counted.
    if 2 * len(text) <= max_tokens or count_tokens(text) <= max_tokens:
        return [text]
    middle = len(text) // 2
    before, after = text.rfind(" ", 0, middle), text.find(" ", middle)
    spaces = [at for at in (before, after) if 0 < at < len(text) - 1]
    cut = min(spaces, key=lambda at: abs(at - middle)) if spaces else middle
    halves = (text[:cut], text[cut:])
    return [
        window
        for half in halves
        for window in split_into_windows(half, max_tokens=max_tokens, count_tokens=count_tokens)
    ]
