"""Pairs written by hand: what the model-free resolution says to each, with the reason why it should."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from kgrag.resolve import GraphEntity, make_plan, read_name
from kgrag.resolve.rules import decide_by_rules

with (Path(__file__).parent / "hard_pairs.csv").open(encoding="utf-8", newline="") as file:
    PAIRS = list(csv.DictReader(file))


def test_there_are_at_least_300_pairs_of_both_verdicts_with_reasons() -> None:
    assert len({(pair["name"], pair["other"]) for pair in PAIRS}) == len(PAIRS) >= 300
    assert min(sum(pair["verdict"] == verdict for pair in PAIRS) for verdict in ("same", "different")) >= 100
    assert all(pair["reason"] for pair in PAIRS)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['name']} | {pair['other']}")
def test_the_verdict_is_the_expected_one(pair: dict[str, str]) -> None:
    type_ = pair["type"] or "Product"
    entities = [GraphEntity("a", pair["name"], type_), GraphEntity("b", pair["other"], type_)]
    for order in (entities, entities[::-1]):
        readings = [read_name(entity.name) for entity in order]
        decisions = decide_by_rules(order, readings)
        plan = make_plan("g", order, readings, decisions, method="rules", settings={})
        assert ("same" if plan.groups else "different") == pair["verdict"], pair["reason"]
