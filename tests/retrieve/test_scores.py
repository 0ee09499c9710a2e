import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.scores import idf, minmax_fusion, reciprocal_rank_fusion, scaled

SCORES = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.0, 50.0, allow_subnormal=False))


def test_minmax_fusion_of_a_worked_example() -> None:
    fused = minmax_fusion({"a": 0.8, "b": 0.4}, {"b": 10.0, "c": 5.0}, 0.6)
    assert fused == pytest.approx({"a": 0.6, "b": 0.6 * 0.5 + 0.4, "c": 0.4 * 0.5})


def test_reciprocal_rank_fusion_of_a_worked_example() -> None:
    fused = reciprocal_rank_fusion([["a", "b"], ["a", "c"]], 60)
    assert fused == pytest.approx({"a": 1.0, "b": 61 / 62 / 2, "c": 61 / 62 / 2})


def test_reciprocal_ranks_may_be_weighed() -> None:
    dense, sparse = ["a", "b", "c"], ["c", "d"]
    fused = reciprocal_rank_fusion([dense, sparse], 60, (0.25, 0.75))
    assert fused == pytest.approx({"a": 0.25, "b": 0.25 * 61 / 62, "c": 0.25 * 61 / 63 + 0.75, "d": 0.75 * 61 / 62})
    by_words = reciprocal_rank_fusion([dense, sparse], 60, (0.0, 1.0))
    assert [key for key in sorted(by_words, key=lambda key: -by_words[key]) if by_words[key]] == sparse


def test_fusing_nothing_gives_nothing() -> None:
    assert minmax_fusion({}, {}, 0.5) == {}
    assert reciprocal_rank_fusion([[], []], 60) == {}


@given(SCORES, SCORES, st.floats(0.0, 1.0))
def test_fused_scores_lie_between_0_and_1(dense: dict[str, float], sparse: dict[str, float], alpha: float) -> None:
    fused = minmax_fusion(dense, sparse, alpha)
    assert set(fused) == set(dense) | set(sparse)
    assert all(0.0 <= score <= 1.0 + 1e-9 for score in fused.values())


@given(SCORES)
def test_alpha_1_is_the_dense_order_and_alpha_0_the_sparse_order(scores: dict[str, float]) -> None:
    assert minmax_fusion(scores, {}, 1.0) == scaled(scores)
    assert minmax_fusion({}, scores, 0.0) == scaled(scores)


@given(SCORES, st.floats(0.01, 100.0))
def test_the_scale_of_a_measure_does_not_matter(scores: dict[str, float], factor: float) -> None:
    assert scaled({key: score * factor for key, score in scores.items()}) == pytest.approx(scaled(scores), abs=1e-6)


def test_a_similarity_below_zero_counts_as_none() -> None:
    assert scaled({"a": -0.1, "b": 0.5}) == {"a": 0.0, "b": 1.0}


def test_a_name_in_every_chunk_tells_nothing() -> None:
    assert idf(1000, 1000) == 0.0


def test_one_of_many_tells_nearly_all() -> None:
    assert idf(1, 100_000) > 0.9


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_rarer_the_more_it_tells(one: int, other: int, chunks: int) -> None:
    rarer, commoner = sorted((one, other))
    assert 1.0 >= idf(rarer, chunks) >= idf(commoner, chunks) >= 0.0
