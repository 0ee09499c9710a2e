"""What the methods merge of names that a language model really returned (MuSiQue, recorded), and the groups, to be read by eye.

    python -m benchmarks.resolution_names [FILE] [--list] [--sample 100 --seed 1]

FILE (default ../shared/data/musique/recorded_extractions.jsonl) has {"entities": [name, ...], "triples": [[head, relation, tail], ...]}
on each line. A merged pair is false for sure where its numbers, signs, units, versions or model numbers differ; of the rest a person has
to say.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from random import Random

from benchmarks.tables import print_table
from kgrag.resolve import Decisions, GraphEntity, MergePlan, NameReading, conflict, make_plan
from kgrag.resolve.comparisons import decide_by_thesis
from kgrag.resolve.read_many import read_names
from kgrag.resolve.rules import decide_by_rules

DEFAULT_FILE = Path(__file__).resolve().parents[2] / "shared/data/musique/recorded_extractions.jsonl"


def main() -> None:
    """Resolve, print one table, and the groups of our method where they are wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT_FILE)
    parser.add_argument("--list", action="store_true", help="print every group of the rules")
    parser.add_argument("--sample", type=int, default=0, help="print so many groups, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    entities = recorded_names(arguments.file)
    readings = read_names([entity.name for entity in entities])
    ours = _plan(entities, readings, decide_by_rules(entities, readings), "rules")
    plans = [ours, _plan(entities, readings, decide_by_thesis(entities), "thesis")]
    reading_of = dict(zip((entity.key for entity in entities), readings, strict=True))
    print_table(
        "Resolution of recorded names",
        ["method", "names", "groups", "names fewer", "", "pairs whose numbers differ"],
        [
            [
                plan.method,
                f"{plan.entities:,}",
                f"{len(plan.groups):,}",
                f"{plan.merged:,}",
                f"{plan.merged / plan.entities:.1%}",
                f"{_false_pairs(plan, reading_of):,}",
            ]
            for plan in plans
        ],
        [],
    )
    groups = list(ours.groups)
    if arguments.sample:
        groups = Random(arguments.seed).sample(groups, min(arguments.sample, len(groups)))
    for group in groups if arguments.list or arguments.sample else ():
        reasons = sorted({pair.reason for pair in group.pairs if pair.verdict != "joined"})
        print(f"{' = '.join(member.name for member in group.members)}    ({', '.join(reasons)})")


def recorded_names(file: Path) -> list[GraphEntity]:
    """Return the distinct names of a file of recorded extractions, with how often each was returned."""
    times: Counter[str] = Counter()
    for line in file.read_text(encoding="utf-8").splitlines():
        recorded = json.loads(line)
        times.update(str(name) for name in recorded["entities"])
        times.update(str(end) for triple in recorded["triples"] if len(triple) == 3 for end in (triple[0], triple[2]))
    return [GraphEntity(key=name, name=name, mentions=count) for name, count in sorted(times.items())]


def _plan(
    entities: Sequence[GraphEntity], readings: Sequence[NameReading], decisions: Decisions, method: str
) -> MergePlan:
    return make_plan("musique", entities, readings, decisions, method=method, settings={})


def _false_pairs(plan: MergePlan, reading_of: dict[str, NameReading]) -> int:
    return sum(
        bool(conflict(reading_of[a.key], reading_of[b.key]))
        for group in plan.groups
        for a, b in combinations(group.members, 2)
    )


if __name__ == "__main__":
    main()
