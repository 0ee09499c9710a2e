from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.steps.diversification import Diversification, diversified
from kgrag.types import Evidence


def piece(document: str, score: float, *, tokens: int = 100) -> Evidence:
    return Evidence(
        chunk_id=f"{document}{score}",
        source_id="",
        document=document,
        document_id=document,
        text="",
        tokens=tokens,
        score=score,
    )


def documents(evidence: Sequence[Evidence]) -> list[str]:
    return [one.document for one in evidence]


def test_each_document_comes_before_the_second_piece_of_any() -> None:
    found = [piece("a", 0.9), piece("a", 0.8), piece("a", 0.7), piece("b", 0.6), piece("c", 0.5)]
    result = diversified(found, {}, settings=Diversification(length=0.0, document=0.5, family=0.0))
    assert documents(result) == ["a", "b", "c", "a", "a"]


def test_families_take_turns_however_many_members_each_has() -> None:
    found = [
        *(piece(f"nano{n}", 0.9 - n / 100) for n in range(4)),
        *(piece(f"nicla{n}", 0.7 - n / 100) for n in range(2)),
    ]
    families = {one.document: one.document.rstrip("0123456789") for one in found}
    result = diversified(found, families, settings=Diversification(length=0.0, document=0.0, family=0.5))
    assert documents(result)[:4] == ["nano0", "nicla0", "nano1", "nicla1"]


def test_of_two_pieces_about_as_good_the_shorter_one_comes_first() -> None:
    found = [piece("a", 0.90, tokens=600), piece("b", 0.85, tokens=60)]
    assert documents(diversified(found, {}, settings=Diversification(length=0.03, document=0.3, family=0.1))) == [
        "b",
        "a",
    ]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1), st.integers(1, 800)), max_size=20),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_nothing_is_lost_and_scores_fall(rows: list[tuple[str, float, int]], document: float, length: float) -> None:
    found = sorted((piece(name, score, tokens=tokens) for name, score, tokens in rows), key=lambda one: -one.score)
    result = diversified(
        found, {"a": "x", "b": "x"}, settings=Diversification(length=length, document=document, family=0.0)
    )
    assert sorted(one.chunk_id or "" for one in result) == sorted(one.chunk_id or "" for one in found)
    scores = [one.score for one in result]
    assert all(first >= second - 1e-5 for first, second in pairwise(scores))
