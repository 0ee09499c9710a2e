import pytest

from kgrag.retrieve.state import Candidate
from kgrag.retrieve.steps.adjacent import support_adjacent


def at(document: str, position: int, score: float) -> tuple[str, Candidate]:
    key = f"{document}{position}"
    return key, Candidate(key, score, place=(document, position))


def test_a_candidate_gains_from_the_better_of_its_neighbours() -> None:
    candidates = dict([at("a", 1, 0.4), at("a", 2, 0.5), at("a", 3, 0.8)])
    supported = support_adjacent(candidates, weight=0.25)
    assert {key: c.score for key, c in supported.items()} == pytest.approx({"a1": 0.525, "a2": 0.7, "a3": 0.925})
    assert supported["a2"].why == ("beside a chunk with 0.80",)


def test_other_documents_and_gaps_support_nothing() -> None:
    candidates = dict([at("a", 1, 0.4), at("b", 2, 0.5), at("a", 3, 0.8)])
    assert support_adjacent(candidates, weight=0.25) == candidates


def test_a_candidate_without_a_place_is_left_as_it_is() -> None:
    candidates = {"x": Candidate("x", 0.3)}
    assert support_adjacent(candidates, weight=0.25) == candidates
