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
from kgrag.models.base import Vectors, as_floats
from kgrag.models.embedding_endpoint import EmbeddingEndpoint, Purpose
from kgrag.models.endpoint import Endpoint, used

__all__ = ["OpenAIEmbedder"]

PATH = "/embeddings"


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


class OpenAIEmbedder(EmbeddingEndpoint):
    """OpenAI's embeddings. Queries are embedded as documents: these models make no difference."""

    batch_texts = 256
    """OpenAI takes 2,048, local servers less."""

    def __init__(self, endpoint: Endpoint, *, dimensions: int | None = None, max_tokens: int | None = None) -> None:
        model = endpoint.connection.model
        known = KNOWN.get(model.model.partition(":")[0]) if model.provider != "azure" else None
        super().__init__(
            endpoint.connection,
            wanted=dimensions,
            known=known.dimensions if known else None,
            max_tokens=max_tokens or (known.max_tokens if known else UNKNOWN_MAX_TOKENS),
        )
        self._endpoint = endpoint

    async def _request(self, texts: Sequence[str], purpose: Purpose) -> tuple[Vectors, int | None]:
        body: dict[str, Any] = {
            "model": self._endpoint.connection.model.model,
            "input": list(texts),
            "encoding_format": "base64",  # a quarter of the bytes; endpoints that do not know it send numbers
        }
        if self._wanted is not None:
            body["dimensions"] = self._wanted
        data = await self._endpoint.post(PATH, body)
        try:
            vectors = np.stack([_numbers(row["embedding"]) for row in _in_order(data["data"])])
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError, binascii.Error):
            shown = json.dumps(data, ensure_ascii=False)
            said = f"{self.name}: expected embeddings as data[].embedding, and an index of its own in each. Is it a model that embeds?"
            raise ModelReplyError(said, reply=shown) from None
        return vectors, used(data, "prompt_tokens")


def _in_order(rows: Any) -> list[Any]:
    """Return rows in the order of their texts: as they came where none says it. Raises `ValueError` where it cannot be known."""
    places = [row.get("index") for row in rows]
    if len(set(places)) == 1:  # none has one, or all the same
        return list(rows)
    numbers = [int(place) for place in places]
    if max(numbers) - min(numbers) != len(set(numbers)) - 1 or len(set(numbers)) != len(numbers):
        raise ValueError("the indices are no order")
    return [row for _, row in sorted(zip(numbers, rows, strict=True), key=lambda pair: pair[0])]


def _numbers(embedding: Any) -> Vectors:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
    return as_floats(embedding)
