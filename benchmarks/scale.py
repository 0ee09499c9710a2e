"""What each step of a build costs: `python -m benchmarks.scale [PATH ...] [--chunks N] [--store embedded|neo4j] [--extractor mention]`.

Builds PATHs with the default embedder, or N synthetic passages with vectors of hashes (so that what is measured is not the model), in a
fresh store. Prints a line for each step: units, wall seconds, processor seconds of this process (the embedded database runs in it), of the
processes that convert, and of a Neo4j server, and milliseconds a unit; then disk and memory for each chunk. Processor seconds hold on a
busy machine, too; wall seconds do not.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.corpus import make_corpus
from benchmarks.stores import fresh_store, peak_memory_mb
from benchmarks.tables import print_table
from kgrag.common.progress import Silent, Step
from kgrag.extract import open_extractor
from kgrag.jobs.build import build
from kgrag.models.base import Embedder, Vectors
from kgrag.models.minilm import MiniLM
from kgrag.settings import Settings
from kgrag.store.graph import open_store

__all__ = ["Measured", "SeededEmbedder", "measure"]

DIMENSIONS = 384


class SeededEmbedder:
    """Vectors of unit length from a text's hash, as long as MiniLM's, for next to nothing."""

    name = "seeded"
    dimensions = DIMENSIONS
    max_tokens = 254

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: [len(texts), 384]."""
        made = np.stack([np.random.default_rng(_seed(text)).standard_normal(DIMENSIONS) for text in texts])
        unit: Vectors = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
        return unit

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries as documents."""
        return await self.embed_documents(texts)


def _seed(text: str) -> int:
    return int.from_bytes(text.encode("utf-8", "surrogatepass")[-64:], "big") + len(text)


@dataclass(frozen=True, slots=True)
class StepCost:
    """What a step took, in seconds: wall, and processor time by whose it was."""

    name: str
    units: int
    unit: str
    wall: float
    own: float
    children: float
    server: float

    @property
    def cpu(self) -> float:
        """Of all together."""
        return self.own + self.children + self.server


@dataclass(frozen=True, slots=True)
class Measured:
    """A build."""

    steps: tuple[StepCost, ...]
    chunks: int
    entities: int
    relations: int
    disk_mb: float
    memory_mb: float
    wall: float


class _Costs(Silent):
    """A `Progress` that keeps what each step took."""

    def __init__(self, server_pid: int | None) -> None:
        self.steps: list[StepCost] = []
        self._server_pid = server_pid

    @contextmanager
    def step(self, name: str, total: int | None, unit: str) -> Iterator[Step]:
        """Measure a step."""
        before = self._now()
        yield self
        wall, own, children, server = (now - then for now, then in zip(self._now(), before, strict=True))
        self.steps.append(StepCost(name, total or 0, unit, wall, own, children, server))

    def _now(self) -> tuple[float, float, float, float]:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.perf_counter(), time.process_time(), ended.ru_utime + ended.ru_stime, _cpu_of(self._server_pid)


def _cpu_of(pid: int | None) -> float:
    """Processor seconds of another process, on Linux."""
    if pid is None:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(paths: Sequence[Path], *, chunks: int, store: str, extractor: str) -> Measured:
    """Build `paths`, or so many synthetic passages where there are none, in a fresh store."""
    with tempfile.TemporaryDirectory() as folder, fresh_store(store) as fresh:
        embedder: Embedder = MiniLM()
        if not paths:
            corpus = make_corpus(chunks, Path(folder), question_count=1, embedder=SeededEmbedder())
            paths, embedder = [corpus.file], corpus.embedder
        costs = _Costs(fresh.server_pid)
        with open_store(fresh.target) as opened:
            started = time.perf_counter()
            job = build(
                paths,
                store=opened,
                embedder=embedder,
                extractors=[open_extractor(extractor)],
                settings=Settings(max_file_mb=2000),
                progress=costs,
            )
            asyncio.run(job)
            wall = time.perf_counter() - started
            status = opened.status()
        graphs = status["graphs"].values()
        return Measured(
            tuple(costs.steps),
            status["chunks"],
            sum(graph["entities"] for graph in graphs),
            sum(graph["relations"] for graph in graphs),
            fresh.disk_mb(),
            peak_memory_mb() + (peak_memory_mb(fresh.server_pid) if fresh.server_pid else 0.0),
            wall,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="Documents. Default: synthetic passages.")
    parser.add_argument("--chunks", type=int, default=2000, help="Synthetic passages. Default: 2000.")
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--extractor", default="mention")
    arguments = parser.parse_args()
    found = measure(arguments.paths, chunks=arguments.chunks, store=arguments.store, extractor=arguments.extractor)
    rows = [
        [
            step.name,
            f"{step.units:,} {step.unit}",
            *(f"{seconds:.1f}" for seconds in (step.wall, step.own, step.children, step.server)),
            f"{1000 * step.cpu / step.units:.2f}" if step.units else "-",
        ]
        for step in found.steps
    ]
    total = sum(step.cpu for step in found.steps)
    notes = [
        f"{found.chunks:,} chunks, {found.entities:,} entities, {found.relations:,} relations; {found.wall:.1f} s wall, {total:.1f} s of "
        f"processor time ({1000 * total / found.chunks:.2f} ms a chunk).",
        f"Disk {1000 * found.disk_mb / found.chunks:.1f} kB a chunk; peak memory {found.memory_mb:,.0f} MB.",
    ]
    head = ["step", "units", "wall s", "own CPU s", "converters", "server", "CPU ms / unit"]
    print_table(f"A build on {arguments.store} by {arguments.extractor}", head, rows, notes)


if __name__ == "__main__":
    main()
