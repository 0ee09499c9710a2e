import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.candidates import Candidate
from kgrag.retrieve.paths import Path, joint_cosine, lift_pairs
from kgrag.retrieve.settings import PathExpansion
from kgrag.retrieve.state import Likeness, Query, State

SETTINGS = PathExpansion(kind="paths", pairs=1)


def state(**scores: float) -> State:
    candidates = {key: Candidate(key, score) for key, score in scores.items()}
    return State(Query("?", "?", "?"), candidates=candidates, score_per_cosine=0.5)


def path(seed: str, to: str, *, seed_cosine: float = 0.5, cosine: float = 0.3, alike: float = 0.0) -> Path:
    return Path(seed, seed_cosine, Likeness(to, cosine, ("d", 0)), alike, name="Lago", rarity=0.8)


@given(st.integers(0, 1000))
def test_the_joint_cosine_is_that_of_the_sum(seed: int) -> None:
    question, one, other = (v / np.linalg.norm(v) for v in np.random.default_rng(seed).normal(size=(3, 5)))
    both = one + other
    expected = float(both @ question / np.linalg.norm(both))
    assert math.isclose(joint_cosine(one @ question, other @ question, one @ other), expected, abs_tol=1e-9)


def test_opposite_chunks_say_nothing_together() -> None:
    assert joint_cosine(0.5, -0.5, -1.0) == 0.0


def test_a_chunk_that_completes_a_seed_is_lifted_towards_it() -> None:
    lifted = lift_pairs(state(a=0.5, b=0.45), [path("a", "new", cosine=0.5)], settings=SETTINGS)
    assert lifted["a"].score == 0.5
    gain = joint_cosine(0.5, 0.5, 0.0) - 0.5
    expected = (0.5 + 0.5 * 0.5) / 2 + SETTINGS.joint * gain + SETTINGS.link * 0.8
    assert lifted["new"].score == pytest.approx(expected)
    assert lifted["new"].why == ("path: over Lago",)
    assert lifted["b"].score == 0.45


def test_a_lifted_chunk_stays_behind_its_seed() -> None:
    halves = path("a", "b", seed_cosine=0.5, cosine=0.5, alike=-0.5)
    lifted = lift_pairs(state(a=0.5, b=0.49, c=0.495), [halves], settings=SETTINGS)
    assert lifted["a"].score == 0.5 > lifted["b"].score > lifted["c"].score


def test_no_more_pairs_are_lifted_than_are_asked_for() -> None:
    paths = [path("a", f"n{number}", cosine=0.5 - number / 100) for number in range(5)]
    assert set(lift_pairs(state(a=0.5), paths, settings=SETTINGS)) == {"a", "n0"}


def test_of_two_seeds_the_lesser_one_is_lifted_whichever_has_the_smaller_id() -> None:
    ways = [path("a", "b", cosine=0.5, alike=-0.5), path("b", "a", cosine=0.5, alike=-0.5)]
    assert lift_pairs(state(a=0.4, b=0.5, c=0.45), ways, settings=SETTINGS)["a"].score > 0.45
    assert lift_pairs(state(a=0.5, b=0.4, c=0.45), ways, settings=SETTINGS)["b"].score > 0.45


@given(
    st.dictionaries(st.sampled_from("abcd"), st.floats(0.0, 1.0), min_size=1),
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcdef")), max_size=8, unique=True),
)
def test_nothing_is_taken_away_whatever_the_order_of_paths(
    scores: dict[str, float], ways: list[tuple[str, str]]
) -> None:
    start = state(**scores)
    paths = [path(seed, to) for seed, to in ways if seed in scores and to != seed]
    lifted = lift_pairs(start, paths, settings=SETTINGS)
    assert all(lifted[key].score >= score for key, score in scores.items())
    assert {k: c.score for k, c in lift_pairs(start, paths[::-1], settings=SETTINGS).items()} == {
        k: c.score for k, c in lifted.items()
    }
