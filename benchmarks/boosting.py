"""Training of boosted trees that order what a question has (LambdaMART: Burges 2010), with LightGBM, and their file.

Kept beside benchmarks, as training is no part of kgrag: `pip install lightgbm`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

__all__ = ["Asked", "learn_order", "write_trees"]

Floats = NDArray[np.float64]
TREES = 300
PARAMETERS: Mapping[str, Any] = {
    "objective": "lambdarank",
    "num_leaves": 7,
    "learning_rate": 0.04,
    "min_data_in_leaf": 60,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "feature_fraction": 0.4,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbose": -1,
}
"""Chosen on the sets that are learnt from, each left out: twice the leaves or half the features a tree differ in the third digit."""
WHOLE = 2000.0
"""The sum of all weights."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with rows of features, and which of them are right; questions of a corpus count together as much as those of another."""

    rows: Floats
    right: NDArray[np.bool_]
    corpus: str


def learn_order(questions: Sequence[Asked], signs: Sequence[int]) -> Any:
    """Return LightGBM's trees that put right rows first; where the sign of a feature is 1, more of it never counts against a row."""
    try:
        import lightgbm
    except ImportError:
        sys.exit("Training needs LightGBM: pip install lightgbm")
    used = [one for one in questions if one.right.any()]
    counts = Counter(one.corpus for one in used)
    weights = [np.full(len(one.rows), WHOLE / len(counts) / counts[one.corpus]) for one in used]
    data = lightgbm.Dataset(
        np.concatenate([one.rows for one in used]),
        np.concatenate([one.right for one in used]).astype(int),
        group=[len(one.rows) for one in used],
        weight=np.concatenate(weights),
    )
    return lightgbm.train({**PARAMETERS, "monotone_constraints": list(signs)}, data, num_boost_round=TREES)


def write_trees(trees: Any, features: Sequence[str], out: Path, *, of: Sequence[Asked], falls_to: int) -> None:
    """Write what was learnt on the scale of the first feature, the score before.

    In the median over the questions `of` which it was learnt, the best row has what the best score is, and from there to the row
    `falls_to` it falls as far. The offset is a tree of one leaf.
    """
    rows = [one.rows for one in of if len(one.rows)]
    before = [np.sort(some[:, 0])[::-1] for some in rows]
    said = [np.sort(np.asarray(trees.predict(some)))[::-1] for some in rows]
    scale = _fall(before, falls_to) / _fall(said, falls_to)
    offset = float(np.median([one[0] for one in before]) - scale * np.median([one[0] for one in said]))
    roots: list[int] = []
    nodes: list[tuple[int, float, int, int, float]] = []

    def take(node: Mapping[str, Any]) -> int:
        place = len(nodes)
        if "leaf_value" in node and "split_feature" not in node:
            nodes.append((0, 0.0, place, place, float(node["leaf_value"])))
            return place
        if node["decision_type"] != "<=":
            raise ValueError(f"Expected splits by <=, got {node['decision_type']}.")
        nodes.append((0, 0.0, 0, 0, 0.0))
        left, right = take(node["left_child"]), take(node["right_child"])
        nodes[place] = (node["split_feature"], float(node["threshold"]), left, right, float(node["internal_value"]))
        return place

    for tree in trees.dump_model()["tree_info"]:
        roots.append(take(tree["tree_structure"]))
    feature, threshold, left, right, value = (np.array(column) for column in zip(*nodes, strict=True))
    of_all = len(nodes)
    arrays: dict[str, NDArray[Any]] = {
        "roots": np.array([*roots, of_all], dtype=np.int32),
        "feature": np.array([*feature, 0], dtype=np.int16),
        "threshold": np.array([*threshold, 0.0], dtype=np.float64),
        "children": np.array([*zip(left, right, strict=True), (of_all, of_all)], dtype=np.int32),
        "value": np.array([*(value * scale), offset], dtype=np.float32),
    }
    save_file(arrays, out, metadata={"features": ",".join(features)})


def _fall(scores: Sequence[Floats], falls_to: int) -> float:
    return float(np.median([one[0] - one[min(falls_to, len(one)) - 1] for one in scores]))
