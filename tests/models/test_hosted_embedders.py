"""Hosted embedders and rerankers against a real local server, and what keeps the contract of `Embedder`."""

import asyncio
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.errors import InputError, ModelError, ModelMissing, ModelReplyError, ModelUnavailable
from kgrag.models import open_embedder, open_reranker
from kgrag.models.base import Embedder, Reranker
from kgrag.models.batches import BatchingEmbedder, split_into_windows
from kgrag.models.by_halves import vectors_or_errors
from kgrag.models.meter import Meter
from kgrag.models.tokens import estimate_tokens
from kgrag.testing import FAULTS, Behaviour, HashingEmbedder, ModelRequest, ModelServer, rate_limited
from kgrag.testing.wire import hashed_vectors, openai_embeddings

NAMES = ["openai:any", "ollama:any", "cohere:any"]


@pytest.mark.parametrize("name", NAMES)
def test_vectors_have_unit_length_and_the_order_of_the_texts(name: str) -> None:
    texts = [f"text {number} about {'boards' if number % 2 else 'sensors'}" for number in range(300)]
    with ModelServer(dimensions=32) as server:
        embedder = open_embedder(name, embedder_base_url=server.origin if name.startswith("cohere") else server.url)
        vectors = asyncio.run(embedder.embed_documents(texts))
        assert len(server.requests) == (4 if name.startswith("cohere") else 2)
        assert isinstance(embedder, Embedder)
        alone = asyncio.run(embedder.embed_queries(["text 7 about boards"]))
    assert vectors.shape == (300, 32)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.allclose(vectors, HashingEmbedder(dimensions=32).embed(texts), atol=1e-5)
    assert np.allclose(alone[0], vectors[7], atol=1e-5)


@pytest.mark.parametrize(
    "said",
    [
        {"error": "failed to encode response: json: unsupported value: NaN"},
        {"error": {"code": 500, "message": "input (731 tokens) is too large to process. raise the batch size"}},
        {"error": {"message": "the input length exceeds the context length"}},
    ],
)
def test_a_text_that_a_server_of_ones_own_has_no_vector_for_is_at_fault_alone_though_it_says_500(said: object) -> None:
    def script(request: ModelRequest) -> Behaviour:
        odd = any("odd" in text for text in request.body["input"])
        return Behaviour(status=500, body=json.dumps(said).encode()) if odd else Behaviour()

    texts = [f"text {number}{' is odd' if number == 5 else ''}" for number in range(12)]
    with ModelServer(embeddings=script) as server:
        embedder = open_embedder("ollama:any", embedder_base_url=server.url, model_cache="off", retries=0)
        given = asyncio.run(vectors_or_errors(embedder.embed_documents, texts))
    assert [number for number, one in enumerate(given) if isinstance(one, ModelReplyError)] == [5]


def test_a_model_that_is_too_large_for_its_machine_is_neither_asked_again_nor_waited_for() -> None:
    said = {"error": "model requires more system memory (7.4 GiB) than is available (5.1 GiB)"}
    with ModelServer(embeddings=lambda _: Behaviour(status=500, body=json.dumps(said).encode())) as server:
        embedder = open_embedder("ollama:any", embedder_base_url=server.url, model_cache="off", embedder_dimensions=8)
        with pytest.raises(ModelError, match=r"cannot load the model: .*7\.4 GiB") as told:
            asyncio.run(embedder.embed_documents(["text"]))
    assert not isinstance(told.value, ModelUnavailable)
    assert len(server.requests) == 1


@pytest.mark.parametrize("name", NAMES)
def test_dimensions_are_found_out_or_asked_for(name: str) -> None:
    with ModelServer(dimensions=48) as server:
        url = server.origin if name.startswith("cohere") else server.url
        assert open_embedder(name, embedder_base_url=url).dimensions == 48
        short = open_embedder(name, embedder_base_url=url, embedder_dimensions=16)
        assert short.dimensions == 16
        assert short.name == f"{name}@16"
        assert asyncio.run(short.embed_documents(["x"])).shape == (1, 16)


def test_dimensions_are_found_out_once_for_all_processes() -> None:
    meter = Meter()
    with ModelServer(
        embeddings=lambda request: rate_limited(0.01) if len(server.requests) == 1 else Behaviour()
    ) as server:
        for _ in range(2):
            assert open_embedder("openai:any", base_url=server.url, meter=meter).dimensions == 64
        assert len(server.requests) == 2
    assert meter.total.calls == 1


def test_dimensions_can_be_found_out_while_an_event_loop_runs() -> None:
    async def inside(url: str) -> int:
        return open_embedder("openai:any", base_url=url).dimensions

    with ModelServer(dimensions=40) as server:
        assert asyncio.run(inside(server.url)) == 40


def test_a_known_model_needs_no_request_and_another_length_than_its_own_is_an_error() -> None:
    with ModelServer(dimensions=8) as server:
        embedder = open_embedder("openai:text-embedding-3-small", base_url=server.url)
        assert (embedder.dimensions, embedder.max_tokens) == (1536, 8191)
        assert server.requests == []
        with pytest.raises(ModelReplyError, match="expected vectors of 1536 dimensions, got 8"):
            asyncio.run(embedder.embed_documents(["x"]))


def test_a_vector_of_another_length_than_was_found_out_is_not_kept(tmp_path: Path) -> None:
    lengths = iter([64, 8, 64])

    def script(request: ModelRequest) -> dict[str, Any]:
        return openai_embeddings(request, hashed_vectors(request.texts, next(lengths)))

    with ModelServer(embeddings=script) as server:
        embedder = open_embedder("openai:any", base_url=server.url, model_cache=str(tmp_path / "cache.sqlite"))
        assert embedder.dimensions == 64
        with pytest.raises(ModelReplyError, match=r"expected vectors of 64 dimensions, got 8\. Another model answers"):
            asyncio.run(embedder.embed_documents(["volt"]))
        assert asyncio.run(embedder.embed_documents(["volt"])).shape == (1, 64)


def test_an_empty_text_and_no_text_are_allowed() -> None:
    with ModelServer() as server:
        embedder = open_embedder("openai:any", base_url=server.url)
        assert asyncio.run(embedder.embed_documents(["", "x"])).shape == (2, 64)
        assert asyncio.run(embedder.embed_documents([])).shape == (0, 64)


def test_a_long_text_is_the_mean_of_its_windows() -> None:
    text = " ".join(f"word{number}" for number in range(600))
    with ModelServer() as server:
        embedder = open_embedder("openai:any", base_url=server.url, embedder_max_tokens=200)
        (vector,) = asyncio.run(embedder.embed_documents([text]))
        windows = server.requests[-1].texts
    assert len(windows) > 1
    assert "".join(windows) == text
    assert all(estimate_tokens(window) <= 200 for window in windows)
    mean = HashingEmbedder().embed(windows).mean(axis=0)
    assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)


@settings(deadline=None)
@given(text=st.text(), most=st.integers(4, 60))
def test_windows_lose_nothing_and_fit(text: str, most: int) -> None:
    windows = split_into_windows(text, max_tokens=most, count_tokens=estimate_tokens)
    assert "".join(windows) == text
    assert all(estimate_tokens(window) <= most for window in windows)


def test_a_batch_that_fails_is_the_error_itself() -> None:
    class Failing(HashingEmbedder):
        async def embed_documents(self, texts: object) -> object:  # type: ignore[override]
            raise ModelError("no")

    with pytest.raises(ModelError, match="no"):
        asyncio.run(BatchingEmbedder(Failing(), batch_texts=1).embed_documents(["a", "b"]))


@pytest.mark.parametrize(
    "body",
    [
        {"data": []},
        {"data": [{"embedding": "!!"}]},
        {"vectors": []},
        {"data": [{"index": 0, "embedding": [None, 1.0]}]},
        {"data": [{"index": 0, "embedding": [1e39, 1.0]}]},
        {"data": [{"index": 0, "embedding": [1e30, 1e30]}]},
        {"data": [{"index": 0, "embedding": [0.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": []}]},
    ],
)
def test_a_reply_without_the_vectors_is_an_error_that_shows_it(body: dict[str, object]) -> None:
    with ModelServer(embeddings=[body]) as server, pytest.raises(ModelReplyError, match="expected"):
        asyncio.run(open_embedder("openai:any", base_url=server.url).embed_documents(["x"]))


@pytest.mark.parametrize("places", [[0, 0, 1], [0, 1, 3], [1, 1, 0], [0, None, 1]])
def test_vectors_whose_indices_are_no_order_are_refused_and_not_given_to_other_texts(places: list[int | None]) -> None:
    rows = [{"index": place, "embedding": [1.0, float(n)]} for n, place in enumerate(places)]
    with (
        ModelServer(embeddings=[{"data": rows}]) as server,
        pytest.raises(ModelReplyError, match="an index of its own"),
    ):
        asyncio.run(open_embedder("openai:any", base_url=server.url).embed_documents(["x", "y", "z"]))


@pytest.mark.parametrize("places", [[0, 1, 2], [1, 2, 3], ["0", "1", "2"], [0, 0, 0], [None, None, None]])
def test_vectors_without_indices_have_the_order_of_the_texts(places: list[int | str | None]) -> None:
    rows = [{"index": place, "embedding": [1.0, float(n)]} for n, place in enumerate(places)]
    with ModelServer(embeddings=[{"data": rows}]) as server:
        vectors = asyncio.run(open_embedder("openai:any", base_url=server.url).embed_documents(["x", "y", "z"]))
    assert (vectors[:, 1] / vectors[:, 0]).tolist() == pytest.approx([0.0, 1.0, 2.0])


@pytest.mark.parametrize("scores", ["[NaN, 0.5]", "[0.5, Infinity]", "[true, 0.5]", "[1e39, 0.5]", "[0.1, 0.2, 0.3]"])
def test_a_ranking_with_scores_that_have_no_order_is_an_error(scores: str) -> None:
    results = [{"index": min(place, 1), "relevance_score": score} for place, score in enumerate(json.loads(scores))]
    body = json.dumps({"id": "x", "results": results}).encode()
    with (
        ModelServer(rerank=lambda _: Behaviour(body=body)) as server,
        pytest.raises(ModelReplyError, match="a score for each"),
    ):
        asyncio.run(open_reranker("cohere:any", reranker_base_url=server.origin).score("q", ["x", "y"]))


@pytest.mark.parametrize(
    "body", [b"{}", b"[]", b'{"embeddings": {"float": [["a"]]}}', b'{"results": [{"index": "x"}]}']
)
def test_a_reply_of_cohere_s_that_has_another_form_is_an_error_of_ours(body: bytes) -> None:
    def script(request: ModelRequest) -> Behaviour:
        return Behaviour(body=body)

    with ModelServer(embeddings=script, rerank=script) as server:
        with pytest.raises(ModelReplyError, match="cohere:any"):
            asyncio.run(open_embedder("cohere:any", base_url=server.origin).embed_documents(["x"]))
        with pytest.raises(ModelReplyError, match="cohere:any"):
            asyncio.run(open_reranker("cohere:any", reranker_base_url=server.origin).score("q", ["x"]))


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_of_an_endpoint_goes_away_by_asking_again(name: str) -> None:
    for model in ("openai:any", "cohere:any"):
        with ModelServer(embeddings=[FAULTS[name](), Behaviour()]) as server:
            url = server.origin if model.startswith("cohere") else server.url
            assert asyncio.run(open_embedder(model, base_url=url, timeout_s=4.0).embed_documents(["x"])).shape == (
                1,
                64,
            )
            assert len(server.requests) == 2


def test_cohere_ranks_and_is_billed_by_searches() -> None:
    meter = Meter()
    with ModelServer(
        rerank=[
            rate_limited(0.01),
            {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]},
        ]
    ) as server:
        reranker = open_reranker("cohere:rerank-v3.5", reranker_base_url=server.origin, meter=meter)
        assert isinstance(reranker, Reranker)
        assert asyncio.run(reranker.score("red", ["blue", "red"])).tolist() == pytest.approx([0.2, 0.9])
        assert asyncio.run(reranker.score("red", ["blue", "red"])).tolist() == pytest.approx([0.2, 0.9])
        assert len(server.requests) == 2
        assert server.requests[0].headers["authorization"].endswith("none")
    assert meter.total.cost == pytest.approx(0.002)
    assert asyncio.run(open_reranker("cohere:x", reranker_base_url=server.origin).score("q", [])).shape == (0,)


def test_a_ranking_that_leaves_a_passage_out_is_an_error() -> None:
    with (
        ModelServer(rerank=[{"results": [{"index": 0, "relevance_score": 0.9}]}]) as server,
        pytest.raises(ModelReplyError, match="a score for each of 2"),
    ):
        asyncio.run(open_reranker("cohere:any", reranker_base_url=server.origin).score("q", ["a", "b"]))


@pytest.mark.parametrize("name", ["openai:any", "cohere:any"])
def test_a_bad_key_is_said_and_not_shown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "very-secret")
    with ModelServer(api_key="another") as server:
        url = server.origin if name.startswith("cohere") else server.url
        embedder = open_embedder(name, base_url=url, api_key_env="MY_KEY")
        with pytest.raises(ModelError, match=r"refused the key \(from MY_KEY") as caught:
            asyncio.run(embedder.embed_documents(["x"]))
    assert "very-secret" not in str(caught.value)


def test_a_missing_extra_says_how_to_install_it() -> None:
    if importlib.util.find_spec("sentence_transformers") is not None:
        pytest.skip("the extra is installed")
    with pytest.raises(ModelMissing, match=r"kgrag\[torch\]"):
        _ = open_embedder("sentence-transformers:x").dimensions
    with pytest.raises(ModelMissing, match=r"kgrag\[torch\]"):
        asyncio.run(open_reranker("sentence-transformers:x").score("q", ["p"]))


@pytest.mark.parametrize("name", ["minilm2", "rules", "azure", "cohere:"])
def test_an_unknown_embedder_says_what_names_there_are(name: str) -> None:
    with pytest.raises(InputError, match="cohere:NAME"):
        open_embedder(name)


def test_a_base_url_is_shared_with_the_models_of_the_same_provider_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CO_API_URL", "http://127.0.0.1:9")
    with ModelServer(dimensions=12) as server:
        shared = {"model": "openai:chat", "base_url": server.url}
        assert open_embedder("openai:any", **shared).dimensions == 12
        with pytest.raises(ModelError, match="cohere:any at http://127"):
            asyncio.run(open_embedder("cohere:any", retries=0, **shared).embed_documents(["x"]))
