"""What was used and what it cost."""

import asyncio
from pathlib import Path

import pytest

from kgrag.errors import InputError, ModelUnavailable
from kgrag.models import open_chat_model, open_embedder
from kgrag.models.base import Message
from kgrag.models.meter import Meter
from kgrag.models.middleware import around
from kgrag.models.prices import load_prices
from kgrag.testing import Behaviour, HashingEmbedder, ModelServer, ScriptedChatModel, ScriptedReranker, server_error
from kgrag.types import Usage

ASKED = [Message("user", "hello")]


def test_prices_hold_for_dated_versions_and_whole_providers() -> None:
    prices = load_prices()
    assert prices.of("openai:gpt-4o-2024-08-06") == prices.of("openai:gpt-4o")
    assert prices.of("openai:gpt-4o-mini") != prices.of("openai:gpt-4o")
    free = prices.of("ollama:anything")
    assert free is not None
    assert free.of(Usage(prompt_tokens=10**6)) == 0
    assert prices.of("openai:unheard-of") is None
    assert prices.date


def test_a_file_of_the_user_s_adds_prices_and_replaces_them(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[models]\n"azure:mine" = { input = 1.0, output = 2.0 }\n"openai:gpt-4o" = { input = 9.0 }\n')
    prices = load_prices(file)
    mine, replaced = prices.of("azure:mine"), prices.of("openai:gpt-4o")
    assert mine is not None
    assert replaced is not None
    assert mine.of(Usage(prompt_tokens=500_000, completion_tokens=1_000_000)) == pytest.approx(2.5)
    assert (replaced.input, replaced.output) == (9.0, 0.0)


@pytest.mark.parametrize("text", ["[models]\nx = 3\n", "not toml", '[models]\n"x" = { price = 1 }\n', None])
def test_a_file_that_is_no_price_table_is_refused_with_an_example(text: str | None, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match="expected prices as"):
        load_prices(file)


def test_every_attempt_that_was_answered_counts_and_the_others_are_errors() -> None:
    meter = Meter()
    with ModelServer(
        [server_error(), Behaviour(reply="no json", usage=(100, 10)), Behaviour(reply={}, usage=(200, 20))]
    ) as server:
        model = open_chat_model("openai:gpt-4o", base_url=server.url, meter=meter)
        reply = asyncio.run(model.reply(ASKED, schema={"type": "object"}))
    total = meter.total
    assert (total.calls, total.prompt_tokens, total.completion_tokens) == (2, 300, 30)
    assert total.cost == pytest.approx((300 * 2.5 + 30 * 10) / 1e6) == pytest.approx(reply.usage.cost)
    assert total.seconds > 0
    assert meter.errors == {"openai:gpt-4o": 1}
    assert meter.unpriced == set()


def test_embeddings_count_what_the_endpoint_says() -> None:
    meter = Meter()
    with ModelServer() as server:
        embedder = open_embedder(
            "openai:text-embedding-3-small", base_url=server.url, embedder_dimensions=64, meter=meter
        )
        asyncio.run(embedder.embed_documents(["a" * 400, "b" * 400]))
    used = meter.usage["openai:text-embedding-3-small@64"]
    assert (used.calls, used.prompt_tokens) == (1, 200)
    assert used.cost == pytest.approx(200 * 0.02 / 1e6)


def test_any_model_can_be_metered_and_one_without_a_price_is_named() -> None:
    meter = Meter()
    asyncio.run(around(ScriptedChatModel(["a b c"]), meter).reply(ASKED))
    asyncio.run(around(HashingEmbedder(), meter).embed_queries(["one two three"]))
    asyncio.run(around(ScriptedReranker(lambda query, passage: 1.0), meter).score("q", ["p"]))
    assert meter.usage["hashing-64"].prompt_tokens > 0
    assert meter.unpriced == {"scripted", "hashing-64"}
    assert meter.total.calls == 3
    with pytest.raises(ModelUnavailable):
        asyncio.run(around(ScriptedChatModel([ModelUnavailable("away")]), meter).reply(ASKED))
    assert (meter.total.calls, meter.errors["scripted"]) == (3, 1)
