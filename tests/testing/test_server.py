"""The scripted server against the clients that people use it with."""

import asyncio
import json
from collections.abc import Iterator

import httpx
import openai
import pytest

from kgrag.testing import (
    FAULTS,
    TROUBLES,
    ModelRequest,
    ModelServer,
    ModelServerProcess,
    answer,
    hanging,
    rate_limited,
    server_error,
    tool_call,
)

TRIPLES = {"triples": [["X-100", "NEEDS", "3.3 V"], ["X-100", "HAS", "USB port"], ["TPR-40", "MEASURES", "pressure"]]}


def client(server: ModelServer | ModelServerProcess, *, key: str = "key", timeout: float = 60.0) -> openai.OpenAI:
    return openai.OpenAI(api_key=key, base_url=server.url, max_retries=0, timeout=timeout)


def asked(
    server: ModelServer | ModelServerProcess, text: str = "hello", **options: object
) -> openai.types.chat.ChatCompletion:
    with client(server) as openai_client:
        return openai_client.chat.completions.create(  # type: ignore[call-overload,no-any-return]
            model="any", messages=[{"role": "user", "content": text}], **options
        )


@pytest.fixture
def echo() -> Iterator[ModelServer]:
    with ModelServer(lambda request: {"said": request.last}) as server:
        yield server


def test_a_good_reply_has_text_finish_reason_and_usage(echo: ModelServer) -> None:
    completion = asked(echo, "hello")
    assert json.loads(completion.choices[0].message.content or "") == {"said": "hello"}
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens > 0


def test_data_is_sent_as_arguments_of_the_tool_where_the_request_has_tools(echo: ModelServer) -> None:
    tools = [{"type": "function", "function": {"name": "say", "parameters": {"type": "object"}}}]
    choice = asked(echo, "hello", tools=tools).choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.tool_calls is not None
    call = choice.message.tool_calls[0]
    assert call.type == "function"
    assert (call.function.name, json.loads(call.function.arguments)) == ("say", {"said": "hello"})


def test_a_script_may_call_a_tool_by_name() -> None:
    with ModelServer([tool_call("look", {"at": 1})]) as server:
        calls = asked(server).choices[0].message.tool_calls
        assert calls is not None
        assert calls[0].type == "function"
        assert calls[0].function.name == "look"


def test_a_stream_says_the_same(echo: ModelServer) -> None:
    with client(echo) as openai_client:
        stream = openai_client.chat.completions.create(
            model="any", messages=[{"role": "user", "content": "word " * 50}], stream=True
        )
        parts = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    assert len(parts) > 3
    assert json.loads("".join(parts)) == {"said": "word " * 50}


def test_the_schema_that_was_sent_is_seen_and_a_kind_that_is_not_understood_is_refused() -> None:
    schema = {"type": "object", "properties": {}}
    wanted = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
    with ModelServer(structured=["json_object"]) as server:
        with pytest.raises(openai.BadRequestError, match="json_schema"):
            asked(server, response_format=wanted)
        asked(server, response_format={"type": "json_object"})
        assert [request.schema for request in server.requests] == [schema, None]


def test_embeddings_come_as_numbers_or_base64_and_in_the_dimensions_asked_for(echo: ModelServer) -> None:
    with client(echo) as openai_client:
        packed = openai_client.embeddings.create(model="any", input=["red board", "blue"]).data
        plain = openai_client.embeddings.create(model="any", input="red board", encoding_format="float").data
        short = openai_client.embeddings.create(model="any", input="red board", dimensions=8).data
    assert packed[0].embedding == pytest.approx(plain[0].embedding)
    assert (len(packed[0].embedding), len(short[0].embedding)) == (64, 8)


def test_keys_models_and_paths_are_refused_as_openai_refuses_them() -> None:
    with ModelServer(models=["known"], api_key="right") as server:
        with client(server, key="wrong") as wrong, pytest.raises(openai.AuthenticationError):
            wrong.models.list()
        with client(server, key="right") as right:
            assert [model.id for model in right.models.list()] == ["known"]
            with pytest.raises(openai.NotFoundError, match="does not exist"):
                right.chat.completions.create(model="unknown", messages=[{"role": "user", "content": "hello"}])
        elsewhere = openai.OpenAI(api_key="right", base_url=f"{server.origin}/elsewhere", max_retries=0)
        with elsewhere, pytest.raises(openai.NotFoundError):
            elsewhere.chat.completions.create(model="known", messages=[{"role": "user", "content": "hello"}])


def test_azure_names_the_model_in_the_path(echo: ModelServer) -> None:
    azure = openai.AzureOpenAI(api_key="key", azure_endpoint=echo.origin, api_version="2024-10-21", max_retries=0)
    with azure:
        azure.chat.completions.create(model="mine", messages=[{"role": "user", "content": "hello"}])
    assert echo.requests[0].model == "mine"
    assert "/deployments/mine/" in echo.requests[0].path


def test_cohere_embeds_and_ranks(echo: ModelServer) -> None:
    import cohere

    model = cohere.ClientV2(api_key="key", base_url=echo.origin)
    vectors = model.embed(
        model="any", input_type="search_query", embedding_types=["float"], texts=["red", "blue"]
    ).embeddings.float_
    assert vectors is not None
    assert len(vectors) == 2
    ranked = model.rerank(model="any", query="red board", documents=["a blue one", "the red board"]).results
    assert [result.index for result in ranked] == [1, 0]


@pytest.mark.parametrize("name", TROUBLES)
def test_every_trouble_is_a_reply_of_status_200_that_is_not_the_good_one(name: str) -> None:
    with ModelServer([TROUBLES[name](TRIPLES)]) as server:
        completion = asked(server)
        assert completion.choices[0].message.content != json.dumps(TRIPLES)
        assert (server.requests[0].behaviour, server.requests[0].state) == (name, "completed")
        assert completion.choices[0].finish_reason == ("length" if name == "truncated" else "stop")


def test_wrong_arity_takes_a_part_of_a_triple_and_wrong_types_put_no_text() -> None:
    short = json.loads(str(TROUBLES["wrong_arity"](TRIPLES).reply))["triples"]
    assert sorted(map(len, short)) == [2, 2, 3]
    assert TROUBLES["wrong_arity"]("(a, B, c)\n(d, E, f)").reply == "(a, B)\n(d, E, f)"
    typed = json.loads(str(TROUBLES["wrong_types"](TRIPLES).reply))["triples"]
    assert not any(isinstance(part, str) for triple in typed for part in triple)


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_an_error_at_the_client_and_a_failed_request_at_the_server(name: str) -> None:
    with ModelServer([FAULTS[name](), "well"]) as server:
        with client(server, timeout=3.0) as openai_client:
            try:
                got = openai_client.chat.completions.create(
                    model="any", messages=[{"role": "user", "content": "hello"}]
                )
                assert name == "wrong_content_type"
                assert isinstance(got, str)  # the client hands the page on
            except openai.OpenAIError:
                pass
        assert asked(server).choices[0].message.content == "well"
        expected = {"hanging": "dropped", "wrong_content_type": "completed"}.get(name, "failed")
        assert [request.state for request in server.requests] == [expected, "completed"]


def test_retry_after_is_sent() -> None:
    with ModelServer([rate_limited(2.5)]) as server, pytest.raises(openai.RateLimitError) as caught:
        asked(server)
    assert caught.value.response.headers["retry-after"] == "2.5"


def test_a_sequence_that_has_ended_says_so(echo: ModelServer) -> None:
    with ModelServer([server_error(503)]) as server:
        with pytest.raises(openai.InternalServerError):
            asked(server)
        with pytest.raises(openai.BadRequestError, match="1 replies"):
            asked(server)


def test_a_request_that_comes_again_after_it_was_completed_is_known_and_one_that_failed_is_not() -> None:
    with ModelServer(["one", "two", server_error(), "three"]) as server:
        asked(server, "paid")
        asked(server, "paid")
        with pytest.raises(openai.InternalServerError):
            asked(server, "free")
        asked(server, "free")
        assert [request.last for request in server.repeated()] == ["paid"]
        assert sorted(server.completed().values()) == [1, 2]


def test_a_stopped_server_drops_what_is_open_and_comes_back_on_its_port() -> None:
    server = ModelServer(lambda request: hanging() if request.last == "hang" else "well").start()

    async def stopped_meanwhile() -> None:
        async with openai.AsyncOpenAI(api_key="key", base_url=server.url, max_retries=0) as asking:
            waiting = asyncio.create_task(
                asking.chat.completions.create(model="any", messages=[{"role": "user", "content": "hang"}])
            )
            while not server.requests:
                await asyncio.sleep(0.005)
            await asyncio.to_thread(server.stop)
            with pytest.raises(openai.APIConnectionError):
                await waiting

    asyncio.run(stopped_meanwhile())
    with pytest.raises(openai.APIConnectionError):
        asked(server)
    port = server.port
    server.start()
    try:
        assert server.port == port
        assert asked(server).choices[0].message.content == "well"
        assert [request.state for request in server.requests] == ["dropped", "completed"]
    finally:
        server.stop()


def test_no_port_is_given_to_two_servers_though_the_system_gives_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer("It is 3.3 V.") as first:
        taught = first.port
    create = asyncio.base_events.BaseEventLoop.create_server
    asked_for: list[int] = []

    async def gives_it_again(
        loop: asyncio.base_events.BaseEventLoop, protocol: object, host: str, port: int, **options: object
    ) -> asyncio.Server:
        asked_for.append(port)
        return await create(loop, protocol, host, port if len(asked_for) > 1 else taught, **options)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "create_server", gives_it_again)
    with ModelServer("ok") as second:
        # More often where the system gives a port of a third server, which other tests of this process had.
        assert len(asked_for) >= 2
        assert set(asked_for) == {0}
        assert second.port != taught
        assert asked(second).choices[0].message.content == "ok"


def test_the_most_requests_that_were_open_at_once_are_counted() -> None:
    async def many(server: ModelServer) -> None:
        async with httpx.AsyncClient(timeout=None) as http:
            body = {"model": "any", "messages": [{"role": "user", "content": "hello"}]}
            asked = [asyncio.create_task(http.post(f"{server.url}/chat/completions", json=body)) for _ in range(8)]
            while server.peak_concurrency < 8:
                await asyncio.sleep(0.005)
            server.stop()
            assert len(await asyncio.gather(*asked, return_exceptions=True)) == 8

    with ModelServer(lambda request: hanging()) as server:
        asyncio.run(many(server))
        assert server.peak_concurrency == 8


def test_latency_is_of_the_server_or_of_one_request() -> None:
    with ModelServer("late", latency_s=0.5) as server:
        asked(server)
        assert server.requests[0].ended_at - server.requests[0].at >= 0.5
    with ModelServer([answer("at once", latency_s=0.0)], latency_s=50.0) as server:
        asked(server)
        assert server.requests[0].ended_at - server.requests[0].at < 50.0


def test_what_is_no_request_of_a_model_is_refused(echo: ModelServer) -> None:
    assert httpx.post(f"{echo.url}/chat/completions", content=b"no json").status_code == 400
    assert httpx.post(f"{echo.url}/chat/completions", content=b"[1]").status_code == 400
    assert httpx.get(f"{echo.origin}/").status_code == 404


def test_the_process_serves_a_script_by_name_and_reports_what_it_was_asked() -> None:
    with ModelServerProcess("tests.testing.scripts:shout") as server:
        assert asked(server, "hello").choices[0].message.content == "HELLO"
        assert asked(server, "hello").choices[0].message.content == "HELLO"
        with client(server, timeout=3.0) as openai_client, pytest.raises(openai.APITimeoutError):
            openai_client.chat.completions.create(model="any", messages=[{"role": "user", "content": "hang"}])
        report = server.report()
        assert report["requests"] == 3
        assert sum(report["completed"].values()) == 2
        assert len(report["repeated"]) == 1
        port = server.port
        server.stop()
        server.start()
        assert (server.port, asked(server, "again").choices[0].message.content) == (port, "AGAIN")


def test_a_request_is_read_by_a_script_as_text_tools_and_schema() -> None:
    seen: list[ModelRequest] = []

    def script(request: ModelRequest) -> str:
        seen.append(request)
        return "ok"

    with ModelServer(script) as server:
        parts = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]
        with client(server) as openai_client:
            openai_client.chat.completions.create(
                model="m",
                messages=[{"role": "system", "content": "be brief"}, {"role": "user", "content": parts}],  # type: ignore[list-item,misc]
            )
    assert (seen[0].model, seen[0].prompt, seen[0].last) == ("m", "be brief\none two", "one two")
    assert seen[0].headers["authorization"] == "Bearer key"
