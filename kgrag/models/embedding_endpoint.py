"""What the embedders behind an endpoint share: one request for each call, whose vectors are checked and made unit length."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from kgrag.errors import ModelError, ModelReplyError
from kgrag.models.base import Vectors, expect_vectors
from kgrag.models.endpoint_errors import Connection
from kgrag.models.meter import report_usage
from kgrag.models.tokens import estimate_tokens

__all__ = ["EmbeddingEndpoint", "Purpose"]

Purpose = Literal["document", "query"]


class EmbeddingEndpoint:
    """An `Embedder` of single requests: at most `batch_texts` texts, none empty, none longer than `max_tokens`.

    Tokens are estimated (`models/tokens.py`). A subclass says what one request is and reads its reply. Batches, windows, the cache and
    the length of the vectors of an unknown model are the stack's (`models/stack.py`).
    """

    batch_texts: ClassVar[int]
    """Texts of one request at most."""

    def __init__(self, connection: Connection, *, wanted: int | None, known: int | None, max_tokens: int) -> None:
        self.name = f"{connection.model}@{wanted}" if wanted else str(connection.model)
        self.identity = json.dumps([self.name, connection.base_url])
        """Its name and where it is. The key is not in it."""
        self.max_tokens = max_tokens
        self.known_dimensions = wanted or known
        """Length of a vector: as asked for, as known of the model, or as found; None for another model before that."""
        self._wanted = wanted

    def expect_dimensions(self, dimensions: int) -> None:
        """Refuse vectors of another length from now on."""
        self.known_dimensions = dimensions

    @property
    def dimensions(self) -> int:
        """Length of a vector. Raises `ModelError` where it is not known: `SizedEmbedder` finds it out through the whole stack."""
        if self.known_dimensions is None:
            raise ModelError(f"{self.name}: the length of its vectors is not known before a reply.")
        return self.known_dimensions

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return estimate_tokens(text)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found, by one request: [len(texts), dimensions]."""
        return await self._embed(texts, "document")

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with, by one request: the same shape."""
        return await self._embed(texts, "query")

    async def _request(self, texts: Sequence[str], purpose: Purpose) -> tuple[Vectors, int | None]:
        """Make one request; return the vectors as they came and the tokens that the endpoint counted."""
        raise NotImplementedError

    async def _embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        vectors, tokens = await self._request(texts, purpose)
        vectors = expect_vectors(vectors, len(texts), model=self.name)
        report_usage(prompt_tokens=tokens or sum(map(estimate_tokens, texts)))
        if self.known_dimensions is not None and vectors.shape[1] != self.known_dimensions:
            raise ModelReplyError(
                f"{self.name}: expected vectors of {self.known_dimensions} dimensions, got {vectors.shape[1]}. "
                "Another model answers there now: name the one that the store was built with, or make another --store."
            )
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        nothing = sum(1 for text, length in zip(texts, lengths[:, 0], strict=True) if text.strip() and not length > 0.0)
        if nothing or not np.isfinite(lengths).all():
            raise ModelReplyError(
                f"{self.name}: expected {len(texts)} vectors with a direction, got {nothing} of zeros and "
                f"{int((~np.isfinite(lengths)).sum())} of numbers that are too large."
            )
        unit: Vectors = vectors / np.maximum(lengths, 1e-12)
        return unit
