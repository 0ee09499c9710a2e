"""Numbers that pairs join."""

from kgrag.common.groups import joined_groups


def test_numbers_that_pairs_join_by_way_of_others_are_one_group() -> None:
    assert joined_groups(6, [(4, 3), (0, 3), (5, 5), (3, 4)]) == [[0, 3, 4], [1], [2], [5]]
    assert joined_groups(0, []) == []
