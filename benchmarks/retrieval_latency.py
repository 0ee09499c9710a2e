"""How long retrieval takes.

    python -m benchmarks.retrieval_latency [--store embedded|neo4j] [--sizes 2138,20000,100000] [--pipelines default,kg]

Prints one table: p50 and p95 of the pipelines (by default every one under `pipelines/`), the embedding of the question included, and the
slowest step of each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.corpus import REAL_CHUNKS, make_corpus
from benchmarks.json_lines import read_rows
from benchmarks.processes import measured_apart
from benchmarks.stores import fresh_store
from benchmarks.tables import print_table

if TYPE_CHECKING:
    from kgrag.retrieve import AdaptiveRetriever, Retrieval, Retriever

DEFAULT_SIZES = f"{REAL_CHUNKS},20000,100000"
QUESTIONS = 100
WARM_UP = 300
"""Questions asked before the clock counts, the first words of as many passages: a Java machine compiles what it has often run."""
WARM_UP_WORDS = 12


def measure(store: str, chunks: int, pipelines: Sequence[str]) -> list[list[str]]:
    """Build one corpus in a fresh store and ask it through every one of `pipelines`; returns rows of the table."""
    from kgrag.extract import open_extractor
    from kgrag.jobs.build import build
    from kgrag.retrieve import load_pipeline, open_retriever
    from kgrag.settings import Settings
    from kgrag.store.graph import open_store

    with tempfile.TemporaryDirectory() as folder, fresh_store(store) as fresh:
        corpus = make_corpus(chunks, Path(folder), question_count=QUESTIONS)
        with open_store(fresh.target) as opened:
            settings = Settings(store=fresh.target, max_file_mb=2000)
            asyncio.run(
                build(
                    [corpus.file],
                    store=opened,
                    embedder=corpus.embedder,
                    extractors=[open_extractor("mention")],
                    settings=settings,
                )
            )
        rows = []
        with open_store(fresh.target) as opened:
            for name in pipelines:
                retriever = open_retriever(opened, corpus.embedder, load_pipeline(name))
                milliseconds, found = asyncio.run(_time(retriever, _passage_beginnings(corpus.file), corpus.questions))
                p50, p95 = np.percentile(milliseconds, [50, 95])
                rows.append(
                    [
                        corpus.label,
                        f"{chunks:,}",
                        name,
                        f"{p50:,.1f}",
                        f"{p95:,.1f}",
                        f"{max(milliseconds):,.1f}",
                        _slowest_step(found),
                        f"{np.mean([len(one.evidence) for one in found]):.1f}",
                    ]
                )
        return rows


async def _time(
    retriever: Retriever | AdaptiveRetriever, warm_up: Sequence[str], asked: Sequence[str]
) -> tuple[list[float], list[Retrieval]]:
    for question in warm_up:
        await retriever.trace(question)
    milliseconds, found = [], []
    for question in asked:
        started = time.perf_counter()
        found.append(await retriever.trace(question))
        milliseconds.append(1000 * (time.perf_counter() - started))
    return milliseconds, found


def _passage_beginnings(file: Path) -> list[str]:
    """Return what `WARM_UP` passages, taken evenly over the corpus, begin with: no question that is timed is among them."""
    texts = [row["text"] for row in read_rows(file)]
    return [" ".join(text.split()[:WARM_UP_WORDS]) for text in texts[:: max(1, len(texts) // WARM_UP)][:WARM_UP]]


def _slowest_step(found: Sequence[Retrieval]) -> str:
    """Name the step with the highest median, and that in milliseconds."""
    seconds: dict[str, list[float]] = {}
    for change in (change for one in found for change in one.changes):
        seconds.setdefault(change.step, []).append(change.seconds)
    median, step = max((float(np.median(some)), step) for step, some in seconds.items())
    return f"{step} {1000 * median:,.1f}"


def main() -> None:
    """Measure each size and print the table."""
    from kgrag.retrieve import pipeline_names

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--sizes", default=DEFAULT_SIZES, help=f"Chunks, separated by commas. Default: {DEFAULT_SIZES}")
    parser.add_argument("--pipelines", default=",".join(pipeline_names()))
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.store, arguments.one, arguments.pipelines.split(","))))
        return
    rows = []
    for size in arguments.sizes.split(","):
        command = [sys.executable, "-m", "benchmarks.retrieval_latency", "--store", arguments.store, "--one", size]
        command += ["--pipelines", arguments.pipelines]
        rows.extend(measured_apart(command))
    title = f"Retrieval on {arguments.store}: milliseconds for one question, {QUESTIONS} questions after {WARM_UP} of warming up"
    notes = [
        "One question at a time; its embedding by MiniLM is included.",
        "Mixed vectors: real MiniLM vectors of 1,000 passages, mixed and perturbed.",
    ]
    print_table(
        title,
        ["corpus", "chunks", "pipeline", "p50 ms", "p95 ms", "max ms", "slowest step ms", "evidence"],
        rows,
        notes,
    )


if __name__ == "__main__":
    main()
