"""Intervals and tests: by hand, against the textbook, and by simulation with a fixed seed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.evaluate.statistics import (
    adjusted,
    compare_paired,
    corrected_rate,
    mean_interval,
    rate_interval,
    smallest_difference,
)

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=10)


def test_wilsons_interval_is_that_of_the_textbook():
    found = rate_interval(8, 10)
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert rate_interval(0, 10).low == 0.0


def test_questions_of_one_document_widen_the_interval():
    scores = [1.0] * 10 + [0.0] * 10 + [1.0] * 10 + [0.0] * 10
    clusters = [i // 10 for i in range(40)]
    alone, clustered = mean_interval(scores), mean_interval(scores, clusters)
    assert alone.value == clustered.value == 0.5
    assert clustered.high - clustered.low > 1.5 * (alone.high - alone.low)
    with pytest.raises(ValueError, match="at least one"):
        mean_interval([])


def test_binary_scores_are_tested_by_mcnemar():
    ours = [1.0] * 9 + [0.0] * 1 + [1.0] * 5
    theirs = [0.0] * 9 + [1.0] * 1 + [1.0] * 5
    found = compare_paired(ours, theirs)
    assert (found.test, found.wins, found.ties, found.losses) == ("McNemar (exact)", 9, 5, 1)
    assert found.p == pytest.approx(2 * (math.comb(10, 0) + math.comb(10, 1)) / 2**10)


def test_missing_scores_leave_the_question_out():
    found = compare_paired([0.5, None, 0.75], [0.25, 0.5, None])
    assert (found.n, found.difference.value) == (1, 0.25)
    assert compare_paired([None], [1.0]) is None


def test_no_difference_is_never_significant_and_a_large_one_is():
    scores = list(np.random.default_rng(1).uniform(0, 1, 40))
    assert compare_paired(scores, scores).p == 1.0
    better = [score + 0.2 for score in scores]
    for test in ("permutation", "wilcoxon"):
        found = compare_paired(better, scores, test=test)
        assert found.p < 0.001 and found.difference.low > 0


def test_the_permutation_test_keeps_its_level():
    generator = np.random.default_rng(5)
    rejected = sum(
        compare_paired(list(generator.normal(size=8)), list(generator.normal(size=8))).p < 0.05 for _ in range(60)
    )
    assert rejected <= 8  # binomial(60, 0.05): more has probability under 0.01


def test_holm_and_benjamini_hochberg_by_hand():
    p = {"a": 0.01, "b": 0.04, "c": 0.03}
    assert adjusted(p, method="holm") == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06})
    assert adjusted(p, method="bh") == pytest.approx({"a": 0.03, "b": 0.04, "c": 0.04})
    assert adjusted({}, method="holm") == {}


@given(P_VALUES)
def test_a_correction_never_makes_p_smaller_and_holm_is_the_stricter(values):
    p = dict(enumerate(values))
    holm, bh = adjusted(p, method="holm"), adjusted(p, method="bh")
    assert all(p[key] <= bh[key] + 1e-12 and bh[key] <= holm[key] + 1e-12 <= 1 + 1e-9 for key in p)


def test_the_smallest_difference_shrinks_with_the_root_of_n():
    some = [0.1, -0.1] * 20
    assert smallest_difference(some) == pytest.approx(2.8016 * np.std(some, ddof=1) / math.sqrt(40), rel=1e-4)
    assert smallest_difference([0.1]) == math.inf


def test_a_judges_errors_are_taken_out_of_a_rate():
    perfect = corrected_rate(0.7, n=100, right=(50, 50), wrong=(50, 50))
    assert perfect.value == pytest.approx(0.7)
    lenient = corrected_rate(0.8, n=100, right=(90, 100), wrong=(80, 100))
    assert lenient.value == pytest.approx((0.8 + 0.8 - 1) / 0.7)
    assert lenient.low < lenient.value < lenient.high
    assert corrected_rate(0.5, n=10, right=(5, 10), wrong=(5, 10)) is None
