"""How fast a graph is built: `python -m benchmarks.build [--store embedded|neo4j] [--sizes 2138,20000,100000] [--extractor path]`.

With an extractor that asks a model, a scripted one in another process answers at once, and vectors are hashes.

Each size runs in a process of its own, so that its peak memory is its own. Prints one table: chunks per second by stage, wall time,
memory, disk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.corpus import REAL_CHUNKS, make_corpus
from benchmarks.peers import QuickEmbedder
from benchmarks.processes import measured_apart, peak_memory_mb
from benchmarks.stores import fresh_store
from benchmarks.tables import print_table
from kgrag.testing import ModelServerProcess

DEFAULT_SIZES = f"{REAL_CHUNKS},20000,100000"
STAGES = ("convert", "link", "embed", "extract", "embed entities", "index")


def measure(store: str, chunks: int, extractor: str) -> dict[str, Any]:
    """Build one corpus in a fresh store, twice: the second time nothing is to be done."""
    from kgrag.extract import open_extractor
    from kgrag.jobs.build import build
    from kgrag.models import open_chat_model
    from kgrag.settings import Settings
    from kgrag.store.graph import open_store

    with (
        tempfile.TemporaryDirectory() as folder,
        fresh_store(store) as fresh,
        ModelServerProcess("benchmarks.replies:answer", arguments=["--no-record"]) as server,
    ):
        asks = extractor != "mention"
        corpus = make_corpus(chunks, Path(folder), question_count=1, embedder=QuickEmbedder() if asks else None)
        os.environ.setdefault("OPENAI_API_KEY", "none")
        settings = Settings(
            store=fresh.target,
            max_file_mb=2000,
            model="openai:scripted",
            base_url=server.url,
            model_cache=f"{folder}/replies.sqlite",
        )
        model = open_chat_model(settings.model, settings=settings) if asks else None

        def run() -> tuple[Any, float]:
            with open_store(fresh.target) as opened:
                started = time.perf_counter()
                work = build(
                    [corpus.file],
                    store=opened,
                    embedder=corpus.embedder,
                    extractors=[open_extractor(extractor, model=model, settings=settings)],
                    model=model,
                    settings=settings,
                )
                return asyncio.run(work), time.perf_counter() - started

        report, seconds = run()
        if not report.complete:
            raise SystemExit(f"The build was not complete: {report.failures[:3]}")
        _, seconds_again = run()
        with open_store(fresh.target) as opened:
            status = opened.status()
        return {
            "corpus": corpus.label,
            "chunks": status["chunks"],
            "entities": sum(graph["entities"] for graph in status["graphs"].values()),
            "relations": sum(graph["relations"] for graph in status["graphs"].values()),
            "stages": report.seconds,
            "seconds": seconds,
            "seconds_again": seconds_again,
            "memory_mb": peak_memory_mb(),
            "server_memory_mb": peak_memory_mb(fresh.server_pid) if fresh.server_pid else None,
            "disk_mb": fresh.disk_mb(),
        }


def main() -> None:
    """Measure each size and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--sizes", default=DEFAULT_SIZES, help=f"Chunks, separated by commas. Default: {DEFAULT_SIZES}")
    parser.add_argument("--extractor", default="mention")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.store, arguments.one, arguments.extractor)))
        return
    rows = []
    for size in arguments.sizes.split(","):
        command = [sys.executable, "-m", "benchmarks.build", "--store", arguments.store]
        command += ["--extractor", arguments.extractor, "--one", size]
        result = measured_apart(command)
        rates = [_rate(result["chunks"], result["stages"].get(stage)) for stage in STAGES]
        memory = f"{result['memory_mb']:,.0f}" + (
            f" + {result['server_memory_mb']:,.0f}" if result["server_memory_mb"] else ""
        )
        counts = [result["corpus"], *(f"{result[name]:,}" for name in ("chunks", "entities", "relations"))]
        rows.append(
            [
                *counts,
                *rates,
                f"{result['seconds']:,.1f}",
                f"{result['seconds_again']:,.1f}",
                memory,
                f"{result['disk_mb']:,.0f}",
            ]
        )
    head = [
        "corpus",
        "chunks",
        "entities",
        "relations",
        *(f"{stage} /s" for stage in STAGES),
        "build s",
        "again s",
        "memory MB",
        "disk MB",
    ]
    title = f"Build on {arguments.store} by {arguments.extractor}: chunks per second by stage"
    notes = [
        "Mixed vectors: real MiniLM vectors of 1,000 passages, mixed and perturbed; `embed` is then not the speed of the model.",
        "Memory: peak of the process (the embedded database runs in it), plus that of the Neo4j server.",
    ]
    print_table(title, head, rows, notes)


def _rate(chunks: int, seconds: float | None) -> str:
    return f"{chunks / seconds:,.0f}" if seconds else "-"


if __name__ == "__main__":
    main()
