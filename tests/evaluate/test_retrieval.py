import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import GoldQuestion, read_gold_questions, states
from kgrag.evaluate.learn_adaptive import adaptive_file, learn
from kgrag.evaluate.retrieval import Asked, PipelineResult, score_evidence
from kgrag.evaluate.statistics import paired_difference
from kgrag.retrieve import AdaptivePipeline, Retrieval, load_pipeline
from kgrag.retrieve.step import Change
from kgrag.types import Evidence, Usage


def piece(
    source: str, *, tokens: int = 100, document: str = "d", anchors: tuple[str, ...] = (), page: int | None = None
) -> Evidence:
    return Evidence(
        chunk_id=source, source_id=source, document=document, anchors=anchors, page_start=page, page_end=page,
        text=source, tokens=tokens, score=1.0,
    )  # fmt: skip


def facts(*alternatives: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(one.split("|")) for one in alternatives)


def test_scores_are_those_of_a_case_worked_by_hand() -> None:
    evidence = [piece("x", tokens=900), piece("b", tokens=500), piece("y", tokens=200), piece("c", tokens=10)]
    scores = score_evidence(facts("a|b", "c", "z"), evidence, ks=(1, 2, 4), budget=1500)
    assert (scores["R@1"], scores["R@2"], scores["R@4"]) == (0.0, pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert (scores["hit@1"], scores["hit@2"], scores["all@4"]) == (0.0, 1.0, 0.0)
    assert scores["MRR"] == 0.5
    assert scores["facts"] == pytest.approx(1 / 3)  # the third piece does not fit, and nothing after it counts
    assert scores["tokens"] == 1610


@given(st.lists(st.sampled_from("abcdef"), max_size=8, unique=True), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_recall_grows_with_k_and_all_gold_means_full_recall(found: list[str], gold: set[str]) -> None:
    scores = score_evidence(facts(*sorted(gold)), [piece(one) for one in found], ks=(1, 2, 5, 8), budget=10_000)
    recalls = [scores[f"R@{k}"] for k in (1, 2, 5, 8)]
    assert recalls == sorted(recalls)
    assert all((scores[f"all@{k}"] == 1.0) == (scores[f"R@{k}"] == 1.0) for k in (1, 2, 5, 8))
    assert scores["facts"] == scores["R@8"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("p7", True),
        ("s1", True),
        ("a/b.pdf#page=4", True),
        ("b.pdf", True),
        ("b.pdf#s1", True),
        ("a/b.pdf#page=5", False),
        ("xb.pdf", False),
    ],
)
def test_gold_is_a_passage_an_anchor_or_a_place_in_a_document(source: str, expected: bool) -> None:
    assert states(piece("p7", document="docs/a/b.pdf", anchors=("s1",), page=4), frozenset({source})) is expected


def test_questions_are_read_with_either_kind_of_gold_and_those_without_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    rows = [
        {"id": 1, "question": "A?", "evidence": ["x", "y"], "query_type": "factual"},
        {"id": 2, "question": "B?", "facts": [["x", "y"], ["z"]]},
        {"id": 3, "question": "C?", "evidence": []},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    questions, without = read_gold_questions(file)
    assert [question.facts for question in questions] == [facts("x", "y"), facts("x|y", "z")]
    assert without == 1


@pytest.mark.parametrize(
    "line", ["{", '{"id": 1}', '{"id": 1, "question": "A?", "facts": ["x"]}', '{"id": 1, "question": "A?"}']
)
def test_a_wrong_question_file_is_refused_with_what_was_expected(tmp_path: Path, line: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"q\.jsonl.*expected"):
        read_gold_questions(file)


def test_the_interval_of_a_difference_holds_it_and_is_repeatable() -> None:
    scores, baseline = [1.0, 1.0, 0.0, 1.0] * 10, [0.0, 1.0, 0.0, 1.0] * 10
    one = paired_difference(scores, baseline)
    assert one.value == 0.25
    assert 0.0 < one.low < one.value < one.high
    assert one == paired_difference(scores, baseline)
    same = paired_difference(scores, scores)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)


def result(pipeline: str, scores: list[float], *, changed: int = 1) -> PipelineResult:
    found = Retrieval([piece("x")], pipeline, (Change("seeds", 3, 0.1), Change("rerank", changed, 0.1)), Usage(), ())
    return PipelineResult(
        pipeline,
        tuple(
            Asked(GoldQuestion(str(n), "?", facts("x")), found, {"facts": score}, 1.0) for n, score in enumerate(scores)
        ),
    )


def test_a_step_that_changed_nothing_is_named() -> None:
    assert result("p", [1.0, 0.0], changed=0).idle == ["rerank"]
    assert result("p", [1.0, 0.0]).idle == []


def test_the_map_is_learnt_where_a_pipeline_is_surely_better_and_its_worth_is_cross_validated(tmp_path: Path) -> None:
    types = ["summary"] * 20 + ["factual"] * 20
    dense = result("dense", [0.2] * 20 + [0.9] * 20)
    kg = result("kg", [0.8] * 20 + [0.8] * 20)
    learnt = learn([dense, kg], types)  # type: ignore[arg-type]
    assert learnt.otherwise == "kg"
    assert learnt.map == {"factual": "dense"}
    assert learnt.cross_validated == pytest.approx(0.85) == learnt.in_sample
    assert learnt.best_single == pytest.approx(0.8)
    assert learnt.difference.low > 0.0
    file = tmp_path / "mine.toml"
    file.write_text(adaptive_file(learnt, questions="q.jsonl"), encoding="utf-8")
    pipeline = load_pipeline(str(file))
    assert isinstance(pipeline, AdaptivePipeline)
    assert (pipeline.adaptive.map["summary"], pipeline.adaptive.map["factual"]) == ("kg", "dense")


def test_nothing_is_learnt_from_noise() -> None:
    scores = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]
    learnt = learn([result("dense", scores), result("kg", scores[::-1])], ["factual"] * 4 + ["summary"] * 4)
    assert learnt.map == {}
    assert learnt.cross_validated <= learnt.in_sample
