import pytest

from kgrag.retrieve.state import Candidate
from kgrag.retrieve.steps.adjacent import support_adjacent


def at(document: str, position: int, score: float) -> tuple[str, Candidate]:
    key = f"{document}{position}"
    return key, Candidate(key, score, place=(document, position))


def test_a_candidate_gains_what_the_better_of_its_neighbours_has_above_the_median() -> None:
    candidates = dict([at("a", 1, 0.4), at("a", 2, 0.5), at("a", 3, 0.8), at("b", 1, 0.3), at("b", 2, 0.3)])
    supported = support_adjacent(candidates, weight=0.25)
    wanted = {"a1": 0.425, "a2": 0.6, "a3": 0.825, "b1": 0.3, "b2": 0.3}
    assert {key: c.score for key, c in supported.items()} == pytest.approx(wanted)
    assert supported["a2"].why == ("beside a chunk with 0.80",)


def test_other_documents_and_gaps_support_nothing() -> None:
    candidates = dict([at("a", 1, 0.4), at("b", 2, 0.5), at("a", 3, 0.8)])
    assert support_adjacent(candidates, weight=0.25) == candidates


def test_a_candidate_without_a_place_is_left_as_it_is() -> None:
    candidates = {"x": Candidate("x", 0.3)}
    assert support_adjacent(candidates, weight=0.25) == candidates
