"""A model's server and a database's server that go away amid a build or many questions and come back: it waits and goes on."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from kgrag.cli import run
from kgrag.knowledge_graph import open_graph
from kgrag.models.minilm import MiniLM
from kgrag.models.watch import PROBE
from kgrag.store.graph import open_store
from kgrag.testing import Behaviour, ModelRequest, ModelServer, answer, server_error

DIMENSIONS = MiniLM.dimensions
CHUNKS = 60
AWAY_S = 4.0
HELD_S = 1.0
HELD_UNTIL_STOPPED_S = 300.0
"""Of replies that the server never sends: it is stopped before."""

Interrupt = Callable[[ModelServer, "Script", Callable[[], None], Callable[[], object]], None]


class Script:
    """Takes its time for all but the first third of the calls until the outage has begun, so that it comes in the middle of the build."""

    def __init__(self, held_s: float = HELD_S) -> None:
        self.away = threading.Event()
        self.held_s = held_s

    def __call__(self, request: ModelRequest) -> Behaviour:
        number = request.last.rpartition("says ")[2].partition(".")[0]
        reply = answer(f"(part {number}, NEEDS, {number} V)")
        return reply if self.away.is_set() or request.number < CHUNKS // 3 else reply.after(self.held_s)


class Proxy:
    """A way to a TCP server that can be closed and opened again on the same port."""

    def __init__(self, host: str, port: int) -> None:
        self._upstream = host, port
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def open(self) -> None:
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()

    def end(self) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, upstream = await asyncio.open_connection(*self._upstream)
        self._writers |= {writer, upstream}
        await asyncio.gather(self._pump(reader, upstream), self._pump(there, writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass  # what the test does on purpose
        finally:
            writer.transport.abort()
            self._writers.discard(writer)


@pytest.fixture
def arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("KGRAG_RETRIES", "1")
    lines = [{"id": f"{i}", "title": "", "text": f"The board says {i}."} for i in range(CHUNKS)]
    Path("notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = ["build", "notes.jsonl", "--extractor", "path", "--model", "openai:scripted", "--concurrency", "4"]
    return [*command, "--model-cache", "replies.sqlite", "--store"]


@pytest.fixture
def interrupt() -> Iterator[Interrupt]:
    """Do something once the model has completed some calls of a build that another thread runs."""
    threads: list[threading.Thread] = []
    ended = threading.Event()

    def start(model: ModelServer, script: Script, begin: Callable[[], None], end: Callable[[], object]) -> None:
        def wait() -> None:
            while not quick_replies_are_sent(model):
                if ended.wait(0.02):
                    return  # the build failed before
            begin()
            script.away.set()
            time.sleep(AWAY_S)
            end()

        threads.append(threading.Thread(target=wait))
        threads[0].start()

    yield start
    ended.set()
    for thread in threads:
        thread.join()


def quick_replies_are_sent(model: ModelServer) -> bool:
    """Whether the first third of the calls has come and been answered: what is open now is held, so no reply is lost on its way."""
    calls = model.calls("chat")
    return len(calls) >= CHUNKS // 3 and all(one.state != "open" for one in calls if one.number < CHUNKS // 3)


def states(target: str) -> dict[str, int]:
    with open_store(target) as store:
        counts: dict[str, int] = store.ledger.extraction_counts()["path"]["chunks"]
        return counts


def test_a_model_server_that_goes_and_comes_back(
    arguments: list[str],
    interrupt: Interrupt,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = Script(HELD_UNTIL_STOPPED_S)
    with ModelServer(script, latency_s=0.1) as model:
        interrupt(model, script, model.stop, model.start)
        assert run([*arguments, "store.kg", "--base-url", model.url]) == 0
    assert states("store.kg") == {"ok": CHUNKS, "empty": 0, "mended": 0, "partial": 0, "failed": 0}
    said = capsys.readouterr().err
    assert "Waiting for the model openai:scripted" in said
    assert "answers again" in said
    assert [request for request in model.repeated("chat") if "Reply with the single word" not in request.last] == []


@pytest.fixture
def proxy(neo4j_empty: str) -> Iterator[Proxy]:
    address = urlsplit(neo4j_empty)
    between = Proxy(address.hostname or "", address.port or 0)
    between.open()
    yield between
    between.end()


@pytest.mark.neo4j
def test_a_database_server_that_goes_and_comes_back(
    arguments: list[str],
    neo4j_empty: str,
    proxy: Proxy,
    interrupt: Interrupt,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = Script()
    with ModelServer(script, latency_s=0.1) as model:
        interrupt(model, script, proxy.close, proxy.open)
        # `bolt`, because `neo4j` would ask the server for its address and go round the proxy.
        assert run([*arguments, f"bolt://127.0.0.1:{proxy.port}", "--base-url", model.url]) == 0
    assert states(neo4j_empty) == {"ok": CHUNKS, "empty": 0, "mended": 0, "partial": 0, "failed": 0}
    said = capsys.readouterr().err
    assert "Waiting for the database" in said
    assert "answers again" in said
    assert model.repeated("chat") == []


@pytest.mark.neo4j
def test_a_database_server_that_stays_away_ends_the_build_and_what_was_paid_for_is_kept(
    arguments: list[str],
    neo4j_empty: str,
    proxy: Proxy,
    interrupt: Interrupt,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = Script()
    with ModelServer(script, latency_s=0.1) as model:
        interrupt(model, script, proxy.close, lambda: None)
        command = [*arguments, f"bolt://127.0.0.1:{proxy.port}", "--base-url", model.url]
        assert run([*command, "--wait-s", "1"]) == 3
        said = capsys.readouterr().err
        assert "Waited" in said
        assert "what was done is kept" in said.casefold()
        proxy.open()
        assert run(command) == 0
    assert model.repeated("chat") == []
    assert states(neo4j_empty)["ok"] == CHUNKS


QUESTIONS = [f"Does the board say {number}?" for number in (3, 5, 7)]


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a store and a file of questions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("KGRAG_RETRIES", "0")
    lines = [{"id": f"{i}", "title": "", "text": f"The board says {i}."} for i in range(10)]
    Path("notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("asked.txt").write_text("\n".join(QUESTIONS))
    return tmp_path


def test_many_questions_outlast_a_model_that_goes_away_and_pass_over_one_that_it_never_answers(
    built: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["build", "notes.jsonl"]) == 0
    away = iter([True, True, True])

    def reply(request: ModelRequest) -> Behaviour | dict[str, object]:
        if QUESTIONS[2] in request.last or (QUESTIONS[0] not in request.last and next(away, False)):
            return server_error(503)
        return (
            answer("yes")
            if PROBE in request.last
            else {"quotes": [], "answered": True, "answer": "Yes, it is so [passage 1]."}
        )

    with ModelServer(reply) as model:
        hosted = ["--model", "openai:any", "--base-url", model.url, "--model-cache", "off"]
        capsys.readouterr()
        assert run(["ask", "--questions", "asked.txt", "--json", *hosted]) == 1
    said = capsys.readouterr()
    first, second, third = (json.loads(line) for line in said.out.splitlines())
    assert "it is so" in first["text"] and "it is so" in second["text"]
    assert third["question"] == QUESTIONS[2] and "the model answers other calls" in third["error"]
    assert "Waiting for the model openai:any" in said.err and "answers again" in said.err


@pytest.mark.neo4j
def test_many_questions_outlast_a_database_server_that_goes_away(built: Path, neo4j_empty: str) -> None:
    address = urlsplit(neo4j_empty)
    proxy = Proxy(address.hostname or "", address.port or 0)
    proxy.open()
    heard: list[str] = []

    def say(line: str) -> None:
        heard.append(line)
        if "Waiting for the database" in line:
            proxy.open()

    try:
        with open_graph(f"bolt://127.0.0.1:{proxy.port}") as graph:
            graph.build("notes.jsonl")
            with graph.outlasting(say):
                before = graph.ask(QUESTIONS[0])
                proxy.close()
                assert graph.ask(QUESTIONS[0]).text == before.text
            assert len(heard) == 2 and "answers again" in heard[1]
    finally:
        proxy.end()
