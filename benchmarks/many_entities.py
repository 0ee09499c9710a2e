"""What resolution and communities cost a graph of very many entities: `python -m benchmarks.many_entities`.

    python -m benchmarks.many_entities [--entities N[,N...]] [--keep FOLDER] [--heap-mb N] [--page-cache-mb N]

A synthetic graph is loaded into a Neo4j that is started for this alone, as files (`benchmarks.first_load`), and then entities are resolved
(`--dry-run`: the plan is made, nothing is merged) and communities found, written and labelled, without a model. A line for each step:
wall seconds, processor seconds of this process and of the server, and the peak memory of this process within the step. With several
sizes each is a process of its own, and the last columns are the growth exponents of processor time and of memory: 1 where ten times
the entities take ten times as much. With `--keep` the database stays in FOLDER, and the next call with that FOLDER loads nothing.

Four entities are new in each chunk, and each is joined to one of those before it, the early ones far more often, so that there are hubs.
Twelve have a name that differs in its number only, and every 33rd is one of those before it in another spelling. Vectors are of words
(`benchmarks.vectors`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

from benchmarks.first_load import write_first_load
from benchmarks.processes import cpu_seconds, measured_apart, peak_memory_mb
from benchmarks.scale import growth_exponent, import_files
from benchmarks.stores import NEO4J_HEAP_MB, PAGE_CACHE_MB, fresh_store
from benchmarks.synthetic import KINDS, Passage, write_passages
from benchmarks.tables import print_table
from benchmarks.vectors import WordVectors
from kgrag.communities.rules import RulesSummariser
from kgrag.communities.settings import CommunitySettings
from kgrag.jobs.communities import update_communities
from kgrag.jobs.resolve import resolve
from kgrag.store.exchange.export import MANIFEST
from kgrag.store.graph import GraphStore, open_store
from kgrag.text.names import normal_form
from kgrag.types import Chunk, Document, Entity, Extraction, Relation

__all__ = ["ToldRelations", "told_passages"]

GRAPH = "told"
NEW_OF_CHUNK = 4
OF_FAMILY = 12
RESPELT = 33
"""Every so manieth entity is one before it, spelt in another way."""
WORDS = 4000
"""From which families take their two words."""
RELATIONS = ("CONNECTS_TO", "PART_OF", "SUPPLIES", "REPLACES")
TYPES = ("Component", "Product", "Module")
SEPARATOR = " | "
FIELDS = 5
THIS = (sys.executable, "-m", "benchmarks.many_entities")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a step took: seconds, and MB of this process at most."""

    name: str
    wall: float
    own: float
    server: float
    memory_mb: float

    @property
    def cpu(self) -> float:
        """Of both processes."""
        return self.own + self.server


@dataclass(frozen=True, slots=True)
class Measured:
    """What was done with one graph."""

    costs: tuple[Cost, ...]
    note: str
    """What came out."""


def told_passages(entities: int, *, seed: int = 0) -> Iterator[Passage]:
    """Yield passages that say relations, a line each, until `entities` are named; the same arguments give the same passages."""
    chance = random.Random(f"{seed} entities")
    for begin in range(0, entities, NEW_OF_CHUNK):
        lines = []
        for new in range(begin, min(begin + NEW_OF_CHUNK, entities)):
            # Its logarithm is uniform: the first few have as many as the last hundred thousand.
            other = int((new + 1) ** chance.random()) - 1
            said = chance.choice(RELATIONS)
            lines.append(SEPARATOR.join((*_named(new, seed), said, *_named(other if other < new else 0, seed))))
        number = begin // NEW_OF_CHUNK
        yield Passage(f"told-{number}", f"Relations {number}", "\n".join(lines), f"Relations {number}", "told")


class ToldRelations:
    """An `Extractor` of what the passages of `told_passages` say."""

    name = GRAPH
    fingerprint = "told"

    def prepare(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        """Learn nothing."""

    async def extract(self, chunk: Chunk) -> Extraction:
        """Read the lines of a chunk."""
        relations = []
        for line in chunk.text.splitlines():
            if len(fields := line.split(SEPARATOR)) != FIELDS:
                continue
            name, type_, said, other, other_type = fields
            head = Entity(name=name, type=type_, normal=normal_form(name))
            tail = Entity(name=other, type=other_type, normal=normal_form(other))
            relations.append(Relation(head=head, type=said, tail=tail))
        entities = {(one.type, one.normal): one for relation in relations for one in (relation.head, relation.tail)}
        return Extraction(chunk_id=chunk.id, entities=tuple(entities.values()), relations=tuple(relations))


def _named(number: int, seed: int) -> tuple[str, str]:
    """Return name and type of an entity."""
    respelt = number % RESPELT == RESPELT - 1
    family, member = divmod(number - 1 if respelt else number, OF_FAMILY)
    first, second, kind, type_ = _family(family, seed)
    count = 2 + 7 * member + family % 7
    return f"{first} {second} {kind} {'revision' if respelt else 'rev'} {count}", type_


@cache
def _words(seed: int) -> list[str]:
    chance = random.Random(f"{seed} words")
    syllables = [consonant + vowel for consonant in "bdfgklmnprstv" for vowel in "aeiou"]
    found: dict[str, None] = {}
    while len(found) < WORDS:
        found["".join(chance.choices(syllables, k=3)).capitalize()] = None
    return list(found)


def _family(number: int, seed: int) -> tuple[str, str, str, str]:
    chance = random.Random(f"{seed} family {number}")
    first, second = chance.sample(_words(seed), 2)
    return first, second, chance.choice(KINDS), chance.choice(TYPES)


@contextmanager
def _step(costs: list[Cost], name: str, pid: int | None) -> Iterator[None]:
    """Measure a step; the peak of this process's memory counts from here, on Linux."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = time.perf_counter(), time.process_time(), cpu_seconds(pid)
    yield
    now = time.perf_counter(), time.process_time(), cpu_seconds(pid)
    wall, own, server = (after - then for after, then in zip(now, before, strict=True))
    costs.append(Cost(name, wall, own, server, peak_memory_mb(os.getpid())))
    print(f"{name}: {wall:,.0f} s, {costs[-1].memory_mb:,.0f} MB", file=sys.stderr, flush=True)


def measure(entities: int, *, keep: Path | None, heap_mb: int, page_cache_mb: int) -> Measured:
    """Load a graph of so many entities, and resolve and divide it."""
    costs: list[Cost] = []
    with ExitStack() as closing:
        place = keep or Path(closing.enter_context(tempfile.TemporaryDirectory()))
        home = place / f"entities-{entities}"
        load = partial(_load, entities, costs)
        fresh = closing.enter_context(
            fresh_store("neo4j", keep=home, heap_mb=heap_mb, page_cache_mb=page_cache_mb, load=load)
        )
        store = closing.enter_context(open_store(fresh.target))
        if costs:
            with _step(costs, "import: indexes, digest", fresh.server_pid):
                store.import_from(home.resolve() / "files")
        note = asyncio.run(_resolved_and_divided(store, costs, fresh.server_pid))
        return Measured(tuple(costs), note)


def _load(entities: int, costs: list[Cost], home: Path) -> None:
    """Write the files of an export, and have `neo4j-admin` load them; each in a process of its own."""
    home = home.resolve()
    files = home.parent / "files"
    if not (files / MANIFEST).is_file():
        with _step(costs, "write files", None):
            subprocess.run([*THIS, "--entities", str(entities), "--write", str(files)], stdout=sys.stderr, check=True)
    with _step(costs, "neo4j-admin import", None):
        import_files(files, home)


def _write(entities: int, files: Path) -> None:
    passages = files.with_suffix(".jsonl")
    write_passages(passages, told_passages(entities))
    write_first_load(passages, files, extractor=ToldRelations())


async def _resolved_and_divided(store: GraphStore, costs: list[Cost], pid: int | None) -> str:
    embedder = WordVectors()
    with _step(costs, "resolve --dry-run", pid):
        resolved = await resolve(store, GRAPH, embedder=embedder, dry_run=True)
    merged = sum(len(group.members) for group in resolved.plan.groups)
    with _step(costs, "communities", pid):
        divided = await update_communities(
            store, graph=GRAPH, embedder=embedder, summariser=RulesSummariser(), settings=CommunitySettings()
        )
    parts = ", ".join(f"{name} {seconds:,.0f}" for name, seconds in divided.seconds.items())
    return (
        f"{divided.entities:,} entities: {len(resolved.plan.groups):,} groups of {merged:,} would be merged; {divided.similar_pairs:,} "
        f"similar and {divided.related_pairs:,} related pairs, {sum(level.communities for level in divided.levels):,} communities of "
        f"{len(divided.levels)} levels. Communities, wall s: {parts}."
    )


def _rows(runs: Sequence[Measured], sizes: Sequence[int]) -> list[list[str]]:
    growth = sizes[-1] / sizes[0]
    rows = []
    for name in [cost.name for cost in runs[-1].costs]:
        costs = [next((cost for cost in run.costs if cost.name == name), None) for run in runs]
        for size, cost in zip(sizes, costs, strict=True):
            if cost is None:
                continue
            row = [
                f"{size:,}",
                name,
                *(f"{one:,.1f}" for one in (cost.wall, cost.own, cost.server)),
                f"{cost.memory_mb:,.0f}",
            ]
            first, is_last = costs[0], size == sizes[-1]
            rows.append(
                [
                    *row,
                    growth_exponent(first.cpu, cost.cpu, growth) if first and is_last else "",
                    growth_exponent(first.memory_mb, cost.memory_mb, growth) if first and is_last else "",
                ]
            )
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What resolution and communities cost a graph of very many entities.")
    parser.add_argument("--entities", default="100000", help="One size or several. Default: %(default)s.")
    parser.add_argument("--keep", type=Path, help="Keep the databases in this folder, and take those that are there.")
    parser.add_argument("--heap-mb", type=int, default=NEO4J_HEAP_MB, help="Of the Neo4j server. Default: %(default)s.")
    parser.add_argument("--page-cache-mb", type=int, default=PAGE_CACHE_MB, help="The same. Default: %(default)s.")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.entities.split(",")]
    if arguments.write is not None:
        _write(sizes[0], arguments.write)
        return
    if arguments.json:
        measured = measure(
            sizes[0], keep=arguments.keep, heap_mb=arguments.heap_mb, page_cache_mb=arguments.page_cache_mb
        )
        print(json.dumps(asdict(measured)))
        return
    runs = []
    for size in sizes:
        command = [*THIS, *sys.argv[1:], "--entities", str(size), "--json"]
        found = measured_apart(command)
        runs.append(Measured(tuple(Cost(**cost) for cost in found["costs"]), found["note"]))
    print_table(
        "Resolution and communities of many entities, on neo4j",
        ["entities", "step", "wall s", "own CPU s", "server", "MB at most", "growth of CPU", "of MB"],
        _rows(runs, sizes),
        [run.note for run in runs],
    )


if __name__ == "__main__":
    main()
