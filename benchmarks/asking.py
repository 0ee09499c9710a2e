"""How long a question takes, and where the time goes: cold, warm retrieval and warm answers.

    python -m benchmarks.asking --store my.kg|neo4j://HOST [--questions FILE] [--limit 40] [--cold 3] [--pipeline default]

Asks a store that is there. `--questions` is a file of `{"id", "question"}` lines, by default the Arduino questions of ../shared/data. Cold:
whole runs of `kgrag ask`, after one that fills the caches. Warm: every question once before the clock counts, so that the
database is planned and its pages are read; vectors of statements are forgotten between (an answer embeds its own). Processor time is
of all threads, an embedded database's included, a server's not: it is what to compare on a machine that does other things as well; wall
times count only where nothing else runs, and the load is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import DATA
from benchmarks.tables import print_table

QUESTIONS = DATA / "arduino" / "retrieval_questions.jsonl"
LIMIT, COLD_RUNS = 40, 3


def cold(store: str, question: str, runs: int, pipeline: str) -> list[list[str]]:
    """Time whole runs of `kgrag ask`: rows of wall and processor seconds, median and range."""
    command = [sys.executable, "-m", "kgrag", "ask", question, "--store", store, "--pipeline", pipeline]
    wall, cpu = [], []
    for run in range(runs + 1):
        before, started = _children_cpu(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if run:
            wall.append(time.perf_counter() - started)
            cpu.append(_children_cpu() - before)
    return [
        ["kgrag ask, cold", "", f"{np.median(wall):.2f} s", f"{max(wall):.2f} s", f"{np.median(cpu):.2f} s", ""],
    ]


def warm(store: str, questions: Sequence[str], pipeline: str) -> list[list[str]]:
    """Time retrieval and answers of an open store: rows of milliseconds by step, by statement and as a whole."""
    import kgrag

    rows: list[list[str]] = []
    with kgrag.open(store, create=False, reads_only=True, pipeline=pipeline) as graph:
        steps: dict[str, list[float]] = defaultdict(list)
        statements: dict[str, list[float]] = defaultdict(list)
        for question in questions:
            graph.ask(question)
        with _statements_timed(graph.store.search, statements):

            def retrieve(question: str) -> None:
                for change in graph.trace(question).changes:
                    steps[change.step].append(1000 * change.seconds)

            rows.append(_timed("retrieval, warm", questions, retrieve))
        rows += [_row(f"· step {name}", values) for name, values in steps.items()]
        rows += [_row(f"· · {name}", values, trips=len(values) / len(questions)) for name, values in statements.items()]

        forget = _forget_vectors(graph.embedder)

        def answer(question: str) -> None:
            forget()
            graph.ask(question)

        rows.append(_timed("answer, warm", questions, answer))
    return rows


def _timed(name: str, questions: Sequence[str], ask: Callable[[str], Any]) -> list[str]:
    milliseconds, before = [], time.process_time()
    for question in questions:
        started = time.perf_counter()
        ask(question)
        milliseconds.append(1000 * (time.perf_counter() - started))
    cpu = 1000 * (time.process_time() - before) / len(questions)
    return [*_row(name, milliseconds)[:4], f"{cpu:.1f} ms", ""]


def _row(name: str, milliseconds: Sequence[float], *, trips: float | None = None) -> list[str]:
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return [name, f"{len(milliseconds)}", f"{p50:.1f} ms", f"{p95:.1f} ms", "", "" if trips is None else f"{trips:.2f}"]


@contextmanager
def _statements_timed(search: Any, found: dict[str, list[float]]) -> Iterator[None]:
    """Within the block, note how long each statement takes."""
    read = search._read

    def timed(name: str, **parameters: Any) -> list[Any]:
        started = time.perf_counter()
        rows: list[Any] = read(name, **parameters)
        found[name].append(1000 * (time.perf_counter() - started))
        return rows

    search._read = timed
    try:
        yield
    finally:
        del search._read


def _forget_vectors(embedder: Any) -> Callable[[], None]:
    """Return what makes an embedder forget the vectors of lately read texts; nothing, for one that remembers none."""
    from kgrag.models.minilm import MiniLM

    return embedder.forget if isinstance(embedder, MiniLM) else lambda: None


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--store", required=True)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument(
        "--limit", type=int, default=LIMIT, help=f"Questions, from the file's beginning. Default: {LIMIT}"
    )
    parser.add_argument("--cold", type=int, default=COLD_RUNS, help=f"Runs of kgrag ask. Default: {COLD_RUNS}")
    parser.add_argument("--pipeline", default="default")
    arguments = parser.parse_args()
    lines = arguments.questions.read_text(encoding="utf-8").splitlines()
    questions = [str(json.loads(line)["question"]) for line in lines if line.strip()][: arguments.limit]
    load = os.getloadavg()[0]
    rows = cold(arguments.store, questions[0], arguments.cold, arguments.pipeline) if arguments.cold else []
    rows += warm(arguments.store, questions, arguments.pipeline)
    print_table(
        f"Asking {arguments.store} by {arguments.pipeline}: {len(questions)} questions",
        ["what", "n", "p50", "p95 (cold: max)", "CPU each", "round trips a question"],
        rows,
        [f"Load of the machine before: {load:.1f}. Above 1.5 only processor times and ratios mean something."],
    )


if __name__ == "__main__":
    main()
