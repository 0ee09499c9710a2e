import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.steps.evidence import arranged, fitting
from kgrag.types import Evidence


def piece(number: int, tokens: int) -> Evidence:
    return Evidence(
        chunk_id=str(number), source_id=str(number), document="d.md", text="x", tokens=tokens, score=1.0 - number / 100
    )


def test_a_piece_that_does_not_fit_makes_room_for_the_next() -> None:
    evidence = [piece(0, 60), piece(1, 50), piece(2, 40)]
    assert [p.chunk_id for p in fitting(evidence, top=None, tokens=100)] == ["0", "2"]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(9, "135798642"), (8, "13578642"), (2, "12"), (1, "1"), (0, "")],
)
def test_the_best_pieces_stand_at_both_ends_and_the_weakest_in_the_middle(count: int, expected: str) -> None:
    pieces = [piece(number, 1) for number in range(1, count + 1)]
    order = [one.chunk_id or "" for one in arranged(pieces, "ends", places={})]
    assert "".join(order) == expected
    back = [*order[: (count + 1) // 2], *order[(count + 1) // 2 :][::-1]]
    restored = [
        one
        for pair in zip(back[: (count + 1) // 2], [*back[(count + 1) // 2 :], ""], strict=False)
        for one in pair
        if one
    ]
    assert restored == [one.chunk_id for one in pieces], "taken from both ends in turn it is the old order"


def test_top_cuts_after_so_many_pieces() -> None:
    assert len(fitting([piece(i, 1) for i in range(5)], top=3, tokens=None)) == 3


@given(st.lists(st.integers(1, 400), max_size=30), st.integers(1, 2000), st.integers(1, 30))
def test_no_limit_is_ever_exceeded_and_the_order_is_kept(sizes: list[int], tokens: int, top: int) -> None:
    evidence = [piece(i, size) for i, size in enumerate(sizes)]
    taken = fitting(evidence, top=top, tokens=tokens)
    assert sum(p.tokens for p in taken) <= tokens
    assert len(taken) <= top
    assert taken == [p for p in evidence if p in taken]
