"""Precision and recall of resolution on pairs that are labelled: product records (Walmart-Amazon, test split), and generated names.

    python -m benchmarks.resolution_pairs [FILE] [--generated 5000]

FILE (../shared/data/entity_resolution/walmart_amazon_test.jsonl) has {"left": record, "right": record, "match": 0 or 1} on each line.
A rule that blocks says which pairs cannot be one: blocked true pairs are lost for good (recall), and of what is left a share is true
(precision). `kgrag resolve` says yes or no by itself: its rules are made for names and expected to find few records. For comparison: the
plain conflict rule (both titles have numbers with one unit and share none) and the thesis's strict key. Of the generated names
(`benchmarks.generated_names`) half of the pairs are spellings of one name, half differ in one fact; nobody tuned on the seed. The rule for
records was chosen on the records of this file, so its figures are no measure of other listings.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.generated_names import different_names, same_names
from benchmarks.json_lines import read_rows
from benchmarks.tables import print_table
from kgrag.resolve import GraphEntity, conflict, contradiction, read_name
from kgrag.resolve.comparisons import strict_num_safe
from kgrag.resolve.rules import decide_by_rules

DEFAULT_FILE = Path(__file__).resolve().parents[2] / "shared/data/entity_resolution/walmart_amazon_test.jsonl"

Record = Mapping[str, str]


def numeric_rule(left: Record, right: Record) -> str:
    """Say what contradicts, by our rule for records."""
    return contradiction(left["title"], right["title"], identifiers=(left["modelno"], right["modelno"]))


def plain_conflict_rule(left: Record, right: Record) -> str:
    """The usual rule: a number with a unit on both sides, one unit, no value in common."""
    values = []
    for record in (left, right):
        stated: dict[str, set[float]] = defaultdict(set)
        for number, unit in re.findall(r"(\d+(?:\.\d+)?)\s?-?([a-z]+|\")", record["title"].lower()):
            stated[unit].add(float(number))
        values.append(stated)
    return next(
        (unit for unit in sorted(values[0].keys() & values[1].keys()) if not values[0][unit] & values[1][unit]), ""
    )


def thesis_key(left: Record, right: Record) -> str:
    """The thesis's strict key: other keys are never compared."""
    return "" if strict_num_safe(left["title"]) == strict_num_safe(right["title"]) else "other key"


def rule_of_names(left: Record, right: Record) -> str:
    """The rule of names, which asks for the same facts on both sides: not made for records."""
    return conflict(read_name(left["title"]), read_name(right["title"]))


def rules_say_other(left: str, right: str) -> str:
    """Say whether `kgrag resolve --method rules` keeps two names apart."""
    entities = [GraphEntity("a", left, "Product"), GraphEntity("b", right, "Product")]
    decisions = decide_by_rules(entities, [read_name(left), read_name(right)])
    return "" if decisions.same else "not merged"


RULES: dict[str, Callable[[Record, Record], str]] = {
    "contradiction (records; blocks)": numeric_rule,
    "plain conflict rule (blocks)": plain_conflict_rule,
    "conflict (names; blocks)": rule_of_names,
    "thesis, strict key (blocks)": thesis_key,
    "kgrag resolve, rules (merges)": lambda left, right: rules_say_other(left["title"], right["title"]),
}
NAME_RULES: dict[str, Callable[[str, str], str]] = {
    "conflict (blocks)": lambda one, other: conflict(read_name(one), read_name(other)),
    "thesis, strict key (merges)": lambda one, other: (
        "" if strict_num_safe(one) == strict_num_safe(other) != "" else "other key"
    ),
    "kgrag resolve, rules (merges)": rules_say_other,
}


def main() -> None:
    """Count, and print a table for the records and one for generated names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT_FILE)
    parser.add_argument("--generated", type=int, default=5000, help="so many pairs of each kind")
    parser.add_argument("--seed", type=int, default=2026)
    arguments = parser.parse_args()
    header = ["rule", "true left", "recall", "false left", "precision of what is left"]
    if arguments.file.is_file():
        pairs = read_rows(arguments.file)
        true, false = ([(p["left"], p["right"]) for p in pairs if p["match"] == wanted] for wanted in (1, 0))
        lost = [(a, b, reason) for a, b in true if (reason := numeric_rule(a, b))]
        notes = [f"blocked: {a['title']} | {b['title']} ({reason})" for a, b, reason in lost]
        print_table(
            "Walmart-Amazon pairs", header, [_row(name, rule, true, false) for name, rule in RULES.items()], notes
        )
    random = Random(arguments.seed)
    same = [tuple(name.name for name in same_names(random)) for _ in range(arguments.generated)]
    other = [tuple(name.name for name in different_names(random)) for _ in range(arguments.generated)]
    rows = [_row(name, rule, same, other) for name, rule in NAME_RULES.items()]
    print_table("Generated names", header, rows, [])


def _row(name: str, rule: Callable[[Any, Any], str], true: Sequence[Any], false: Sequence[Any]) -> list[str]:
    kept, wrong = (sum(not rule(*pair) for pair in pairs) for pairs in (true, false))
    precision = f"{kept / (kept + wrong):.1%}" if kept + wrong else "-"
    return [name, f"{kept} of {len(true)}", f"{kept / len(true):.1%}", f"{wrong} of {len(false)}", precision]


if __name__ == "__main__":
    main()
