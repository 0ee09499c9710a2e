"""How long resolution takes as names grow, beside neo4j-graphrag's resolver at sizes that it can still do.

    python -m benchmarks.resolution_speed [--sizes 10000,100000,1000000] [--peer-sizes 1000,2000,4000] [--seed 1]

Ours: distinct names → readings, candidates, decisions by the scored rule, merge plan; no database. The peer: neo4j-graphrag's
`FuzzyMatchResolver.run` with a driver that answers at once and merges nothing, so that neither has the database's time in it.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from benchmarks.generated_names import corpus_names
from benchmarks.tables import print_table
from kgrag.resolve import GraphEntity, conflict, make_plan, read_name
from kgrag.resolve.read_many import read_names
from kgrag.resolve.rules import decide_by_rules


def main() -> None:
    """Measure, and print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--peer-sizes", default="1000,2000,4000")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rows = [_ours(corpus_names(int(size), seed=arguments.seed)) for size in arguments.sizes.split(",")]
    rows += [
        _peer(corpus_names(int(size), seed=arguments.seed)) for size in filter(None, arguments.peer_sizes.split(","))
    ]
    print_table(
        "Resolution of generated names",
        [
            "resolver",
            "names",
            "read s",
            "decide s",
            "plan s",
            "seconds",
            "cpu s",
            "µs a name",
            "pairs",
            "groups",
            "false",
            "memory MB",
        ],
        rows,
        ["pairs: compared. false: merged pairs whose numbers differ. memory: highest so far in this process."],
    )


def _ours(names: Sequence[str]) -> list[str]:
    entities = [GraphEntity(key=name, name=name, type="Product") for name in names]
    cpu, started = _cpu_seconds(), time.perf_counter()
    readings = read_names(names)
    read = time.perf_counter()
    decisions = decide_by_rules(entities, readings)
    decided = time.perf_counter()
    plan = make_plan("g", entities, readings, decisions, method="rules", settings={})
    done = time.perf_counter()
    cpu = _cpu_seconds() - cpu
    by_name = dict(zip(names, readings, strict=True))
    false = sum(bool(conflict(by_name[pair.a], by_name[pair.b])) for group in plan.groups for pair in group.pairs)
    return _row(
        "kgrag rules",
        names,
        (read - started, decided - read, done - decided),
        cpu,
        decisions.candidates,
        len(plan.groups),
        false,
    )


def _peer(names: Sequence[str]) -> list[str]:
    from neo4j_graphrag.components.resolver import FuzzyMatchResolver

    driver = _Driver(names)
    cpu, started = _cpu_seconds(), time.perf_counter()
    asyncio.run(FuzzyMatchResolver(driver).run())  # type: ignore[arg-type]
    done = time.perf_counter()
    cpu = _cpu_seconds() - cpu
    readings = [[read_name(name) for name in group] for group in driver.merged]
    false = sum(
        bool(conflict(one, other)) for group in readings for at, one in enumerate(group) for other in group[at + 1 :]
    )
    pairs = len(names) * (len(names) - 1) // 2
    return _row("neo4j-graphrag fuzzy", names, (0.0, 0.0, done - started), cpu, pairs, len(driver.merged), false)


def _row(
    resolver: str,
    names: Sequence[str],
    steps: tuple[float, float, float],
    cpu: float,
    pairs: int,
    groups: int,
    false: int,
) -> list[str]:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = sum(steps)
    return [
        resolver,
        f"{len(names):,}",
        *(f"{step:.1f}" if step else "" for step in steps),
        f"{seconds:.1f}",
        f"{cpu:.1f}",
        f"{seconds / len(names) * 1e6:.0f}",
        f"{pairs:,}",
        f"{groups:,}",
        f"{false:,}",
        f"{memory:.0f}",
    ]


def _cpu_seconds() -> float:
    """Return the processor time of this process and of those that it started and that have ended."""
    used = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class _Driver:
    """What the peer needs of a driver: the entities of one label, and a place to say what it merges."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._pool = SimpleNamespace(pool_config=SimpleNamespace(user_agent=""))  # the peer writes its name there
        self.merged: list[list[str]] = []

    def execute_query(
        self, query: str, parameters: dict[str, Any] | None = None, **_: Any
    ) -> tuple[list[Any], None, None]:
        if parameters is None:
            cluster = [{"id": name, "name": name} for name in self._names]
            return [{"lab": "Product", "labelCluster": cluster}], None, None
        self.merged.append(parameters["ids"])
        return [None], None, None


if __name__ == "__main__":
    main()
