"""Rules and neighbours on toy graphs, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.completion.neighbours import AdamicAdar, CommonNeighbours
from kgrag.completion.rules import Rules
from kgrag.completion.triples import Triple, Triples

# Three people live in a city of a country; of two it is said that they are citizens of it.
TOY = Triples.of(
    [
        *((f"p{i}", "lives_in", f"c{i}") for i in (1, 2, 3)),
        *((f"c{i}", "lies_in", f"l{i}") for i in (1, 2, 3)),
        *((f"p{i}", "citizen_of", f"l{i}") for i in (1, 2)),
    ]
)


def place(name: str) -> int:
    return TOY.entities.index(name)


def relation(name: str) -> int:
    return TOY.relations.index(name)


def test_a_rule_of_two_relations_has_its_corrected_confidence() -> None:
    rules = Rules()
    rules.fit(TOY)
    body = ((relation("lives_in"), True), (relation("lies_in"), True))
    [rule] = [rule for rule in rules.rules if rule.head == relation("citizen_of")]
    assert (rule.body, rule.support, rule.groundings) == (body, 2, 3)
    assert rule.confidence == 2 / (3 + 5)


def test_a_rule_answers_from_both_sides() -> None:
    rules = Rules()
    rules.fit(TOY)
    asked = np.array([relation("citizen_of")])
    tails = rules.score_tails(np.array([place("p3")]), asked)[0]
    heads = rules.score_heads(asked, np.array([place("l3")]))[0]
    assert {TOY.entities[i]: tails[i] for i in np.flatnonzero(tails)} == {"l3": 0.25}
    assert {TOY.entities[i]: heads[i] for i in np.flatnonzero(heads)} == {"p3": 0.25}


def test_one_lucky_pair_makes_no_rule_and_an_inverse_does() -> None:
    inverse = Triples.of([*(("a", "r", x) for x in "bc"), *((x, "s", "a") for x in "bc"), ("x", "q", "y")])
    rules = Rules()
    rules.fit(inverse)
    assert {(rule.head, rule.body) for rule in rules.rules if len(rule.body) == 1} == {
        (1, ((2, False),)),
        (2, ((1, False),)),
    }
    assert not any(rule.head == 0 for rule in rules.rules)


names = st.sampled_from("abcdef")
graphs = st.lists(st.tuples(names, st.sampled_from("rst"), names), min_size=1, max_size=25).map(Triples.of)


@given(graphs)
def test_rules_count_what_a_search_through_all_pairs_counts(triples: Triples) -> None:
    rules = Rules(least_support=1)
    rules.fit(triples)
    known: set[Triple] = {triples.named(row) for row in triples.ids.tolist() if row[0] != row[2]}

    def holds(way: tuple[int, bool], one: str, other: str) -> bool:
        kind = triples.relations[way[0]]
        return ((one, kind, other) if way[1] else (other, kind, one)) in known

    entities = triples.entities
    for rule in rules.rules:
        pairs = {
            (x, y)
            for x in entities
            for y in entities
            if x != y
            and (
                holds(rule.body[0], x, y)
                if len(rule.body) == 1
                else any(holds(rule.body[0], x, z) and holds(rule.body[1], z, y) for z in entities)
            )
        }
        assert rule.groundings == len(pairs)
        assert rule.support == sum((x, triples.relations[rule.head], y) in known for x, y in pairs)


@given(graphs)
def test_rules_score_a_triple_the_same_from_both_sides(triples: Triples) -> None:
    rules = Rules(least_support=1)
    rules.fit(triples)
    size = len(triples.entities)
    everyone = np.arange(size)
    for kind in range(len(triples.relations)):
        asked = np.full(size, kind)
        assert np.array_equal(rules.score_tails(everyone, asked), rules.score_heads(asked, everyone).T)


def test_common_neighbours_and_adamic_adar_count_by_hand() -> None:
    # a and b share x (three neighbours) and y (two); a has two relations with x, which is one way.
    triples = Triples.of(
        [("a", "r", "x"), ("a", "s", "x"), ("x", "r", "b"), ("c", "r", "x"), ("a", "r", "y"), ("b", "r", "y")]
    )
    a, b, c = (triples.entities.index(name) for name in "abc")
    common, weighed = CommonNeighbours(), AdamicAdar()
    common.fit(triples)
    weighed.fit(triples)
    anything = np.array([0])
    assert common.score_tails(np.array([a]), anything)[0, [a, b, c]].tolist() == [0.0, 2.0, 1.0]
    assert weighed.score_heads(anything, np.array([a]))[0, [a, b, c]] == pytest.approx(
        [0.0, 1 / math.log(3) + 1 / math.log(2), 1 / math.log(3)]
    )
