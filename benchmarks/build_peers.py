"""How fast graphs are built around a language model, ours beside others: `python -m benchmarks.build_peers [--limit N] [--only NAMES]`.

The Arduino passages, a scripted model behind a local HTTP server in a process of its own, and one Neo4j (with APOC, which the others need)
that is emptied between builds. Each program is a process of its own, so that its peak memory is its own. First table: the model answers at
once, so that all that is seen is the programs' own work. Second table: the model takes a second, 32 calls at once; ideal is passages / 32
seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpus import REAL_CHUNKS, make_corpus
from benchmarks.json_lines import read_rows
from benchmarks.peers import QuickEmbedder, build_with_llama_index, build_with_neo4j_graphrag
from benchmarks.processes import measured_apart, peak_memory_mb
from benchmarks.replies import REPLIES_VARIABLE, extracted, write_replies
from benchmarks.stores import empty_neo4j, fresh_store, neo4j_login
from benchmarks.tables import print_table
from kgrag.testing import ModelServerProcess
from kgrag.text.names import normal_form

OURS = ("simple_kg", "graph_transformer", "path")
PEERS = ("SimpleKGPipeline", "PropertyGraphIndex")
CONCURRENCY = 32
SLOW_MODEL_S = 1.0
TRIPLES = (
    "MATCH (h:__Entity__)-[r]->(t:__Entity__) WHERE NOT type(r) IN ['FROM_CHUNK', 'MENTIONS'] "
    "RETURN DISTINCT h.name AS head, type(r) AS relation, t.name AS tail"
)


def passages(limit: int, folder: Path) -> Path:
    """Write the first passages as ready input, and the model's replies about them; return the input."""
    corpus = make_corpus(REAL_CHUNKS, folder, question_count=1)
    lines = corpus.file.read_text(encoding="utf-8").splitlines()[:limit]
    corpus.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return corpus.file


def build_ours(extractor: str, file: Path, *, base_url: str, target: str, cache: Path) -> float:
    """Run `kgrag build` with one extractor, response cache and all."""
    from kgrag.extract import open_extractor
    from kgrag.jobs.build import build
    from kgrag.models import open_chat_model
    from kgrag.settings import Settings
    from kgrag.store.graph import open_store

    settings = Settings(
        store=target,
        model="openai:scripted",
        base_url=base_url,
        extractor=(extractor,),
        concurrency=CONCURRENCY,
        model_cache=str(cache),
        max_file_mb=1000,
    )
    model = open_chat_model(settings.model, settings=settings)
    extractors = [open_extractor(extractor, model=model, settings=settings)]
    with open_store(target) as store:
        started = time.perf_counter()
        report = asyncio.run(
            build([file], store=store, embedder=QuickEmbedder(), extractors=extractors, model=model, settings=settings)
        )
        seconds = time.perf_counter() - started
    if not report.complete:
        raise SystemExit(f"The build was not complete: {report.failures[:3]}")
    print(json.dumps(report.seconds), file=sys.stderr)
    return seconds


def run_one(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Build by one program in this process."""
    texts = [row["text"] for row in read_rows(options.file)]
    if name in OURS:
        with tempfile.TemporaryDirectory() as folder:
            seconds = build_ours(
                name,
                options.file,
                base_url=options.base_url,
                target=options.target,
                cache=Path(folder) / "replies.sqlite",
            )
    else:
        run = build_with_neo4j_graphrag if name == PEERS[0] else build_with_llama_index
        seconds = run(texts, base_url=options.base_url, url=options.target, login=neo4j_login())
    return {"seconds": seconds, "chunks": len(texts), "memory_mb": peak_memory_mb()}


def written_triples(target: str) -> set[tuple[str, str, str]]:
    """Read the triples that a program wrote, and empty the database."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(target, auth=neo4j_login()) as driver, driver.session() as session:
        found = {(row["head"], row["relation"], row["tail"]) for row in session.run(TRIPLES)}
    empty_neo4j(target)
    return comparable(found)


def comparable(triples: set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """Take away what programs change on purpose: capitals, blanks, the form of relation types."""
    return {
        (normal_form(h.casefold()), r.casefold().replace(" ", "_"), normal_form(t.casefold())) for h, r, t in triples
    }


def measure(
    name: str, file: Path, *, base_url: str, target: str, expected: set[tuple[str, str, str]]
) -> dict[str, Any]:
    """Build by one program in a process of its own, and compare what it wrote with what was said."""
    command = [sys.executable, "-m", "benchmarks.build_peers", "--one", name, "--file", str(file)]
    result: dict[str, Any] = measured_apart([*command, "--base-url", base_url, "--target", target])
    found = written_triples(target)
    return result | {"name": name, "triples": len(found & expected), "other": len(found - expected)}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--limit", type=int, default=REAL_CHUNKS, help="passages")
    parser.add_argument("--only", default=",".join((*OURS, *PEERS)), help="programs, separated by commas")
    parser.add_argument("--slow", action=argparse.BooleanOptionalAction, default=True, help="the second table")
    for hidden in ("--one", "--base-url", "--target"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run_one(options.one, options)))
        return
    names = options.only.split(",")
    with tempfile.TemporaryDirectory(prefix="kgrag-benchmark-") as temporary:
        folder = Path(temporary)
        file = passages(options.limit, folder)
        os.environ[REPLIES_VARIABLE] = str(folder / "replies.json")
        expected = comparable(write_replies(folder / "replies.json", extracted([file])))
        with fresh_store("neo4j", apoc=True) as fresh:
            with _model(0.0) as model:
                # Unmeasured: a Java machine is slow until it has seen the work.
                for name in (OURS[0], PEERS[1]):
                    measure(name, file, base_url=model.url, target=fresh.target, expected=expected)
                quick = [
                    measure(name, file, base_url=model.url, target=fresh.target, expected=expected) for name in names
                ]
            _print_quick(quick, expected=len(expected))
            if options.slow:
                with _model(SLOW_MODEL_S) as model:
                    ours = [name for name in names if name in OURS]
                    slow = [
                        measure(name, file, base_url=model.url, target=fresh.target, expected=expected) for name in ours
                    ]
                _print_slow(slow)


def _model(latency_s: float) -> ModelServerProcess:
    return ModelServerProcess("benchmarks.replies:answer", latency_s=latency_s, arguments=["--no-record"])


def _print_quick(results: Sequence[dict[str, Any]], *, expected: int) -> None:
    peers = {result["name"]: result["seconds"] for result in results if result["name"] in PEERS}
    rows = [
        [
            f"kgrag {result['name']}" if result["name"] in OURS else result["name"],
            f"{result['seconds']:,.1f}",
            f"{result['chunks'] / result['seconds']:,.1f}",
            f"{result['triples']:,} of {expected:,}",
            f"{result['other']:,}",
            f"{result['memory_mb']:,.0f}",
            *(f"{seconds / result['seconds']:,.1f}" for seconds in peers.values()),
        ]
        for result in results
    ]
    head = ["program", "seconds", "chunks/s", "triples", "other triples", "memory MB", *(f"{p} / it" for p in peers)]
    notes = [
        "Model behind HTTP, answering at once; one Neo4j; vectors are hashes for all. Imports and connecting are not counted.",
        "Triples are compared without capitals and blanks; `other` were written and not said.",
    ]
    print_table("Build around a scripted model of no latency", head, rows, notes)


def _print_slow(results: Sequence[dict[str, Any]]) -> None:
    rows = []
    for result in results:
        ideal = math.ceil(result["chunks"] / CONCURRENCY) * SLOW_MODEL_S
        rows.append(
            [
                f"kgrag {result['name']}",
                f"{result['seconds']:,.1f}",
                f"{ideal:,.1f}",
                f"{result['seconds'] / ideal:.3f}",
            ]
        )
    print_table(
        f"Build around a model of {SLOW_MODEL_S:.0f} s, {CONCURRENCY} calls at once",
        ["program", "seconds", "ideal", "ratio"],
        rows,
        ["The whole build is counted: reading, vectors (hashes), calls, writing, indexes."],
    )


if __name__ == "__main__":
    main()
