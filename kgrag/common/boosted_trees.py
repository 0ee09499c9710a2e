"""Boosted trees: the sum of what many small decision trees say of a row of features, read from a file that training wrote.

Gradient boosting is Friedman's (Annals of Statistics 29, 2001). `benchmarks/boosting.py` trains with LightGBM and writes the file; to ask
it takes nothing but numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from kgrag.errors import InputError

__all__ = ["BoostedTrees", "read_trees"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
FEATURES = "features"
"""The key of the file's metadata that names the features, with commas."""


class BoostedTrees:
    """Trees in flat arrays, an item for each node; a leaf is its own child."""

    def __init__(
        self,
        features: Sequence[str],
        roots: Integers,
        feature: Integers,
        threshold: Floats,
        children: Integers,
        value: Floats,
    ) -> None:
        self.features = tuple(features)
        """The columns of the rows, in order."""
        self._roots, self._feature, self._threshold, self._children, self._value = (
            roots,
            feature,
            threshold,
            children,
            value,
        )
        self.offset = float(value[roots].sum())
        """What is said of every row before it is looked at."""

    def scores(self, rows: Floats) -> Floats:
        """Return what the trees say of each row: [rows]."""
        return np.asarray(self.offset + self.parts(rows).sum(axis=1))

    def parts(self, rows: Floats) -> Floats:
        """Return what each feature adds to `offset` for each row: [rows, features].

        A step down a tree adds what the child says more than its parent, to the feature that was asked there (Saabas 2014). The sum of a
        row's parts and the offset is what the trees say of it.
        """
        count, width = rows.shape
        parts = np.zeros(count * width)
        node = np.broadcast_to(self._roots, (count, len(self._roots)))
        first = (np.arange(count) * width)[:, None]
        children = self._children.ravel()
        while True:
            # `take` where an index would do: it is twice as fast.
            asked = first + self._feature.take(node)
            child = children.take(2 * node + (rows.take(asked) > self._threshold.take(node)))
            if (child == node).all():
                return parts.reshape(count, width)
            gained = self._value.take(child) - self._value.take(node)
            parts += np.bincount(asked.ravel(), weights=gained.ravel(), minlength=count * width)
            node = child


@lru_cache(maxsize=4)
def read_trees(file: Path) -> BoostedTrees:
    """Read a file of `benchmarks.boosting`. Raises `InputError` where it is none."""
    try:
        with safe_open(file, framework="numpy") as read:
            features = (read.metadata() or {})[FEATURES].split(",")
            arrays = [read.get_tensor(name) for name in ("roots", "feature", "threshold", "children", "value")]
    except (OSError, SafetensorError, KeyError) as error:
        raise InputError(f"Expected boosted trees that benchmarks.ranker wrote, got {file}: {error}") from error
    roots, feature, threshold, children, value = arrays
    return BoostedTrees(
        features,
        roots.astype(np.int64),
        feature.astype(np.int64),
        threshold.astype(np.float64),
        children.astype(np.int64),
        value.astype(np.float64),
    )
