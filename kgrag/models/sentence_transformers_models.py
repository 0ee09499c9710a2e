"""Embedders and cross-encoders of sentence-transformers, in this process (extra `torch`).

A model is named as its documentation names it, by a path or by its name at the Hugging Face Hub, from where the library fetches it once.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.errors import ModelError, ModelMissing
from kgrag.models.base import Vectors
from kgrag.models.names import ModelName

__all__ = ["BATCH_TEXTS", "CrossEncoderReranker", "SentenceTransformersEmbedder"]

BATCH_TEXTS = 32
UNKNOWN_WINDOW_TOKENS = 512
"""Of a model that does not say what it can read at once."""


class SentenceTransformersEmbedder:
    """An `Embedder` whose texts fit its window: `models/batches.py` cuts longer ones. The model is loaded on first use."""

    def __init__(self, model: ModelName) -> None:
        self._model = model
        self.name = str(model)
        self._lock = threading.Lock()

    @cached_property
    def dimensions(self) -> int:
        """Length of a vector."""
        # Newer versions name it without "sentence".
        dimension = (
            getattr(self._loaded, "get_embedding_dimension", None) or self._loaded.get_sentence_embedding_dimension
        )
        return int(dimension())

    @cached_property
    def max_tokens(self) -> int:
        """Tokens of one window, without special tokens and without the prompt that the model puts before a text."""
        tokenizer = self._loaded.tokenizer
        prompts = [self.count_tokens(prompt) for prompt in (self._loaded.prompts or {}).values() if prompt]
        window = self._loaded.max_seq_length or min(int(tokenizer.model_max_length), UNKNOWN_WINDOW_TOKENS)
        return int(window) - int(tokenizer.num_special_tokens_to_add()) - max(prompts, default=0)

    def count_tokens(self, text: str) -> int:
        """Count tokens by the model's own tokenizer, without special tokens."""
        return len(self._loaded.tokenizer.encode(text, add_special_tokens=False, verbose=False))

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found: [len(texts), dimensions]."""
        return await asyncio.to_thread(self._encode, "encode_document", texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with; models with a prompt for queries get it."""
        return await asyncio.to_thread(self._encode, "encode_query", texts)

    def _encode(self, method: str, texts: Sequence[str]) -> Vectors:
        with self._lock:
            vectors = getattr(self._loaded, method)(
                list(texts),
                batch_size=BATCH_TEXTS,
                convert_to_numpy=True,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        result: Vectors = np.asarray(vectors, dtype=np.float32)
        return result

    @cached_property
    def _loaded(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise _missing(self._model, error) from error
        return _load(SentenceTransformer, self._model)


class CrossEncoderReranker:
    """A `Reranker`: a cross-encoder reads query and passage together; what does not fit its window is left out by it."""

    def __init__(self, model: ModelName) -> None:
        self._model = model
        self.name = str(model)
        self._lock = threading.Lock()

    async def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Score each passage: shape [len(passages)]."""
        if not passages:
            return np.zeros(0, dtype=np.float32)
        return await asyncio.to_thread(self._predict, query, passages)

    def _predict(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        with self._lock:
            scores = self._loaded.predict(
                [(query, passage) for passage in passages],
                batch_size=BATCH_TEXTS,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        if np.ndim(scores) != 1:
            raise ModelError(
                f"{self.name} gives {np.shape(scores)[-1]} labels for a pair: expected a cross-encoder with one score."
            )
        return np.asarray(scores, dtype=np.float32)

    @cached_property
    def _loaded(self) -> Any:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise _missing(self._model, error) from error
        return _load(CrossEncoder, self._model)


def _missing(model: ModelName, error: ImportError) -> ModelMissing:
    return ModelMissing(
        f"{model} needs sentence-transformers, which is not installed ({error}). Install it, with torch (about 5 GB), by: "
        "pip install 'kgrag[torch]'"
    )


def _load(make: Any, model: ModelName) -> Any:
    try:
        return make(model.model)
    except (OSError, ValueError) as error:  # no such folder, no such name at the Hub, no network
        raise ModelMissing(f"{model} cannot be loaded: {error}") from error
