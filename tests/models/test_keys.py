"""Keys come from the environment or a file named by it, and show nowhere."""

import asyncio
import logging
import traceback
from pathlib import Path

import pytest

from kgrag.errors import ModelError
from kgrag.models import open_chat_model
from kgrag.models.base import Message
from kgrag.models.keys import read_key, redacted
from kgrag.settings import load_settings
from kgrag.testing import ModelServer, refused

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
