import pytest

from kgrag.retrieve.coverage import best_coverage
from kgrag.retrieve.words import content_words


def test_coverage_is_that_of_the_best_hit() -> None:
    question = "Which boards have a pressure sensor?"
    assert best_coverage(question, ["A board.", "The board has a pressure sensor."]) == 1.0
    assert best_coverage(question, ["A board.", "Nothing"]) == pytest.approx(1 / 3)


def test_no_hit_covers_nothing() -> None:
    assert best_coverage("pressure", []) == 0.0
    assert best_coverage("what is it", ["what it is"]) == 0.0


def test_plurals_are_folded_and_part_numbers_are_not() -> None:
    assert content_words("Batteries, boards and buses") == {"battery", "board", "buse"}
    assert content_words("LPS22s HTS221 3.3 class bus") == {"lps22s", "hts221", "3.3", "class", "bus"}
