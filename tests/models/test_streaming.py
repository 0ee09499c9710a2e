"""Replies that are heard while they are written: the same reply as without a listener, and the call ends where nobody listens any more."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from kgrag.errors import ModelUnavailable
from kgrag.models import open_chat_model
from kgrag.models.base import Message, Reply
from kgrag.models.streaming import listening
from kgrag.settings import load_settings
from kgrag.testing import Behaviour, ModelServer, answer, closed, refused, slowly

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
SAID = {"answer": "A reply that is long enough for several pieces."}


def heard(server: ModelServer, told: list[str | None], **settings: Any) -> Reply:
    model = open_chat_model("openai:any", settings=load_settings(base_url=server.url, model_cache="off", **settings))

    async def ask() -> Reply:
        with listening(told.append):
            return await model.reply([Message("user", "Say something.")], schema=SCHEMA)

    return asyncio.run(ask())


def test_the_pieces_are_the_reply_and_it_is_the_same_as_without_a_listener() -> None:
    told: list[str | None] = []
    with ModelServer(lambda request: answer(SAID)) as server:
        reply = heard(server, told)
        model = open_chat_model("openai:any", settings=load_settings(base_url=server.url, model_cache="off"))
        alone = asyncio.run(model.reply([Message("user", "Say something.")], schema=SCHEMA))
        assert [bool(request.body.get("stream")) for request in server.requests] == [True, False]
    assert told[0] is None
    assert len(told) > 2
    assert "".join(piece or "" for piece in told) == reply.text == alone.text
    assert reply.data == alone.data == SAID
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (
        alone.usage.prompt_tokens,
        alone.usage.completion_tokens,
    )


def test_an_endpoint_that_does_not_stream_is_asked_as_before() -> None:
    def script(request: Any) -> Behaviour:
        if request.body.get("stream_options"):
            return refused(400, "unsupported_parameter", "Unknown parameter: 'stream_options'.")
        return answer(SAID)

    with ModelServer(script) as server:
        assert heard(server, []).data == SAID
        assert len(server.requests) == 2


def test_what_is_asked_again_begins_anew() -> None:
    told: list[str | None] = []
    replies = iter([answer("no JSON at all"), answer(SAID)])
    with ModelServer(lambda request: next(replies)) as server:
        assert heard(server, told).data == SAID
    assert told.count(None) == 2


def test_a_stream_that_breaks_off_is_a_model_that_is_away() -> None:
    from dataclasses import replace

    broken = replace(answer(SAID), connection="close_midway")
    with ModelServer(lambda request: broken) as server, pytest.raises(ModelUnavailable):
        heard(server, [], retries=0, wait_s=0)
    with ModelServer(lambda request: closed()) as server, pytest.raises(ModelUnavailable):
        heard(server, [], retries=0, wait_s=0)


@pytest.mark.parametrize(
    "event",
    [b"{oops", b'"\xff\xfe"', b"[" * 100_000, b'{"n": ' + b"9" * 5_000 + b"}"],
    ids=["words", "bytes", "deep", "digits"],
)
def test_a_stream_with_an_event_that_cannot_be_read_is_a_reply_that_cannot_be_read(event: bytes) -> None:
    good = b'data: {"choices": [{"delta": {"content": "{"}}]}\n\n'
    stream = Behaviour(body=good + b"data: " + event + b"\n\n" + good, content_type="text/event-stream")
    with (
        ModelServer(lambda request: stream) as server,
        pytest.raises(ModelUnavailable, match="its reply cannot be read"),
    ):
        heard(server, [], retries=0, wait_s=0)


def test_cancelling_ends_the_call() -> None:
    with ModelServer(lambda request: slowly({"answer": "word " * 500}, piece_s=0.05)) as server:
        model = open_chat_model("openai:any", settings=load_settings(base_url=server.url, model_cache="off"))

        async def leave() -> None:
            begun = asyncio.Event()
            with listening(lambda piece: begun.set() if piece else None):
                asking = asyncio.ensure_future(model.reply([Message("user", "Say something.")], schema=SCHEMA))
            await begun.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            for _ in range(200):
                if server.requests[0].state != "open":
                    return
                await asyncio.sleep(0.05)

        asyncio.run(leave())
        assert server.requests[0].state == "dropped"


def test_odd_events_are_passed_over_and_the_key_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-1")
    odd: list[Any] = [5, [], {"choices": 5}, {"choices": {"a": 1}}, {"choices": [7]}, {"choices": [{"delta": "x"}]}]
    odd += [
        {"choices": [{"delta": {"tool_calls": calls}}]} for calls in (5, [5], [{"function": 5}], [{"function": {}}])
    ]
    said = ['{"answer": "it is ', "sk-very-secret-1 \ud83d", '\ude00"}']
    odd += [{"choices": [{"delta": {"content": piece}}]} for piece in said]
    odd += [{"choices": [{"delta": None, "finish_reason": "stop"}]}]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in odd) + "data: [DONE]\n\n"
    told: list[str | None] = []
    with ModelServer(lambda _: Behaviour(content_type="text/event-stream", body=body.encode())) as server:
        reply = heard(server, told)
    assert reply.data == {"answer": "it is [key] \U0001f600"}
    "".join(piece or "" for piece in told).encode()
    assert "secret" not in "".join(piece or "" for piece in told)


def test_half_a_character_and_controls_cost_no_more_than_themselves() -> None:
    def event(text: bytes, reason: bytes = b"null") -> bytes:
        return b'data: {"choices": [{"delta": {"content": "' + text + b'"}, "finish_reason": ' + reason + b"}]}\n\n"

    body = event(b"25 " + b"\xc2") + event(b"\\u001b[2J\\u0000C", b'"stop"') + b"data: [DONE]\n\n"
    told: list[str | None] = []
    with ModelServer(lambda request: Behaviour(body=body, content_type="text/event-stream")) as server:
        model = open_chat_model("openai:any", base_url=server.url, model_cache="off", retries=0)

        async def ask() -> Reply:
            with listening(told.append):
                return await model.reply([Message("user", "How warm?")])

        reply = asyncio.run(ask())
    assert "".join(piece or "" for piece in told) == reply.text == "25 \ufffd[2JC"
