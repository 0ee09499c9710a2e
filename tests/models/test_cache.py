"""Replies that are there already are not asked for, whoever asks, and never after a reply of no use."""

import asyncio
import multiprocessing
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import InputError, ModelReplyError
from kgrag.models import open_chat_model, open_embedder
from kgrag.models.base import ChatModel, Message
from kgrag.models.cached import CachedChatModel, CachedEmbedder, CachedReranker, chat_key, fresh_replies
from kgrag.models.meter import Meter
from kgrag.models.reply_cache import ReplyCache
from kgrag.testing import HashingEmbedder, ModelServer, ScriptedChatModel, ScriptedReranker, hanging, wrong_types
from kgrag.types import Usage

ASKED = [Message("user", "hello")]
SCHEMA = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}

MESSAGES = st.lists(
    st.builds(Message, st.sampled_from(["system", "user", "assistant"]), st.text(max_size=5)), min_size=1, max_size=3
)
SCHEMAS = st.none() | st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2)
REQUESTS = st.tuples(st.text(max_size=4), MESSAGES, SCHEMAS)


@given(a=REQUESTS, b=REQUESTS)
def test_keys_are_equal_exactly_where_requests_are(
    a: tuple[str, list[Message], Any], b: tuple[str, list[Message], Any]
) -> None:
    assert (chat_key(*a) == chat_key(*b)) == (repr(a) == repr(b) or a == b)


def test_a_key_does_not_depend_on_the_order_of_a_schema() -> None:
    one, other = {"type": "object", "required": ["x"]}, {"required": ["x"], "type": "object"}
    assert chat_key("m", ASKED, one) == chat_key("m", ASKED, other)


def test_an_equal_request_is_paid_for_once_and_a_cached_reply_costs_nothing(cache_file: Path) -> None:
    meter = Meter()
    with ModelServer(lambda request: {"said": request.last}) as server:
        model = open_chat_model("openai:gpt-4o", base_url=server.url, meter=meter)
        first = asyncio.run(model.reply(ASKED, schema=SCHEMA))
        again = asyncio.run(
            open_chat_model("openai:gpt-4o", base_url=server.url, meter=meter).reply(ASKED, schema=SCHEMA)
        )
        other = asyncio.run(model.reply(ASKED))
        assert len(server.requests) == 2
    assert (again.text, again.data) == (first.text, first.data)
    assert again.usage == Usage()
    assert other.data is None
    assert meter.cached["openai:gpt-4o"] == 1
    assert meter.total.calls == 2
    size = ReplyCache(cache_file).size()
    assert (dict(size.entries), size.megabytes > 0) == ({"openai:gpt-4o": 2}, True)


def test_models_endpoints_and_options_are_told_apart() -> None:
    with ModelServer("ok") as server, ModelServer("ok") as elsewhere:
        for options in (
            {"base_url": server.url},
            {"base_url": server.url, "temperature": 0.7},
            {"base_url": server.url, "max_completion_tokens": 9},
            {"base_url": elsewhere.url},
            {"base_url": server.url, "timeout_s": 3.0},
        ):
            asyncio.run(open_chat_model("openai:any", **options).reply(ASKED))
        asyncio.run(open_chat_model("openai:other", base_url=server.url).reply(ASKED))
        assert (len(server.requests), len(elsewhere.requests)) == (4, 1)


def test_a_reply_of_no_use_is_not_kept() -> None:
    good = {"said": "hello"}
    with ModelServer([wrong_types(good), wrong_types(good), good]) as server:
        model = open_chat_model("openai:any", base_url=server.url)
        with pytest.raises(ModelReplyError):
            asyncio.run(model.reply(ASKED, schema=SCHEMA))
        assert asyncio.run(model.reply(ASKED, schema=SCHEMA)).data == good


def test_fresh_replies_are_asked_for_and_replace_what_was_kept(tmp_path: Path) -> None:
    model = CachedChatModel(ScriptedChatModel(["old", "new"]), ReplyCache(tmp_path / "cache"))
    assert asyncio.run(model.reply(ASKED)).text == "old"
    with fresh_replies():
        assert asyncio.run(model.reply(ASKED)).text == "new"
    assert asyncio.run(model.reply(ASKED)).text == "new"


def test_equal_requests_at_the_same_time_are_made_once_and_the_next_one_takes_over_from_a_cancelled_one() -> None:
    async def scenario(model: ChatModel) -> list[str]:
        first = asyncio.create_task(model.reply(ASKED))
        others = [asyncio.create_task(model.reply(ASKED)) for _ in range(5)]
        while not server.requests:
            await asyncio.sleep(0.005)
        first.cancel()
        return [(await other).text for other in others]

    with ModelServer([hanging(), "ok"]) as server:
        assert asyncio.run(scenario(open_chat_model("openai:any", base_url=server.url))) == ["ok"] * 5
        assert [request.state for request in server.requests] == ["dropped", "completed"]


def test_texts_are_embedded_once_each_however_they_are_batched(tmp_path: Path) -> None:
    counted: list[list[str]] = []

    class Counting(HashingEmbedder):
        async def embed_documents(self, texts: Any) -> Any:
            counted.append(list(texts))
            return self.embed(texts)

    embedder = CachedEmbedder(Counting(), ReplyCache(tmp_path / "cache"))
    first = asyncio.run(embedder.embed_documents(["red", "blue", "red"]))
    second = asyncio.run(embedder.embed_documents(["green", "blue"]))
    assert counted == [["red", "blue"], ["green"]]
    assert np.array_equal(first[1], second[1])
    assert np.array_equal(first, HashingEmbedder().embed(["red", "blue", "red"]))
    asyncio.run(embedder.embed_queries(["red"]))
    assert asyncio.run(embedder.embed_documents([])).shape == (0, 64)


def test_scores_are_kept_for_a_query_and_all_its_passages(tmp_path: Path) -> None:
    asked: list[str] = []

    def score(query: str, passage: str) -> float:
        asked.append(passage)
        return float(len(passage))

    reranker = CachedReranker(ScriptedReranker(score), ReplyCache(tmp_path / "cache"))
    for passages in (["a", "bb"], ["a", "bb"], ["a"]):
        assert asyncio.run(reranker.score("q", passages)).tolist() == [float(len(p)) for p in passages]
    assert asked == ["a", "bb", "a"]


def write_many(path: Path, worker: int) -> None:
    model = CachedChatModel(ScriptedChatModel(lambda messages: messages[0].content), ReplyCache(path))

    async def all_of_them() -> None:
        await asyncio.gather(*(model.reply([Message("user", f"{worker} {number}")]) for number in range(200)))

    asyncio.run(all_of_them())


def test_several_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(tmp_path / "cache", worker)) for worker in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert dict(ReplyCache(tmp_path / "cache").size().entries) == {"scripted": 600}


def test_a_file_that_is_no_cache_is_named_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a database " * 100)
    with pytest.raises(InputError, match="KGRAG_MODEL_CACHE"):
        ReplyCache(tmp_path / "cache").get(["key"])
    with sqlite3.connect(tmp_path / "later") as later:
        later.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="another version"):
        ReplyCache(tmp_path / "later").get(["key"])


def test_no_prompt_is_in_the_file_and_only_its_owner_may_read_it(cache_file: Path) -> None:
    with ModelServer("a reply") as server:
        asyncio.run(open_chat_model("openai:any", base_url=server.url).reply([Message("user", "a secret prompt")]))
        asyncio.run(open_embedder("openai:any", base_url=server.url).embed_documents(["a secret text"]))
    content = b"".join(file.read_bytes() for file in cache_file.parent.glob("replies.sqlite*"))
    assert b"a reply" in content
    assert b"secret" not in content
    assert cache_file.stat().st_mode & 0o077 == 0


def test_what_was_kept_survives_a_killed_process(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom kgrag.models.reply_cache import ReplyCache\n"
        "ReplyCache(Path(sys.argv[1])).put('chat', 'm', {'key': b'paid'})\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path / "cache")], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert ReplyCache(tmp_path / "cache").get(["key", "other"]) == {"key": b"paid"}
