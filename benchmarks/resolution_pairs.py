"""How many true and false pairs of product records the numeric rule blocks (Walmart-Amazon, test split).

    python -m benchmarks.resolution_pairs [FILE]

FILE (../shared/data/entity_resolution/walmart_amazon_test.jsonl) has {"left": record, "right": record, "match": 0 or 1} on each line.
Blocked true pairs are lost for good; blocked false ones need no decision. For comparison: the plain conflict rule (both titles have numbers
with one unit and share none), the thesis's strict key, and the strict rule of names.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.tables import print_table
from kgrag.resolve import conflict, contradiction, read_name
from kgrag.resolve.comparisons import strict_num_safe

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


RULES: dict[str, Callable[[Record, Record], str]] = {
    "kgrag, records": numeric_rule,
    "plain conflict rule": plain_conflict_rule,
    "kgrag, names": rule_of_names,
    "thesis, strict key": thesis_key,
}


def main() -> None:
    """Count, and print one table with the true pairs that our rule blocks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT_FILE)
    pairs = [json.loads(line) for line in parser.parse_args().file.read_text(encoding="utf-8").splitlines()]
    true, false = ([pair for pair in pairs if pair["match"] == wanted] for wanted in (1, 0))
    rows, notes = [], []
    for name, rule in RULES.items():
        lost = [(pair, reason) for pair in true if (reason := rule(pair["left"], pair["right"]))]
        blocked = sum(bool(rule(pair["left"], pair["right"])) for pair in false)
        rows.append(
            [
                name,
                f"{len(lost)} of {len(true)}",
                f"{len(lost) / len(true):.2%}",
                f"{blocked} of {len(false)}",
                f"{blocked / len(false):.1%}",
            ]
        )
        if rule is numeric_rule:
            notes = [f"blocked: {pair['left']['title']} | {pair['right']['title']} ({reason})" for pair, reason in lost]
    print_table("Walmart-Amazon pairs", ["rule", "true blocked", "", "false blocked", ""], rows, notes)


if __name__ == "__main__":
    main()
