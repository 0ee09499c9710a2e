"""The similarity graph: exact search against a reference, and the approximate one against the exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kgrag.communities.similarity import Pairs, similar_pairs
from kgrag.models.base import Vectors

few_vectors = arrays.arrays(np.int8, st.tuples(st.integers(0, 14), st.just(3)), elements=st.integers(-2, 2))


def unit(values: np.ndarray) -> Vectors:
    values = values.astype(np.float32)
    values[~values.any(axis=1)] = 1.0
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def clustered(count: int, *, seed: int = 0) -> Vectors:
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((count // 10, 48))
    return unit(centres[chance.integers(len(centres), size=count)] + 0.4 * chance.standard_normal((count, 48)))


def as_set(pairs: Pairs) -> set[tuple[int, int, float]]:
    return set(zip(pairs.first.tolist(), pairs.second.tolist(), pairs.score.tolist(), strict=True))


@given(few_vectors, st.integers(1, 5), st.sampled_from([-1.0, 0.0, 0.5, 0.8, 1.0]))
def test_pairs_are_the_nearest_of_either_end_above_the_cutoff(
    values: np.ndarray, neighbours: int, cutoff: float
) -> None:
    vectors = unit(values)
    scores = np.round((vectors @ vectors.T).astype(np.float64), 3)
    wanted = set()
    for one in range(len(vectors)):
        others = sorted((o for o in range(len(vectors)) if o != one), key=lambda o: (-scores[one, o], o))
        for other in others[:neighbours]:
            if scores[one, other] >= cutoff:
                wanted.add((min(one, other), max(one, other), scores[one, other]))
    assert as_set(similar_pairs(vectors, neighbours=neighbours, cutoff=cutoff)) == wanted


def test_pairs_are_sorted_and_each_is_there_once() -> None:
    pairs = similar_pairs(clustered(300))
    order = list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    assert order == sorted(set(order))
    assert (pairs.first < pairs.second).all()
    assert (pairs.score >= 0.8).all()


def test_blocks_do_not_change_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered(200)
    whole = as_set(similar_pairs(vectors))
    monkeypatch.setattr("kgrag.communities.similarity.BLOCK_VALUES", 200 * 7)
    assert as_set(similar_pairs(vectors)) == whole


def test_the_approximate_search_finds_nearly_all_pairs_and_no_others_and_the_same_ones_again() -> None:
    vectors = clustered(4000)
    exact = as_set(similar_pairs(vectors, neighbours=15))
    found = as_set(similar_pairs(vectors, neighbours=15, exact_entities=0))
    assert len(exact & found) / len(exact) > 0.98
    assert len(found - exact) / len(exact) < 0.02
    assert as_set(similar_pairs(vectors, neighbours=15, exact_entities=0)) == found


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_the_order_of_the_vectors_does_not_matter(seed: int) -> None:
    vectors = clustered(120, seed=seed)
    order = np.random.default_rng(seed).permutation(len(vectors))
    pairs = similar_pairs(vectors[order], neighbours=1000)
    back = {(min(order[f], order[s]), max(order[f], order[s])) for f, s, _ in as_set(pairs)}
    assert back == {(f, s) for f, s, _ in as_set(similar_pairs(vectors, neighbours=1000))}


def test_progress_counts_every_vector() -> None:
    for exact_entities in (0, 10_000):
        done: list[int] = []
        similar_pairs(clustered(130), exact_entities=exact_entities, on_done=done.append)
        assert sum(done) == 130
