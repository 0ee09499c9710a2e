"""How content is cut into messages and made fit for a database."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgrag.store.rows import BATCH_CHARACTERS, BATCH_ROWS, batches_by_size, storable


@given(st.lists(st.integers(0, BATCH_CHARACTERS // 2), max_size=40))
def test_batches_hold_everything_in_order_and_are_small_enough(sizes: list[int]) -> None:
    rows = [{"text": range(size)} for size in sizes]
    for characters in (None, 7):
        batches = list(batches_by_size(rows, characters=characters))
        assert [row for batch in batches for row in batch] == rows
        assert all(0 < len(batch) <= BATCH_ROWS for batch in batches)


def test_a_row_that_is_too_large_goes_alone() -> None:
    rows = ["a", "x" * (BATCH_CHARACTERS + 1), "b"]
    assert [len(batch) for batch in batches_by_size(rows)] == [1, 1, 1]
    assert [len(batch) for batch in batches_by_size(["a"] * 2500)] == [1000, 1000, 500]


@given(st.text(alphabet=st.characters(codec=None, categories=None), max_size=30))
def test_any_text_can_be_stored(text: str) -> None:
    stored = storable(text)
    stored.encode()
    assert storable(stored) == stored
