"""When the extractive answer abstains: trains the logistic model of `kgrag/answer/abstention.toml` and says how well it tells.

    python -m benchmarks.abstention [MANUALS] [--sets clapnq,support-development] [--cache FOLDER] [--again] [--write]

Of each question of clapnq (150 that its passage answers, 150 that it does not), `examples/` and the development halves of the support
questions (where MANUALS, the folder with unpacked packages, is given: see `benchmarks/answer_sets.py`) the features of the evidence that
the default pipeline finds are taken (`kgrag.answer.abstention`). Questions that are refused before, for a name that
no passage has or for their language, are not counted. Each set counts alike, the support questions and `examples/` as one set, and
within it the answerable questions twice as much as the others. What the shipped cross-encoder learnt from tells nothing of
what it knows: `--read-by training-1=FILE` measures a set of training questions by a network that `benchmarks.train_cross_encoder
--without` made without it. The table is leave-one-set-out: a set (of the support
questions: a half) is judged by a model that was trained on the others; `--write` ships the one that was trained on all. Answers stay
under the cache, and the next run only trains.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.answer_sets import CACHE, HALVES, AnswerSet, answer_sets, is_answerable, present
from benchmarks.tables import print_table
from kgrag.answer.abstention import FEATURES, evidence_features
from kgrag.answer.reading import in_another_language, last_question, without_typing_errors
from kgrag.answer.subject import unknown_names
from kgrag.answer.weighing import weighed_candidates
from kgrag.models.cross_encoder import MiniLMCrossEncoder
from kgrag.models.minilm import MiniLM
from kgrag.text.questions import read_question

SUPPORT = "support"
SETS = ("clapnq", "examples", *(f"{SUPPORT}-{half}" for half in HALVES if half.startswith("development")))
MODEL = Path(__file__).resolve().parents[1] / "kgrag" / "answer" / "abstention.toml"
STEPS = 50
PENALTY = 0.01
ANSWERABLE_SHARE = 2 / 3
"""Refusing what is there weighs twice as much as answering what is not."""

Floats = NDArray[np.float64]
Measured = tuple[Floats, NDArray[np.bool_]]
"""Features of each question [questions, features], and whether it is answerable."""


def main() -> None:
    """Measure features where they are not kept, train, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manuals", type=Path, nargs="?", help="folder with Debian's packages, unpacked")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--read-by", nargs="*", default=[], metavar="SET=FILE", help="sets of training questions")
    parser.add_argument("--again", action="store_true", help="ask the kept stores anew")
    parser.add_argument("--write", action="store_true", help="write the model that was trained on all sets")
    arguments = parser.parse_args()
    sets = answer_sets(arguments.manuals)
    embedder = MiniLM()
    read_by = {f"{SUPPORT}-{name}": Path(file) for name, _, file in (one.partition("=") for one in arguments.read_by)}
    if unknown := read_by.keys() - sets.keys():
        parser.error(f"--read-by: expected sets of training questions whose manuals are there, got {sorted(unknown)}")
    shipped = MiniLMCrossEncoder.correction
    measured = {}
    for one in present((*arguments.sets.split(","), *read_by), sets):
        MiniLMCrossEncoder.correction = read_by.get(one.name, shipped)
        measured[one.name] = features(one, embedder, arguments.cache, again=arguments.again)
    rows = []
    for name, (x, y) in measured.items():
        weights, intercept = train({other: pair for other, pair in measured.items() if other != name})
        answered = x @ weights + intercept >= 0
        kinds = [(answered[y == kind] == kind).mean() for kind in (True, False) if (y == kind).any()]
        right = [f"{(answered[y == kind] == kind).mean():.2f}" if (y == kind).any() else "-" for kind in (True, False)]
        rows.append([name, str(len(y)), *right, f"{np.mean(kinds):.3f}"])
    weights, intercept = train(measured)
    numbers = "".join(f"{name} = {weight:.4f}\n" for name, weight in zip(FEATURES, weights, strict=True))
    print_table(
        "Abstention, leave-one-set-out",
        ["set", "questions", "answerable answered", "unanswerable refused", "balanced accuracy"],
        rows,
        [f"Of all sets:\n{numbers}intercept = {intercept:.4f}"],
    )
    if arguments.write:
        MODEL.write_text(
            "# Made by `python -m benchmarks.abstention --write`: whether evidence answers (kgrag/answer/abstention.py).\n"
            f"{numbers}intercept = {intercept:.4f}\n",
            encoding="utf-8",
        )


def features(one: AnswerSet, embedder: MiniLM, folder: Path, *, again: bool) -> Measured:
    """Return the features of each question's evidence and whether it is answerable."""
    made, answerable = [], []
    for row, answer in zip(one.rows, one.answers(folder, again=again), strict=True):
        read = last_question(row["question"])
        if in_another_language(read, answer.evidence):
            continue
        asked = read_question(without_typing_errors(read, answer.evidence, embedder))
        found = asyncio.run(weighed_candidates(asked, answer.evidence, embedder))
        if found and not unknown_names(asked, answer.evidence)[0]:
            made.append(evidence_features(asked, found, answer.evidence, embedder))
            answerable.append(is_answerable(row))
    return np.array(made), np.array(answerable, dtype=bool)


def train(measured: Mapping[str, Measured]) -> tuple[Floats, float]:
    """Fit the logistic model to standardised features by Newton's method; return weights and intercept of the features as they are."""
    sets = _with_one_of_support(measured)
    x = np.concatenate([features for features, _ in sets])
    y = np.concatenate([answerable for _, answerable in sets]).astype(np.float64)
    weights = np.concatenate([_weights(answerable) for _, answerable in sets]) / len(sets)
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    design, model = np.c_[(x - mean) / spread, np.ones(len(x))], np.zeros(x.shape[1] + 1)
    penalty = np.diag([2 * PENALTY] * x.shape[1] + [1e-9])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-design @ model))
        slope = design.T @ (design * (weights * p * (1 - p) + 1e-12)[:, None]) + penalty
        model = model + np.linalg.solve(slope, design.T @ (weights * (y - p)) - penalty @ model)
    raw = model[:-1] / spread
    return raw, float(model[-1] - raw @ mean)


def _with_one_of_support(measured: Mapping[str, Measured]) -> list[Measured]:
    """Return the sets with `examples` and those of support questions as one: alone some have two questions without an answer."""
    support = [pair for name, pair in measured.items() if name.startswith((SUPPORT, "examples"))]
    others = [pair for name, pair in measured.items() if not name.startswith((SUPPORT, "examples"))]
    if not support:
        return others
    return [*others, (np.concatenate([x for x, _ in support]), np.concatenate([y for _, y in support]))]


def _weights(answerable: NDArray[np.bool_]) -> Floats:
    """Give the answerable questions of a set their share of its weight, and the others the rest."""
    weights = np.zeros(len(answerable))
    for kind, share in ((True, ANSWERABLE_SHARE), (False, 1 - ANSWERABLE_SHARE)):
        if (answerable == kind).any():
            weights[answerable == kind] = share / (answerable == kind).sum()
    return weights


if __name__ == "__main__":
    main()
