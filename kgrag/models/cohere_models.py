"""Cohere's embedders and rerankers, by its own client (extra `cohere`): one request for each call."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from kgrag.errors import ModelMissing, ModelReplyError
from kgrag.models.base import Vectors, as_floats
from kgrag.models.embedding_endpoint import EmbeddingEndpoint, Purpose
from kgrag.models.endpoint import MAX_COUNTED_TOKENS
from kgrag.models.endpoint_errors import Connection, no_object, refusal, timed_out, unreachable
from kgrag.models.meter import report_usage
from kgrag.models.per_loop import PerLoop

if TYPE_CHECKING:
    import cohere

__all__ = ["CohereEmbedder", "CohereReranker"]

RERANKED_PASSAGES = 1000
"""Of one rerank request: what Cohere recommends at most."""
KNOWN_DIMENSIONS: Mapping[str, int] = {
    "embed-v4.0": 1536,
    "embed-english-v3.0": 1024,
    "embed-multilingual-v3.0": 1024,
    "embed-english-light-v3.0": 384,
    "embed-multilingual-light-v3.0": 384,
}
KNOWN_MAX_TOKENS: Mapping[str, int] = {"embed-v4.0": 8192}
"""Others read 512 tokens (Cohere's page of embed models)."""
DEFAULT_MAX_TOKENS = 512

INPUT_TYPES: Mapping[Purpose, Literal["search_document", "search_query"]] = {
    "document": "search_document",
    "query": "search_query",
}


class _CohereClient:
    """Cohere's client with its own retries off and its failures as errors of ours."""

    def __init__(self, connection: Connection) -> None:
        try:
            import cohere  # noqa: F401
        except ImportError as error:
            raise ModelMissing(
                f"{connection.model} needs Cohere's client, which is not installed ({error}). Install it with: pip install 'kgrag[cohere]'"
            ) from error
        self.connection = connection
        self._client: PerLoop[cohere.AsyncClientV2] = PerLoop(self._open, _close)

    async def call(self, path: str, send: Callable[[cohere.AsyncClientV2], Awaitable[Any]]) -> Any:
        """Make one request. Raises as `Endpoint.post` does."""
        import httpx
        from cohere.core.api_error import ApiError
        from cohere.core.parse_error import ParsingError

        client = await self._client.get()
        try:
            return await send(client)
        except ApiError as error:
            status = error.status_code or 500
            if status == 200:  # the client could not parse the reply
                content = error.body if isinstance(error.body, str) else json.dumps(error.body)
                content_type = (error.headers or {}).get("content-type", "")
                raise no_object(self.connection, content.encode(), content_type) from None
            raise refusal(
                self.connection, status, error.body, path=path, headers=httpx.Headers(error.headers or {})
            ) from None
        except httpx.TimeoutException:
            raise timed_out(self.connection) from None
        except httpx.TransportError as error:
            raise unreachable(self.connection, error) from None
        except (ParsingError, TypeError, ValueError) as error:  # what its reading of a reply of another shape raises
            raise ModelReplyError(f"{self.connection.place}: the reply is not of Cohere's form: {error}") from error

    def _open(self) -> cohere.AsyncClientV2:
        import cohere
        import httpx

        at = self.connection
        return cohere.AsyncClientV2(
            api_key=at.key.value or "none",
            base_url=at.base_url,
            timeout=at.timeout_s,
            httpx_client=httpx.AsyncClient(timeout=at.timeout_s, follow_redirects=True),
        )


class CohereEmbedder(EmbeddingEndpoint):
    """Cohere's embeddings; queries are embedded differently from documents."""

    batch_texts = 96
    """Cohere's limit."""

    def __init__(self, connection: Connection, *, dimensions: int | None = None, max_tokens: int | None = None) -> None:
        model = connection.model.model
        super().__init__(
            connection,
            wanted=dimensions,
            known=KNOWN_DIMENSIONS.get(model),
            max_tokens=max_tokens or KNOWN_MAX_TOKENS.get(model, DEFAULT_MAX_TOKENS),
        )
        self._client = _CohereClient(connection)

    async def _request(self, texts: Sequence[str], purpose: Purpose) -> tuple[Vectors, int | None]:
        optional: dict[str, Any] = {} if self._wanted is None else {"output_dimension": self._wanted}
        reply = await self._client.call(
            "/v2/embed",
            lambda client: client.embed(
                model=self._client.connection.model.model,
                texts=list(texts),
                input_type=INPUT_TYPES[purpose],
                embedding_types=["float"],
                request_options={"max_retries": 0},
                **optional,
            ),
        )
        try:
            vectors = as_floats(reply.embeddings.float_)
        except (AttributeError, TypeError, ValueError):
            raise ModelReplyError(
                f"{self.name}: expected embeddings.float, a list of vectors.", reply=str(reply)
            ) from None
        return vectors, int(_billed(reply, "input_tokens") or 0)


class CohereReranker:
    """A `Reranker`: one request for up to `RERANKED_PASSAGES` passages, whose scores compare."""

    def __init__(self, connection: Connection) -> None:
        self._client = _CohereClient(connection)
        self.name = str(connection.model)
        self.identity = json.dumps([self.name, connection.base_url])

    async def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Score each passage: shape [len(passages)]."""
        scores = np.zeros(len(passages), dtype=np.float32)
        # The scores of one model are absolute, so those of several requests compare.
        for start in range(0, len(passages), RERANKED_PASSAGES):
            some = list(passages[start : start + RERANKED_PASSAGES])
            reply = await self._client.call("/v2/rerank", self._request(query, some))
            results = reply.results or ()
            ranked = {result.index: result.relevance_score for result in results if _is_score(result.relevance_score)}
            if len(results) != len(some) or set(ranked) != set(range(len(some))):
                raise ModelReplyError(
                    f"{self.name}: expected a score for each of {len(some)} passages, got {len(results)} results with {len(ranked)} "
                    "scores of different passages.",
                    reply=str(reply),
                )
            for index, score in ranked.items():
                scores[start + index] = score
            report_usage(searches=int(_billed(reply, "search_units") or 1))
        return scores

    def _request(self, query: str, passages: list[str]) -> Callable[[cohere.AsyncClientV2], Awaitable[Any]]:
        model = self._client.connection.model.model
        return lambda client: client.rerank(
            model=model, query=query, documents=passages, request_options={"max_retries": 0}
        )


def _is_score(given: Any) -> bool:
    """Whether it is a number that has a place among others."""
    return (
        isinstance(given, int | float) and not isinstance(given, bool) and abs(given) <= float(np.finfo(np.float32).max)
    )


def _billed(reply: Any, unit: str) -> float | None:
    units = getattr(getattr(reply, "meta", None), "billed_units", None)
    count = getattr(units, unit, None)
    return count if isinstance(count, int | float) and 0 <= count <= MAX_COUNTED_TOKENS else None


async def _close(client: cohere.AsyncClientV2) -> None:
    await client.__aexit__(None, None, None)  # type: ignore[no-untyped-call]
