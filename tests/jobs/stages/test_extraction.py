"""Extraction under trouble, on both databases: failed chunks, models and databases that go away, interrupts."""

import asyncio
import json
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from kgrag.errors import InputError, ModelError, ModelReplyError, ModelUnavailable
from kgrag.jobs.build import build
from kgrag.jobs.report import BuildReport
from kgrag.jobs.stages import extraction
from kgrag.jobs.status import status
from kgrag.models.base import ChatModel, Message
from kgrag.models.watch import PROBE, TRIES_OF_A_CALL
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder, ScriptedChatModel
from kgrag.text.names import normal_form
from kgrag.types import Chunk, Document, Entity, Extraction, Relation, Usage

DIMENSIONS = HashingEmbedder().dimensions
CHUNKS = 40
WRITE_RESULTS = 50
"""In one transaction, in the test of that: a tenth of what builds take."""


class Lines:
    """An extractor whose model says one `head | type | tail` a line."""

    def __init__(self, model: ChatModel, name: str = "lines", *, seconds: float = 0.0) -> None:
        self._seconds = seconds
        self.name = name
        self.fingerprint = "1"
        self._model = model
        self.at_once = self.most_at_once = 0

    def prepare(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        pass

    async def extract(self, chunk: Chunk) -> Extraction:
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            await asyncio.sleep(self._seconds)
            reply = await self._model.reply([Message("user", chunk.prompted_text)])
        finally:
            self.at_once -= 1
        relations = []
        for line in reply.text.splitlines():
            head, type_, tail = line.split(" | ")
            ends = [Entity(name=name, type="Thing", normal=normal_form(name)) for name in (head, tail)]
            relations.append(Relation(head=ends[0], type=type_, tail=ends[1], grounded="?" not in line))
        return Extraction(
            chunk_id=chunk.id, relations=tuple(relations), state="ok" if relations else "empty", usage=reply.usage
        )


def says(messages: Sequence[Message]) -> str:
    words = messages[-1].content.split()
    return f"{words[-2]} | NEEDS | {words[-1]}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [{"id": f"n{i}", "title": f"Note {i % 7}", "text": f"Note on part{i} and {i} V"} for i in range(CHUNKS)]
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Path("notes.jsonl")


class Heard:
    """A `Progress` that keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def advance(self, count: int = 1) -> None:
        pass

    def step(self, name: str, total: int | None, unit: str) -> "Heard":
        return self

    def __enter__(self) -> "Heard":
        return self

    def __exit__(self, *_: object) -> None:
        pass


def built(
    store: GraphStore, file: Path, *models: ChatModel, progress: Heard | None = None, **settings: object
) -> BuildReport:
    names = ["lines", "other"]
    extractors = [Lines(model, names[i]) for i, model in enumerate(models)]
    job = build(
        [file],
        store=store,
        embedder=HashingEmbedder(),
        extractors=extractors,
        model=models[0],
        settings=Settings(**settings),
        progress=progress,
    )
    return asyncio.run(job)


def test_every_chunk_is_accounted_for_and_a_second_build_takes_only_the_failed(store: GraphStore, folder: Path) -> None:
    def script(messages: Sequence[Message]) -> str:
        if "part3 " in messages[-1].content:
            raise ModelReplyError("Expected lines.", reply="3", usage=Usage(calls=1, prompt_tokens=5, cost=0.5))
        return "" if "part4 " in messages[-1].content else says(messages)

    report = built(store, folder, ScriptedChatModel(script))
    assert report.extractions["lines"] == {"ok": CHUNKS - 2, "empty": 1, "failed": 1}
    (failure,) = report.failures
    (named,) = status(store)["failures"]
    assert failure.subject == named["subject"]
    assert (named["stage"], named["graph"], named["document"]) == ("extract", "lines", "notes.jsonl")
    assert "The reply was: '3'" in named["reason"]
    chunks = status(store)["extractions"]["lines"]["chunks"]
    assert chunks == {"ok": CHUNKS - 2, "empty": 1, "mended": 0, "partial": 0, "failed": 1}
    assert store.status()["cost"]["usd"] == 0.5

    good = ScriptedChatModel(says)
    again = built(store, folder, good)
    assert ["part3 " in call[-1].content for call in good.calls] == [True]
    assert again.extractions["lines"] == {"ok": 1, "unchanged": CHUNKS - 1}
    assert status(store)["failures"] == []
    (record,) = [r for r in store.ledger.of_stage("extract", "lines").values() if r.attempts == 2]
    assert (record.calls, record.cost) == (2, 0.5), "what the failed attempt cost counts on"


def test_several_extractors_make_one_graph_each_over_the_same_chunks(store: GraphStore, folder: Path) -> None:
    one, other = ScriptedChatModel(says), ScriptedChatModel(lambda messages: "a | IS | what?")
    report = built(store, folder, one, other)
    assert (report.graphs["lines"].entities, report.graphs["lines"].relations) == (CHUNKS + 1, CHUNKS)
    counts = report.graphs["other"]
    assert (counts.entities, counts.relations, counts.ungrounded) == (2, 1, 1)
    assert counts.usage.calls == CHUNKS
    assert counts.usage.completion_tokens == CHUNKS * 5
    assert store.documents.count_chunks() == CHUNKS


def test_a_single_graph_can_have_another_name(store: GraphStore, folder: Path) -> None:
    report = built(store, folder, ScriptedChatModel(says), graph="parts.2")
    assert list(report.graphs) == list(store.status()["graphs"]) == ["parts.2"]
    with pytest.raises(InputError, match="one extractor"):
        built(store, folder, ScriptedChatModel(says), ScriptedChatModel(says), graph="parts.2")


def test_the_build_waits_for_a_model_that_is_away_and_says_so(store: GraphStore, folder: Path) -> None:
    back_at: list[float] = []

    def script(messages: Sequence[Message]) -> str:
        if len(model.calls) == 10:
            back_at.append(time.monotonic() + 1.0)
        if back_at and time.monotonic() < back_at[0]:
            raise ModelUnavailable("Connection refused.")
        return "yes" if messages[-1].content == PROBE else says(messages)

    model, heard = ScriptedChatModel(script), Heard()
    report = built(store, folder, model, progress=heard)
    assert report.extractions["lines"] == {"ok": CHUNKS}
    assert "Waiting for the model scripted" in heard.lines[0]
    assert "Connection refused" in heard.lines[0]
    assert "answers again" in heard.lines[-1]


def test_a_model_that_stays_away_ends_the_build_and_what_is_done_is_kept(store: GraphStore, folder: Path) -> None:
    def script(messages: Sequence[Message]) -> str:
        if len(model.calls) > 10:
            raise ModelUnavailable("Connection refused.")
        return says(messages)

    model = ScriptedChatModel(script)
    with pytest.raises(ModelUnavailable, match="Waited") as caught:
        built(store, folder, model, wait_s=0.3, concurrency=4)
    assert caught.value.exit_code == 3
    assert len(store.ledger.of_stage("extract", "lines")) == 10
    rest = ScriptedChatModel(says)
    built(store, folder, rest)
    assert len(rest.calls) == CHUNKS - 10


def test_a_call_that_fails_while_others_succeed_fails_its_chunk_only(store: GraphStore, folder: Path) -> None:
    def script(messages: Sequence[Message]) -> str:
        if "part39 " in messages[-1].content:
            raise ModelUnavailable("500 Internal Server Error.")
        return says(messages)

    model = ScriptedChatModel(script)
    report = built(store, folder, model, concurrency=1)
    assert report.extractions["lines"] == {"ok": CHUNKS - 1, "failed": 1}
    assert "500" in report.failures[0].reason
    assert sum("part39 " in call[-1].content for call in model.calls) == TRIES_OF_A_CALL


def test_a_model_that_refuses_ends_the_build_at_once(store: GraphStore, folder: Path) -> None:
    def script(messages: Sequence[Message]) -> str:
        raise ModelError("The key is wrong.")

    model = ScriptedChatModel(script)
    with pytest.raises(ModelError, match="key is wrong"):
        built(store, folder, model, concurrency=1)
    assert len(model.calls) == 1


def test_an_interrupted_build_keeps_what_was_done(store: GraphStore, folder: Path) -> None:
    jobs: list[asyncio.Task[BuildReport]] = []

    def script(messages: Sequence[Message]) -> str:
        if len(model.calls) == 10:
            jobs[0].cancel()
        return says(messages)

    model = ScriptedChatModel(script)

    async def run() -> None:
        extractors, settings = [Lines(model, seconds=0.05)], Settings(concurrency=2)
        job = build([folder], store=store, embedder=HashingEmbedder(), extractors=extractors, settings=settings)
        jobs.append(asyncio.create_task(job))
        await jobs[0]

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    done = len(store.ledger.of_stage("extract", "lines"))
    assert 9 <= done <= len(model.calls) < CHUNKS
    rest = ScriptedChatModel(says)
    built(store, folder, rest)
    assert len(rest.calls) == CHUNKS - done


def test_no_more_calls_are_under_way_than_allowed(tmp_path: Path, folder: Path) -> None:
    extractor = Lines(ScriptedChatModel(says))
    with open_store(tmp_path / "store.kg") as store:
        job = build(
            [folder],
            store=store,
            embedder=HashingEmbedder(),
            extractors=[extractor],
            settings=Settings(concurrency=3),
        )
        asyncio.run(job)
    assert extractor.most_at_once == 3


def test_calls_go_on_while_results_are_written_but_not_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "WRITE_RESULTS", WRITE_RESULTS)
    count, writing, goes_on = 4 * WRITE_RESULTS, threading.Event(), threading.Event()
    file = tmp_path / "many.jsonl"
    file.write_text("".join(json.dumps({"id": f"{i}", "title": "", "text": f"x {i} V"}) + "\n" for i in range(count)))
    seen_while_writing: list[int] = []
    with open_store(tmp_path / "store.kg") as store:
        put = store.graphs.put_extractions

        def slow_put(graph: str, results: Sequence[object]) -> None:
            if not writing.is_set():
                writing.set()
                assert goes_on.wait(600)
            put(graph, results)  # type: ignore[arg-type]

        monkeypatch.setattr(store.graphs, "put_extractions", slow_put)

        def watch() -> None:
            assert writing.wait(600)
            counts: list[int] = []
            while len(counts) < 5 or len(set(counts[-5:])) > 1:  # until no new call comes
                counts.append(len(model.calls))
                time.sleep(0.5)
            seen_while_writing.append(counts[-1])
            goes_on.set()

        model = ScriptedChatModel(says)
        watching = threading.Thread(target=watch)
        watching.start()
        report = built(store, file, model, concurrency=8)
        watching.join()
        assert report.extractions["lines"] == {"ok": count}
    assert WRITE_RESULTS < seen_while_writing[0] <= 8 + 2 * WRITE_RESULTS
