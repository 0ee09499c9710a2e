"""A learnt ranker: features of each piece of evidence, each times a weight that was learnt from questions with gold evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from kgrag.common.boosted_trees import BoostedTrees, read_trees
from kgrag.errors import InputError
from kgrag.retrieve.features import FEATURES, TREES, features, shipped_trees
from kgrag.retrieve.state import Resources, State
from kgrag.retrieve.step import BesideFile, Step

__all__ = ["Learnt"]

NAMED_IN_WHY = 2
"""Features that a piece's reason names: those that set it apart most from the mean of all pieces."""


class Learnt(Step):
    """Ranking by weights that were learnt (`kgrag train ranker`)."""

    kind: Literal["learnt"] = "learnt"
    needs: ClassVar = ("evidence",)
    gives: ClassVar = ("evidence",)
    weights: Annotated[dict[str, float], Field(min_length=1)]
    """Of the features in `kgrag.retrieve.features.FEATURES`; one that is not there counts nothing. Their scale is the one on which the best
    possible seed has 1, so that what comes after (`diversification`) means the same. `trees` are boosted trees over all other features."""
    trees: BesideFile | None = None
    """A file of such trees (`python -m benchmarks.ranker --out`); None: the shipped ones."""

    @field_validator("weights")
    @classmethod
    def _known(cls, weights: Mapping[str, float]) -> Mapping[str, float]:
        if unknown := sorted(weights.keys() - FEATURES.keys()):
            raise ValueError(f"expected features out of {', '.join(FEATURES)}, got {', '.join(unknown)}")
        if wrong := sorted(name for name, weight in weights.items() if not np.isfinite(weight)):
            raise ValueError(f"expected finite numbers, got others for {', '.join(wrong)}")
        return weights

    def __hash__(self) -> int:
        """Hash by the weights, as other steps are hashed by their fields: a dict has no hash of its own."""
        return hash((self.kind, frozenset(self.weights.items())))

    def check(self, resources: Resources) -> None:
        """Raise `InputError` where the file of trees is none."""
        if self.weights.get(TREES, 0.0):
            self.asked_trees()

    def asked_trees(self) -> BoostedTrees:
        """Return the trees that `trees` stands for. Raises `InputError` where they were learnt from other features."""
        found = read_trees(Path(self.trees)) if self.trees else shipped_trees()
        if found.features != (expected := tuple(FEATURES)[:-1]):
            got = f"{', '.join(found.features)} in {self.trees or 'the shipped file'}"
            raise InputError(
                f"Expected trees over the features {', '.join(expected)}, got {got}: "
                "learn them anew (python -m benchmarks.ranker --out)."
            )
        return found

    async def __call__(self, state: State, resources: Resources) -> State:
        """Score anew, and order; equal scores stay in their order."""
        if not state.evidence:
            return state
        counted = {name for name, weight in self.weights.items() if weight}
        by_trees = self.weights.get(TREES, 0.0)
        rows = features(state, of=FEATURES.keys() - {TREES} if by_trees else counted)
        parts = rows * np.array([self.weights.get(name, 0.0) for name in FEATURES])
        offset = 0.0
        if by_trees:
            trees = self.asked_trees()
            parts[:, :-1] += by_trees * trees.parts(rows[:, :-1])
            offset = by_trees * trees.offset
        scores: list[float] = (offset + parts.sum(axis=1)).tolist()
        apart = parts - parts.mean(axis=0)
        most: list[list[int]] = np.argsort(-apart, axis=1, kind="stable")[:, :NAMED_IN_WHY].tolist()
        names = list(FEATURES)
        ranked = []
        for place in sorted(range(len(scores)), key=lambda place: -scores[place]):
            piece, score = state.evidence[place], scores[place]
            best = [names[column] for column in most[place] if apart[place, column] > 0.0]
            why = (*piece.why, f"learnt {score:.2f}" + (f": {' and '.join(best)}" if best else ""))
            ranked.append(piece.model_copy(update={"score": round(score, 6), "why": why}))
        return replace(state, evidence=tuple(ranked))
