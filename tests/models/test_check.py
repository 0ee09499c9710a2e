"""One tiny call to each configured model, and a verdict in one line."""

import asyncio
from typing import Any

import pytest

from kgrag.errors import ModelError
from kgrag.models.check import Verdict, check_models, exit_code, require_models
from kgrag.settings import load_settings
from kgrag.testing import ModelRequest, ModelServer, answer, server_error

GOOD = {"ok": True}


def check(*, structured: bool = True, **settings: Any) -> dict[str, Verdict]:
    found = asyncio.run(check_models(load_settings(**settings), structured=structured))
    return {verdict.role: verdict for verdict in found}


def test_a_model_that_is_there_is_told_with_its_structured_output_and_an_embedder_with_its_dimensions() -> None:
    with ModelServer(lambda request: GOOD, dimensions=24) as server:
        found = check(
            model="openai:any",
            embedder="openai:vectors",
            reranker="cohere:any",
            base_url=server.url,
            reranker_base_url=server.origin,
        )
        assert sorted(request.endpoint for request in server.requests) == ["chat", "embeddings", "rerank"]
    assert all(verdict.ok for verdict in found.values())
    assert (found["chat"].structured, found["embedder"].dimensions) == ("native", 24)
    assert "structured output native" in found["chat"].line
    assert exit_code(found.values()) == 0


def test_a_model_that_needs_the_prompt_is_told_so() -> None:
    with ModelServer(lambda request: GOOD, structured=[]) as server:
        assert check(model="openai:any", embedder="minilm", base_url=server.url)["chat"].structured == "prompted"


def test_the_default_models_need_no_endpoint() -> None:
    found = check()
    assert [found[role].ok for role in ("chat", "embedder")] == [True, True]
    assert found["embedder"].dimensions == 384


@pytest.mark.parametrize(
    ("options", "path", "says"),
    [
        ({"api_key": "right"}, "/v1", "refused the key"),
        ({"models": ["other"]}, "/v1", "does not know the model 'any'"),
        ({}, "/wrong", "Check the base URL"),
        ({"chat": "I would rather not."}, "/v1", "cannot give structured output"),
        ({"chat": lambda request: server_error()}, "/v1", "answered 500"),
    ],
)
def test_what_is_wrong_is_one_clear_line(options: dict[str, Any], path: str, says: str) -> None:
    with ModelServer(**options) as server:
        settings = {"model": "openai:any", "embedder": "minilm", "base_url": server.origin + path}
        found = check(**settings)["chat"]
        with pytest.raises(ModelError, match=says):
            asyncio.run(require_models(load_settings(**settings), roles=["chat", "embedder"]))
    assert (found.ok, found.exit_code) == (False, 3)
    assert says in found.problem
    assert "\n" not in found.problem


def test_every_model_that_fails_has_its_line() -> None:
    with ModelServer(models=["neither"]) as server:
        settings = load_settings(model="openai:chat", embedder="openai:vectors", base_url=server.url)
        with pytest.raises(ModelError) as caught:
            asyncio.run(require_models(settings, roles=["chat", "embedder"]))
    assert [line.split()[0] for line in str(caught.value).splitlines()] == ["openai:chat", "openai:vectors"]


def test_where_text_is_enough_no_structured_output_is_asked_for() -> None:
    with ModelServer("(X-100, NEEDS, 3.3 V)") as server:
        found = check(model="openai:any", embedder="minilm", base_url=server.url, structured=False)
        assert found["chat"].ok
        assert len(server.requests) == 1


def test_a_check_is_a_call_of_its_own_each_time() -> None:
    def script(request: ModelRequest) -> Any:
        return answer(GOOD)

    with ModelServer(script) as server:
        for _ in range(2):
            check(model="openai:any", embedder="minilm", base_url=server.url)
        assert len(server.requests) == 2
        assert server.repeated() == []
