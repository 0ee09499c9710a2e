"""What a model thinks is no part of what it says."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import ModelReplyError
from kgrag.models import open_chat_model
from kgrag.models.base import Message
from kgrag.models.thoughts import without_thoughts
from kgrag.testing import Behaviour, ModelServer

DRAFT, SAID = '{"draws": "3.3 V"}', '{"draws": "5 mA"}'


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>{DRAFT}?</think>\n{SAID}",
        f"<thinking>\n{DRAFT}?\n</thinking>\n\n{SAID}\n",
        f"Maybe {DRAFT}. No.\n</think>\n\n{SAID}",
        f"Maybe {DRAFT}. No.</think>\n{SAID}",
        f"\n</think>{SAID}",
        f"[THINK]{DRAFT}[/THINK]{SAID}",
        f"◁think▷{DRAFT}◁/think▷{SAID}",
        f"<think>a</think>\n<think>{DRAFT}</think>{SAID}",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>{SAID}<|return|>",
        f"<|start|>assistant<|channel|>final <|constrain|>json<|message|>{SAID}",
    ],
)
def test_thoughts_are_taken_off(reply: str) -> None:
    assert without_thoughts(reply) == SAID


@pytest.mark.parametrize(
    "reply", [f"<think>Perhaps {DRAFT} or", f"<|channel|>analysis<|message|>{DRAFT}", "<think></think>"]
)
def test_a_reply_that_only_thinks_says_nothing(reply: str) -> None:
    assert without_thoughts(reply) == ""
    for reason in ("stop", "length"):
        with (
            ModelServer(lambda _, reason=reason: Behaviour(reply=reply, finish_reason=reason)) as server,
            pytest.raises(ModelReplyError, match=r"thought|thinking") as raised,
        ):
            model = open_chat_model("openai:any", base_url=server.url, retries=0, model_cache="off")
            asyncio.run(model.reply([Message("user", "hello")]))
        assert "3.3 V" not in raised.value.reply


@pytest.mark.parametrize(
    "reply",
    [
        '{"answer": "Models write <think> and </think> around it.", "n": 1}',
        "The tag </think> ends it.",
        "The reset line [think of it] is pulled low.",
        "```html\n<thinker>\n```",
    ],
)
def test_what_is_said_about_thoughts_stays(reply: str) -> None:
    assert without_thoughts(reply) == reply


@given(
    st.text(alphabet="<>/think[]\n ab", max_size=200)
    | st.lists(st.sampled_from(["<think>", "</think>", "\n", " ", "a"])).map("".join)
)
def test_nothing_is_said_that_was_not_there(reply: str) -> None:
    said = without_thoughts(reply)
    assert all(line.strip() in reply for line in said.splitlines())


def test_a_hundred_thousand_marks_are_read_in_one_go() -> None:
    assert without_thoughts("a </think> b" * 100_000 + "\n") == "a </think> b" * 100_000 + "\n"


def test_the_arguments_of_all_calls_of_tools_are_read() -> None:
    calls = [{"function": {"name": "f", "arguments": a}} for a in (SAID, {"x": 1}, None)]
    body = {
        "choices": [{"message": {"content": None, "tool_calls": [*calls, "no call"]}, "finish_reason": "tool_calls"}]
    }
    with ModelServer(lambda _: Behaviour(body=json.dumps(body).encode())) as server:
        model = open_chat_model("openai:any", base_url=server.url, retries=0, model_cache="off")
        assert asyncio.run(model.reply([Message("user", "hello")])).text == f'{SAID}\n{{"x": 1}}'


def test_a_reply_has_no_characters_that_a_terminal_obeys() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    for reply in (
        '{"answer": "It needs \\u001b[2J\\u202e3.3\\tV.\\u0000"}',
        '{"answer": "It needs \x1b[2J\u202e3.3\\tV.\x00"}',
    ):
        with ModelServer(lambda _, reply=reply: Behaviour(reply=reply)) as server:
            model = open_chat_model("openai:any", base_url=server.url, retries=0, model_cache="off")
            said = asyncio.run(model.reply([Message("user", "hello")], schema=schema))
        assert said.data == {"answer": "It needs [2J3.3\tV."}
        assert "\x1b" not in said.text and "\x00" not in said.text


def test_an_object_that_was_written_as_a_string_is_read() -> None:
    schema = {"type": "object", "properties": {"draws": {"type": "string"}}, "required": ["draws"]}
    with ModelServer(lambda _: Behaviour(reply=json.dumps(SAID))) as server:
        model = open_chat_model("openai:any", base_url=server.url, retries=0, model_cache="off")
        said = asyncio.run(model.reply([Message("user", "hello")], schema=schema))
    assert said.data == {"draws": "5 mA"} and said.mended == ""
