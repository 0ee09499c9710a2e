"""The engine `ray` on a cluster of three nodes: the same store as by the engine of one machine, whatever ends in the middle."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from kgrag.cli import run
from kgrag.documents import page_parts
from kgrag.engines import LocalEngine, ray_cluster, ray_engine, ray_pool, ray_readers
from kgrag.engines.base import Engine
from kgrag.engines.ray_engine import RayEngine
from kgrag.errors import InputError
from kgrag.extract import open_extractor
from kgrag.extract.mention import MentionExtractor
from kgrag.jobs.build import build
from kgrag.jobs.report import BuildReport
from kgrag.models import rate_limits
from kgrag.models.rate_limits import SlidingMinute
from kgrag.settings import Settings
from kgrag.store.graph import open_store
from kgrag.testing import Behaviour, HashingEmbedder, ModelRequest, ModelServer, answer
from kgrag.types import Chunk, Extraction

os.environ["RAY_DISABLE_FAILURE_SIGNAL_HANDLER"] = "1"  # As kgrag sets it before it imports ray.
ray = pytest.importorskip("ray", reason="the extra ray")
CHUNKS = 40
FIRST = 10
"""Calls that the model answers at once."""
RPM = 12
OBJECT_STORE_BYTES = 80 * 2**20
KGRAG = [sys.executable, "-c", "from kgrag.cli import main; main()"]


@pytest.fixture(scope="module")
def temporary() -> Iterator[Path]:
    """The folder for what nodes, workers and this process write for a time, apart from what other runs on this machine have in theirs."""
    with (
        tempfile.TemporaryDirectory(prefix="ray-") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):  # a short path: of sockets
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


@pytest.fixture(scope="module")
def cluster(temporary: Path) -> Iterator[Any]:
    """Three nodes with a processor each, on this machine."""
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "object_store_memory": OBJECT_STORE_BYTES, "include_dashboard": False},
    )
    for _ in range(2):
        made.add_node(num_cpus=1, object_store_memory=OBJECT_STORE_BYTES)
    ray_cluster.connect(made.address)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def engine(cluster: Any) -> Iterator[RayEngine]:
    made = RayEngine(Settings())
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    docs = tmp_path / "docs"
    docs.mkdir()
    lines = [{"id": f"{i}", "title": "", "text": f"The X-{i} has the part P-{i}."} for i in range(CHUNKS)]
    (docs / "notes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name in "abc":
        text = f"The Z-1{name} board has a valve. See [the other](b.html)."
        (docs / f"{name}.md").write_text(f"# The Z-1{name} board\n\n{text}\n")
        (docs / f"{name}.html").write_text(f"<h1>The Z-2{name} board</h1><p>The Z-2{name} needs 5 V.</p>")
    (docs / "broken.html").write_bytes(b"")
    return Path("docs")


def built(
    engine: Engine, folder: Path, target: str, *, embedder: Any = None, extractor: Any = None
) -> tuple[str, BuildReport]:
    """Build with the model-free extractor; the digest and the report."""
    with open_store(target) as store:
        job = build(
            [folder],
            store=store,
            embedder=embedder or HashingEmbedder(),
            extractors=[extractor or open_extractor("mention")],
            settings=Settings(),
            engine=engine,
        )
        report = asyncio.run(job)
        return store.digest(), report


def test_both_engines_build_the_same_store(
    engine: RayEngine, folder: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_engine, "FILES_OF_AN_ACTOR", 2)
    started: list[object] = []
    start = ray_pool.Pool._start

    def counted(pool: Any) -> Any:
        started.append(pool)
        return start(pool)

    monkeypatch.setattr(ray_pool.Pool, "_start", counted)
    expected, by_local = built(LocalEngine(), folder, "local.kg")
    assert not started
    got, by_ray = built(engine, folder, "ray.kg")
    assert got == expected
    assert not [*temporary.glob("kgrag-ray-*")], "workers leave no files behind"
    readers = started[0]
    assert started.count(readers) >= 5, "three readers at first, and another one after every second of six files"
    for report in (by_local, by_ray):
        assert report.chunks_written == report.chunks_embedded == CHUNKS + 6
        assert [(one.stage, one.subject, one.reason) for one in report.failures] == [
            ("convert", "docs/broken.html", "the file is empty")
        ]
    again, unchanged = built(engine, folder, "ray.kg")
    assert again == expected
    assert unchanged.chunks_written == unchanged.chunks_embedded == 0


class Poisoned(HashingEmbedder):
    """A tokenizer that ends its process where a text says so, as a fault in a parser's native code does."""

    def __init__(self, home: int) -> None:
        super().__init__()
        self.home = home

    def count_tokens(self, text: str) -> int:
        if "poison" in text and os.getpid() != self.home:
            os._exit(1)
        return super().count_tokens(text)


class Fatal(MentionExtractor):
    """An extractor that ends its process at one chunk."""

    def __init__(self, home: int) -> None:
        super().__init__()
        self.home = home

    async def extract(self, chunk: Chunk) -> Extraction:
        if "P-3." in chunk.text and os.getpid() != self.home:
            os._exit(1)
        return await super().extract(chunk)


@pytest.fixture
def begun(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What actors were given, of files among which is a PDF of seven pages that is read in parts of at most two."""
    monkeypatch.setattr(page_parts, "LONG_BYTES", 0)
    monkeypatch.setattr(ray_readers, "PART_PAGES", 2)
    canvas = Canvas(str(folder / "manual.pdf"))
    for number, part in enumerate(["valve", "pump", "coil", "seal", "tank", "fan", "lamp"], start=1):
        canvas.drawString(70, 800 - 90 * number, f"The X-100 has the {part} P-{number}.")
        canvas.drawString(70, 785 - 90 * number, f"Each {part} is kept dry before it is taken out of its box.")
        canvas.showPage()
    canvas.save()
    given: list[Any] = []
    begin = ray_pool.Pool.begin

    def noted(pool: Any, work: Any) -> bool:
        is_begun = begin(pool, work)
        if is_begun:
            given.append((work.method, len(work.arguments)))
        return is_begun

    monkeypatch.setattr(ray_pool.Pool, "begin", noted)
    return given


def test_parts_of_a_long_pdf_are_read_by_several_actors(engine: RayEngine, folder: Path, begun: list[Any]) -> None:
    expected, _ = built(LocalEngine(), folder, "local.kg")
    got, report = built(engine, folder, "ray.kg")
    assert got == expected
    assert [(one.subject, one.reason) for one in report.failures] == [("docs/broken.html", "the file is empty")]
    assert begun.count(("read_part", 3)) == 4
    assert begun.count(("read", 2 + 4)) == 1
    assert begun.count(("read", 2)) == 6, "the others"


class Ended:
    """An actor that is killed before it answers."""

    def pages(self) -> None:
        time.sleep(3600)


def test_a_long_pdf_whose_pages_are_lost_is_read_as_a_whole(
    engine: RayEngine, folder: Path, begun: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = built(LocalEngine(), folder, "local.kg")
    add = ray_readers.Readers._add

    def lost(readers: Any, file: Any, method: str, *arguments: Any, **options: Any) -> Any:
        """As when a node ends after it has read a part: what it had cannot be got any more."""
        if method == "read" and arguments:
            ended = ray.remote(num_cpus=0)(Ended).remote()
            arguments = (ended.pages.remote(), *arguments[1:])
            ray.kill(ended)
        return add(readers, file, method, *arguments, **options)

    monkeypatch.setattr(ray_readers.Readers, "_add", lost)
    got, report = built(engine, folder, "ray.kg")
    assert got == expected
    assert [(one.subject, one.reason) for one in report.failures] == [("docs/broken.html", "the file is empty")]
    assert begun.count(("read", 2 + 4)) == 1
    assert begun.count(("read", 2)) == 6 + 1, "the others, and that one"


def test_what_ends_every_worker_fails_and_the_rest_is_done(engine: RayEngine, folder: Path) -> None:
    (folder / "b.md").write_text("# A poison\n\nThis file is poison.\n")
    home = os.getpid()
    _, report = built(engine, folder, "ray.kg", embedder=Poisoned(home), extractor=Fatal(home))
    failed = {(one.stage, one.subject): one.reason for one in report.failures}
    assert len(failed) == 3
    assert "the workers that read it ended" in failed["convert", "docs/b.md"]
    assert "the file is empty" in failed["convert", "docs/broken.html"]
    (reason,) = (reason for (stage, _), reason in failed.items() if stage == "extract")
    assert "The workers that extracted it ended" in reason
    assert report.new_documents == 6
    assert report.extractions["mention"]["ok"] + report.extractions["mention"]["empty"] == CHUNKS + 5 - 1


class Script:
    """Answers the first calls at once, and takes `then_s` for the others until it is to hurry."""

    def __init__(self, then_s: float) -> None:
        self.then_s, self.hurry, self.said = then_s, threading.Event(), 0

    def __call__(self, request: ModelRequest) -> Behaviour:
        text = request.last.rpartition("The ")[2]
        name, _, rest = text.partition(" has the part ")
        part = rest.partition(".")[0]
        found = {"entities": [{"name": name, "type": "Product", "description": ""}], "relations": [], "quantities": []}
        if part:
            sentence = f"The {name} has the part {part}."
            relation = {"subject": name, "relation": "HAS_PART", "object": part, "sentence": sentence}
            found["relations"] = [relation]  # type: ignore[list-item]
        self.said += 1
        reply = answer(found)
        return reply if self.said <= FIRST or self.hurry.is_set() else reply.after(self.then_s)


def command(server: ModelServer, store: str, cache: str, *flags: str) -> list[str]:
    """A build whose chunks a model reads, and whose vectors an endpoint makes."""
    hosted = ["--model", "openai:any", "--embedder", "openai:any", "--base-url", server.url]
    cached = ["--model-cache", cache, "--concurrency", "6"]
    return ["build", "docs", "--extractor", "llm", *hosted, *cached, "--store", store, *flags]


def digest_of(store: str) -> str:
    with open_store(store, create=False) as opened:
        return opened.digest()


@pytest.fixture
def expected(folder: Path) -> str:
    """The digest of what one machine builds with that model."""
    with ModelServer(Script(0.0)) as server:
        assert run(command(server, "local.kg", "local.sqlite")) == 1  # the empty file
    return digest_of("local.kg")


def extractors(nodes: list[Any]) -> list[int]:
    """The processes of actors that extract on these nodes: not those of another cluster on this machine."""
    parents: dict[int, int] = {}
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if (entry / "cmdline").read_text().startswith("ray::ChunkExtractor"):
                    found.append(int(entry.name))
            except OSError:  # it has ended
                continue
    raylets = {node.all_processes["raylet"][0].process.pid for node in nodes}
    return [pid for pid in found if raylets & {parents[pid], parents.get(parents[pid])}]


def once_under_way(server: ModelServer, act: Callable[[], None]) -> threading.Thread:
    """Do something when the model has answered its first calls."""

    def wait() -> None:
        while len(server.completed("chat")) < FIRST:
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_an_actor_and_a_node_that_are_killed_cost_no_call(
    cluster: Any, folder: Path, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(1.5)
    *others, last = cluster.list_all_nodes()
    killed: list[int] = []
    ended = threading.Event()

    def kill() -> None:
        """End an actor, then a node, while calls are under way."""
        while not killed and not ended.wait(0.05):
            for pid in extractors(others)[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        cluster.remove_node(last, allow_graceful=False)
        script.hurry.set()

    with ModelServer(script) as server:
        killer = once_under_way(server, kill)
        capsys.readouterr()
        try:
            code = run(command(server, "ray.kg", "ray.sqlite", "--engine", "ray", "--json"))
        finally:
            ended.set()
            killer.join()
        assert code == 1
        assert len(killed) == 1
        assert digest_of("ray.kg") == expected
        assert server.repeated("chat") == []
        report = json.loads(capsys.readouterr().out)
        assert report["models"]["openai:any"]["calls"] >= len(server.completed("chat"))
    cluster.add_node(num_cpus=1, object_store_memory=OBJECT_STORE_BYTES)


def test_every_call_of_a_cluster_has_a_place_in_the_one_limit_of_the_process_that_builds(
    cluster: Any, folder: Path, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A minute is made a second long: the limit is waited for, whichever node a chunk is on."""
    monkeypatch.setattr(rate_limits, "MINUTE_S", 1.0)
    given: dict[SlidingMinute, list[float]] = {}
    refused: list[float] = []
    take = SlidingMinute.take

    def noted(minute: SlidingMinute, now: float, tokens: float) -> tuple[int | None, float]:
        place, wait_s = take(minute, now, tokens)
        (refused if place is None else given.setdefault(minute, [])).append(now)
        return place, wait_s

    monkeypatch.setattr(SlidingMinute, "take", noted)
    with ModelServer(Script(0.0)) as server:
        flags = ["--engine", "ray", "--requests-per-minute", str(RPM)]
        assert run(command(server, "ray.kg", "ray.sqlite", *flags)) == 1  # the empty file
        assert sum(len(times) for times in given.values()) == len(server.calls())
    of_chunks = max(given.values(), key=len)
    assert len(of_chunks) == CHUNKS + 6
    assert refused
    for times in given.values():
        assert all(later - earlier >= 1.0 for earlier, later in zip(times, times[RPM:], strict=False))
    assert digest_of("ray.kg") == expected


def test_a_build_that_was_killed_goes_on_without_a_second_call(cluster: Any, folder: Path, expected: str) -> None:
    script = Script(3600.0)
    with ModelServer(script) as server:
        flags = ["--engine", "ray", "--ray-address", cluster.address]
        driver = subprocess.Popen([*KGRAG, *command(server, "ray.kg", "ray.sqlite", *flags)], stdout=subprocess.DEVNULL)
        while len(server.completed("chat")) < FIRST:
            assert driver.poll() is None
            time.sleep(0.05)
        time.sleep(1.0)  # what was answered is in the cache; the calls under way hang until the kill
        driver.kill()
        driver.wait()
        script.hurry.set()
        assert run(command(server, "ray.kg", "ray.sqlite", "--engine", "ray")) == 1
        assert server.repeated("chat") == []
    assert digest_of("ray.kg") == expected


def test_an_address_where_no_cluster_is_says_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    for address in ("127.0.0.1:1", "nowhere:port"):
        with pytest.raises(InputError, match=f"--ray-address {address}"):
            RayEngine(Settings(engine="ray", ray_address=address))


def test_without_ray_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'kgrag\[ray\]'"):
        RayEngine(Settings(engine="ray"))


HANDLER_BEFORE_AND_AFTER = """
import ctypes, sys
from pathlib import Path
from kgrag.engines.ray_cluster import connect
from kgrag.store.graph import open_store

def handler(number):
    action = ctypes.create_string_buffer(1024)  # more than any struct sigaction; the address of the handler comes first
    assert ctypes.CDLL(None).sigaction(number, None, action) == 0
    return action.raw[:8]

with open_store(sys.argv[1]):
    before = handler(11)
    connect(sys.argv[2])
    assert any(before)
    assert handler(11) == before
"""


def test_ray_leaves_the_java_machine_its_handler_of_null_pointers(cluster: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-c", HANDLER_BEFORE_AND_AFTER, str(tmp_path / "a.kg"), cluster.address]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
