"""Learn which of the weighed statements answers best: the boosted trees of `kgrag/answer/choice.py`.

    pip install lightgbm
    python -m benchmarks.choice MANUALS --read-by training-1=FILE ... [--cache FOLDER] [--out FILE]

From the support questions that are for training (`benchmarks/support`, `training-*`), asked of the manuals of Debian packages in the folder
MANUALS (`benchmarks/answer_sets.py`): of each question the statements that are weighed last, and which of them have the value asked for.
What the shipped cross-encoder learnt from tells nothing of what it knows, so each set is read by a network that
`benchmarks.train_cross_encoder --without` made without it. The table is of trees that learnt from two thirds of the sets, on the others:
the share of questions of which the first, and one of the first three, has the value; by weights alone beside it.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.answer_sets import CACHE, TRAINING, AnswerSet, answer_sets
from benchmarks.answers import has_value
from benchmarks.boosting import Asked, learn_order, write_trees
from benchmarks.tables import print_table
from kgrag.answer import last_question, without_typing_errors
from kgrag.answer.candidates import for_reader
from kgrag.answer.choice import FEATURES, LEARNT, choice_features
from kgrag.answer.rules import candidates_by_weights
from kgrag.models.cross_encoder import MiniLMCrossEncoder
from kgrag.models.minilm import MiniLM
from kgrag.text.courtesies import without_courtesies
from kgrag.text.questions import read_question

PARTS, FEW, FALLS_TO = 3, 3, 4
CORPUS = "manuals"
Scores = Sequence[NDArray[np.float64]]


def main() -> None:
    """Measure features, print the table, and write the trees that learnt from all sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manuals", type=Path, help="folder with Debian's packages, unpacked")
    parser.add_argument("--read-by", nargs="+", required=True, metavar="SET=FILE", help="the network that reads a set")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--out", type=Path, default=LEARNT)
    arguments = parser.parse_args()
    read_by = {name: Path(file) for name, _, file in (one.partition("=") for one in arguments.read_by)}
    if unknown := sorted(read_by.keys() - set(TRAINING)):
        parser.error(f"--read-by: expected {', '.join(TRAINING)}, got {', '.join(unknown)}")
    if len(read_by) < PARTS:
        parser.error(f"--read-by: expected at least {PARTS} sets, got {len(read_by)}")
    sets = answer_sets(arguments.manuals)
    embedder, found = MiniLM(), []
    for name, file in read_by.items():
        MiniLMCrossEncoder.correction = file
        found.append(examples(sets[f"support-{name}"], embedder, arguments.cache))
    _print(found)
    asked = [one for part in found for one in part]
    trees = learn_order(asked, list(FEATURES.values()))
    write_trees(trees, list(FEATURES), arguments.out, of=asked, falls_to=FALLS_TO)


def examples(one: AnswerSet, embedder: MiniLM, cache: Path) -> list[Asked]:
    """Return the answerable questions of a set with the statements that are weighed last."""
    made = []
    for row, answer in zip(one.rows, one.answers(cache), strict=True):
        if not row["answers"]:
            continue
        read = without_typing_errors(last_question(without_courtesies(answer.question)), answer.evidence, embedder)
        asked = read_question(without_courtesies(read))
        found = asyncio.run(candidates_by_weights(asked, answer.evidence, embedder))
        if found and all(candidate.logit is not None for candidate in found):
            right = [has_value(for_reader(candidate, asked, title=""), row["answers"]) for candidate in found]
            made.append(Asked(choice_features(asked, found, answer.evidence), np.array(right), CORPUS))
    return made


def _print(found: Sequence[Sequence[Asked]]) -> None:
    asked: list[Asked] = []
    scores: list[NDArray[np.float64]] = []
    for part in range(PARTS):
        trees = learn_order(
            [one for number, some in enumerate(found) if number % PARTS != part for one in some],
            list(FEATURES.values()),
        )
        for some in found[part::PARTS]:
            asked += some
            scores += [np.asarray(trees.predict(one.rows)) for one in some]
    rows = [
        [name, f"{_share(asked, by, 1):.3f}", f"{_share(asked, by, FEW):.3f}"]
        for name, by in (("weights", [one.rows[:, 0] for one in asked]), ("trees", scores))
    ]
    print_table(f"Choice of statements, {len(asked):,} questions", ["by", "first", "one of three"], rows, [])


def _share(asked: Sequence[Asked], scores: Scores, most: int) -> float:
    hits = [one.right[np.argsort(-score, kind="stable")[:most]].any() for one, score in zip(asked, scores, strict=True)]
    return float(np.mean(hits))


if __name__ == "__main__":
    main()
