"""Relations in parts that can be written at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgrag.store.rounds import rounds

KEYS = st.text("abcdef0123456789", min_size=1, max_size=4)
EDGES = st.frozensets(st.tuples(KEYS, st.sampled_from(["HAS", "IS_A"]), KEYS), max_size=200)


@given(EDGES, st.integers(1, 5))
def test_each_relation_is_in_one_part_and_the_parts_of_a_round_share_no_entity(
    edges: frozenset[tuple[str, str, str]], writers: int
) -> None:
    found = rounds(edges, writers=writers)
    assert sorted(edge for parts in found for part in parts for edge in part) == sorted(edges)
    for parts in found:
        assert len(parts) <= writers
        ends = [{end for head, _, tail in part for end in (head, tail)} for part in parts]
        assert sum(map(len, ends)) == len(set().union(*ends))


def test_many_relations_fill_all_parts_of_few_rounds() -> None:
    edges = [(f"entity {number}", "HAS", f"entity {number * 7 % 1000}") for number in range(1000)]
    found = rounds(edges, writers=4)
    assert [len(parts) for parts in found] == [4] * 7
    assert max(len(part) for parts in found for part in parts) < 130
