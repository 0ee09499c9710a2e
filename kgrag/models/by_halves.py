"""Vectors of texts of which some have none: a reply that cannot be used costs only the texts that it is about their vectors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from kgrag.errors import ModelReplyError
from kgrag.models.base import Vectors
from kgrag.models.cached import fresh_replies

__all__ = ["vectors_or_errors"]

PROBE = "word"

Embed = Callable[[Sequence[str]], Awaitable[Vectors]]


async def vectors_or_errors(embed: Embed, texts: Sequence[str]) -> list[NDArray[np.float32] | ModelReplyError]:
    """Return of each text its vector, or the error that it ends in alone: where a batch has an error it is asked for by halves.

    Where the embedder gives not even the vector of a word, no text is at fault: the error of the batch is raised.
    """
    try:
        return list(await embed(texts))
    except ModelReplyError as error:
        if not await _answers(embed):
            raise
        return await _by_halves(embed, texts, error)


async def _answers(embed: Embed) -> bool:
    """Whether the embedder has a vector for a word."""
    with fresh_replies():  # what is kept says nothing of the embedder now
        try:
            await embed([PROBE])
        except ModelReplyError:
            return False
    return True


async def _by_halves(
    embed: Embed, texts: Sequence[str], error: ModelReplyError
) -> list[NDArray[np.float32] | ModelReplyError]:
    """The same for texts that together ended in an error."""
    if len(texts) == 1:
        return [error]
    half = len(texts) // 2
    found: list[NDArray[np.float32] | ModelReplyError] = []
    for some in (texts[:half], texts[half:]):
        try:
            found.extend(await embed(some))
        except ModelReplyError as wrong:
            found.extend(await _by_halves(embed, some, wrong))
    return found
