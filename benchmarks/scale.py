"""What a build and questions cost as the store grows.

    python -m benchmarks.scale [PATH ...] [--chunks N[,N...]] [--store embedded|neo4j] [--extractor mention] [--embedder minilm]
        [--reads] [--warm-up 3] [--keep FOLDER] [--first-load] [--engine local|ray]

Builds PATHs with the embedder, or N synthetic passages with vectors of words (so that what is measured is not the model), in a
fresh store. First table, a line for each step: units, wall seconds, processor seconds of this process (the embedded database runs in it),
of the processes that convert, and of a Neo4j server, and milliseconds a unit. Second: the statements that took most of the writing, with
rows and microseconds of a row. With `--reads` a third: pipelines asked with their vectors given, in statements, times that a question waits
for the database, and milliseconds, also by step; and the recall of the vector index. With several sizes each is a process of its own,
and the last column is the growth exponent: 1 where ten times the chunks take ten times as long, 2 where a hundred times. Processor
seconds hold on a busy machine, too; wall seconds do not. With `--keep` the stores of synthetic passages stay in FOLDER with what their
build took, and the next call with that FOLDER asks them without building them again. With `--first-load` a Neo4j is not built by
transactions: the files of an export are written (`benchmarks.first_load`), `neo4j-admin database import` loads them, and `kgrag import`
makes the indexes and compares the digest.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from benchmarks.corpus import make_corpus
from benchmarks.processes import cpu_seconds, measured_apart, peak_memory_mb
from benchmarks.scale_reads import WARM_UP, PipelineCost, StatementCost, pipeline_costs, statements_timed, vector_recall
from benchmarks.stores import NEO4J_HEAP_MB, PAGE_CACHE_MB, fresh_store
from benchmarks.tables import print_table
from benchmarks.vectors import WordVectors
from kgrag.common.progress import Silent, Step
from kgrag.engines import open_engine
from kgrag.extract import open_extractor
from kgrag.jobs.build import build
from kgrag.models import EMBEDDERS, open_embedder
from kgrag.models.base import Embedder
from kgrag.neo4j_local.admin import run_admin
from kgrag.settings import Settings
from kgrag.store.exchange.export import MANIFEST
from kgrag.store.graph import GraphStore, open_store

__all__ = ["Measured", "StepCost", "growth_exponent", "import_files", "measure", "measure_apart"]

QUESTIONS = 100
PIPELINES = ("dense", "sparse", "hybrid", "links", "kg", "entity", "pagerank", "default")
"""One of each kind that needs neither a model nor communities."""
STATEMENTS_SHOWN = 14
OVERSAMPLED = (1, 5, 20, 50)
"""Times ten that the index is asked for when its recall is measured; pipelines want 100 chunks and ask Neo4j for 200, the embedded
database for 500."""


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
    """A build, and what was asked of it."""

    steps: tuple[StepCost, ...]
    chunks: int
    entities: int
    relations: int
    disk_mb: float
    memory_mb: float
    server_memory_mb: float
    wall: float
    statements: dict[str, StatementCost] = field(default_factory=dict)
    """Of writing transactions, by name."""
    pipelines: tuple[PipelineCost, ...] = ()
    recall: dict[str, float] = field(default_factory=dict)
    """Recall@10 of the vector index, by how many times as many it is asked for."""

    @property
    def cpu(self) -> float:
        """Processor seconds of all steps, of all processes."""
        return sum(step.cpu for step in self.steps)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Measured:
        """Read what another process measured."""
        return cls(
            **found
            | {
                "steps": tuple(StepCost(**step) for step in found["steps"]),
                "statements": {name: StatementCost(**cost) for name, cost in found["statements"].items()},
                "pipelines": tuple(PipelineCost(**cost) for cost in found["pipelines"]),
            }
        )


class _Costs(Silent):
    """A `Progress` that keeps what each step took."""

    def __init__(self) -> None:
        self.steps: list[StepCost] = []
        self.server_pid: int | None = None

    @contextmanager
    def step(self, name: str, total: int | None, unit: str) -> Iterator[Step]:
        """Measure a step."""
        before = self._now()
        yield self
        wall, own, children, server = (now - then for now, then in zip(self._now(), before, strict=True))
        self.steps.append(StepCost(name, total or 0, unit, wall, own, children, server))

    def _now(self) -> tuple[float, float, float, float]:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.perf_counter(), time.process_time(), ended.ru_utime + ended.ru_stime, cpu_seconds(self.server_pid)


def measure(
    paths: Sequence[Path],
    *,
    chunks: int,
    store: str,
    extractor: str,
    embedder_name: str = EMBEDDERS[0],
    pipelines: Sequence[str] = (),
    keep: Path | None = None,
    heap_mb: int = NEO4J_HEAP_MB,
    page_cache_mb: int = PAGE_CACHE_MB,
    warm_up: int = WARM_UP,
    first_load: bool = False,
    engine: Literal["local", "ray"] = "local",
) -> Measured:
    """Build `paths`, or so many synthetic passages where there are none, in a fresh store, and ask it by `pipelines`.

    With `keep` the store of synthetic passages stays there, and what was built there before is not built again. With `first_load` the
    passages are loaded into Neo4j as files. What another `engine` does in its own processes is not counted: only what this one does.
    """
    kept = keep / f"{store}-{chunks}" if keep is not None and not paths else None
    built = kept / "build.json" if kept is not None else None
    with tempfile.TemporaryDirectory() as folder, ExitStack() as closing:
        # A build that goes on elsewhere would take the same passages in another file for other documents.
        place = kept or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        embedder = open_embedder(embedder_name)
        questions: tuple[str, ...] = ()
        if not paths:
            corpus = make_corpus(chunks, place, question_count=QUESTIONS, embedder=WordVectors())
            paths, embedder, questions = [corpus.file], corpus.embedder, corpus.questions
        costs = _Costs()
        load = partial(_load, costs, paths[0], place / "files", extractor) if first_load else _nothing
        fresh = closing.enter_context(
            fresh_store(store, keep=kept, heap_mb=heap_mb, page_cache_mb=page_cache_mb, load=load)
        )
        costs.server_pid = fresh.server_pid
        with open_store(fresh.target) as opened:
            if built is not None and built.is_file():
                done = Measured.from_json(json.loads(built.read_text(encoding="utf-8")))
            else:
                fill: Callable[[], object] = partial(opened.import_from, place / "files", progress=costs)
                if not first_load:
                    fill = partial(
                        _build, opened, paths, embedder=embedder, extractor=extractor, costs=costs, engine=engine
                    )
                done = _measured(opened, costs, fill)
                done = replace(done, disk_mb=fresh.disk_mb())
                if built is not None:
                    built.write_text(json.dumps(asdict(done)), encoding="utf-8")
            print(f"{chunks:,} built in {done.wall:,.0f} s", file=sys.stderr, flush=True)
            if not pipelines:
                return done
            asked: list[PipelineCost] = []
            cpu = partial(cpu_seconds, fresh.server_pid)
            for cost in pipeline_costs(opened, embedder, questions, pipelines, server_cpu=cpu, warm_up=warm_up):
                print(cost, file=sys.stderr, flush=True)
                asked.append(cost)
            recall = vector_recall(opened, embedder, questions, oversampling=OVERSAMPLED)
            return replace(done, pipelines=tuple(asked), recall={str(times): share for times, share in recall.items()})


def _build(
    store: GraphStore,
    paths: Sequence[Path],
    *,
    embedder: Embedder,
    extractor: str,
    costs: _Costs,
    engine: Literal["local", "ray"],
) -> None:
    settings = Settings(max_file_mb=10_000, engine=engine)
    with contextlib.closing(open_engine(settings)) as opened:
        job = build(
            paths,
            store=store,
            embedder=embedder,
            extractors=[open_extractor(extractor)],
            settings=settings,
            progress=costs,
            engine=opened,
        )
        asyncio.run(job)


def _load(costs: _Costs, passages: Path, files: Path, extractor: str, home: Path) -> None:
    """Write the files of an export, unless they are there, and have `neo4j-admin` load them; each in a process of its own."""
    home = home.resolve()
    if not (files / MANIFEST).is_file():
        with costs.step("write files", None, "files"):
            writes = [sys.executable, "-m", "benchmarks.first_load", str(passages), str(files)]
            subprocess.run([*writes, "--extractor", extractor], stdout=sys.stderr, check=True)
    with costs.step("neo4j-admin import", None, "files"):
        import_files(files, home)


def import_files(files: Path, home: Path) -> None:
    """Have `neo4j-admin` load the files of an export into the Neo4j at `home`, an absolute path, in a process of its own."""
    command: str = json.loads((files / MANIFEST).read_text(encoding="utf-8"))["neo4j_admin"]
    with contextlib.chdir(files):  # where its report is written
        run_admin(home, shlex.split(command)[1:], heap_mb=NEO4J_HEAP_MB, on_line=partial(print, file=sys.stderr))


def _nothing(home: Path) -> None:
    """A store begins empty."""


def _measured(store: GraphStore, costs: _Costs, fill: Callable[[], object]) -> Measured:
    """Fill an empty store and say what that took; the size on disk is not measured yet."""
    started = time.perf_counter()
    before = sum(step.wall for step in costs.steps)
    with statements_timed() as statements:
        fill()
    wall = before + time.perf_counter() - started
    status = store.status()
    graphs = status["graphs"].values()
    return Measured(
        steps=tuple(costs.steps),
        chunks=status["chunks"],
        entities=sum(graph["entities"] for graph in graphs),
        relations=sum(graph["relations"] for graph in graphs),
        disk_mb=0.0,
        memory_mb=peak_memory_mb(),
        server_memory_mb=peak_memory_mb(costs.server_pid) if costs.server_pid else 0.0,
        wall=wall,
        statements=dict(statements),
    )


def measure_apart(chunks: int, options: Sequence[str]) -> Measured:
    """Measure one size in a process of its own, so that its memory and the start of its database are its own; `options` of this command."""
    command = [sys.executable, "-m", "benchmarks.scale", *options, "--chunks", str(chunks), "--json"]
    return Measured.from_json(measured_apart(command))


def growth_exponent(small: float, large: float, growth: float) -> str:
    """Say to which power of the size something grew."""
    return f"{math.log(large / small) / math.log(growth):.2f}" if growth > 1 and small > 0 and large > 0 else "-"


def _step_rows(runs: Sequence[Measured], growth: float) -> list[list[str]]:
    """Return a row for each step and size."""
    rows = []
    for steps in zip(*(run.steps for run in runs), strict=True):
        for run, step in zip(runs, steps, strict=True):
            rows.append(
                [
                    f"{run.chunks:,}",
                    step.name,
                    f"{step.units:,} {step.unit}",
                    *(f"{seconds:,.1f}" for seconds in (step.wall, step.own, step.children, step.server)),
                    f"{1000 * step.cpu / step.units:.2f}" if step.units else "-",
                    growth_exponent(steps[0].cpu, steps[-1].cpu, growth) if run is runs[-1] else "",
                ]
            )
    return rows


def _statement_rows(runs: Sequence[Measured], growth: float) -> list[list[str]]:
    """Return a row for each of the statements that took most of the writing in the largest run."""
    longest = sorted(runs[-1].statements.items(), key=lambda item: -item[1].seconds)[:STATEMENTS_SHOWN]
    nothing = StatementCost()
    rows = []
    for name, _ in longest:
        costs = [run.statements.get(name, nothing) for run in runs]
        rows.append(
            [
                name,
                *(f"{cost.rows:,}" for cost in costs),
                *(f"{1e6 * cost.seconds / max(cost.rows, 1):,.0f}" for cost in costs),
                f"{costs[-1].seconds:,.1f}",
                growth_exponent(costs[0].seconds, costs[-1].seconds, growth),
            ]
        )
    return rows


def _pipeline_rows(runs: Sequence[Measured], growth: float) -> list[list[str]]:
    """Return a row for each pipeline."""
    rows = []
    for costs in zip(*(run.pipelines for run in runs), strict=True):
        last = costs[-1]
        rows.append(
            [
                last.pipeline,
                f"{last.statements:.1f}",
                f"{last.rounds:.1f}",
                *(f"{cost.p50_ms:,.0f} / {cost.p95_ms:,.0f}" for cost in costs),
                *(f"{cost.cpu_ms:,.0f}" for cost in costs),
                last.slowest,
                growth_exponent(costs[0].cpu_ms, last.cpu_ms, growth),
            ]
        )
    return rows


def _notes(run: Measured) -> list[str]:
    total = run.cpu
    notes = [
        f"{run.chunks:,} chunks, {run.entities:,} entities, {run.relations:,} relations; {run.wall:,.1f} s wall, {total:,.1f} s of "
        f"processor time ({1000 * total / run.chunks:.2f} ms a chunk); disk {1000 * run.disk_mb / run.chunks:.1f} kB a chunk; peak memory "
        f"{run.memory_mb:,.0f} MB" + (f", server {run.server_memory_mb:,.0f} MB." if run.server_memory_mb else "."),
    ]
    for times, recall in run.recall.items():
        notes.append(
            f"{run.chunks:,} chunks: recall@10 of the vector index asked for {times} times as many: {recall:.3f}."
        )
    return notes


def _parts(run: Measured) -> Iterator[str]:
    """Say how long each step of each pipeline takes, those of a millisecond and more."""
    for cost in run.pipelines:
        parts = ", ".join(f"{step} {median:.0f}" for step, median in cost.steps.items() if median >= 1.0)
        yield f"{run.chunks:,} chunks, {cost.pipeline}, p50 ms of its steps: {parts}."


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What a build and questions cost as the store grows.")
    parser.add_argument("paths", nargs="*", type=Path, help="Documents. Default: synthetic passages.")
    parser.add_argument("--chunks", default="2000", help="Synthetic passages, one size or several. Default: 2000.")
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--extractor", default="mention")
    parser.add_argument("--embedder", choices=EMBEDDERS, default=EMBEDDERS[0], help="Of PATHs. Default: %(default)s.")
    parser.add_argument("--reads", action="store_true", help="Ask questions as well (of synthetic passages).")
    parser.add_argument("--pipelines", default=",".join(PIPELINES))
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="Questions first, of each. Default: %(default)s.")
    parser.add_argument("--keep", type=Path, help="Keep the stores in this folder, and ask those that are there.")
    parser.add_argument("--heap-mb", type=int, default=NEO4J_HEAP_MB, help="Of a Neo4j server. Default: %(default)s.")
    parser.add_argument("--page-cache-mb", type=int, default=PAGE_CACHE_MB, help="The same. Default: %(default)s.")
    parser.add_argument("--engine", choices=("local", "ray"), default="local", help="Who reads, embeds and extracts.")
    parser.add_argument("--first-load", action="store_true", help="Load files into Neo4j, without transactions.")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.reads and arguments.paths:
        parser.error("--reads: expected no PATH, as questions are about synthetic passages")
    if arguments.first_load and (arguments.paths or arguments.store != "neo4j"):
        parser.error("--first-load: expected no PATH and --store neo4j")
    sizes = [int(size) for size in arguments.chunks.split(",")]
    run: Callable[[int], Measured] = partial(measure_apart, options=sys.argv[1:])
    if len(sizes) == 1:
        pipelines = arguments.pipelines.split(",") if arguments.reads else ()
        run = lambda chunks: measure(  # noqa: E731
            arguments.paths,
            chunks=chunks,
            store=arguments.store,
            extractor=arguments.extractor,
            embedder_name=arguments.embedder,
            pipelines=pipelines,
            keep=arguments.keep,
            heap_mb=arguments.heap_mb,
            page_cache_mb=arguments.page_cache_mb,
            warm_up=arguments.warm_up,
            first_load=arguments.first_load,
            engine=arguments.engine,
        )
    runs = [run(size) for size in sizes]
    if arguments.json:
        print(json.dumps(asdict(runs[0])))
        return
    growth = runs[-1].chunks / runs[0].chunks
    where = f"on {arguments.store} by {arguments.extractor}" + (", loaded as files" if arguments.first_load else "")
    head = ["chunks", "step", "units", "wall s", "own CPU s", "converters", "server", "CPU ms / unit", "growth"]
    print_table(f"A build {where}", head, _step_rows(runs, growth), [note for run in runs for note in _notes(run)])
    print()
    sizes_of = [f"{run.chunks:,}" for run in runs]
    head = [
        *("statement", *(f"rows at {size}" for size in sizes_of), *(f"µs a row at {size}" for size in sizes_of)),
        *("s", "growth"),
    ]
    print_table(f"Writing {where}, by statement", head, _statement_rows(runs, growth), ["Wall time of whoever writes."])
    if arguments.reads:
        print()
        head = ["pipeline", "statements", "rounds", *(f"p50 / p95 ms at {size}" for size in sizes_of)]
        head += [*(f"CPU ms at {size}" for size in sizes_of), "slowest statement, ms", "growth of CPU"]
        notes = [
            "One question at a time, its vector given; a round: the question waits for one statement or for two at once.",
            *(note for run in runs for note in _parts(run)),
        ]
        print_table(f"Questions {where}", head, _pipeline_rows(runs, growth), notes)


if __name__ == "__main__":
    main()
