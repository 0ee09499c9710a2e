"""Late interaction over token vectors: every token of the question looks for its likest token of the passage (ColBERT, SIGIR 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kgrag.models.base import TokenVectors

__all__ = ["TokenEmbedder", "late_interaction"]


class TokenEmbedder(Protocol):
    """What gives a vector for each token of a text (`kgrag.models.minilm.MiniLM`)."""

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Embed every token of each text: a list of [tokens, dimensions], unit length."""
        ...


def late_interaction(embedder: TokenEmbedder, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
    """Score each passage between -1 and 1: over the question's tokens, the mean of the best cosine with a token of the passage."""
    asked, *read = embedder.token_vectors([question, *passages])
    if not len(asked):
        return np.zeros(len(passages), dtype=np.float32)
    asked_exactly = asked.astype(np.float32)
    scores = [
        float((asked_exactly @ tokens.astype(np.float32).T).max(axis=1).mean()) if len(tokens) else -1.0
        for tokens in read
    ]
    return np.array(scores, dtype=np.float32)
