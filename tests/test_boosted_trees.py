from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.numpy import save_file

from kgrag.common.boosted_trees import BoostedTrees, read_trees
from kgrag.errors import InputError
from kgrag.retrieve.features import FEATURES, shipped_trees


def two_trees() -> BoostedTrees:
    """The first asks whether a is above 1, and of those whether b is above 0; the second is a leaf of 0.5."""
    return BoostedTrees(
        ("a", "b"),
        roots=np.array([0, 5]),
        feature=np.array([0, 0, 1, 0, 0, 0]),
        threshold=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        children=np.array([[1, 2], [1, 1], [3, 4], [3, 3], [4, 4], [5, 5]]),
        value=np.array([0.25, 0.0, 1.0, 0.75, 2.0, 0.5]),
    )


def test_each_step_down_a_tree_counts_for_the_feature_that_was_asked() -> None:
    trees = two_trees()
    parts = trees.parts(np.array([[1.0, 9.0], [2.0, 0.0], [2.0, 1.0]]))
    assert trees.offset == 0.75
    assert parts.tolist() == [[-0.25, 0.0], [0.75, -0.25], [0.75, 1.0]]
    assert (trees.offset + parts.sum(axis=1)).tolist() == [0.5, 1.25, 2.5]
    assert trees.parts(np.empty((0, 2))).shape == (0, 2)


@given(arrays(np.float64, (6, len(FEATURES) - 1), elements=st.floats(-1, 1)))
def test_what_is_shipped_is_of_all_features_and_never_counts_more_of_one_against_a_piece_whose_sign_is_known(
    rows: np.ndarray,
) -> None:
    trees = shipped_trees()
    assert trees.features == tuple(FEATURES)[:-1]
    more = rows + np.array([0.5 if FEATURES[name] else 0.0 for name in trees.features])
    assert (trees.parts(more).sum(axis=1) >= trees.parts(rows).sum(axis=1) - 1e-5).all()


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    for name, written in (("absent", None), ("text", b"trees"), ("other", {"value": np.zeros(1, dtype=np.float32)})):
        file = tmp_path / name
        if isinstance(written, bytes):
            file.write_bytes(written)
        elif written is not None:
            save_file(written, file)
        with pytest.raises(InputError, match=f"Expected boosted trees that benchmarks.ranker wrote, got .*{name}"):
            read_trees(file)
