"""Learn which statements are worth reading with a question, and which of these answers best: the boosted trees of `kgrag/answer/choice.py`.

    pip install lightgbm
    python -m benchmarks.choice MANUALS --read-by training-1=FILE ... [--cache FOLDER] [--out FOLDER]

From the support questions that are for training (`benchmarks/support`, `training-*`), asked of the manuals of Debian packages in the folder
MANUALS (`benchmarks/answer_sets.py`): of each question all statements of its evidence, and those that are weighed last, and which of them
have the value asked for. What the shipped cross-encoder learnt from tells nothing of what it knows, so each set is read by a network that
`benchmarks.train_cross_encoder --without` made without it. The tables are of trees that learnt from two thirds of the sets, on the others:
the share of questions of which one of those that are read has the value, and the first and one of the first three of those weighed last; by
weights alone beside it.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.answer_sets import CACHE, TRAINING, AnswerSet, answer_sets
from benchmarks.answers import has_value
from benchmarks.boosting import Asked, learn_order, write_trees
from benchmarks.tables import print_table
from kgrag.answer import last_question, without_typing_errors
from kgrag.answer.candidates import Candidate, for_reader
from kgrag.answer.choice import FEATURES, KEPT_BY_WEIGHTS, LEARNT, PROMISING, choice_features
from kgrag.answer.weighing import READ_STATEMENTS, candidates_by_weights, first_candidates
from kgrag.models.cross_encoder import MiniLMCrossEncoder
from kgrag.models.minilm import MiniLM
from kgrag.text.courtesies import without_courtesies
from kgrag.text.questions import Question, read_question
from kgrag.types import Evidence

PARTS, FEW, FALLS_TO = 3, 3, 4
CORPUS = "manuals"
Scores = Sequence[NDArray[np.float64]]


def main() -> None:
    """Measure features, print the table, and write the trees that learnt from all sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manuals", type=Path, help="folder with Debian's packages, unpacked")
    parser.add_argument("--read-by", nargs="+", required=True, metavar="SET=FILE", help="the network that reads a set")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--out", type=Path, default=LEARNT.parent, help="the folder of both files")
    arguments = parser.parse_args()
    read_by = {name: Path(file) for name, _, file in (one.partition("=") for one in arguments.read_by)}
    if unknown := sorted(read_by.keys() - set(TRAINING)):
        parser.error(f"--read-by: expected {', '.join(TRAINING)}, got {', '.join(unknown)}")
    if len(read_by) < PARTS:
        parser.error(f"--read-by: expected at least {PARTS} sets, got {len(read_by)}")
    sets = answer_sets(arguments.manuals)
    embedder = MiniLM()
    all_of: list[list[Asked]] = []
    last_of: list[list[Asked]] = []
    for name, file in read_by.items():
        MiniLMCrossEncoder.correction = file
        every, last = examples(sets[f"support-{name}"], embedder, arguments.cache)
        all_of.append(every)
        last_of.append(last)
    _print_read(all_of)
    _print_chosen(last_of)
    for found, file in ((all_of, PROMISING), (last_of, LEARNT)):
        asked = [one for part in found for one in part]
        trees = learn_order(asked, list(FEATURES.values()))
        write_trees(trees, list(FEATURES), arguments.out / file.name, of=asked, falls_to=FALLS_TO)


def examples(one: AnswerSet, embedder: MiniLM, cache: Path) -> tuple[list[Asked], list[Asked]]:
    """Return the answerable questions of a set, with all statements of their evidence, and with those that are weighed last."""
    every: list[Asked] = []
    last: list[Asked] = []
    for row, answer in zip(one.rows, one.answers(cache), strict=True):
        if not row["answers"]:
            continue
        read = without_typing_errors(last_question(without_courtesies(answer.question)), answer.evidence, embedder)
        asked = read_question(without_courtesies(read))
        if first := first_candidates(asked, answer.evidence):
            every.append(_asked(asked, first, answer.evidence, row))
        found = asyncio.run(candidates_by_weights(asked, answer.evidence, embedder))
        if found and all(candidate.logit is not None for candidate in found):
            last.append(_asked(asked, found, answer.evidence, row))
    return every, last


def _asked(asked: Question, found: Sequence[Candidate], evidence: Sequence[Evidence], row: dict[str, Any]) -> Asked:
    right = [has_value(for_reader(candidate, asked, title=""), row["answers"]) for candidate in found]
    return Asked(choice_features(asked, found, evidence), np.array(right), CORPUS)


def _print_read(found: Sequence[Sequence[Asked]]) -> None:
    asked, scores = _by_others(found)
    sure = round(KEPT_BY_WEIGHTS * READ_STATEMENTS)
    # Those of the weights first, and then the best of the others.
    kept = [np.where(np.arange(len(score)) < sure, np.inf, score) for score in scores]
    by = (("weights", [one.rows[:, 0] for one in asked]), ("weights and trees", kept), ("trees", scores))
    rows = [[name, f"{_share(asked, some, READ_STATEMENTS):.3f}"] for name, some in by]
    print_table(f"Statements that are read, {len(asked):,} questions", ["by", f"one of {READ_STATEMENTS}"], rows, [])


def _print_chosen(found: Sequence[Sequence[Asked]]) -> None:
    asked, scores = _by_others(found)
    rows = [
        [name, f"{_share(asked, by, 1):.3f}", f"{_share(asked, by, FEW):.3f}"]
        for name, by in (("weights", [one.rows[:, 0] for one in asked]), ("trees", scores))
    ]
    print_table(f"Choice of statements, {len(asked):,} questions", ["by", "first", "one of three"], rows, [])


def _by_others(found: Sequence[Sequence[Asked]]) -> tuple[list[Asked], list[NDArray[np.float64]]]:
    """Return the questions of all sets with what trees say of their statements that learnt from other sets."""
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
    return asked, scores


def _share(asked: Sequence[Asked], scores: Scores, most: int) -> float:
    hits = [one.right[np.argsort(-score, kind="stable")[:most]].any() for one, score in zip(asked, scores, strict=True)]
    return float(np.mean(hits))


if __name__ == "__main__":
    main()
