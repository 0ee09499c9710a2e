"""What is gained by what stands beside the best statement in prose (`kgrag/answer/prose.py`), on questions on which it was not chosen.

    python -m benchmarks.prose [--cache FOLDER]

clapnq's answerable questions, nothing refused: mean of the best word F1 with a gold answer, of the statements alone, without titles. Of
all gains of GRID those are taken that are best for four fifths of the questions and judged by the last fifth, each fifth once; this is
done with ten divisions. Beside it the shipped gains, which were chosen on all of them, by five fixed fifths.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.answer_sets import CACHE, answer_sets, is_answerable, present
from benchmarks.answers import word_f1
from benchmarks.tables import print_table
from kgrag.answer import last_question, without_typing_errors
from kgrag.answer.candidates import Candidate
from kgrag.answer.lines import lines_of_answer
from kgrag.answer.prose import GAINS, Gains
from kgrag.answer.weighing import weighed_candidates
from kgrag.models.minilm import MiniLM
from kgrag.text.courtesies import without_courtesies
from kgrag.text.questions import Question, read_question
from kgrag.types import Evidence

NO_GAINS = Gains(0.0, 0.0, 0.0, 0.0)
GRID = [
    Gains(*gains)
    for gains in product(
        (0.0, 0.05, 0.1, 0.15, 0.2), (0.0, 0.03, 0.06, 0.09), (0.0, 0.05, 0.1, 0.15, 0.2), (0.0, -0.05, -0.1)
    )
]
FIFTHS, DIVISIONS = 5, 10
Floats = NDArray[np.float64]


class Weighed(NamedTuple):
    """A question with what was found for it."""

    asked: Question
    found: list[Candidate]
    evidence: Sequence[Evidence]
    gold: Sequence[str]


def main() -> None:
    """Weigh the statements once, choose with all gains, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=CACHE)
    cache = parser.parse_args().cache
    embedder = MiniLM()
    for one in present(["clapnq"], answer_sets(None)):
        rows = zip(one.rows, one.answers(cache), strict=True)
        weighed = [
            _weighed(answer.question, answer.evidence, row, embedder) for row, answer in rows if is_answerable(row)
        ]
        _report([one for one in weighed if one.found])


def _weighed(question: str, evidence: Sequence[Evidence], row: dict[str, Any], embedder: MiniLM) -> Weighed:
    read = without_courtesies(last_question(without_courtesies(question)))
    asked = read_question(without_typing_errors(read, evidence, embedder))
    return Weighed(asked, asyncio.run(weighed_candidates(asked, evidence, embedder)), evidence, row["gold_answers"])


def _report(weighed: Sequence[Weighed]) -> None:
    now = _f1(weighed, NO_GAINS)
    shipped = _f1(weighed, GAINS)
    by_gains = np.array([_f1(weighed, gains) for gains in GRID])
    unseen = np.array([_unseen(by_gains, np.random.default_rng(seed)) for seed in range(DIVISIONS)])
    fifths = np.array([(shipped - now)[first::FIFTHS].mean() for first in range(FIFTHS)])
    rows = [
        ["none", f"{now.mean():.3f}", "", ""],
        ["chosen on other questions", f"{unseen.mean():.3f}", *_ends((unseen - now).mean(axis=1))],
        ["shipped", f"{shipped.mean():.3f}", *_ends(fifths)],
    ]
    head = ["gains", "word F1", "gain of the worst division or fifth", "of the best"]
    print_table(f"Beside the best statement in prose, {len(now)} questions", head, rows, [])


def _f1(weighed: Sequence[Weighed], gains: Gains) -> Floats:
    """The F1 of each question."""
    lines = (lines_of_answer(one.asked, one.found, one.evidence, gains=gains) for one in weighed)
    said = (" ".join(line.text for line, _ in of_question) for of_question in lines)
    return np.array([max(word_f1(text, gold) for gold in one.gold) for text, one in zip(said, weighed, strict=True)])


def _unseen(by_gains: Floats, random: np.random.Generator) -> Floats:
    """The F1 of each question by the gains that are best for those of other fifths. `by_gains`: [gains, questions]."""
    fifth = random.permutation(by_gains.shape[1]) % FIFTHS
    found = np.zeros(by_gains.shape[1])
    for number in range(FIFTHS):
        best = by_gains[:, fifth != number].mean(axis=1).argmax()
        found[fifth == number] = by_gains[best, fifth == number]
    return found


def _ends(gains: Floats) -> tuple[str, str]:
    """The least and the greatest."""
    return f"{gains.min():+.3f}", f"{gains.max():+.3f}"


if __name__ == "__main__":
    main()
