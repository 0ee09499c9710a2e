"""Metrics of answers: cases computed by hand, and what holds for all verdicts."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import InputError
from kgrag.evaluate.judge.metrics import (
    CategoryCounts,
    abstention_rates,
    answer_relevance,
    category,
    citation_score,
    completeness,
    faithfulness,
    five_point,
    helpfulness,
    is_refusal,
    mean_of_judged,
    nugget_losses,
    nugget_score,
)
from kgrag.evaluate.judge.presets import evaluation_folder, load_preset
from kgrag.evaluate.judge.verdicts import (
    CitedSentence,
    CompletenessVerdict,
    CorrectnessVerdict,
    Nugget,
    NuggetVerdict,
)

THESIS, HIGHER, STRICT = load_preset("thesis"), load_preset("thesis_strict"), load_preset("strict")
SHARES = st.floats(0, 1)
SUPPORTS = st.sampled_from(["supported", "partly", "not"])
STATEMENTS = st.lists(st.sampled_from(["yes", "partial", "no", "unknown", "missing"]), max_size=8)


@pytest.mark.parametrize(
    ("answered", "coverage", "severity", "relaxed", "strict"),
    [
        (True, 0.60, "low", "TP", "PARTIAL"),
        (True, 0.70, "medium", "TP", "TP"),
        (True, 0.59, "low", "PARTIAL", "PARTIAL"),
        (True, 0.20, "low", "PARTIAL", "FP"),
        (True, 0.19, "low", "FP", "FP"),
        (True, 1.00, "high", "FP", "FP"),
        (False, 1.00, "low", "FN", "FN"),
    ],
)
def test_a_category_follows_from_coverage_and_severity(answered, coverage, severity, relaxed, strict):
    verdict = CorrectnessVerdict(answered=answered, coverage=coverage, severity=severity)
    assert category(verdict, preset=THESIS) == relaxed
    assert category(verdict, preset=HIGHER) == strict


@given(SHARES, SHARES, st.sampled_from(["low", "medium", "high"]))
def test_more_coverage_is_never_a_worse_category(one, other, severity):
    order = ["FP", "PARTIAL", "TP"]
    less, more = sorted((one, other))
    for preset in (THESIS, STRICT):
        ranks = [
            order.index(category(CorrectnessVerdict(answered=True, coverage=c, severity=severity), preset=preset))
            for c in (less, more)
        ]
        assert ranks[0] <= ranks[1]


def test_the_published_precision_and_recall_follow_from_the_published_counts():
    with (evaluation_folder() / "published" / "thesis_results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15
    for row in rows:
        counts = CategoryCounts(*(int(row[column]) for column in ("tp", "fp", "fn", "partial")))
        assert counts.tp + counts.fp + counts.fn + counts.partial == 160
        assert f"{counts.precision:.3f}" == row["precision"], row["pipeline"]
        assert f"{counts.recall:.3f}" == row["recall"], row["pipeline"]


@pytest.mark.parametrize("measure", ["relevance", "completeness", "helpfulness"])
def test_the_published_means_follow_from_those_by_type(measure):
    questions = {"disambiguation": 30, "factual": 30, "multi_hop": 30, "reasoning": 30, "summary": 40}
    folder = evaluation_folder() / "published"
    with (folder / "thesis_results.csv").open(encoding="utf-8") as file:
        overall = {row["pipeline"]: float(row[measure]) for row in csv.DictReader(file)}
    with (folder / f"thesis_{measure}_by_type.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["pipeline"] for row in rows} == set(overall)
    for row in rows:  # both are printed to two places
        mean = sum(float(row[kind]) * count for kind, count in questions.items()) / 160
        assert mean == pytest.approx(overall[row["pipeline"]], abs=0.0101), row["pipeline"]


def test_counts_leave_out_what_was_not_judged():
    counts = CategoryCounts.of(["TP", None, "PARTIAL", "FN", "TP", "FP"])
    assert counts == CategoryCounts(tp=2, fp=1, fn=1, partial=1)
    assert (counts.precision, counts.recall, counts.accuracy) == (0.5, 0.5, 0.4)
    assert CategoryCounts.of([None]).precision is None


def test_faithfulness_is_the_mean_of_weights():
    assert faithfulness(["yes", "partial", "no", "missing"], preset=THESIS) == pytest.approx((1 + 0.75 + 0.25) / 4)
    assert faithfulness(["yes", "partial", "no", "missing"], preset=STRICT) == pytest.approx(0.5)
    assert faithfulness(["unknown"], preset=THESIS) == 0.75
    assert faithfulness(["unknown"], preset=STRICT) is None
    assert faithfulness([], preset=THESIS) is None


@given(STATEMENTS)
def test_faithfulness_is_between_0_and_1_and_1_only_where_all_is_said(verdicts):
    for preset in (THESIS, STRICT):
        score = faithfulness(verdicts, preset=preset)
        assert score is None or 0 <= score <= 1
        if score == 1.0:
            assert {one for one in verdicts if preset.statement_weights.get(one) is not None} == {"yes"}


def test_helpfulness_is_gated_by_faithfulness():
    assert helpfulness(5, 1.0, preset=THESIS) == 1.0
    assert helpfulness(5, 0.25, preset=THESIS) == 0.625  # what a contradicted answer keeps in the thesis
    assert helpfulness(3, 0.5, preset=THESIS) == pytest.approx(0.375)
    assert helpfulness(5, 0.0, preset=STRICT) == 0.0
    assert helpfulness(4, None, preset=THESIS) is None
    with pytest.raises(ValueError, match="1 to 5"):
        helpfulness(0, 1.0, preset=THESIS)


@given(st.integers(1, 5), SHARES, SHARES)
def test_helpfulness_rises_with_faithfulness(rating, one, other):
    low, high = (helpfulness(rating, f, preset=THESIS) for f in sorted((one, other)))
    assert low <= high <= (rating - 1) / 4


def test_the_scale_of_five_rounds_halves_to_even():
    assert [five_point(score) for score in (0.0, 0.125, 0.375, 0.5, 0.625, 0.875, 1.0)] == [1, 2, 2, 3, 4, 4, 5]


def test_completeness_is_the_judges_score_or_computed_from_its_counts():
    verdict = CompletenessVerdict(expected=4, actual=5, wrong=1, missing=1, overall=0.9)
    assert completeness(verdict, preset=THESIS) == 0.9
    assert completeness(verdict, preset=STRICT) == 0.75
    assert completeness(CompletenessVerdict(expected=0, actual=0), preset=STRICT) is None
    with pytest.raises(ValueError, match="missing <= expected"):
        CompletenessVerdict(expected=1, actual=1, missing=2)


def test_answer_relevance_is_a_clamped_mean_of_cosines():
    assert answer_relevance((1.0, 0.6, 0.0), preset=THESIS) == pytest.approx((1.6 / 3, 1 / 3))
    assert answer_relevance((-1.0, -0.6, 0.0), preset=THESIS) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("answer", "thesis", "ours"),
    [
        ("", True, True),
        ("I'm sorry, I cannot answer that.", True, True),
        ("The documents do not answer this. Looked in 20 passages for: X-300.", False, True),
        ("The provided context does not mention the price.", False, True),
        ("Boards that do not have a DAC are the Nano and the Micro.", True, False),
        ("It draws 5 mA. There is no information on the peak current. At 3.3 V it draws 4 mA.", True, False),
        ("It draws 5 mA.", False, False),
    ],
)
def test_a_refusal_is_an_answer_that_says_only_that(answer, thesis, ours):
    assert is_refusal(answer, how="substrings") is thesis
    assert is_refusal(answer, how="sentences") is ours


VITAL, OKAY = Nugget(text="12 V"), Nugget(text="grey", importance="okay")


def test_nuggets_are_weighted_and_lost_in_retrieval_or_in_answering():
    verdicts = [
        NuggetVerdict(nugget=VITAL, answer="supported", evidence="supported"),
        NuggetVerdict(nugget=VITAL, answer="not", evidence="supported"),
        NuggetVerdict(nugget=VITAL, answer="not", evidence="not"),
        NuggetVerdict(nugget=OKAY, answer="partly", evidence="supported"),
    ]
    assert nugget_score(verdicts) == pytest.approx((1 + 0.25) / 3.5)
    assert nugget_score(verdicts, of="evidence") == pytest.approx(2.5 / 3.5)
    assert nugget_losses(verdicts) == pytest.approx((1 / 3.5, 1.25 / 3.5))
    assert nugget_score([NuggetVerdict(nugget=VITAL, answer=None)]) is None
    assert nugget_losses([NuggetVerdict(nugget=VITAL, answer="supported")]) is None


@given(st.lists(st.tuples(SUPPORTS, SUPPORTS, st.booleans()), min_size=1, max_size=8))
def test_the_losses_of_nuggets_and_what_is_left_never_exceed_1(rows):
    verdicts = [NuggetVerdict(nugget=VITAL if vital else OKAY, answer=a, evidence=e) for a, e, vital in rows]
    retrieval, answering = nugget_losses(verdicts)
    assert 0 <= retrieval <= 1 and 0 <= answering <= 1 and retrieval + answering <= 1 + 1e-9
    assert retrieval == pytest.approx(1 - nugget_score(verdicts, of="evidence"))


def test_citations_have_precision_by_citation_and_recall_by_sentence():
    sentences = [
        CitedSentence(text="a", citations=("full", "none"), together="full"),
        CitedSentence(text="b", citations=("partial",), together="partial"),
        CitedSentence(text="c", together="none"),
        CitedSentence(text="d", citations=(None,), together=None),
    ]
    score = citation_score(sentences)
    assert (score.precision, score.recall) == (0.5, 0.5)
    assert citation_score([]).precision is None


def test_abstaining_has_precision_and_recall():
    precision, recall = abstention_rates([True, True, False, False], [False, True, True, False])
    assert (precision.value, recall.value) == (0.5, 0.5)
    assert abstention_rates([False], [True])[0].value is None


def test_a_judgement_that_failed_is_missing_and_not_zero():
    assert mean_of_judged([1.0, None, 0.5]) == 0.75
    assert mean_of_judged([None]) is None


def test_an_unknown_preset_is_named(tmp_path):
    with pytest.raises(InputError, match="thesis_strict"):
        load_preset("lenient")
    (tmp_path / "mine.toml").write_text("full_coverage = 2")
    with pytest.raises(InputError, match=r"mine\.toml"):
        load_preset(str(tmp_path / "mine.toml"))
