"""What reading and writing cost a store, for `benchmarks.scale`: statements of a build, pipelines, and the vector index's recall.

    python -m benchmarks.scale_reads STORE --questions FILE [--embedder minilm-int8] [--pipelines hybrid,default] [--count 100]

asks a store that is there already `count` questions of a file, drawn by a seed, the vector of each given, after as many others.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Self

import numpy as np

from benchmarks.json_lines import read_rows
from benchmarks.tables import print_table
from kgrag.models import open_embedder
from kgrag.models.base import Embedder, Vectors
from kgrag.retrieve import AdaptiveRetriever, Retriever, load_pipeline, open_retriever
from kgrag.store.connection import Transaction
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.search import Search
from kgrag.text.courtesies import without_courtesies

__all__ = ["WARM_UP", "PipelineCost", "StatementCost", "pipeline_costs", "statements_timed", "vector_recall"]

WARM_UP = 3
"""Questions before the clock counts, of each pipeline: statements are planned and pages are read. Java has not compiled all then."""
ENOUGH_S = 30.0
"""A pipeline is asked no more questions after so long, but at least `LEAST`."""
LEAST = 5
NEAREST = 10


@dataclass(slots=True)
class StatementCost:
    """A writing transaction's statement: how often it ran, over how many rows, and for how long the client waited."""

    calls: int = 0
    rows: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PipelineCost:
    """What a question costs by one pipeline, its vector given."""

    pipeline: str
    questions: int
    statements: float
    """Of one question, on average."""
    rounds: float
    """Times that a question waited for the database: statements that are under way together are one."""
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    """Processor time of one question: of this process and the server."""
    slowest: str
    """The statement that took longest of a question, on average, with its milliseconds."""
    steps: dict[str, float]
    """Median milliseconds of each step."""


@contextmanager
def statements_timed() -> Iterator[dict[str, StatementCost]]:
    """Within the block, note what each statement of a writing transaction takes, by its name."""
    costs: dict[str, StatementCost] = defaultdict(StatementCost)
    run = Transaction.run

    def timed(self: Transaction, name: str, **parameters: Any) -> list[dict[str, Any]]:
        started = time.perf_counter()
        found = run(self, name, **parameters)
        cost = costs[name]
        cost.seconds += time.perf_counter() - started
        cost.calls += 1
        cost.rows += max((len(value) for value in parameters.values() if isinstance(value, list)), default=1)
        return found

    Transaction.run = timed  # type: ignore[method-assign]
    try:
        yield costs
    finally:
        Transaction.run = run  # type: ignore[method-assign]


class _Watch:
    """Counts what a store's `search` asks, and the times in which at least one statement is under way."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._read = search._read
        self._guard = threading.Lock()
        self._under_way = self.statements = self.rounds = 0
        self.seconds: dict[str, float] = defaultdict(float)

    def __enter__(self) -> Self:
        self._search._read = self._counted  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        del self._search._read

    def _counted(self, name: str, **parameters: Any) -> list[Any]:
        with self._guard:
            self.statements += 1
            self.rounds += not self._under_way
            self._under_way += 1
        started = time.perf_counter()
        try:
            return self._read(name, **parameters)
        finally:
            with self._guard:
                self._under_way -= 1
                self.seconds[name.rpartition("/")[2]] += time.perf_counter() - started

    def start_again(self) -> None:
        """Forget what was counted."""
        self.statements = self.rounds = 0
        self.seconds.clear()


class _Given:
    """An embedder that has the questions' vectors already."""

    def __init__(self, embedder: Embedder, questions: Sequence[str]) -> None:
        self.name, self.dimensions, self.max_tokens = embedder.name, embedder.dimensions, embedder.max_tokens
        self._embedder = embedder
        asked = [without_courtesies(question) for question in questions]
        self._vectors = dict(zip(asked, asyncio.run(embedder.embed_queries(asked)), strict=True))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of questions."""
        return np.stack([self._vectors[text] for text in texts])


def pipeline_costs(
    store: GraphStore,
    embedder: Embedder,
    questions: Sequence[str],
    pipelines: Sequence[str],
    *,
    server_cpu: Callable[[], float],
    warm_up: int = WARM_UP,
) -> Iterator[PipelineCost]:
    """Ask each pipeline the questions, one at a time; `server_cpu` returns the processor seconds of a server until now.

    `warm_up` questions come before the clock counts; beyond their number they are asked again.
    """
    given = _Given(embedder, questions)
    with _Watch(store.search) as watch:
        for name in pipelines:
            retriever = open_retriever(store, given, load_pipeline(name))
            asyncio.run(_ask(retriever, list(islice(cycle(questions), warm_up)), enough_s=math.inf))
            watch.start_again()
            before = time.process_time() + server_cpu()
            milliseconds, steps = asyncio.run(_ask(retriever, questions))
            cpu, count = time.process_time() + server_cpu() - before, len(milliseconds)
            p50, p95 = np.percentile(milliseconds, [50, 95])
            seconds, slowest = max((seconds, name) for name, seconds in watch.seconds.items())
            yield PipelineCost(
                pipeline=name,
                questions=count,
                statements=watch.statements / count,
                rounds=watch.rounds / count,
                p50_ms=float(p50),
                p95_ms=float(p95),
                cpu_ms=1000 * cpu / count,
                slowest=f"{slowest} {1000 * seconds / count:,.0f}",
                steps={name: float(np.median(some)) for name, some in steps.items()},
            )


async def _ask(
    retriever: Retriever | AdaptiveRetriever, questions: Sequence[str], *, enough_s: float = ENOUGH_S
) -> tuple[list[float], dict[str, list[float]]]:
    """Return the milliseconds of each question, and of each step, until it is enough."""
    milliseconds: list[float] = []
    steps: dict[str, list[float]] = defaultdict(list)
    begun = time.perf_counter()
    for question in questions:
        if len(milliseconds) >= LEAST and time.perf_counter() - begun > enough_s:
            break
        started = time.perf_counter()
        found = await retriever.trace(question)
        milliseconds.append(1000 * (time.perf_counter() - started))
        for change in found.changes:
            steps[change.step].append(1000 * change.seconds)
    return milliseconds, steps


def vector_recall(
    store: GraphStore, embedder: Embedder, questions: Sequence[str], *, oversampling: Sequence[int]
) -> dict[int, float]:
    """Say which share of the ten chunks nearest to a question, of all compared, the vector index finds when asked for so many times ten.

    A chunk as near as the tenth counts as one of the ten.
    """
    ids, vectors = store.documents.vectors()
    place = {chunk: row for row, chunk in enumerate(ids)}
    asked = asyncio.run(embedder.embed_queries(questions))
    found = dict.fromkeys(oversampling, 0)
    for vector in asked:
        cosines = vectors @ vector
        least = np.partition(cosines, -NEAREST)[-NEAREST] - 1e-6
        for times in oversampling:
            rows = store.search.dense_seeds(vector=vector.tolist(), limit=NEAREST, candidates=times * NEAREST)
            found[times] += sum(bool(cosines[place[row["id"]]] >= least) for row in rows)
    return {times: count / (NEAREST * len(asked)) for times, count in found.items()}


def main() -> None:
    """Ask a store and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", help="a folder, or neo4j://host:7687")
    parser.add_argument("--questions", type=Path, required=True, help="JSON lines with `question`")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--pipelines", default="hybrid,default")
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    asked = sorted({row["question"] for row in read_rows(arguments.questions)})
    drawn = random.Random(1).sample(asked, min(2 * arguments.count, len(asked)))
    warm_up, timed = drawn[arguments.count :], drawn[: arguments.count]
    embedder, pipelines, rows = open_embedder(arguments.embedder), arguments.pipelines.split(","), []
    with open_store(arguments.store, create=False, reads_only=True) as store:
        for _ in pipeline_costs(store, embedder, warm_up, pipelines, server_cpu=lambda: 0.0, warm_up=0):
            pass
        for cost in pipeline_costs(store, embedder, timed, pipelines, server_cpu=lambda: 0.0, warm_up=0):
            slow = [f"{name} {median:.0f}" for name, median in _slowest_first(cost.steps)]
            rows.append(
                [cost.pipeline, f"{cost.p50_ms:.0f}", f"{cost.p95_ms:.0f}", f"{cost.cpu_ms:.0f}", ", ".join(slow)]
            )
        title = f"{store.documents.count_chunks():,} chunks, milliseconds for one of {len(timed)} questions"
    print_table(title, ["pipeline", "p50", "p95", "CPU of this process", "median of steps"], rows, [])


def _slowest_first(steps: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(((name, median) for name, median in steps.items() if median >= 1.0), key=lambda one: -one[1])


if __name__ == "__main__":
    main()
