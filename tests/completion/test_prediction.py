"""What is proposed, and how sure it is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.completion import METHODS, open_predictor
from kgrag.completion.prediction import calibrate, isotonic, propose
from kgrag.completion.triples import Triples
from kgrag.errors import InputError
from kgrag.text.values import is_exact

CITIZENS = [
    *((f"p{i}", "lives_in", f"c{i % 5}") for i in range(40)),
    *((f"c{i}", "lies_in", f"l{i}") for i in range(5)),
    *((f"p{i}", "citizen_of", f"l{i % 5}") for i in range(36)),
]


def test_rules_propose_what_is_missing_and_nothing_known() -> None:
    triples, rules = Triples.of(CITIZENS), open_predictor("rules", seed=7)
    rules.fit(triples)
    proposals = propose(rules, triples)
    assert {one.triple for one in proposals[:4]} == {(f"p{i}", "citizen_of", f"l{i % 5}") for i in range(36, 40)}
    assert not {one.triple for one in proposals} & set(CITIZENS)
    assert [one.confidence for one in proposals] == sorted((one.confidence for one in proposals), reverse=True)


def test_no_edge_leads_to_or_from_what_is_exact() -> None:
    triples, rules = Triples.of(CITIZENS), open_predictor("rules", seed=7)
    rules.fit(triples)
    exact = {"l1", "p38"}
    ends = {end for one in propose(rules, triples, exact=exact) for end in (one.triple[0], one.triple[2])}
    assert ends
    assert not ends & exact


@pytest.mark.parametrize("method", METHODS)
def test_every_method_proposes_unknown_edges_between_different_things(method: str) -> None:
    triples = Triples.of(CITIZENS)
    predictor = open_predictor(method, seed=7)
    predictor.fit(triples)
    proposals = propose(predictor, triples, per_question=2)
    assert proposals
    assert not {one.triple for one in proposals} & set(CITIZENS)
    assert all(one.triple[0] != one.triple[2] and one.confidence > 0 for one in proposals)


def test_a_calibrated_share_is_that_of_held_out_triples_that_were_confirmed() -> None:
    calibration = calibrate(open_predictor("rules", seed=7), CITIZENS, share=0.2, seed=3)
    assert calibration.held_out == 16
    assert 0 < calibration.confirmed <= calibration.held_out
    assert calibration.share(0.0) <= calibration.share(0.5) <= calibration.share(1.0)
    assert calibration.share(-1.0) == 0.0


def test_nothing_proposed_is_nothing_calibrated() -> None:
    calibration = calibrate(open_predictor("rules", seed=7), [("a", "r", "b"), ("c", "s", "d")], share=0.5)
    assert (calibration.proposed, calibration.share(1.0)) == (0, 0.0)


def test_isotonic_steps_by_hand() -> None:
    starts, means = isotonic(np.array([1.0, 2.0, 3.0, 4.0, 4.0]), np.array([0.0, 1.0, 0.0, 1.0, 1.0]))
    assert (starts.tolist(), means.tolist()) == ([1.0, 2.0, 4.0], [0.0, 0.5, 1.0])


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1))
def test_isotonic_steps_rise_and_keep_the_sum(pairs: list[tuple[int, bool]]) -> None:
    values = np.array([value for value, _ in pairs], dtype=np.float64)
    outcomes = np.array([outcome for _, outcome in pairs], dtype=np.float64)
    starts, means = isotonic(values, outcomes)
    assert (np.diff(starts) > 0).all()
    assert (np.diff(means) > 0).all()
    fitted = means[np.searchsorted(starts, values, side="right") - 1]
    assert fitted.sum() == pytest.approx(outcomes.sum())


def test_an_unknown_method_is_refused_with_the_names() -> None:
    with pytest.raises(InputError, match=r"Method of completion: expected one of rules, .*; got 'guess'"):
        open_predictor("guess", seed=7)


@pytest.mark.parametrize(
    "name",
    ["5 V", "3.3V", "1963", "January 1960", "X-100", "X-1000", "LPS22HB", "A0", "40 %", "max_connections", "802.11b"],
)
def test_quantities_dates_part_numbers_and_identifiers_are_exact(name: str) -> None:
    assert is_exact(name)


@pytest.mark.parametrize(
    "name", ["Carl Rogers", "University of Copenhagen", "World War 2", "20th century fashion", "NASA"]
)
def test_things_are_not_exact(name: str) -> None:
    assert not is_exact(name)


def test_a_type_says_what_a_name_does_not() -> None:
    assert is_exact("Alpha", "Identifier")
    assert is_exact("soon", "Date")
