"""A desk under load: many users with think time, an upload in the middle, the database away, a model that hangs, clients that go away.

    python -m benchmarks.serve_load                                              # both databases, ten minutes each
    python -m benchmarks.serve_load --databases embedded --store ./my.kg --seconds 60 --users 10

On each database the corpus (the 2,138 Arduino chunks of ../shared/data, else synthetic ones) is built, and `kgrag serve` runs as a
process of its own. Three phases, a row of the table each:

- one user asks without think time for `--alone` seconds, answered without a model;
- `--users` ask at once, each with a pause between two questions that is exponentially distributed. Its mean (`--think`) is chosen such
  that they ask as many questions a second together as the one did: throughput per core is the same then, and response times can be
  compared. Half-way a document is uploaded, built and asked; at three quarters a database server is shut down for `--outage` seconds and
  started again (the desk then answers 503, counted apart), and the desk has to answer again without being started anew;
- a desk with a scripted model: it hangs (every question has to end as a problem, and searches go on being answered), then its clients go
  away while it writes (every call has to end), then it answers.

Prints errors by kind and exits with 1 where there is one. Processor time and memory are those of the desk's process (the embedded
database is in it); the memory's slope is that of a line through its samples from the first quarter on.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

import kgrag
from benchmarks.corpus import REAL_CHUNKS, make_corpus
from benchmarks.processes import cpu_seconds
from benchmarks.stores import NEO4J_HEAP_MB, fresh_store
from benchmarks.tables import print_table
from kgrag.neo4j_local import server as neo4j_server
from kgrag.testing import Behaviour, ModelServer, answer, hanging, slowly

UPLOAD = "# Valve LV-{n}\n\n## Ratings\n\nThe valve LV-{n} opens at {n} bar and weighs 2.5 kg.\n"
PAGE = os.sysconf("SC_PAGE_SIZE")
CLIENT_TIMEOUT_S = 120.0
BACK_S = 60.0
"""After the database is back the desk has so long to answer again."""
MODEL_QUESTION_S = 20.0
HANGING_USERS, LEAVING_USERS = 4, 6
QUESTIONS = 160
REPLY = {"quotes": [], "answered": True, "answer": "It is written in the passage [1]. " * 60}


@dataclass(slots=True)
class Phase:
    """What was measured while so many users asked."""

    database: str
    name: str
    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    away: int = 0
    """Questions that were answered 503 while the database was away."""
    began: float = 0.0
    asked_s: float = 0.0
    """Until the last answer: an upload may take longer."""
    lasted_s: float = 0.0
    cpu_s: float = 0.0
    memory: list[tuple[float, float]] = field(default_factory=list)
    """Seconds since the beginning, and megabytes."""
    notes: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.seconds) / max(self.asked_s, 1e-9)

    def slope(self) -> float:
        """Megabytes a minute that the memory grows by, from the first quarter on (least squares)."""
        kept = [(at / 60, size) for at, size in self.memory if at >= self.lasted_s / 4]
        return statistics.linear_regression(*zip(*kept, strict=True)).slope if len(kept) > 2 else 0.0

    def row(self) -> tuple[str, ...]:
        """Return it as a row of the table."""
        sizes = [size for _, size in self.memory] or [0.0]
        return (
            self.database,
            self.name,
            str(len(self.seconds)),
            str(sum(self.errors.values())),
            str(self.away),
            f"{percentile(self.seconds, 0.5):.3f}",
            f"{percentile(self.seconds, 0.95):.3f}",
            f"{self.rate:.2f}",
            f"{self.rate / (os.cpu_count() or 1):.2f}",
            f"{1000 * self.cpu_s / max(len(self.seconds), 1):.0f}",
            f"{sizes[0]:.0f}-{max(sizes):.0f}",
            f"{self.slope():+.1f}",
        )


HEAD = (
    "database",
    "users",
    "answers",
    "errors",
    "503 while away",
    "p50 s",
    "p95 s",
    "a second",
    "a second and core",
    "CPU ms each",
    "RSS MB",
    "MB a minute",
)


def main() -> None:
    """Print one table: on each database one user, all of them, and those of a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--databases", default="embedded,neo4j", help="which, separated by commas")
    parser.add_argument("--store", type=Path, help="a store that is built, for embedded: a copy of it is asked")
    parser.add_argument(
        "--chunks", type=int, default=REAL_CHUNKS, help="of the corpus; others than 2,138 are synthetic"
    )
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--alone", type=float, default=60.0)
    parser.add_argument("--think", type=float, help="mean seconds between two questions of a user")
    parser.add_argument("--outage", type=float, default=30.0, help="seconds; of a database server only; 0: none")
    arguments = parser.parse_args()
    phases: list[Phase] = []
    for database in arguments.databases.split(","):
        with prepared(database, arguments) as (target, questions, home):
            phases += asyncio.run(measure(database, target, questions, home, arguments))
    notes = [f"{phase.database}, {phase.name}: {note}" for phase in phases for note in phase.notes]
    for alone, many in zip(phases[::3], phases[1::3], strict=True):
        ratio = percentile(many.seconds, 0.95) / max(percentile(alone.seconds, 0.95), 1e-9)
        notes.append(f"{many.database}: p95 of {many.name} users / p95 of one: {ratio:.2f}")
    errors = [f"{one.database}, {one.name}: {count} {kind}" for one in phases for kind, count in one.errors.items()]
    print_table(
        f"kgrag serve, {arguments.users} users, {arguments.seconds:.0f} s, rules",
        HEAD,
        [phase.row() for phase in phases],
        [*notes, f"errors: {'; '.join(errors) or 'none'}", f"load average at the end: {os.getloadavg()[0]:.1f}"],
    )
    sys.exit(1 if errors else 0)


@contextmanager
def prepared(database: str, arguments: argparse.Namespace) -> Iterator[tuple[str, Sequence[str], Path | None]]:
    """Yield the store to open, questions, and the home of a server that can be shut down."""
    with tempfile.TemporaryDirectory(prefix="kgrag-load-") as name, fresh_store(database) as made:
        corpus = make_corpus(arguments.chunks, Path(name), question_count=QUESTIONS)
        if arguments.store is not None and made.server_pid is None:
            shutil.copytree(arguments.store, made.target)
        else:
            with kgrag.open(made.target) as graph:
                graph.build(corpus.file)
        yield made.target, corpus.questions, None if made.server_pid is None else made.folder.parent


async def measure(
    database: str, target: str, questions: Sequence[str], home: Path | None, arguments: argparse.Namespace
) -> list[Phase]:
    """Run all phases."""
    alone, many = Phase(database, "1"), Phase(database, str(arguments.users))
    with tempfile.TemporaryDirectory(prefix="kgrag-load-") as name:
        async with desk(target, Path(name)) as (process, client):
            await client.post("/api/ask", json={"question": questions[0]})
            async with watched(alone, process.pid):
                await user(client, questions, alone, until=time.monotonic() + arguments.alone, think_s=0, seed=0)
            think_s = arguments.think
            if think_s is None:
                think_s = max(arguments.users / alone.rate - statistics.median(alone.seconds), 0.0)
            many.notes.append(f"mean think time {think_s:.1f} s")
            outage = Outage(home)
            async with watched(many, process.pid):
                until = time.monotonic() + arguments.seconds
                jobs = [
                    user(client, questions, many, until=until, think_s=think_s, seed=n, outage=outage)
                    for n in range(1, arguments.users + 1)
                ]
                uploaded = asyncio.Event()
                jobs.append(upload(client, many, after_s=arguments.seconds / 2, done=uploaded))
                jobs.append(alive(client, many, until=until))
                if home is not None and arguments.outage:
                    jobs.append(
                        outage.happen(
                            client, many, after_s=0.75 * arguments.seconds, for_s=arguments.outage, not_before=uploaded
                        )
                    )
                await asyncio.gather(*jobs)
            if process.poll() is not None:
                many.errors["the desk ended"] += 1
    return [alone, many, await model_phase(database, target, questions)]


async def user(
    client: httpx2.AsyncClient,
    questions: Sequence[str],
    phase: Phase,
    *,
    until: float,
    think_s: float,
    seed: int,
    outage: Outage | None = None,
) -> None:
    """Ask one question after another."""
    chance = random.Random(seed)
    if think_s:
        await asyncio.sleep(min(chance.uniform(0, think_s), max(until - time.monotonic(), 0)))
    while time.monotonic() < until:
        began = time.monotonic()
        kind = await asked(client, chance.choice(questions))
        if not kind:
            phase.seconds.append(time.monotonic() - began)
        elif kind == "503" and outage is not None and outage.was_met(began):
            phase.away += 1
        else:
            phase.errors[kind] += 1
        phase.asked_s = time.monotonic() - phase.began
        if think_s:
            await asyncio.sleep(min(chance.expovariate(1 / think_s), max(until - time.monotonic(), 0)))


async def asked(client: httpx2.AsyncClient, question: str) -> str:
    """Ask; return what kind of error came, empty for none. A refusal has to be a problem that says what is wrong."""
    try:
        reply = await client.post("/api/ask", json={"question": question})
    except httpx2.HTTPError as error:
        return type(error).__name__
    if reply.status_code == 200:
        return "" if reply.json()["answer"]["text"] else "empty answer"
    clean = reply.headers.get("content-type") == "application/problem+json" and reply.json().get("detail")
    return f"{reply.status_code}{'' if clean else ' without a problem'}"


async def alive(client: httpx2.AsyncClient, phase: Phase, *, until: float) -> None:
    """Look every second whether the process says that it lives, whatever else is wrong."""
    while time.monotonic() < until:
        try:
            status = str((await client.get("/healthz")).status_code)
        except httpx2.HTTPError as error:
            status = type(error).__name__
        if status != "200":
            phase.errors[f"healthz {status}"] += 1
        await asyncio.sleep(1)


async def upload(client: httpx2.AsyncClient, phase: Phase, *, after_s: float, done: asyncio.Event) -> None:
    """Upload a document, build it and ask it, while others ask."""
    try:
        await asyncio.sleep(after_s)
        await upload_and_ask(client, phase)
    finally:
        done.set()


async def upload_and_ask(client: httpx2.AsyncClient, phase: Phase) -> None:
    """Upload a document, build it and ask it."""
    number = 100 + int(time.time()) % 9_000
    name, text = f"valve-{number}.md", UPLOAD.format(n=number)
    began = time.monotonic()
    try:
        sent = await client.post("/api/documents", params={"name": name}, content=text.encode())
        started = await client.post("/api/build", json={})
        if (sent.status_code, started.status_code) != (201, 202):
            phase.errors[f"upload {sent.status_code}, {started.status_code}"] += 1
            return
        while (now := (await client.get("/api/build")).json())["state"] == "running":
            await asyncio.sleep(0.5)
        reply = await client.post("/api/ask", json={"question": f"At how many bar does the valve LV-{number} open?"})
    except httpx2.HTTPError as error:
        phase.errors[f"upload {type(error).__name__}"] += 1
        return
    if now["state"] != "done" or now["failures"]:
        phase.errors["build"] += 1
    if reply.status_code != 200 or f"{number} bar" not in reply.json()["answer"]["text"]:
        phase.errors["uploaded document not found"] += 1
    phase.notes.append(f"an uploaded document was answered from {time.monotonic() - began:.0f} s after it was sent")


class Outage:
    """A database server that is shut down for a while."""

    def __init__(self, home: Path | None) -> None:
        self._home = home
        self._from = self._until = float("inf")

    def was_met(self, began: float) -> bool:
        """Whether what began then, and ends now, met the outage."""
        return self._from <= time.monotonic() and began <= self._until

    async def happen(
        self, client: httpx2.AsyncClient, phase: Phase, *, after_s: float, for_s: float, not_before: asyncio.Event
    ) -> None:
        """Shut the server down, look at what the desk says of it, start it again, and wait until the desk answers."""
        await asyncio.sleep(after_s)
        await not_before.wait()
        assert self._home is not None
        running = neo4j_server.status(self._home)
        assert running is not None
        self._from = time.monotonic()
        await asyncio.to_thread(neo4j_server.down, self._home)
        down = time.monotonic()
        ready = await client.get("/readyz")
        if ready.status_code != 503:
            phase.errors[f"readyz {ready.status_code} while away"] += 1
        await asyncio.sleep(max(for_s - (time.monotonic() - down), 0))
        port = running.bolt_port
        await asyncio.to_thread(
            lambda: neo4j_server.up(
                self._home, bolt_port=port, engine="maven", heap_mb=NEO4J_HEAP_MB, owner_pid=os.getpid()
            )
        )
        back = time.monotonic()
        while (await client.get("/readyz")).status_code != 200:
            if time.monotonic() > back + BACK_S:
                phase.errors["not ready after the outage"] += 1
                break
            await asyncio.sleep(0.5)
        self._until = time.monotonic()
        phase.notes.append(
            f"the database was away for {back - down:.0f} s; the desk was ready {self._until - back:.1f} s after it was back"
        )


async def model_phase(database: str, target: str, questions: Sequence[str]) -> Phase:
    """Ask a desk whose model hangs, go away while it writes, then have it answer."""
    phase = Phase(database, "model")
    behave: Callable[[], Behaviour] = lambda: answer(REPLY)  # noqa: E731
    with ModelServer(lambda request: behave()) as model, tempfile.TemporaryDirectory(prefix="kgrag-load-") as name:
        hosted = [
            "--model",
            "openai:scripted",
            "--base-url",
            model.url,
            "--model-cache",
            "off",
            "--question-s",
            str(MODEL_QUESTION_S),
        ]
        async with desk(target, Path(name), *hosted) as (process, client), watched(phase, process.pid):
            questions = await of_model(client, model, questions)
            behave = hanging
            began = time.monotonic()
            hanging_ones = [asyncio.create_task(asked(client, questions[n])) for n in range(HANGING_USERS)]
            await asyncio.sleep(1)
            searched = 0
            while not all(one.done() for one in hanging_ones):
                reply = await client.post("/api/retrieve", json={"question": questions[searched % len(questions)]})
                if reply.status_code != 200:
                    phase.errors[f"search while the model hangs: {reply.status_code}"] += 1
                searched += 1
            for said in [one.result() for one in hanging_ones]:
                if said not in ("502", "503", "504"):
                    phase.errors[f"hanging model: {said or 'an answer'}"] += 1
            phase.notes.append(
                f"{HANGING_USERS} questions to a model that hangs ended as problems within {time.monotonic() - began:.0f} s "
                f"(--question-s {MODEL_QUESTION_S:.0f}); {searched} searches were answered meanwhile"
            )
            behave = lambda: slowly(REPLY, piece_s=0.5)  # noqa: E731
            before = len(model.requests)
            await asyncio.gather(*(leave(client, phase, questions[n]) for n in range(LEAVING_USERS)))
            calls = model.requests[before:]
            for _ in range(300):
                if all(one.state != "open" for one in calls):
                    break
                await asyncio.sleep(0.1)
            dropped = sum(one.state == "dropped" for one in calls)
            if dropped != LEAVING_USERS:
                phase.errors["call of a model that went on without its client"] += LEAVING_USERS - dropped
            phase.notes.append(f"{LEAVING_USERS} clients went away while the model wrote, {dropped} calls ended")
            behave = lambda: answer(REPLY)  # noqa: E731
            for question in questions[:5]:
                asking = time.monotonic()
                if kind := await asked(client, question):
                    phase.errors[kind] += 1
                else:
                    phase.seconds.append(time.monotonic() - asking)
    return phase


async def of_model(client: httpx2.AsyncClient, model: ModelServer, questions: Sequence[str]) -> list[str]:
    """Return questions that the model is called for: those that count and list are answered without it."""
    called: list[str] = []
    for question in questions:
        before = len(model.requests)
        await asked(client, question)
        called += [question] if len(model.requests) > before else []
        if len(called) == max(HANGING_USERS, LEAVING_USERS):
            return called
    raise SystemExit(
        f"Expected {max(HANGING_USERS, LEAVING_USERS)} questions that call the model, found {len(called)}."
    )


async def leave(client: httpx2.AsyncClient, phase: Phase, question: str) -> None:
    """Go away when the first words of an answer have come."""
    headers = {"Accept": "text/event-stream"}
    async with client.stream("POST", "/api/ask", json={"question": question}, headers=headers) as reply:
        async for line in reply.aiter_lines():
            if line == "event: text":
                return
    phase.errors["a stream without text"] += 1


@asynccontextmanager
async def desk(
    target: str, folder: Path, *more: str
) -> AsyncIterator[tuple[subprocess.Popen[str], httpx2.AsyncClient]]:
    """Run `kgrag serve` as a process, with a client of it, and end it as an operator would."""
    paths = ["--desk", str(folder / "desk"), "--uploads", str(folder / "uploads")]
    command = [sys.executable, "-m", "kgrag", "serve", "--store", target, "--port", "0", *paths, *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = await asyncio.to_thread(process.stdout.readline)
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found is None:
            raise SystemExit(f"The desk did not open: {line}")
        limits = httpx2.Limits(max_connections=200, keepalive_expiry=20)
        async with httpx2.AsyncClient(base_url=found[0], timeout=CLIENT_TIMEOUT_S, limits=limits) as client:
            yield process, client
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(process.wait, 60)
        process.kill()


@asynccontextmanager
async def watched(phase: Phase, pid: int) -> AsyncIterator[None]:
    """Note how long a phase lasts, its processor time, and its memory every two seconds."""
    phase.began, cpu = time.monotonic(), cpu_seconds(pid)

    async def sample() -> None:
        while True:
            phase.memory.append((time.monotonic() - phase.began, memory_mb(pid)))
            await asyncio.sleep(2)

    sampling = asyncio.create_task(sample())
    try:
        yield
    finally:
        sampling.cancel()
        phase.lasted_s, phase.cpu_s = time.monotonic() - phase.began, cpu_seconds(pid) - cpu
        phase.asked_s = phase.asked_s or phase.lasted_s


def percentile(values: list[float], share: float) -> float:
    """Return the nearest-rank percentile; 0 of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 1e6


if __name__ == "__main__":
    main()
