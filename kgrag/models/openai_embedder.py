"""An embedder behind any endpoint of the OpenAI protocol: one request for each call; batches and windows are put around it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgrag.errors import ModelReplyError
from kgrag.models.base import Vectors
from kgrag.models.endpoint import Endpoint, used
from kgrag.models.meter import report_usage
from kgrag.models.tokens import estimate_tokens
from kgrag.waiting import wait_for

__all__ = ["BATCH_TEXTS", "OpenAIEmbedder"]

PATH = "/embeddings"
BATCH_TEXTS = 256
"""Of one request: OpenAI takes 2,048, local servers less."""


@dataclass(frozen=True, slots=True)
class _Known:
    dimensions: int
    max_tokens: int


KNOWN: Mapping[str, _Known] = {
    "text-embedding-3-small": _Known(1536, 8191),
    "text-embedding-3-large": _Known(3072, 8191),
    "text-embedding-ada-002": _Known(1536, 8191),
    "nomic-embed-text": _Known(768, 2048),
    "mxbai-embed-large": _Known(1024, 512),
    "bge-m3": _Known(1024, 8192),
    "all-minilm": _Known(384, 256),
    "snowflake-arctic-embed": _Known(1024, 512),
}
"""Lengths of vectors and windows as the models' own pages say. A vector of another length is an error; other models are asked once."""
UNKNOWN_MAX_TOKENS = 512
"""What nearly every embedding model can read at once."""


class OpenAIEmbedder:
    """An `Embedder` of single requests: at most `BATCH_TEXTS` texts, none empty, none longer than `max_tokens`.

    Tokens are estimated (`models/tokens.py`). The length of the vectors of a model that is not `KNOWN` is found out by one request, the
    first time it is wanted.
    """

    def __init__(self, endpoint: Endpoint, *, dimensions: int | None = None, max_tokens: int | None = None) -> None:
        self._endpoint = endpoint
        self._wanted = dimensions
        model = endpoint.connection.model
        self.name = f"{model}@{dimensions}" if dimensions else str(model)
        self.identity = json.dumps([self.name, endpoint.connection.base_url])
        """Its name and where it is. The key is not in it."""
        known = KNOWN.get(model.model.partition(":")[0]) if model.provider != "azure" else None
        self._dimensions = dimensions or (known.dimensions if known else None)
        self.max_tokens = max_tokens or (known.max_tokens if known else UNKNOWN_MAX_TOKENS)

    @property
    def known_dimensions(self) -> int | None:
        """Length of a vector: as asked for or as known; None before the first reply of another model."""
        return self._dimensions

    @property
    def dimensions(self) -> int:
        """Length of a vector, found out by a request where it is not known. Raises `ModelError`."""
        if self._dimensions is None:
            self._dimensions = int(wait_for(self._request(["dimensions"])).shape[1])
        return self._dimensions

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return estimate_tokens(text)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts by one request: [len(texts), dimensions]."""
        vectors = await self._request(texts)
        if self._dimensions is not None and vectors.shape[1] != self._dimensions:
            raise ModelReplyError(
                f"{self.name}: expected vectors of {self._dimensions} dimensions, got {vectors.shape[1]}."
            )
        return vectors

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries as documents: these models make no difference."""
        return await self.embed_documents(texts)

    async def _request(self, texts: Sequence[str]) -> Vectors:
        body: dict[str, Any] = {
            "model": self._endpoint.connection.model.model,
            "input": list(texts),
            "encoding_format": "base64",  # a quarter of the bytes; endpoints that do not know it send numbers
        }
        if self._wanted is not None:
            body["dimensions"] = self._wanted
        data = await self._endpoint.post(PATH, body)
        try:
            rows = sorted(data["data"], key=lambda row: int(row.get("index", 0)))
            vectors = np.stack([_numbers(row["embedding"]) for row in rows])
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError, binascii.Error):
            shown = json.dumps(data, ensure_ascii=False)
            raise ModelReplyError(f"{self.name}: expected embeddings as data[].embedding.", reply=shown) from None
        if len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise ModelReplyError(f"{self.name}: expected {len(texts)} vectors of numbers, got {len(vectors)}.")
        report_usage(prompt_tokens=used(data, "prompt_tokens") or sum(map(estimate_tokens, texts)))
        unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return unit


def _numbers(embedding: Any) -> Vectors:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
    return np.array(embedding, dtype=np.float32)
