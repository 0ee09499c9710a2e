"""Properties of resolution over generated names: what may never be one never is, what is the same always is, in any order.

    python -m benchmarks.resolution_properties [--pairs 1000000] [--seed 1]

1. Pairs: half are two spellings of one name, half differ in one fact. The first must have one normal form, the second must conflict.
2. Groups: the same names in batches, where every pair is said to be one (the worst that a model or a threshold can do), so that only the
   cannot-links keep things apart; edges and names are shuffled. No group may hold two truths, equal normal forms must be in one group,
   another order must give the same groups.

Exits with 1 where a property does not hold, and prints the first cases.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from itertools import combinations
from random import Random

from benchmarks.generated_names import GeneratedName, different_names, same_names
from benchmarks.tables import print_table
from kgrag.resolve import GraphEntity, MergePlan, conflict, make_plan, read_name
from kgrag.resolve.plan import Decisions, Found

BATCH_NAMES = 60
SHOWN = 10


def main() -> None:
    """Check the properties and print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    started = time.perf_counter()
    random = Random(arguments.seed)
    counts: Counter[tuple[str, str]] = Counter()
    wrong: dict[tuple[str, str], list[str]] = defaultdict(list)
    batch: list[GeneratedName] = []
    groups = group_pairs = 0
    for number in range(arguments.pairs):
        alike = number % 2 == 0
        one, other = same_names(random) if alike else different_names(random)
        counts[one.kind, "same" if alike else "different"] += 1
        if message := pair_wrong(one, other):
            wrong[one.kind, "same" if alike else "different"].append(message)
        if number % 40 < 2:
            batch += [one, other]
        if len(batch) >= BATCH_NAMES:
            found, messages = group_wrong(batch, random)
            groups, group_pairs, batch = groups + found, group_pairs + len(batch) * (len(batch) - 1) // 2, []
            wrong["groups", "any order"] += messages
    kinds = sorted({kind for kind, _ in counts})
    rows = [
        [
            kind,
            *(f"{counts[kind, which]:,}" for which in ("same", "different")),
            *(f"{len(wrong[kind, which]):,}" for which in ("same", "different")),
        ]
        for kind in kinds
    ]
    rows.append(
        [
            "in all",
            *(f"{sum(counts[k, w] for k in kinds):,}" for w in ("same", "different")),
            *(f"{sum(len(wrong[k, w]) for k in kinds):,}" for w in ("same", "different")),
        ]
    )
    print_table(
        "Resolution over generated pairs",
        ["fact", "same, pairs", "different, pairs", "same kept apart", "different not kept apart"],
        rows,
        [
            f"Groups under the worst decisions: {group_pairs:,} pairs in batches of {BATCH_NAMES} names, {groups:,} groups, "
            f"{len(wrong['groups', 'any order'])} violations.",
            f"{time.perf_counter() - started:.0f} s, seed {arguments.seed}.",
        ],
    )
    failures = [message for messages in wrong.values() for message in messages]
    for message in failures[:SHOWN]:
        print(message)
    sys.exit(1 if failures else 0)


def pair_wrong(one: GeneratedName, other: GeneratedName) -> str:
    """Say what is wrong about a pair; "" where nothing is."""
    mine, theirs = read_name(one.name), read_name(other.name)
    if one.truth == other.truth and mine.form != theirs.form:
        return f"the same, kept apart: {one.name!r} is {mine.form}, {other.name!r} is {theirs.form}"
    if one.truth != other.truth and not conflict(mine, theirs):
        return f"different, not kept apart: {one.name!r} and {other.name!r}, {mine.signature!r}"
    return ""


def group_wrong(names: list[GeneratedName], random: Random) -> tuple[int, list[str]]:
    """Join a batch where every pair is said to be one; return how many groups came out, and what is wrong about them."""
    plan = join_all(names, random)
    again = join_all(random.sample(names, len(names)), random)
    messages = []
    if [(g.survivor, g.members) for g in plan.groups] != [(g.survivor, g.members) for g in again.groups]:
        messages.append("another order gave other groups")
    group_of = {member.name: number for number, group in enumerate(plan.groups) for member in group.members}
    by_name = {name.name: name for name in names}
    for group in plan.groups:
        for a, b in combinations((by_name[member.name] for member in group.members), 2):
            # Names of other words are other things too, but nothing forbids that a model joins them: only facts do.
            if a.kind == b.kind and a.truth[1] != b.truth[1]:
                messages.append(f"one group holds {a.name!r} and {b.name!r}")
    by_form: dict[str, set[int | str]] = defaultdict(set)
    for name in by_name:
        by_form[read_name(name).form].add(group_of.get(name, name))
    messages += [
        f"equal normal forms in {len(places)} groups: {form}" for form, places in by_form.items() if len(places) > 1
    ]
    return len(plan.groups), messages


def join_all(names: list[GeneratedName], random: Random) -> MergePlan:
    """Make the plan of a resolution that says yes to every pair, with scores that follow from the names."""
    distinct = list(dict.fromkeys(name.name for name in names))
    entities = [GraphEntity(key=name, name=name, type="Product") for name in distinct]
    readings = [read_name(name) for name in distinct]
    pairs = list(combinations(range(len(distinct)), 2))
    random.shuffle(pairs)
    same = {}
    for one, other in pairs:
        always = readings[one].form == readings[other].form
        score = 1.0 if always else Random("|".join(sorted((distinct[one], distinct[other])))).random()
        same[one, other] = Found("always" if always else "same", "said to be one", score)
    return make_plan("g", entities, readings, Decisions(same, {}, len(same)), method="worst", settings={})


if __name__ == "__main__":
    main()
