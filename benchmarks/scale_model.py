"""What a build of many documents will take: `python -m benchmarks.scale_model --documents N --workers W [--model-rpm R]`.

Predicts wall time, processor time, money, disk and memory from what one chunk costs in each step, as `benchmarks.scale` measures it
(docs/scale.md has the runs), and says which step takes longest. `--check CHUNKS` builds so many synthetic passages and holds the predicted
processor time against what that took: exit code 1 where it is off by more than a quarter.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from benchmarks.scale import measure
from benchmarks.tables import print_table

__all__ = ["MEASURED", "Constants", "Prediction", "predict"]

CHUNKS_OF_A_DOCUMENT = 30.0
"""A product of the Arduino corpus has 31."""
SHARE_OF_LIMIT = 0.95
"""Of a limit of requests a minute that a build uses: it is a sliding minute."""
VECTOR_BYTES = 384 * 4
HNSW_BYTES = 32 * 2 * 8
"""Of a node's links in a vector index: 32 neighbours, twice as many on the lowest level, ids of 8 bytes."""
TOLERANCE = 0.25


@dataclass(frozen=True, slots=True)
class Constants:
    """Processor seconds of one chunk by step, on one core of the machine of docs/scale.md, and bytes."""

    started: float
    """Of a build, whatever its size: the Java machine and its compiler, imports."""
    read: float
    """Of a chunk of a document; ready passages cost a fiftieth."""
    embed: float
    extract: float
    entity: float
    """To embed an entity."""
    write: float
    """In the process that writes and its database together, with the chunk's entities, relations, vectors and its part of the indexes."""
    entities: float
    """Of a chunk."""
    disk_bytes: float
    prompt_tokens: float = 1_800.0
    """Of one call of the extractor `llm`: instructions and examples, and a chunk of 150 tokens."""
    completion_tokens: float = 350.0
    """Assumed, not measured: it depends on the model and the text."""


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
) -> Prediction:
    """Predict a build with so many processors at work; with `model_rpm` a model extracts, else `mention` does.

    `seeded`: of ready passages and with vectors of hashes, as `benchmarks.scale` builds them.
    """
    calls = chunks if model_rpm else 0
    waiting = calls / (SHARE_OF_LIMIT * model_rpm) * 60 if model_rpm else 0.0
    spread = {"extract": constants.extract * chunks}
    if not seeded:
        spread |= {
            "read files": constants.read * chunks,
            "embed chunks": constants.embed * chunks,
            "embed entities": constants.entity * constants.entities * chunks,
        }
    steps = {name: seconds / workers for name, seconds in spread.items()}
    steps["extract"] = max(steps["extract"], waiting)
    steps["write"] = constants.started + constants.write * chunks
    prompt, completion = dollars_per_million
    return Prediction(
        steps=steps,
        cpu=sum(spread.values()) + steps["write"],
        calls=calls,
        dollars=calls * (constants.prompt_tokens * prompt + constants.completion_tokens * completion) / 1e6,
        disk_gb=constants.disk_bytes * chunks / 1e9,
        index_gb=(VECTOR_BYTES + HNSW_BYTES) * chunks * (1 + constants.entities) / 1e9,
    )


MEASURED = {
    "embedded": Constants(
        started=12.6,
        read=0.029,
        embed=0.0383,
        extract=0.0014,
        entity=0.0032,
        write=0.0149,
        entities=4.0,
        disk_bytes=44_600,
    ),
    "neo4j": Constants(
        started=22.7,
        read=0.029,
        embed=0.0383,
        extract=0.0014,
        entity=0.0032,
        write=0.0079,
        entities=1.54,
        disk_bytes=59_700,
    ),
}
"""By `benchmarks.scale`; docs/scale.md says when and on what."""


def check(store: str, chunks: int) -> bool:
    """Hold the prediction for so many synthetic passages against a build of them."""
    expected = predict(MEASURED[store], chunks=chunks, workers=1, seeded=True).cpu
    found = sum(step.cpu for step in measure([], chunks=chunks, store=store, extractor="mention").steps)
    off = expected / found - 1
    print(
        f"{store}, {chunks:,} passages: predicted {expected:.1f} s of processor time, took {found:.1f} s ({off:+.0%})"
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
    parser.add_argument("--check", type=int, metavar="CHUNKS", help="Build so many, and compare.")
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit(0 if check(arguments.store, arguments.check) else 1)
    prompt, completion = map(float, arguments.dollars_per_million.split(","))
    found = predict(
        MEASURED[arguments.store],
        chunks=round(arguments.documents * arguments.chunks_per_document),
        workers=arguments.workers,
        model_rpm=arguments.model_rpm,
        dollars_per_million=(prompt, completion),
    )
    rows = [[name, duration(seconds)] for name, seconds in found.steps.items()]
    notes = [
        f"{duration(found.wall)} in all; most of it is: {found.longest}. Processor time {duration(found.cpu)}.",
        f"{found.calls:,} calls of a model, ${found.dollars:,.0f}.",
        f"Disk {found.disk_gb:,.1f} GB; vector indexes {found.index_gb:,.1f} GB, which want to be in memory.",
    ]
    title = f"{arguments.documents:,} documents, {arguments.workers} workers, {arguments.store}"
    print_table(title, ["step", "wall"], rows, notes)


def duration(seconds: float) -> str:
    """Say seconds in the unit that fits."""
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.1f} s"


if __name__ == "__main__":
    main()
