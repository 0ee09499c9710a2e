import pytest

from kgrag.retrieve.steps.seeds import best_coverage


def test_coverage_is_that_of_the_best_hit() -> None:
    question = "Which boards have a pressure sensor?"
    assert best_coverage(question, ["A board.", "The board has a pressure sensor."]) == 1.0
    assert best_coverage(question, ["A board.", "Nothing"]) == pytest.approx(1 / 3)


def test_no_hit_covers_nothing() -> None:
    assert best_coverage("pressure", []) == 0.0
    assert best_coverage("what is it", ["what it is"]) == 0.0
