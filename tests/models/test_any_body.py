"""Whatever JSON an endpoint sends, what comes out is a reply or an error of ours."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgrag.errors import ModelError
from kgrag.models import open_chat_model, open_embedder
from kgrag.models.base import Message
from kgrag.testing import Behaviour, ModelServer

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


def one_of(value: Any) -> st.SearchStrategy[Any]:
    return st.just(value) | JSON


MESSAGES = st.fixed_dictionaries({}, optional={"content": one_of("text"), "refusal": JSON, "role": JSON})
CHOICES = st.fixed_dictionaries({}, optional={"message": MESSAGES | JSON, "finish_reason": one_of("stop")})
COMPLETIONS = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(CHOICES | JSON, max_size=2) | JSON,
        "usage": st.fixed_dictionaries({}, optional={"prompt_tokens": JSON, "completion_tokens": JSON}) | JSON,
    },
)
ROWS = st.fixed_dictionaries({}, optional={"index": one_of(0), "embedding": one_of([1.0, 2.0])})
EMBEDDINGS = st.fixed_dictionaries({}, optional={"data": st.lists(ROWS | JSON, max_size=2) | JSON, "usage": JSON})


class Saying:
    """A server that says what it is told to, and the event loop that its models are asked in."""

    def __init__(self, server: ModelServer, runner: asyncio.Runner, bodies: list[Any]) -> None:
        self.chat = open_chat_model("openai:any", base_url=server.url, retries=0, model_cache="off")
        self.embedder = open_embedder("openai:any", base_url=server.url, retries=0, model_cache="off")
        self.run = runner.run
        self.bodies = bodies


@pytest.fixture(scope="module")
def said() -> Iterator[Saying]:
    bodies: list[Any] = [None]

    def script(_: object) -> Behaviour:
        return Behaviour(body=json.dumps(bodies[0]).encode())

    with ModelServer(script, embeddings=script) as server, asyncio.Runner() as runner:
        yield Saying(server, runner, bodies)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=COMPLETIONS | JSON)
def test_any_completion(said: Saying, body: Any) -> None:
    said.bodies[0] = body
    try:
        reply = said.run(said.chat.reply([Message("user", "hello")]))
    except ModelError as error:
        assert "openai:any" in str(error)
    else:
        assert reply.text.strip()
        assert reply.usage.calls == 1


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=EMBEDDINGS | JSON)
def test_any_embedding(said: Saying, body: Any) -> None:
    said.bodies[0] = body
    try:
        vectors = said.run(said.embedder.embed_documents(["hello"]))
    except ModelError as error:
        assert "openai:any" in str(error)
    else:
        assert vectors.shape[0] == 1
        assert np.isfinite(vectors).all()
