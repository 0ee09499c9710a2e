"""`/v1` with the official client."""

from __future__ import annotations

import re

import httpx2
import openai
import pytest

from kgrag.serve.access import Access, User

from .conftest import DeskServer, OpenDesk

QUESTION = "What is the standby current of the X-100 Rev 3?"


@pytest.fixture
def official(desk: DeskServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{desk.url}/v1", api_key="none", max_retries=0)


def test_pipelines_are_models(official: openai.OpenAI) -> None:
    names = [model.id for model in official.models.list()]
    assert names[0] == "kgrag"
    assert "sparse" in names


def test_an_answer_has_its_sources_as_links_and_annotations(official: openai.OpenAI, client: httpx2.Client) -> None:
    reply = official.chat.completions.create(model="kgrag", messages=[{"role": "user", "content": QUESTION}])
    message = reply.choices[0].message
    assert "0.5 mA" in (message.content or "")
    assert "\n\nSources:\n[1] [docs/" in (message.content or "")
    assert reply.choices[0].finish_reason == "stop"
    assert message.annotations
    for one in message.annotations:
        cited = one.url_citation
        assert (message.content or "")[cited.start_index : cited.end_index].startswith("[")
        assert client.get(cited.url.partition("#")[0]).status_code == 200


def test_the_name_of_a_document_cannot_break_out_of_its_link(official: openai.OpenAI) -> None:
    asked = [{"role": "user", "content": "At how many rpm does the fan F-9 turn?"}]
    reply = official.chat.completions.create(model="kgrag", messages=asked)  # type: ignore[arg-type]
    text, _, sources = (reply.choices[0].message.content or "").partition("\n\nSources:\n")
    assert "4200 rpm" in text
    assert "onerror" in sources
    assert all(
        re.fullmatch(r"\[\d+\] \[[^\[\]()<>`]*\]\(http://127\.0\.0\.1:\d+/[^()<> ]*\)", one)
        for one in sources.splitlines()
    )


def test_a_stream_has_the_same_text_and_usage_when_asked_for(official: openai.OpenAI) -> None:
    whole = official.chat.completions.create(model="sparse", messages=[{"role": "user", "content": QUESTION}])
    pieces = list(
        official.chat.completions.create(
            model="sparse",
            messages=[{"role": "user", "content": QUESTION}],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    assert text == whole.choices[0].message.content
    assert len(pieces) > 4
    assert pieces[-1].usage is not None
    assert [piece.choices[0].finish_reason for piece in pieces if piece.choices][-1] == "stop"


def test_earlier_messages_are_the_turns_before(official: openai.OpenAI) -> None:
    reply = official.chat.completions.create(
        model="kgrag",
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is the standby current of the X-100?"},
            {"role": "assistant", "content": "0.5 mA"},
            {"role": "user", "content": [{"type": "text", "text": "And the X-1000?"}]},
        ],
    )
    assert "5 mA" in (reply.choices[0].message.content or "")
    assert "X-1000" in (reply.choices[0].message.content or "")


def test_an_abstention_is_an_ordinary_answer_without_sources(official: openai.OpenAI) -> None:
    reply = official.chat.completions.create(
        model="kgrag", messages=[{"role": "user", "content": "Who won the match on Mars?"}]
    )
    message = reply.choices[0].message
    assert (message.content or "").startswith("The documents do not answer this")
    assert "Sources:" not in (message.content or "")
    assert message.annotations == []


def test_errors_are_those_of_the_protocol(official: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="name of a pipeline"):
        official.chat.completions.create(model="../x", messages=[{"role": "user", "content": QUESTION}])
    with pytest.raises(openai.BadRequestError, match="empty text"):
        official.chat.completions.create(model="kgrag", messages=[{"role": "user", "content": " "}])
    with pytest.raises(openai.BadRequestError, match="last message"):
        official.chat.completions.create(model="kgrag", messages=[{"role": "assistant", "content": "Hello"}])
    with pytest.raises(openai.BadRequestError, match="messages: list should have") as told:
        official.chat.completions.create(model="kgrag", messages=[])
    assert (told.value.type, told.value.param, told.value.code) == ("invalid_request_error", "messages", None)
    with pytest.raises(openai.NotFoundError) as absent:
        official.embeddings.create(model="kgrag", input="x")
    assert absent.value.type == "invalid_request_error"
    with pytest.raises(openai.APIStatusError, match="at most 256,000 bytes") as large:
        official.chat.completions.create(model="kgrag", messages=[{"role": "user", "content": "x" * 300_000}])
    assert large.value.status_code == 413


def test_a_wrong_token_is_told_as_the_protocol_does(open_desk: OpenDesk) -> None:
    desk = open_desk(access=Access({"0" * 64: User("anna", "ask")}))
    stranger = openai.OpenAI(base_url=f"{desk.url}/v1", api_key="guessed", max_retries=0)
    with pytest.raises(openai.AuthenticationError, match="Expected a token") as told:
        stranger.models.list()
    assert told.value.code == "invalid_api_key"


def test_of_a_long_conversation_the_last_messages_are_read(official: openai.OpenAI) -> None:
    said = [{"role": role, "content": "Is the X-100 blue?"} for _ in range(60) for role in ("user", "assistant")]
    said.append({"role": "user", "content": QUESTION})
    reply = official.chat.completions.create(model="kgrag", messages=said)  # type: ignore[arg-type]
    assert "0.5 mA" in (reply.choices[0].message.content or "")
