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
    scores = ([1.0] * 10 + [0.0] * 10) * 4
    clusters = [i // 10 for i in range(80)]
    alone, clustered = mean_interval(scores), mean_interval(scores, clusters)
    assert alone.value == clustered.value == 0.5
    assert clustered.high - clustered.low > 1.5 * (alone.high - alone.low)
    with pytest.raises(ValueError, match="at least one"):
        mean_interval([])


def test_of_one_document_questions_are_drawn():
    scores = [1.0, 0.5] * 20
    assert mean_interval(scores, ["one.pdf"] * 40) == mean_interval(scores)
    found = compare_paired(scores, [0.0] * 40, clusters=["one.pdf"] * 40)
    assert found.p < 0.001 and found.difference.low < found.difference.high


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


def test_few_differences_are_permuted_exactly_however_many_questions_are_equal():
    ours, theirs = [0.6, 0.7, 0.9, 0.4] + [0.5] * 40, [0.5, 0.5, 0.6, 0.5] + [0.5] * 40
    found = compare_paired(ours, theirs)
    assert (found.test, found.p) == (
        "permutation of signs",
        pytest.approx(6 / 16),
    )  # signed sums from 0.6: 0.8, 0.6, 0.6, and their opposites
    assert compare_paired([0.6] + [0.5] * 40, [0.5] * 41).p == 1.0


def test_questions_of_one_document_are_no_evidence_of_their_own():
    ours, theirs, clusters = [1.0] * 24, [0.0] * 24, [i // 4 for i in range(24)]
    assert compare_paired(ours, theirs).p < 0.001
    found = compare_paired(ours, theirs, clusters=clusters)
    assert (found.test, found.p) == ("permutation of signs, by document", pytest.approx(2 / 2**6))
    # One question of each document differs: documents and questions are the same then.
    assert compare_paired([1.0, 0.0] * 9, [0.0] * 18, clusters=[i // 2 for i in range(18)]).test == "McNemar (exact)"


def test_a_test_of_dependent_questions_keeps_its_level():
    generator = np.random.default_rng(3)
    rejected = 0
    for _ in range(60):
        of_document = generator.normal(size=10).repeat(6)
        rejected += compare_paired(list(of_document), [0.0] * 60, clusters=[i // 6 for i in range(60)]).p < 0.05
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
    assert smallest_difference([0.1, 0.3, 0.2, 0.1, 0.2]) == math.inf  # 2 of 32 signings: more than 5 %
    assert smallest_difference([0.0] * 30) == math.inf  # nothing is known of how much differences vary


def test_the_smallest_difference_is_larger_with_more_comparisons_and_with_questions_of_one_document():
    some = [0.1, 0.1, -0.1, -0.1] * 10
    alone = smallest_difference(some)
    assert smallest_difference(some, comparisons=20) == pytest.approx(alone * (3.0233 + 0.8416) / 2.8016, rel=1e-3)
    assert smallest_difference(some, [i // 2 for i in range(40)]) == pytest.approx(alone * math.sqrt(2), rel=0.02)


def test_a_judges_errors_are_taken_out_of_a_rate():
    perfect = corrected_rate(0.7, n=100, right=(50, 50), wrong=(50, 50))
    assert perfect.value == pytest.approx(0.7)
    lenient = corrected_rate(0.8, n=100, right=(90, 100), wrong=(80, 100))
    assert lenient.value == pytest.approx((0.8 + 0.8 - 1) / 0.7)
    assert lenient.low < lenient.value < lenient.high
    assert corrected_rate(0.5, n=10, right=(5, 10), wrong=(5, 10)) is None
