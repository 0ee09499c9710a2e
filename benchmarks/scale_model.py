"""What a build of many documents will take: `python -m benchmarks.scale_model --documents N --workers W [--model-rpm R]`.

Predicts wall time, processor time, money, disk and memory from what a chunk and an entity cost in each step, as `benchmarks.scale` measures
it (docs/scale.md has the runs), and says which step takes longest. The constants are of one machine on one day. `--check CHUNKS` therefore
builds a thousand synthetic passages to learn how fast this machine is now, then CHUNKS of them, and holds what the constants say at that
pace against what the second build took: exit code 1 where processor time is off by more than a quarter. `--pace P` predicts for a machine
that takes P times as long. `--fit SIZES` builds synthetic passages of several sizes and prints the constants that follow from them (with
`--keep FOLDER` what `benchmarks.scale --keep FOLDER` built there is not built again).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from benchmarks.scale import Measured, measure_apart
from benchmarks.stores import NEO4J_HEAP_MB, PAGE_CACHE_MB
from benchmarks.tables import print_table

__all__ = ["MEASURED", "Constants", "Fitted", "Prediction", "entities_of", "fit", "predict"]

CHUNKS_OF_A_DOCUMENT = 30.0
"""A product of the Arduino corpus has 31."""
SHARE_OF_LIMIT = 0.95
"""Of a limit of requests a minute that a build uses: it is a sliding minute."""
VECTOR_BYTES = 384 * 4
HNSW_BYTES = 32 * 2 * 8
"""Of a node's links in a vector index: 32 neighbours, twice as many on the lowest level, ids of 8 bytes."""
TOLERANCE = 0.25
SIZES_TO_FIT = 3


YARDSTICK = 1_000
"""Passages of the build that tells how fast this machine is."""
ENTITIES = 55.8
ENTITIES_EXPONENT = 0.64
"""Different things in so many chunks grow like words do (Heaps' law): ENTITIES * chunks ** ENTITIES_EXPONENT, from 1,000 to 1,000,000
synthetic passages within 40 in a hundred."""


@dataclass(frozen=True, slots=True)
class Constants:
    """Processor seconds of a chunk or an entity by step, on one core of the machine of docs/scale.md, and bytes."""

    started: float
    """Of a build, whatever its size: the Java machine and its compiler, imports."""
    read: float
    """Of a chunk of a document; ready passages cost a fiftieth."""
    embed: float
    extract: float
    entity: float
    """To embed an entity."""
    write: float
    """Of a chunk, in the process that writes and its database together, with what it mentions, its vector and its part of the indexes."""
    write_entity: float
    """The same of an entity."""
    at_once: float
    """Processors that writing keeps busy, of two: the process that writes and the threads of its database."""
    disk_bytes: float
    """Of a chunk, with its part of the graph and the indexes."""
    prompt_tokens: float = 1_800.0
    """Of one call of the extractor `llm`: instructions and examples, and a chunk of 150 tokens."""
    completion_tokens: float = 350.0
    """Assumed, not measured: it depends on the model and the text."""


def entities_of(chunks: float) -> float:
    """Predict how many entities are in so many chunks."""
    return float(ENTITIES * chunks**ENTITIES_EXPONENT)


@dataclass(frozen=True, slots=True)
class Prediction:
    """Seconds by step, and what else it takes."""

    steps: dict[str, float]
    cpu: float
    calls: int
    dollars: float
    disk_gb: float
    index_gb: float

    @property
    def wall(self) -> float:
        """Seconds of all steps, one after the other, as a build does them."""
        return sum(self.steps.values())

    @property
    def longest(self) -> str:
        """The step that takes most of it."""
        return max(self.steps, key=lambda name: self.steps[name])


def predict(
    constants: Constants,
    *,
    chunks: int,
    workers: int,
    model_rpm: float = 0.0,
    dollars_per_million: tuple[float, float] = (0.0, 0.0),
    seeded: bool = False,
    pace: float = 1.0,
) -> Prediction:
    """Predict a build with so many processors at work; with `model_rpm` a model extracts, else `mention` does.

    `seeded`: of ready passages and with vectors of hashes, as `benchmarks.scale` builds them. `pace`: how many times as long a processor
    takes as those that the constants were measured on.
    """
    entities = entities_of(chunks)
    calls = chunks if model_rpm else 0
    waiting = calls / (SHARE_OF_LIMIT * model_rpm) * 60 if model_rpm else 0.0
    spread = {"extract": constants.extract * chunks}
    if not seeded:
        spread |= {
            "read files": constants.read * chunks,
            "embed chunks": constants.embed * chunks,
            "embed entities": constants.entity * entities,
        }
    writing = constants.started + constants.write * chunks + constants.write_entity * entities
    steps = {name: pace * seconds / workers for name, seconds in spread.items()}
    steps["extract"] = max(steps["extract"], waiting)
    steps["write"] = pace * writing / constants.at_once
    prompt, completion = dollars_per_million
    return Prediction(
        steps=steps,
        cpu=pace * (sum(spread.values()) + writing),
        calls=calls,
        dollars=calls * (constants.prompt_tokens * prompt + constants.completion_tokens * completion) / 1e6,
        disk_gb=constants.disk_bytes * chunks / 1e9,
        index_gb=(VECTOR_BYTES + HNSW_BYTES) * (chunks + entities) / 1e9,
    )


@dataclass(frozen=True, slots=True)
class Fitted:
    """Those of the constants that follow from builds of synthetic passages: see `Constants`."""

    started: float
    write: float
    write_entity: float
    at_once: float
    disk_bytes: float


def fit(runs: Sequence[Measured], *, extract: float) -> Fitted:
    """Find what explains the processor time of all runs best, each run's error as a share of it; none of the constants is negative.

    Bytes are those of the largest run, since a small store is mostly room that was set aside. Needs three runs.
    """
    cpu = np.array([run.cpu for run in runs])
    parts = np.array([[1.0, run.chunks, run.entities] for run in runs]) / cpu[:, None]
    (started, chunk, entity), _ = nnls(parts, np.ones(len(runs)))
    largest = max(runs, key=lambda run: run.chunks)
    return Fitted(
        started=float(started),
        write=max(float(chunk) - extract, 0.0),
        write_entity=float(entity),
        at_once=float(np.median(cpu / np.array([run.wall for run in runs]))),
        disk_bytes=1e6 * largest.disk_mb / largest.chunks,
    )


MEASURED = {
    "embedded": Constants(
        started=6.6,
        read=0.02,
        embed=0.0172,
        extract=0.0014,
        entity=0.0029,
        write=0.0038,
        write_entity=0.00041,
        at_once=1.38,
        disk_bytes=9_600,
    ),
    "neo4j": Constants(
        started=6.9,
        read=0.02,
        embed=0.0172,
        extract=0.0014,
        entity=0.0029,
        write=0.0021,
        write_entity=0.0021,
        at_once=1.44,
        disk_bytes=44_000,
    ),
}
"""By `--fit` and `benchmarks.scale examples/documents`; docs/scale.md says when and on what."""


def check(store: str, chunks: int) -> bool:
    """Hold the prediction for so many synthetic passages against a build of them, at the pace that this machine has now."""
    short, found = (measure_apart(size, ["--store", store]) for size in (YARDSTICK, chunks))
    pace = short.cpu / predict(MEASURED[store], chunks=YARDSTICK, workers=1, seeded=True).cpu
    expected = predict(MEASURED[store], chunks=chunks, workers=1, seeded=True, pace=pace)
    off = expected.cpu / found.cpu - 1
    print(
        f"{store}, {YARDSTICK:,} passages: {short.cpu:.1f} s of processor time, {pace:.2f} times what the constants say"
    )
    print(f"{chunks:,}, predicted at that pace: {expected.cpu:.1f} s, took {found.cpu:.1f} s ({off:+.0%})")
    print(
        f"wall, which means something where nothing else runs (load now {os.getloadavg()[0]:.1f}): "
        f"predicted {expected.wall:.1f} s, took {found.wall:.1f} s ({expected.wall / found.wall - 1:+.0%})"
    )
    return abs(off) <= TOLERANCE


def main() -> None:
    """Predict and print, or check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2, help="Processors that read, embed and extract. Default: 2.")
    parser.add_argument("--model-rpm", type=float, default=0.0, help="Requests a minute, where a model extracts.")
    parser.add_argument("--chunks-per-document", type=float, default=CHUNKS_OF_A_DOCUMENT)
    parser.add_argument(
        "--dollars-per-million", default="0.15,0.60", help="Prompt and completion tokens. Default: 0.15,0.60."
    )
    parser.add_argument("--store", choices=tuple(MEASURED), default=next(iter(MEASURED)))
    parser.add_argument("--pace", type=float, default=1.0, help="How many times as long a processor takes. Default: 1.")
    parser.add_argument("--check", type=int, metavar="CHUNKS", help="Build so many, and compare.")
    parser.add_argument("--fit", metavar="SIZES", help="Build so many, as 1000,10000,100000, and print the constants.")
    parser.add_argument("--keep", type=Path, help="Of --fit: where the stores stay.")
    parser.add_argument("--heap-mb", type=int, default=NEO4J_HEAP_MB, help="Of --fit and a Neo4j server.")
    parser.add_argument("--page-cache-mb", type=int, default=PAGE_CACHE_MB, help="The same.")
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit(0 if check(arguments.store, arguments.check) else 1)
    if arguments.fit:
        sizes = [int(size) for size in arguments.fit.split(",")]
        if len(set(sizes)) < SIZES_TO_FIT:
            parser.error(f"--fit: expected {SIZES_TO_FIT} sizes or more, as 1000,10000,100000, got {arguments.fit}")
        options = ["--store", arguments.store, *(["--keep", str(arguments.keep)] if arguments.keep else [])]
        options += ["--heap-mb", str(arguments.heap_mb), "--page-cache-mb", str(arguments.page_cache_mb)]
        print_fit(arguments.store, [measure_apart(size, options) for size in sizes])
        return
    prompt, completion = map(float, arguments.dollars_per_million.split(","))
    found = predict(
        MEASURED[arguments.store],
        chunks=round(arguments.documents * arguments.chunks_per_document),
        workers=arguments.workers,
        model_rpm=arguments.model_rpm,
        dollars_per_million=(prompt, completion),
        pace=arguments.pace,
    )
    rows = [[name, duration(seconds)] for name, seconds in found.steps.items()]
    notes = [
        f"{duration(found.wall)} in all; most of it is: {found.longest}. Processor time {duration(found.cpu)}.",
        f"{found.calls:,} calls of a model, ${found.dollars:,.0f}.",
        f"Disk {found.disk_gb:,.1f} GB; vector indexes {found.index_gb:,.1f} GB, which want to be in memory.",
    ]
    title = f"{arguments.documents:,} documents, {arguments.workers} workers, {arguments.store}"
    print_table(title, ["step", "wall"], rows, notes)


def print_fit(store: str, runs: Sequence[Measured]) -> None:
    """Print the constants that follow from builds, and how well they explain each."""
    extract = MEASURED[store].extract
    found = fit(runs, extract=extract)
    rows = []
    for run in runs:
        explained = found.started + (found.write + extract) * run.chunks + found.write_entity * run.entities
        took = run.cpu
        sizes = [f"{run.chunks:,}", f"{run.entities:,}", f"{entities_of(run.chunks):,.0f}"]
        rows.append([*sizes, f"{took:.1f}", f"{explained:.1f}", f"{explained / took - 1:+.0%}", f"{run.wall:.1f}"])
    head = ["chunks", "entities", "by Heaps' law", "CPU s", "explained", "off", "wall s"]
    print_table(f"Constants of {store}", head, rows, [str(found)])


def duration(seconds: float) -> str:
    """Say seconds in the unit that fits."""
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.1f} s"


if __name__ == "__main__":
    main()
