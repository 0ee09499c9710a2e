"""Leave-one-corpus-out: what a contender is given, and what is compared with what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kgrag
from benchmarks.carry_over import Contender, Fold, Kept, Measured, Place, ablations, by_pipeline, carried_over
from benchmarks.retrieval_quality import EvaluationSet, ready
from kgrag.evaluate.statistics import mean_interval, mean_of_means
from kgrag.retrieve import load_pipeline
from kgrag.retrieve.pipeline import Pipeline

PASSAGES = {
    "one": ["The pump takes mineral oil.", "The valve takes water.", "The motor draws 5 A."],
    "two": ["Oaks lose their leaves.", "Firs keep their needles.", "Ferns have spores."],
}
QUESTIONS = {
    "one": [("What does the pump take?", 0), ("How much does the motor draw?", 2)],
    "two": [("What do firs keep?", 1), ("What has spores?", 2)],
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> list[Place]:
    folder = tmp_path_factory.mktemp("sets")
    found = []
    for name, passages in PASSAGES.items():
        rows = [{"id": f"{name}{i}", "title": f"T{i}", "text": text} for i, text in enumerate(passages)]
        asked = [
            {"id": i, "question": text, "evidence": [f"{name}{gold}"]} for i, (text, gold) in enumerate(QUESTIONS[name])
        ]
        for file, lines in (("corpus", rows), ("questions", asked)):
            (folder / f"{name}.{file}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
        with kgrag.open(folder / name) as graph:
            graph.build(folder / f"{name}.corpus.jsonl")
        one = EvaluationSet(name, ready(f"{name}.corpus.jsonl"), f"{name}.questions.jsonl", {"hit@1": None})
        found.append(Place(one, folder / name, folder / f"{name}.made.jsonl"))
    return found


def carry(places: list[Place], contenders: dict[str, Contender]) -> list[Measured]:
    measures = {place.set.name: ("hit@1", "R@5") for place in places}
    return carried_over(places, contenders, data=places[0].store.parent, measures=measures, say=lambda _: None)


def test_a_contender_never_sees_the_set_that_it_is_measured_on(places: list[Place]) -> None:
    seen: list[tuple[str, set[str]]] = []

    def learns(fold: Fold, opened: kgrag.KnowledgeGraph) -> kgrag.retrieve.Retriever:
        seen.append((fold.held_out.set.name, {place.set.name for place in fold.others}))
        return by_pipeline("dense")(fold, opened)

    done = carry(places, {"hybrid": by_pipeline("hybrid"), "learns": learns})
    assert seen == [("one", {"two"}), ("two", {"one"})]
    assert [one.figure("hybrid", "hit@1") for one in done] == [1.0, 1.0]


def test_differences_are_of_the_same_questions_and_averaged_over_measures(places: list[Place]) -> None:
    measured = carry(places, {"hybrid": by_pipeline("hybrid"), "dense": by_pipeline("dense")})[0]
    measured.scores = {
        "a": {"hit@1": [1.0, 0.0], "R@5": [1.0, 1.0]},
        "b": {"hit@1": [0.0, 0.0], "R@5": [1.0, 0.5]},
    }
    assert measured.differences("a", "b", "hit@1") == [1.0, 0.0]
    assert measured.mean_differences("a", "b") == [0.5, 0.25]


def test_every_step_that_can_be_missed_is_left_out_once_and_every_switch_is_turned_off() -> None:
    whole = load_pipeline("default")
    assert isinstance(whole, Pipeline)
    without = dict(ablations(whole))
    assert {"links", "paths", "learnt"} <= without.keys()
    assert not {"embed", "hybrid", "read", "budget"} & without.keys()
    switches = {part for part in without if "." in part}
    assert switches == {"hybrid.coverage"}
    for part, pipeline in without.items():
        if part in switches:
            assert pipeline.step_names == whole.step_names
            (changed,) = set(pipeline.steps) - set(whole.steps)
            assert getattr(changed, part.partition(".")[2]) is False
        else:
            assert pipeline.step_names == [name for name in whole.step_names if name != part]
            assert set(pipeline.steps) < set(whole.steps)


def test_the_mean_over_sets_weighs_sets_alike_whatever_their_size() -> None:
    mean = mean_of_means([[1.0], [0.0] * 9])
    assert mean.value == pytest.approx(0.5)
    assert mean.low == mean.high == pytest.approx(0.5)
    scores = [0.0, 1.0, 1.0, 0.0, 1.0]
    assert mean_of_means([scores]) == mean_interval(scores)


def test_what_is_kept_is_not_asked_again_unless_the_pipeline_or_a_question_differs(
    places: list[Place], tmp_path: Path
) -> None:
    asked: list[str] = []

    def counting(fold: Fold, opened: kgrag.KnowledgeGraph) -> kgrag.retrieve.Retriever:
        asked.append(fold.held_out.set.name)
        return by_pipeline("dense")(fold, opened)

    measures = {place.set.name: ("hit@1",) for place in places}
    data, file = places[0].store.parent, tmp_path / "scores.jsonl"

    def run(digest: str) -> list[Measured]:
        kept = Kept(file, {"dense": digest} if digest else {})
        return carried_over(places, {"dense": counting}, data=data, measures=measures, kept=kept, say=lambda _: None)

    first, again = run("a"), run("a")
    assert asked == ["one", "two"]
    assert [one.scores for one in first] == [one.scores for one in again]
    run("b")
    run("")
    assert asked == ["one", "two"] * 3
