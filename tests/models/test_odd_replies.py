"""Replies of status 200 that are odd, and refusals about the context: what is usable is used, and nothing is switched off for good."""

import asyncio
import gzip
import json
from typing import Any

import pytest

from kgrag.errors import ModelError, ModelReplyError, ModelUnavailable
from kgrag.models import open_chat_model
from kgrag.models.base import Message, Reply
from kgrag.models.endpoint_errors import ContextOverflow
from kgrag.models.meter import Meter
from kgrag.models.middleware import around
from kgrag.models.structured import parse_object
from kgrag.testing import Behaviour, ModelRequest, ModelServer, answer, refused
from kgrag.types import Usage

ASKED = [Message("user", "Which unit has 3.3?")]


def replied(message: dict[str, Any], usage: Any = None, **settings: Any) -> Reply:
    body = {"choices": [{"message": message, "finish_reason": "stop"}]} | ({"usage": usage} if usage else {})
    with ModelServer(lambda _: Behaviour(body=json.dumps(body).encode())) as server:
        model = open_chat_model("openai:any", base_url=server.url, model_cache="off", retries=0, **settings)
        return asyncio.run(model.reply(ASKED))


def test_a_reply_without_end_is_cut_before_it_takes_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.models.endpoint.MAX_REPLY_BYTES", 100_000)
    assert replied({"content": "x" * 90_000}).text == "x" * 90_000
    with pytest.raises(ModelUnavailable, match="its reply cannot be read: it has more than"):
        replied({"content": "x" * 110_000})


def test_a_call_of_a_tool_without_content_is_the_reply() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "reply", "arguments": '{"unit": "V"}'}}
    assert replied({"content": None, "tool_calls": [call]}).text == '{"unit": "V"}'


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 1e30, "completion_tokens": True}, {"prompt_tokens": -1}, {}])
def test_a_usage_that_is_absent_or_cannot_be_is_estimated(usage: Any) -> None:
    used = replied({"content": "The volt has it, of course."}, usage).usage
    assert 3 < used.prompt_tokens < 30 and 3 < used.completion_tokens < 30


def test_a_model_that_counts_nothing_is_estimated_by_the_meter() -> None:
    class Silent:
        name = "silent"

        async def reply(self, messages: Any, *, schema: Any = None) -> Reply:
            return Reply("The volt has it.", usage=Usage(calls=1))

    meter = Meter()
    asyncio.run(around(Silent(), meter).reply(ASKED))
    assert meter.total.prompt_tokens > 3 and meter.total.completion_tokens > 2


def test_a_context_error_switches_off_the_length_of_the_reply_for_that_call_alone() -> None:
    def script(request: ModelRequest) -> Behaviour:
        longest = request.body.get("max_completion_tokens")
        if "long" in request.last and longest:
            return refused(
                400,
                "context_length_exceeded",
                "max_completion_tokens is too large: the context length is 100. temperature=0",
            )
        return answer("yes")

    with ModelServer(script) as server:
        model = open_chat_model(
            "openai:any", base_url=server.url, model_cache="off", retries=0, max_completion_tokens=90
        )
        for text in ("long", "short"):
            assert asyncio.run(model.reply([Message("user", text)])).text == "yes"
        bodies = [request.body for request in server.requests]
    assert ["max_completion_tokens" in body for body in bodies] == [True, False, True]
    assert all("temperature" in body for body in bodies)


def test_a_prompt_that_does_not_fit_is_an_error_of_its_own() -> None:
    said = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    with ModelServer(lambda _: refused(400, "context_length_exceeded", said)) as server:
        model = open_chat_model("openai:any", base_url=server.url, model_cache="off", retries=0)
        with pytest.raises(ContextOverflow, match="8192"):
            asyncio.run(model.reply(ASKED))
        assert len(server.requests) == 1


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000])
def test_json_that_is_too_deep_is_no_object(deep: str) -> None:
    assert parse_object(deep) is None
    with ModelServer(lambda _: answer(deep)) as server:
        model = open_chat_model("openai:any", base_url=server.url, model_cache="off", retries=0)
        with pytest.raises(ModelReplyError, match="twice"):
            asyncio.run(model.reply(ASKED, schema={"type": "object"}))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (rb'{"choices": [{"message": {"content": "{\"unit\": \"V \ud83d\"}"}}]}', "V \ufffd"),
        (rb'{"choices": [{"message": {"content": "{\"unit\": \"V \\ud83d\"}"}}]}', "V \ufffd"),
        (rb'{"choices": [{"message": {"content": "{\"unit\": \"V \ud83d\ude00\"}"}}]}', "V \U0001f600"),
        (b'{"choices": [{"message": {"content": "{\\"unit\\": \\"V \xf0\x9f\\"}"}}]}', "V \ufffd"),
    ],
)
def test_half_a_character_is_a_mark_and_not_an_error(body: bytes, said: str) -> None:
    schema = {"type": "object", "properties": {"unit": {"type": "string"}}, "required": ["unit"]}
    with ModelServer(lambda _: Behaviour(body=body)) as server:
        model = open_chat_model("openai:any", base_url=server.url, model_cache="off", retries=0)
        reply = asyncio.run(model.reply(ASKED, schema=schema))
    assert reply.data == {"unit": said}
    reply.text.encode()


def test_half_a_character_in_a_wrong_reply_is_shown_to_the_model_that_mends_it() -> None:
    replies = iter([answer('{"wrong": "\ud83d"}'), answer('{"unit": "V"}')])
    with ModelServer(lambda _: next(replies)) as server:
        model = open_chat_model("openai:any", base_url=server.url, model_cache="off", retries=0)
        schema = {"type": "object", "properties": {"unit": {"type": "string"}}, "required": ["unit"]}
        assert asyncio.run(model.reply(ASKED, schema=schema)).data == {"unit": "V"}


def failed_by(behaviour: Behaviour) -> ModelError:
    with ModelServer(lambda _: behaviour) as server, pytest.raises(ModelError) as caught:
        asyncio.run(open_chat_model("openai:any", base_url=server.url, model_cache="off", retries=0).reply(ASKED))
    return caught.value


def packed(body: bytes) -> Behaviour:
    return Behaviour(body=gzip.compress(body), headers=(("Content-Encoding", "gzip"),))


def test_a_packed_reply_is_unpacked_up_to_what_a_reply_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.models.endpoint.MAX_REPLY_BYTES", 100_000)
    body = json.dumps({"choices": [{"message": {"content": "x" * 90_000}}]}).encode()
    with ModelServer(lambda _: packed(body)) as server:
        model = open_chat_model("openai:any", base_url=server.url, model_cache="off", retries=0)
        assert asyncio.run(model.reply(ASKED)).text == "x" * 90_000
    assert "it has more than" in str(failed_by(packed(b" " * 3_000_000)))
    cut = Behaviour(body=gzip.compress(body)[:-20], headers=(("Content-Encoding", "gzip"),))
    assert "cannot be read: it broke off" in str(failed_by(cut))


def test_a_packing_that_was_not_asked_for_is_no_reply() -> None:
    said = str(failed_by(Behaviour(body=b"\x0b\x02", headers=(("Content-Encoding", "br"),))))
    assert "it is packed by br, which was not asked for" in said


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_would_lose_what_was_asked_says_where_it_leads(status: int) -> None:
    error = failed_by(Behaviour(status=status, headers=(("Location", "https://login.example/start"),), body=b""))
    assert "got a redirect to https://login.example/start. Set the base URL" in str(error)


def test_redirects_without_end_are_said_to_be_that() -> None:
    around = Behaviour(status=307, headers=(("Location", "/v1/chat/completions"),), body=b"")
    assert "got a redirect to a place that leads on" in str(failed_by(around))


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (Behaviour(body=b""), "expected a JSON object, got an empty reply. The server, or a proxy before it"),
        (Behaviour(body=b'{"choices": [{"mess'), 'got application/json that is none, or is cut: \'{"choices"'),
        (Behaviour(body=b"[]"), "got application/json that is none, or is cut: '[]'"),
        (
            Behaviour(body=b"<!DOCTYPE html><style>p {}</style><p>Please <b>sign in</b>", content_type="text/html"),
            "got text/html: 'Please sign in'. Something else answers there",
        ),
        (refused(401, "", "No such key."), "No such key. Check the key, and whether it may use this model."),
    ],
)
def test_a_reply_that_is_none_says_what_came_and_what_to_do(behaviour: Behaviour, said: str) -> None:
    assert said in str(failed_by(behaviour))


@pytest.mark.parametrize(
    "message",
    [
        {"content": {"unit": "V"}},
        {"content": None, "function_call": {"name": "reply", "arguments": '{"unit": "V"}'}},
        {"content": "", "tool_calls": [], "function_call": {"name": "reply", "arguments": {"unit": "V"}}},
    ],
)
def test_an_object_in_place_of_content_and_the_older_call_of_a_function_are_the_reply(message: dict[str, Any]) -> None:
    assert json.loads(replied(message).text) == {"unit": "V"}


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_thoughts_beside_an_empty_reply_are_said_to_be_all_there_is(key: str) -> None:
    with pytest.raises(ModelReplyError, match="the model thought and gave no reply"):
        replied({"content": "", key: "The volt, I think."})


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ({"model": "m", "response": "The volt.", "done": True}, "'model', 'response', 'done'"),
        ({"candidates": [{"content": {"parts": [{"text": "The volt."}]}}]}, "'candidates'"),
        ({}, "nothing in it"),
    ],
)
def test_a_reply_of_another_protocol_says_what_it_has_and_what_to_look_at(body: dict[str, Any], keys: str) -> None:
    said = str(failed_by(Behaviour(body=json.dumps(body).encode())))
    assert (
        f"got an object with {keys}. Check that the base URL is of an endpoint that speaks the OpenAI protocol." in said
    )


def test_an_account_without_credit_is_not_the_fault_of_one_request() -> None:
    error = failed_by(refused(402, "", "Insufficient credits."))
    assert type(error) is ModelError and "the account has no credit left: Insufficient credits" in str(error)
