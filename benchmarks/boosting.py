"""Training of boosted trees that order what a question has (LambdaMART: Burges 2010), with LightGBM, and their file.

Kept beside benchmarks, as training is no part of kgrag: `pip install lightgbm`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

__all__ = ["Asked", "learn_order", "write_trees"]

Floats = NDArray[np.float64]
TREES, LEAVES, RATE = 300, 7, 0.04
FEWEST_IN_LEAF = 60
SHARE_OF_ROWS, SHARE_OF_FEATURES = 0.8, 0.4
"""Drawn for each tree."""
WHOLE = 2000.0
"""The sum of all weights."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with rows of features, and which of them are right; questions of a corpus count together as much as those of another."""

    rows: Floats
    right: NDArray[np.bool_]
    corpus: str


def learn_order(questions: Sequence[Asked], signs: Sequence[int], *, trees: int = TREES, leaves: int = LEAVES) -> Any:
    """Return LightGBM's ranker that puts right rows first; where the sign of a feature is 1, more of it never counts against a row."""
    from lightgbm import LGBMRanker

    used = [one for one in questions if one.right.any()]
    counts: dict[str, int] = {}
    for one in used:
        counts[one.corpus] = counts.get(one.corpus, 0) + 1
    weights = [np.full(len(one.rows), WHOLE / len(counts) / counts[one.corpus]) for one in used]
    ranker = LGBMRanker(
        n_estimators=trees,
        num_leaves=leaves,
        learning_rate=RATE,
        min_child_samples=FEWEST_IN_LEAF,
        subsample=SHARE_OF_ROWS,
        subsample_freq=1,
        colsample_bytree=SHARE_OF_FEATURES,
        monotone_constraints=list(signs),
        verbose=-1,
        n_jobs=1,
        random_state=0,
        deterministic=True,
        force_row_wise=True,
    )
    ranker.fit(
        np.concatenate([one.rows for one in used]),
        np.concatenate([one.right for one in used]).astype(int),
        group=[len(one.rows) for one in used],
        sample_weight=np.concatenate(weights),
    )
    return ranker


def write_trees(ranker: Any, features: Sequence[str], out: Path, *, scale: float = 1.0, offset: float = 0.0) -> None:
    """Write what was learnt, its values times `scale`; `offset` is added to what is said of every row."""
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

    for tree in ranker.booster_.dump_model()["tree_info"]:
        roots.append(take(tree["tree_structure"]))
    feature, threshold, left, right, value = (np.array(column) for column in zip(*nodes, strict=True))
    values = value * scale
    offset_node = len(nodes)
    arrays = {
        "roots": np.array([*roots, offset_node], dtype=np.int32),
        "feature": np.array([*feature, 0], dtype=np.int16),
        "threshold": np.array([*threshold, 0.0], dtype=np.float64),
        "children": np.array([*zip(left, right, strict=True), (offset_node, offset_node)], dtype=np.int32),
        "value": np.array([*values, offset], dtype=np.float32),
    }
    save_file(arrays, out, metadata={"features": ",".join(features)})
