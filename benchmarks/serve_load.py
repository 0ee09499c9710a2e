"""A desk under load: users who ask at once with think time, an upload in the middle, the database away for a while.

    python -m benchmarks.serve_load --store ./arduino.kg --questions ../shared/data/arduino/questions.jsonl --seconds 600
    python -m benchmarks.serve_load --database neo4j --corpus arduino.jsonl --questions ... --seconds 600 --outage 30

`kgrag serve` runs as a process of its own, without a model. First one user asks without think time for `--alone` seconds, then `--users`
ask, each with a pause between two questions that is exponentially distributed with mean `--think`. Half-way a document is uploaded and
built.
`--outage` cuts the connection to a database server for so many seconds at three quarters (the desk then answers 503, counted apart).
A question that fails in any other way is an error. Processor time is that of the desk's process (with `embedded` the database is in it).
`--store` is opened as it is, and what is uploaded stays in it: take a copy.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

import kgrag
from benchmarks.stores import fresh_store
from benchmarks.tables import print_table
from kgrag.common.question_files import read_questions

UPLOAD = "# Valve LV-{n}\n\n## Ratings\n\nThe valve LV-{n} opens at {n} bar and weighs 2.5 kg.\n"
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
GRACE_S = 5.0
"""After an outage: the driver's own tries."""


@dataclass(slots=True)
class Phase:
    """What was measured while so many users asked."""

    name: str
    seconds: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    away: int = 0
    """Questions that were answered 503 while the database was away."""
    lasted_s: float = 0.0
    cpu_s: float = 0.0
    memory_mb: list[float] = field(default_factory=list)

    def row(self) -> tuple[str, ...]:
        """Return it as a row of the table."""
        ordered = sorted(self.seconds) or [0.0]
        return (
            self.name,
            str(len(self.seconds)),
            str(sum(self.errors.values())),
            str(self.away),
            f"{statistics.median(ordered):.3f}",
            f"{percentile(ordered, 0.95):.3f}",
            f"{len(self.seconds) / max(self.lasted_s, 1e-9):.2f}",
            f"{1000 * self.cpu_s / max(len(self.seconds), 1):.0f}",
            " ".join(f"{one:.0f}" for one in self.memory_mb),
        )


def main() -> None:
    """Print one table: one user, and all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", help="a store that is built: a folder, or a neo4j:// address")
    parser.add_argument("--database", choices=("embedded", "neo4j"), help="build --corpus into a fresh one")
    parser.add_argument("--corpus", type=Path, help="files to build, with --database")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--alone", type=float, default=60.0)
    parser.add_argument("--think", type=float, default=30.0, help="mean seconds between two questions of a user")
    parser.add_argument("--outage", type=float, default=0.0, help="seconds; of a database server only")
    arguments = parser.parse_args()
    if (arguments.store is None) == (arguments.database is None):
        parser.error("expected --store, or --database with --corpus")
    with prepared(arguments) as target:
        phases = asyncio.run(measure(target, arguments))
    print_table(
        f"kgrag serve, {arguments.users} users, mean think time {arguments.think:.0f} s, {arguments.seconds:.0f} s, rules",
        ("users", "answered", "errors", "503 while away", "median s", "p95 s", "a second", "CPU ms each", "RSS MB"),
        [phase.row() for phase in phases],
        [
            f"p95 / p95 of one user: {percentile(phases[1].seconds, 0.95) / max(percentile(phases[0].seconds, 0.95), 1e-9):.2f}",
            f"errors: {dict(phases[0].errors + phases[1].errors) or 'none'}",
            f"load average at the end: {os.getloadavg()[0]:.1f}",
        ],
    )


@contextmanager
def prepared(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the store to open."""
    if arguments.store is not None:
        yield arguments.store
        return
    with fresh_store(arguments.database) as made:
        with kgrag.open(made.target) as graph:
            graph.build(arguments.corpus)
        yield made.target


async def measure(target: str, arguments: argparse.Namespace) -> list[Phase]:
    """Run both phases against a desk."""
    asked = [one.question for one in read_questions(arguments.questions)]
    alone, many = Phase("1"), Phase(str(arguments.users))
    async with AsyncExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kgrag-load-")))
        address, proxy = await opened.enter_async_context(proxied(target, wanted=arguments.outage > 0))
        process, url = await opened.enter_async_context(desk(address, folder))
        limits = httpx2.Limits(max_connections=200, keepalive_expiry=20)
        client = await opened.enter_async_context(httpx2.AsyncClient(base_url=url, timeout=120, limits=limits))
        await client.post("/api/ask", json={"question": asked[0]})
        async with watched(alone, process.pid):
            await user(client, asked, alone, until=time.monotonic() + arguments.alone, think_s=0, seed=0)
        async with watched(many, process.pid):
            until = time.monotonic() + arguments.seconds
            jobs = [
                user(client, asked, many, until=until, think_s=arguments.think, seed=n, proxy=proxy)
                for n in range(1, arguments.users + 1)
            ]
            jobs.append(upload(client, many, after_s=arguments.seconds / 2))
            if proxy is not None:
                jobs.append(proxy.cut(after_s=0.75 * arguments.seconds, for_s=arguments.outage))
            await asyncio.gather(*jobs)
    return [alone, many]


async def user(
    client: httpx2.AsyncClient,
    questions: list[str],
    phase: Phase,
    *,
    until: float,
    think_s: float,
    seed: int,
    proxy: Proxy | None = None,
) -> None:
    """Ask one question after another."""
    chance = random.Random(seed)
    if think_s:
        await asyncio.sleep(min(chance.uniform(0, think_s), max(until - time.monotonic(), 0)))
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            reply = await client.post("/api/ask", json={"question": chance.choice(questions)})
            status = str(reply.status_code)
        except httpx2.HTTPError as error:
            status = type(error).__name__
        if status == "200":
            phase.seconds.append(time.monotonic() - began)
        elif status == "503" and proxy is not None and proxy.was_away(began):
            phase.away += 1
        else:
            phase.errors[status] += 1
        if think_s:
            await asyncio.sleep(min(chance.expovariate(1 / think_s), max(until - time.monotonic(), 0)))


async def upload(client: httpx2.AsyncClient, phase: Phase, *, after_s: float) -> None:
    """Upload a document and build it, while others ask."""
    await asyncio.sleep(after_s)
    number = int(time.time()) % 10_000
    name, text = f"valve-{number}.md", UPLOAD.format(n=number)
    try:
        sent = await client.post("/api/documents", params={"name": name}, content=text.encode())
        started = await client.post("/api/build", json={})
        if (sent.status_code, started.status_code) != (201, 202):
            phase.errors["upload"] += 1
            return
        while (now := (await client.get("/api/build")).json())["state"] == "running":
            await asyncio.sleep(0.5)
    except httpx2.HTTPError as error:
        phase.errors[f"upload: {type(error).__name__}"] += 1
        return
    if now["state"] != "done" or now["failures"]:
        phase.errors["build"] += 1


@asynccontextmanager
async def desk(target: str, folder: Path) -> AsyncIterator[tuple[subprocess.Popen[str], str]]:
    """Run `kgrag serve` as a process, and end it as an operator would."""
    arguments = [
        "serve",
        "--store",
        target,
        "--port",
        "0",
        "--desk",
        str(folder / "desk"),
        "--uploads",
        str(folder / "uploads"),
    ]
    process = subprocess.Popen([sys.executable, "-m", "kgrag", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = await asyncio.to_thread(process.stdout.readline)
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found is None:
            raise SystemExit(f"The desk did not open: {line}")
        yield process, found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(process.wait, 60)
        process.kill()


@asynccontextmanager
async def watched(phase: Phase, pid: int) -> AsyncIterator[None]:
    """Note how long a phase lasts, its processor time, and its memory at the beginning, after each quarter, and at the end."""
    began, cpu = time.monotonic(), cpu_seconds(pid)
    samples = [memory_mb(pid)]

    async def sample() -> None:
        while True:
            await asyncio.sleep(2)
            samples.append(memory_mb(pid))

    sampling = asyncio.create_task(sample())
    try:
        yield
    finally:
        sampling.cancel()
        phase.lasted_s, phase.cpu_s = time.monotonic() - began, cpu_seconds(pid) - cpu
        last = len(samples) - 1
        phase.memory_mb = [samples[round(last * share)] for share in (0, 0.25, 0.5, 0.75, 1)]


class Proxy:
    """Stands between the desk and a database server, so that the server can be away without being stopped."""

    def __init__(self, host: str, port: int) -> None:
        self._there = host, port
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.port = 0
        self._away: tuple[float, float] | None = None

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Listen no more, and cut what is open."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._open):
            writer.transport.abort()

    async def cut(self, *, after_s: float, for_s: float) -> None:
        """Be away for a while."""
        await asyncio.sleep(after_s)
        self._away = time.monotonic(), float("inf")
        await self.stop()
        await asyncio.sleep(for_s)
        await self.start()
        self._away = self._away[0], time.monotonic() + GRACE_S

    def was_away(self, began: float) -> bool:
        """Whether what began then, and ends now, met the outage."""
        return self._away is not None and self._away[0] <= time.monotonic() and began <= self._away[1]

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection(*self._there)
        except OSError:
            writer.close()
            return
        self._open |= {writer, back}
        await asyncio.gather(_pump(reader, back), _pump(there, writer))
        self._open -= {writer, back}


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def proxied(target: str, *, wanted: bool) -> AsyncIterator[tuple[str, Proxy | None]]:
    """Yield the address to open, of a proxy where the server is to go away."""
    if not wanted:
        yield target, None
        return
    parts = urlsplit(target)
    if not parts.hostname:
        raise SystemExit("--outage: expected a database server, got a folder, which cannot be away.")
    proxy = Proxy(parts.hostname, parts.port or 7687)
    await proxy.start()
    try:
        # bolt: the server's own address, which neo4j:// would follow, leads past the proxy.
        yield f"bolt://127.0.0.1:{proxy.port}", proxy
    finally:
        await proxy.stop()


def percentile(values: list[float], share: float) -> float:
    """Return the nearest-rank percentile; 0 of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 1e6


if __name__ == "__main__":
    main()
