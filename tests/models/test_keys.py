"""Keys come from the environment or a file named by it, and show nowhere."""

import asyncio
import logging
import traceback
from pathlib import Path

import pytest

from kgrag.errors import InputError, ModelError
from kgrag.models import open_chat_model
from kgrag.models.base import Message
from kgrag.models.keys import read_key, redacted
from kgrag.settings import load_settings
from kgrag.testing import ModelServer, answer, refused

KEY = "sk-proj-abcDEF0123456789"


def test_the_variable_goes_before_the_file_that_it_names_and_the_setting_before_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "named").write_text("from-the-file\n")
    (tmp_path / "setting").write_text("from-the-setting")
    monkeypatch.setenv("A_KEY_FILE", str(tmp_path / "named"))
    key = read_key(["A_KEY"], required=True)
    assert (key.value, key.source) == ("from-the-file", "the file named by A_KEY_FILE")
    monkeypatch.setenv("A_KEY", " from-the-variable ")
    assert read_key(["A_KEY"], required=True).value == "from-the-variable"
    assert read_key(["A_KEY"], key_file=tmp_path / "setting", required=True).value == "from-the-setting"


@pytest.mark.parametrize("content", [None, "", "two words", "schlüssel", "line\nbreak"])
def test_a_file_that_holds_no_key_is_named_and_its_content_is_not(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("A_KEY_FILE", str(file))
    with pytest.raises(ModelError, match="A_KEY_FILE") as caught:
        read_key(["A_KEY"], required=True)
    assert not content or content not in str(caught.value)


def test_a_missing_key_says_what_to_set() -> None:
    with pytest.raises(ModelError, match=r"A_KEY .or A_KEY_FILE"):
        read_key(["A_KEY"], required=True)
    assert read_key(["A_KEY"], required=False).value is None


def test_a_key_does_not_print(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", KEY)
    key = read_key(["A_KEY"], required=True)
    assert KEY not in f"{key} {key!r} {key.secret!r}"
    assert redacted(f"Incorrect API key provided: {KEY}. See http://me:pw@host/v1", key) == (
        "Incorrect API key provided: [key]. See http://host/v1"
    )
    assert "sk-ab" not in redacted("Incorrect API key provided: sk-abcd*****wxyz.")


def test_a_key_is_sent_and_is_in_no_message_traceback_log_setting_or_file(
    cache_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ModelServer(api_key=KEY) as server:
        model = open_chat_model("openai:any", base_url=server.url)
        assert asyncio.run(model.reply([Message("user", "hello")])).text == "ok"
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    telling = ModelServer(lambda request: refused(401, "invalid_api_key", f"Incorrect API key provided: {KEY}"))
    with telling as server, pytest.raises(ModelError) as caught:
        asyncio.run(open_chat_model("openai:any", base_url=server.url).reply([Message("user", "hello")]))
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    assert "OPENAI_API_KEY" in shown
    assert KEY not in caplog.text
    assert KEY not in repr(load_settings(model="openai:any"))
    assert cache_file.stat().st_size > 0
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


KEYS = ["sk-abcdef0123456789", "Abcdef0123456789XYZ", "0123456789abcdef0123456789abcdef", "gsk_abcdef12345"]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_where_a_variable_is_named_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(InputError, match="environment variable") as caught:
        load_settings(api_key_env=key)
    assert key not in "".join(traceback.format_exception(caught.value))


def test_a_key_in_the_settings_file_is_refused_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kgrag.toml").write_text('api_key = "sk-abcdef0123456789"\n')
    with pytest.raises(InputError, match="a key is never a setting") as caught:
        load_settings()
    assert "abcdef" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("url", ["me:geheim@host:8000/v1", "http://me:geheim@host/v1", "me@host"])
@pytest.mark.parametrize("name", ["base_url", "embedder_base_url", "reranker_base_url"])
def test_a_user_in_an_address_is_refused_and_not_shown(name: str, url: str) -> None:
    with pytest.raises(InputError, match="without a user") as caught:
        load_settings(**{name: url})
    assert "me" not in str(caught.value).replace("environment", "").split() and "geheim" not in str(caught.value)


def test_a_key_that_a_reply_repeats_is_in_no_reply_and_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-echo-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    cache = tmp_path / "replies.sqlite"
    with ModelServer(lambda request: answer(f"You sent {key}.")) as server:
        model = open_chat_model("openai:any", base_url=server.url, model_cache=str(cache))
        reply = asyncio.run(model.reply([Message("user", "Which key?")]))
    assert reply.text == "You sent [key]."
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"[key]" in kept and key.encode() not in kept
