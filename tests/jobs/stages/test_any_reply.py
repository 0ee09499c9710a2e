"""A build survives any reply: every chunk is accounted for, the build goes on, and a reply that was of no use is not cached."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgrag.common.retry import RetryPolicy
from kgrag.extract import NEEDS_MODEL, open_extractor
from kgrag.extract.base import Extractor
from kgrag.jobs.build import build
from kgrag.jobs.report import BuildReport
from kgrag.jobs.stages.extraction import extract_graph
from kgrag.jobs.stages.job import Job
from kgrag.models import open_chat_model
from kgrag.models.base import ChatModel, Message
from kgrag.models.cached import CachedChatModel
from kgrag.models.reply_cache import ReplyCache
from kgrag.models.watch import PROBE, ModelWatch
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import Behaviour, HashingEmbedder, ModelRequest, ModelServer, ScriptedChatModel, answer
from kgrag.types import Chunk, Extraction

CHUNKS = 12
GOOD = "(X-100, draws, 5 mA)"
GRAPHS = (f"g{number}" for number in count())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["nodes", "relationships", "id", "label", "type", "head", "tail", "properties", "name"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)
REPLIES = JSON.map(json.dumps) | st.binary(max_size=40).map(lambda b: b.decode("utf-8", "surrogateescape")) | st.text()


def _body(value: object) -> bytes:
    return json.dumps(value).encode()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    with open_store(tmp_path_factory.mktemp("any") / "store.kg") as opened:
        yield opened


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("notes") / "notes.jsonl"
    lines = [{"id": f"n{i}", "title": "", "text": f"Note {i}: the X-100 draws 5 mA."} for i in range(CHUNKS)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def built(
    store: GraphStore,
    notes: Path,
    model: ChatModel,
    *,
    extractor: Extractor | None = None,
    name: str = "path",
    graph: str | None = None,
    **options: object,
) -> tuple[BuildReport, str]:
    chosen = Settings(graph=graph or next(GRAPHS), **options)
    one = extractor or open_extractor(name, model=model, settings=chosen)
    job = build([notes], store=store, embedder=HashingEmbedder(), extractors=[one], model=model, settings=chosen)
    return asyncio.run(job), str(chosen.graph)


def by_chunk(replies: Sequence[str], *, good: str = GOOD) -> Callable[[Sequence[Message]], str]:
    def script(messages: Sequence[Message]) -> str:
        asked = messages[-1].content if len(messages) < 3 else messages[1].content
        return next((reply for i, reply in enumerate(replies) if f"Note {i}:" in asked), good)

    return script


BAD = [
    '{"nodes": [{"id": "0", "label": "\\ud800", "properties": {"name": "\\ud800"}}], "relationships": []}',
    "\ud800",
    "[" * 100_000,
    '{"nodes":' * 100_000,
    "[" * 100_000 + "]" * 100_000,
]


@pytest.mark.parametrize("name", NEEDS_MODEL)
def test_replies_that_ended_builds_fail_their_chunk_alone(store: GraphStore, notes: Path, name: str) -> None:
    good = "[]" if name != "path" else GOOD
    report, graph = built(store, notes, ScriptedChatModel(by_chunk(BAD, good=good)), name=name)
    states = report.extractions[graph]
    assert sum(states.values()) == CHUNKS
    assert states["failed"] <= len(BAD)
    assert all(failure.reason for failure in report.failures)


BYTES = st.binary(max_size=60) | st.sampled_from(
    [b"", b"\xff\xfe", b"{" * 50_000, b'{"choices":' + b"[" * 50_000, b"\x1b[2J"]
)
COMPLETIONS = st.fixed_dictionaries(
    {
        "choices": st.lists(
            st.fixed_dictionaries({"message": st.fixed_dictionaries({"content": REPLIES | JSON})}), max_size=2
        )
    },
    optional={"usage": st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens"]), JSON)},
)
BODIES = BYTES | JSON.map(_body) | COMPLETIONS.map(_body)
"""Of a reply with status 200: bytes, any JSON, and what a model says in the form that is expected."""


@pytest.fixture(scope="module")
def said() -> Iterator[tuple[ModelServer, list[bytes]]]:
    bodies: list[bytes] = []

    def script(request: ModelRequest) -> Behaviour:
        number = re.findall(r"Note (\d+):", request.prompt)
        return Behaviour(body=bodies[int(number[-1])]) if number else answer("yes")

    with ModelServer(script) as server:
        yield server, bodies


@pytest.mark.parametrize("name", ["simple_kg", "llm"])
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(bodies=st.lists(BODIES, min_size=CHUNKS, max_size=CHUNKS))
def test_whatever_an_endpoint_sends_every_chunk_is_accounted_for_and_the_build_goes_on(
    store: GraphStore, notes: Path, said: tuple[ModelServer, list[bytes]], name: str, bodies: list[bytes]
) -> None:
    server, sent = said
    sent[:] = bodies
    chosen = Settings(base_url=server.url, retries=0, model_cache="off", wait_s=1)
    model = open_chat_model("openai:any", settings=chosen)
    if not store.documents.count_chunks():
        built(store, notes, ScriptedChatModel(by_chunk([])))
    store.ledger.forget("extract", [chunk.id for chunk in store.documents.chunks()])
    job = Job(store, HashingEmbedder())
    stage = extract_graph(
        open_extractor(name, model=model, settings=chosen),
        name,
        job,
        settings=chosen.model_copy(update={"concurrency": 4}),
        watch=ModelWatch(model, retry=RetryPolicy(wait_s=1.0, first_pause_s=0.001)),
    )
    asyncio.run(stage)
    report = job.report
    records = store.ledger.of_stage("extract", name)
    assert len(records) == sum(report.extractions[name].values()) == CHUNKS
    assert {record.state for record in records.values()} <= {"ok", "empty", "mended", "partial", "failed"}
    assert all(record.reason for record in records.values() if record.state in ("partial", "failed"))
    assert {failure.subject for failure in report.failures} == {
        r.subject for r in records.values() if r.state == "failed"
    }


class Raising:
    """An extractor of another package, with a defect."""

    name, fingerprint = "raising", "1"

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def prepare(self, documents: object, chunks: object) -> None:
        pass

    async def extract(self, chunk: Chunk) -> Extraction:
        reply = await self._model.reply([Message("user", chunk.text)])
        if "bad" in reply.text:
            raise RecursionError("too deep")
        return Extraction(chunk_id=chunk.id, state="empty")


def test_what_an_extractor_raises_is_named_and_its_reply_is_not_cached(
    store: GraphStore, notes: Path, tmp_path: Path
) -> None:
    cache = ReplyCache(tmp_path / "replies.sqlite")

    def cached(reply: str) -> tuple[CachedChatModel, ScriptedChatModel]:
        inner = ScriptedChatModel(lambda messages: reply if "Note 3:" in messages[-1].content else "good")
        return CachedChatModel(inner, cache), inner

    model, _ = cached("bad")
    report, graph = built(store, notes, model, extractor=Raising(model))
    assert report.extractions[graph] == {"empty": CHUNKS - 1, "failed": 1}
    assert "raising raised RecursionError: too deep" in report.failures[0].reason
    model, inner = cached("good")
    report, _ = built(store, notes, model, extractor=Raising(model))  # another graph: only the cache knows the replies
    assert report.extractions[next(iter(report.extractions))] == {"empty": CHUNKS}
    assert ["Note 3:" in call[-1].content for call in inner.calls if call[-1].content != PROBE] == [True]


def test_partial_chunks_are_asked_for_again_on_request_and_keep_what_they_have(store: GraphStore, notes: Path) -> None:
    cut = "(X-100, draws, 5 mA)\n(X-100, needs"
    report, graph = built(store, notes, ScriptedChatModel(by_chunk([cut, cut])))
    assert report.extractions[graph] == {"ok": CHUNKS - 2, "partial": 2}
    assert built(store, notes, ScriptedChatModel([]), graph=graph)[0].extractions[graph] == {"unchanged": CHUNKS}
    worse = ScriptedChatModel(by_chunk(["I cannot do that."]))
    report, _ = built(store, notes, worse, graph=graph, retry="partial")
    assert report.extractions[graph] == {"unchanged": CHUNKS - 2, "partial": 1, "ok": 1}
    assert len(worse.calls) == 2
    (record,) = [r for r in store.ledger.of_stage("extract", graph).values() if r.state == "partial"]
    assert "a line ends inside a triple" in record.reason and "asked again, which failed" in record.reason
    assert store.graphs.counts()[graph]["relations"] == 1
