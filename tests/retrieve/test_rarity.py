from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.rarity import rarity


def test_a_name_in_every_chunk_tells_nothing() -> None:
    assert rarity(1000, 1000) == 0.0


def test_one_of_many_tells_nearly_all() -> None:
    assert rarity(1, 100_000) > 0.9


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_rarer_the_more_it_tells(one: int, other: int, chunks: int) -> None:
    rarer, commoner = sorted((one, other))
    assert 1.0 >= rarity(rarer, chunks) >= rarity(commoner, chunks) >= 0.0
