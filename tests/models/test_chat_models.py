"""Hosted chat models with all that lies around them, against a real local server."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from kgrag.errors import InputError, ModelError, ModelReplyError, ModelUnavailable
from kgrag.models import open_chat_model
from kgrag.models.base import ChatModel, Message, Reply
from kgrag.models.meter import Meter
from kgrag.models.structured import structured_mode
from kgrag.testing import (
    FAULTS,
    TROUBLES,
    Behaviour,
    ModelRequest,
    ModelServer,
    answer,
    fenced,
    hanging,
    in_prose,
    rate_limited,
    refused,
    server_error,
    truncated,
    wrong_types,
)

TIMEOUT_S = 3.0
"""Long enough for a busy machine to answer what does not hang."""
IN_AN_HOUR = "in an hour"
ASKED = [Message("system", "Be brief."), Message("user", "Which voltage?")]
GOOD = {"answer": "3.3 V", "parts": ["X-100"]}
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "parts": {"type": "array", "items": {"type": "string"}}},
    "required": ["answer", "parts"],
    "additionalProperties": False,
}


def ask(model: ChatModel, *, schema: dict[str, Any] | None = None, messages: list[Message] = ASKED) -> Reply:
    return asyncio.run(model.reply(messages, schema=schema))


def test_a_reply_has_text_and_what_it_used() -> None:
    with ModelServer([Behaviour(reply="3.3 V", usage=(20, 4))]) as server:
        reply = ask(open_chat_model("openai:gpt-4o-mini", base_url=server.url))
        assert (reply.text, reply.data) == ("3.3 V", None)
        assert (reply.usage.calls, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1, 20, 4)
        assert reply.usage.cost == pytest.approx((20 * 0.15 + 4 * 0.60) / 1e6)
        sent = server.requests[0].body
        assert sent["messages"] == [{"role": m.role, "content": m.content} for m in ASKED]
        assert (sent["model"], sent["temperature"]) == ("gpt-4o-mini", 0.0)


@pytest.mark.parametrize("name", ["openai:any", "ollama:any"])
def test_a_seed_is_sent_and_another_seed_is_another_call(name: str) -> None:
    with ModelServer(lambda request: f"seed {request.body.get('seed')}") as server:
        seeds = (7, 8, 7, None)
        replies = [ask(open_chat_model(name, base_url=server.url, seed=seed)).text for seed in seeds]
    assert replies == ["seed 7", "seed 8", "seed 7", "seed None"]
    assert [request.body.get("seed") for request in server.requests] == [7, 8, None]


def test_a_schema_is_sent_to_an_endpoint_that_takes_one() -> None:
    with ModelServer([GOOD]) as server:
        model = open_chat_model("openai:any", base_url=server.url)
        assert ask(model, schema=SCHEMA).data == GOOD
        assert server.requests[0].schema == SCHEMA
        assert server.requests[0].body["response_format"]["json_schema"]["strict"] is True
        assert structured_mode(model) == "native"


def test_an_endpoint_that_refuses_schemas_is_asked_by_the_prompt_and_that_is_remembered() -> None:
    with ModelServer(lambda request: GOOD, structured=[]) as server:
        first, second = (open_chat_model("openai:any", base_url=server.url) for _ in range(2))
        assert ask(first, schema=SCHEMA).data == GOOD
        assert structured_mode(first) == "prompted"
        assert ask(second, schema=SCHEMA, messages=[Message("user", "Another?")]).data == GOOD
        assert [request.state for request in server.requests] == ["failed", "completed", "completed"]
        assert json.dumps(SCHEMA["properties"]) in server.requests[1].last
        assert "Which voltage?" in server.requests[1].last


def test_an_endpoint_that_ignores_schemas_is_asked_by_the_prompt_from_then_on() -> None:
    def script(request: ModelRequest) -> Any:
        return GOOD if "JSON schema" in request.last else "It is 3.3 V."

    with ModelServer(script) as server:
        model = open_chat_model("openai:any", base_url=server.url)
        assert ask(model, schema=SCHEMA).data == GOOD
        assert ask(model, schema=SCHEMA, messages=[Message("user", "Another?")]).data == GOOD
        assert len(server.requests) == 3
        assert server.requests[2].schema is None


@pytest.mark.parametrize(
    "wrapped", [fenced(GOOD), in_prose(GOOD), answer("<think>Hm {x}.</think>\n" + json.dumps(GOOD))]
)
def test_fences_prose_and_thoughts_around_the_object_need_no_second_call(wrapped: Behaviour) -> None:
    with ModelServer([wrapped]) as server:
        assert ask(open_chat_model("openai:any", base_url=server.url), schema=SCHEMA).data == GOOD


@pytest.mark.parametrize("name", ["truncated", "wrong_arity", "wrong_types", "empty"])
def test_a_reply_that_cannot_be_used_is_repaired_in_one_round(name: str) -> None:
    with ModelServer([TROUBLES[name](GOOD), GOOD]) as server:
        reply = ask(open_chat_model("openai:any", base_url=server.url), schema=SCHEMA)
        assert reply.data == GOOD
        assert reply.usage.calls == 2
        repair = server.requests[1]
        if name == "empty":
            assert repair.messages == server.requests[0].messages
        else:
            assert [message["role"] for message in repair.messages] == ["system", "user", "assistant", "user"]
            assert "cannot be used" in repair.last


def test_the_repair_says_what_is_wrong() -> None:
    with ModelServer([{"answer": 7, "parts": []}, GOOD]) as server:
        ask(open_chat_model("openai:any", base_url=server.url), schema=SCHEMA)
        assert "at answer: 7 is not of type 'string'" in server.requests[1].last


def test_two_replies_that_cannot_be_used_are_an_error_with_the_raw_reply_and_their_cost() -> None:
    meter = Meter()
    with ModelServer(lambda request: wrong_types(GOOD)) as server:
        model = open_chat_model("openai:gpt-4o-mini", base_url=server.url, meter=meter)
        with pytest.raises(ModelReplyError, match="answer") as caught:
            ask(model, schema=SCHEMA)
    assert caught.value.reply == wrong_types(GOOD).reply
    assert caught.value.usage.calls == 2
    assert caught.value.usage.cost == pytest.approx(meter.total.cost) != 0


@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        (truncated("The supply voltage is 3.3 V."), "cut off"),
        (answer(""), "empty"),
        (Behaviour(reply="no", finish_reason="content_filter"), "filter"),
        (Behaviour(body=b'{"choices": []}'), "choices"),
    ],
)
def test_a_text_that_is_not_whole_is_an_error_with_what_came(trouble: Behaviour, says: str) -> None:
    with ModelServer([trouble]) as server, pytest.raises(ModelReplyError, match=says) as caught:
        ask(open_chat_model("openai:any", base_url=server.url))
    assert caught.value.usage.calls == 1


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_goes_away_by_asking_again(name: str) -> None:
    with ModelServer([FAULTS[name](), "3.3 V"]) as server:
        assert ask(open_chat_model("openai:any", base_url=server.url, timeout_s=TIMEOUT_S)).text == "3.3 V"
        assert len(server.requests) == 2


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_stays_is_one_clear_line_that_says_to_come_back(name: str) -> None:
    with ModelServer(lambda request: FAULTS[name]()) as server:
        with pytest.raises(ModelUnavailable) as caught:
            ask(open_chat_model("openai:any", base_url=server.url, timeout_s=TIMEOUT_S, retries=1))
        assert len(server.requests) == 2
    assert "openai:any" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_a_reply_that_cannot_be_read_is_told_from_a_server_that_is_not_there(sent: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent)
        await writer.drain()
        writer.close()

    async def asked() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            await open_chat_model("openai:any", base_url=url, retries=0).reply([Message("user", "hi")])

    with pytest.raises(ModelUnavailable, match="took the request, and its reply cannot be read: ") as caught:
        asyncio.run(asked())
    assert "\n" not in str(caught.value)


def test_a_server_that_is_not_there_is_named() -> None:
    with ModelServer() as server:
        url = server.url
    with pytest.raises(ModelUnavailable, match=f"{url} cannot be reached"):
        ask(open_chat_model("openai:any", base_url=url, retries=0))


def test_a_long_retry_after_is_not_waited_for() -> None:
    with ModelServer([rate_limited(3600)]) as server, pytest.raises(ModelUnavailable) as caught:
        ask(open_chat_model("openai:any", base_url=server.url))
    assert caught.value.retry_after_s == 3600
    assert "asks to be left alone (Retry-After) for 3600 s" in str(caught.value)


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        (refused(404, "model_not_found", "The model `any` does not exist"), "does not know the model 'any'"),
        (refused(404, "", "Not Found"), "Check the base URL"),
        (refused(401, "invalid_api_key", "Incorrect API key provided: secret-key-1."), "refused the key .from MY_KEY"),
        (refused(429, "insufficient_quota", "You exceeded your current quota"), "no credit"),
    ],
)
def test_what_would_not_go_away_is_not_asked_again(
    behaviour: Behaviour, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "secret-key-1")
    with ModelServer(lambda request: behaviour) as server:
        with pytest.raises(ModelError, match=says) as caught:
            ask(open_chat_model("openai:any", base_url=server.url, api_key_env="MY_KEY"))
        assert len(server.requests) == 1
    assert not isinstance(caught.value, ModelUnavailable | ModelReplyError)
    assert "secret-key-1" not in str(caught.value)


def test_a_request_that_is_refused_may_be_the_request_s_fault() -> None:
    with ModelServer(
        [refused(400, "context_length_exceeded", "maximum context length is 8192 tokens"), "ok"]
    ) as server:
        model = open_chat_model("openai:any", base_url=server.url)
        with pytest.raises(ModelReplyError, match="8192"):
            ask(model)
        assert ask(model).text == "ok"


def test_an_option_that_the_model_does_not_take_is_left_out() -> None:
    def script(request: ModelRequest) -> Behaviour:
        if "temperature" in request.body:
            return refused(
                400, "unsupported_value", "Unsupported value: 'temperature' does not support 0 with this model."
            )
        return answer("ok")

    with ModelServer(script) as server:
        model = open_chat_model("openai:o4-mini", base_url=server.url)
        assert ask(model).text == "ok"
        assert ask(model, messages=[Message("user", "again")]).text == "ok"
        assert len(server.requests) == 3


def test_no_more_requests_are_under_way_than_allowed() -> None:
    async def many(model: ChatModel) -> None:
        await asyncio.gather(*(model.reply([Message("user", str(number))]) for number in range(20)))

    with ModelServer("ok", latency_s=0.2) as server:
        asyncio.run(many(open_chat_model("openai:any", base_url=server.url, concurrency=3)))
        assert server.peak_concurrency == 3
        assert len(server.requests) == 20


def test_a_request_that_waits_to_be_retried_holds_no_place() -> None:
    turns = {"first": [rate_limited(0.5), answer("late")]}

    def script(request: ModelRequest) -> Behaviour:
        return turns["first"].pop(0) if request.last == "first" else server_error() if not turns else answer("soon")

    async def both(model: ChatModel) -> list[str]:
        order: list[str] = []

        async def one(text: str) -> None:
            order.append((await model.reply([Message("user", text)])).text)

        first = asyncio.create_task(one("first"))
        await asyncio.sleep(0.1)
        await asyncio.gather(first, one("second"))
        return order

    with ModelServer(script) as server:
        model = open_chat_model("openai:any", base_url=server.url, concurrency=1)
        assert sorted(asyncio.run(both(model))) == ["late", "soon"]


def test_a_cancelled_call_frees_its_place_and_its_connection() -> None:
    async def cancelled(model: ChatModel) -> str:
        waiting = asyncio.create_task(model.reply([Message("user", "hang")]))
        while not server.requests:
            await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return (await model.reply([Message("user", "next")])).text

    with ModelServer(lambda request: hanging() if request.last == "hang" else "ok") as server:
        model = open_chat_model("openai:any", base_url=server.url, concurrency=1)
        assert asyncio.run(cancelled(model)) == "ok"
        assert [request.state for request in server.requests] == ["dropped", "completed"]


def test_a_model_works_in_one_event_loop_after_another() -> None:
    with ModelServer("ok") as server:
        model = open_chat_model("openai:any", base_url=server.url, concurrency=1, model_cache="off")
        assert [ask(model).text for _ in range(3)] == ["ok"] * 3


def test_azure_and_ollama_are_reached_as_their_own_clients_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key")
    with ModelServer("ok") as server:
        monkeypatch.setenv("OLLAMA_HOST", server.origin.removeprefix("http://"))
        assert ask(open_chat_model("ollama:qwen2.5:7b")).text == "ok"
        assert ask(open_chat_model("azure:mine", base_url=server.origin)).text == "ok"
        ollama, azure = server.requests
    assert (ollama.model, ollama.path) == ("qwen2.5:7b", "/v1/chat/completions")
    assert azure.path == "/openai/deployments/mine/chat/completions"
    assert azure.headers["api-key"] == "azure-key"


@pytest.mark.parametrize("name", ["gpt-4o", "openai:", "elsewhere:x", ""])
def test_an_unknown_name_says_what_names_there_are(name: str) -> None:
    with pytest.raises(InputError, match="openai:NAME"):
        open_chat_model(name)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: open_chat_model("openai:any"), "OPENAI_API_KEY"),
        (lambda: open_chat_model("openai:any", base_url="http://u:p@host/v1"), "without a user and a password"),
        (lambda: open_chat_model("openai:any", base_url="http://host/v1?key=secret"), "a query in it"),
        (lambda: open_chat_model("openai:any", base_url="localhost:8000"), "expected one like"),
        (lambda: open_chat_model("azure:any"), "AZURE_OPENAI_ENDPOINT"),
        (lambda: open_chat_model("openai:any", api_key_env="NOT_SET"), "NOT_SET"),
    ],
)
def test_what_is_missing_or_wrong_is_said_before_anything_is_sent(make: Callable[[], ChatModel], says: str) -> None:
    with pytest.raises((InputError, ModelError), match=says):
        make()


@pytest.mark.parametrize(
    "sent",
    [
        b"garbage\r\n\r\n",
        b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{"a":',
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nabcde",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_bytes_that_are_no_reply_are_an_endpoint_that_is_away(sent: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(sent)

        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        with pytest.raises(ModelUnavailable, match="openai:any"):
            ask(open_chat_model("openai:any", base_url=url, retries=0, timeout_s=5.0))
        serving.join()


def test_an_endpoint_that_counts_nothing_is_counted_by_estimate() -> None:
    body = {"choices": [{"message": {"role": "assistant", "content": "It needs 3.3 V."}, "finish_reason": "stop"}]}
    with ModelServer([Behaviour(body=json.dumps(body).encode())]) as server:
        usage = ask(open_chat_model("openai:any", base_url=server.url)).usage
    assert (usage.calls, usage.prompt_tokens > 0, usage.completion_tokens > 0) == (1, True, True)


def test_the_longest_reply_is_said_by_the_name_that_the_endpoint_knows() -> None:
    with ModelServer("ok") as server:
        for name in ("openai:any", "ollama:any"):
            ask(open_chat_model(name, base_url=server.url, max_completion_tokens=7))
        first, second = (request.body for request in server.requests)
    assert (first["max_completion_tokens"], second["max_tokens"]) == (7, 7)


@pytest.mark.parametrize(
    ("headers", "about"),
    [
        ([("Retry-After", "7.5")], 7.5),
        ([("Retry-After", IN_AN_HOUR)], 3600),
        ([("retry-after-ms", "250"), ("Retry-After", "9")], 0.25),
        ([("Retry-After", "soon")], None),
        ([("Retry-After", "inf")], None),
        ([("Retry-After", "nan")], None),
        ([("Retry-After", "-5")], None),
        ([("Retry-After", "0")], None),
        ([("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT")], None),
        ([("retry-after-ms", "1e999")], None),
        ([], None),
    ],
)
def test_when_to_come_back_is_read_in_all_its_forms(headers: list[tuple[str, str]], about: float | None) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1))
    said = tuple((name, date if value == IN_AN_HOUR else value) for name, value in headers)
    with ModelServer([Behaviour(status=429, headers=said)]) as server, pytest.raises(ModelUnavailable) as caught:
        ask(open_chat_model("openai:any", base_url=server.url, retries=0))
    assert caught.value.retry_after_s == (None if about is None else pytest.approx(about, rel=0.2))
