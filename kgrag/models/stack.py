"""What lies between a caller and an endpoint, outermost first:

    cache        an equal request was answered before: nothing is asked, nothing is paid
    structured   JSON by schema, validated; one repair round                                (chat)
    batches      long texts as windows, many texts as few requests                          (embedders)
    retries      an endpoint that is away or busy is asked again, after Retry-After or with growing waits and jitter
    concurrency  so many requests under way; a request that waits to be retried holds no place
    limits       so many requests and tokens a minute; Retry-After holds all back
    meter        every attempt that was answered is counted and priced
    timeout      one attempt takes so long and no longer: waiting for a place or a minute does not count
    endpoint     one request by the provider's client, whose own retries are off

Each is a class of its own that can be put around any `ChatModel`, `Embedder` or `Reranker`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from kgrag.models.base import ChatModel, Embedder, Reranker
from kgrag.models.batches import BatchingEmbedder
from kgrag.models.cached import CachedChatModel, CachedEmbedder, CachedReranker
from kgrag.models.embedding_endpoint import EmbeddingEndpoint
from kgrag.models.meter import Meter
from kgrag.models.middleware import ConcurrencyCap, Middleware, Retries, Timeout, around
from kgrag.models.rate_limits import RateLimits
from kgrag.models.reply_cache import ReplyCache
from kgrag.models.sized import SizedEmbedder
from kgrag.models.structured import StructuredChatModel
from kgrag.settings import Settings

__all__ = ["Stack", "open_cache"]

BATCH_TEXTS = 64
"""Texts that another package's embedder is given at once."""
CACHE_OFF = "off"
CACHE_FILE = "replies.sqlite"
LIMITS_FILE = "limits.sqlite"
"""Beside the cache: limits hold for all processes that share its folder."""


def open_cache(settings: Settings) -> ReplyCache | None:
    """Return the cache that the settings name; None where they say "off"."""
    if settings.model_cache == CACHE_OFF:
        return None
    return ReplyCache(
        Path(settings.model_cache) if settings.model_cache else user_cache_path("kgrag", appauthor=False) / CACHE_FILE
    )


@dataclass(frozen=True)
class Stack:
    """The settings, the meter and the cache that models are opened with."""

    settings: Settings
    meter: Meter
    cache: ReplyCache | None

    def chat(self, endpoint: ChatModel) -> ChatModel:
        """Put everything around a chat endpoint."""
        model: ChatModel = StructuredChatModel(around(endpoint, *self._middleware()))
        return model if self.cache is None else CachedChatModel(model, self.cache, meter=self.meter)

    def embedder(self, endpoint: EmbeddingEndpoint) -> Embedder:
        """Put everything around an embedding endpoint."""
        model = self.own_embedder(endpoint, batch_texts=endpoint.batch_texts)
        return SizedEmbedder(model, known=endpoint.known_dimensions, found=endpoint.expect_dimensions)

    def own_embedder(self, endpoint: Embedder, *, batch_texts: int = BATCH_TEXTS) -> Embedder:
        """Put everything around an embedder that knows the length of its vectors, such as another package's."""
        model: Embedder = BatchingEmbedder(around(endpoint, *self._middleware()), batch_texts=batch_texts)
        return model if self.cache is None else CachedEmbedder(model, self.cache, meter=self.meter)

    def reranker(self, endpoint: Reranker) -> Reranker:
        """Put everything around a rerank endpoint."""
        model = around(endpoint, *self._middleware())
        return model if self.cache is None else CachedReranker(model, self.cache, meter=self.meter)

    def _middleware(self) -> tuple[Middleware, ...]:
        """Make the middleware of one model: limits are for each model, the meter is for all."""
        settings = self.settings
        return (
            Retries(settings.retries + 1),
            ConcurrencyCap(settings.concurrency),
            RateLimits(
                requests_per_minute=settings.requests_per_minute,
                tokens_per_minute=settings.tokens_per_minute,
                longest_reply=settings.max_completion_tokens,
                file=None if self.cache is None else self.cache.path.with_name(LIMITS_FILE),
            ),
            self.meter,
            Timeout(settings.timeout_s),
        )
