"""When the default answer abstains: 168 questions to the sample and to twelve Arduino datasheets, half of them answerable.

    python -m benchmarks.refusals [--stores FOLDER] [--store neo4j] [--half reported] [--show]

The others are near (the documents speak of the thing, but do not say it, or of another thing of such a name) or off (about anything else).
Precision is the share of abstentions that are right, recall the share of the questions without an answer that are abstained from. The
second table is the gate before a model is called (`answer_gate`): what it would refuse at which probability. `benchmarks/datasheets.py`
says where the questions come from. Stores are built, or brought up to date, under `--stores`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.datasheets import CORPORA, HALVES, QUESTIONS, opened
from benchmarks.json_lines import read_rows
from benchmarks.tables import print_table
from kgrag.answer import evidence_probability
from kgrag.common.waiting import wait_for
from kgrag.models.minilm import MiniLM
from kgrag.types import Answer

KINDS = ("answerable", "near-domain", "off-domain")
GATES = (0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class Asked:
    """A question, what was answered, and how probably its evidence answers."""

    question: dict[str, Any]
    answer: Answer
    probability: float

    @property
    def answerable(self) -> bool:
        """Whether the documents answer the question."""
        return bool(self.question["kind"] == "answerable")


def main() -> None:
    """Ask all questions and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=Path, help="a folder with sample.kg and datasheets.kg, kept there")
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded", help="where stores are built")
    parser.add_argument("--half", choices=HALVES, help="only this half")
    parser.add_argument("--pipeline", default="default")
    parser.add_argument("--show", action="store_true", help="print the questions of which the answer is wrong in this")
    arguments = parser.parse_args()
    questions = [one for one in read_rows(QUESTIONS) if arguments.half in (None, one["half"])]
    asked: list[Asked] = []
    embedder = MiniLM()
    for corpus, documents in CORPORA.items():
        if not documents.is_dir():
            print(f"{documents} is not there: {corpus} is not measured.")
            continue
        with opened(corpus, arguments.stores, arguments.store, pipeline=arguments.pipeline) as graph:
            for question in questions:
                if question["corpus"] == corpus:
                    answer = graph.ask(question["question"])
                    weighed = evidence_probability(question["question"], answer.evidence, embedder=embedder)
                    asked.append(Asked(question, answer, wait_for(weighed)))
    groups = [
        (
            corpus,
            half,
            [one for one in asked if one.question["half"] == half and corpus in (one.question["corpus"], "both")],
        )
        for half in HALVES
        for corpus in (*CORPORA, "both")
    ]
    groups = [group for group in groups if group[2]]
    head = ["half", "corpus", "questions", *(f"{kind}: refused" for kind in KINDS), "precision", "recall"]
    print_table("Abstention of the answer without a model", head, [_row(*group) for group in groups], [])
    gates = [_gate_row(half, gate, members) for corpus, half, members in groups if corpus == "both" for gate in GATES]
    head = ["half", "gate", *(f"{kind}: refused" for kind in KINDS), "precision", "recall"]
    print_table("The gate before a model is called", head, gates, [])
    if arguments.show:
        for one in asked:
            if one.answer.abstained == one.answerable:
                said = one.answer.text.replace("\n", "\n    ")
                print(f"{one.question['id']} {one.probability:.2f} {one.question['question']}\n    {said}")


def _row(corpus: str, half: str, asked: Sequence[Asked]) -> list[str]:
    return [half, corpus, str(len(asked)), *_figures([(one, one.answer.abstained) for one in asked])]


def _gate_row(half: str, gate: float, asked: Sequence[Asked]) -> list[str]:
    return [half, f"{gate:.1f}", *_figures([(one, one.probability < gate) for one in asked])]


def _figures(refused: Sequence[tuple[Asked, bool]]) -> list[str]:
    """Refused of each kind, precision and recall of the refusals."""
    kinds = []
    for kind in KINDS:
        of_kind = [is_refused for one, is_refused in refused if one.question["kind"] == kind]
        kinds.append(f"{sum(of_kind)} of {len(of_kind)}")
    right = sum(is_refused and not one.answerable for one, is_refused in refused)
    every, absent = sum(is_refused for _, is_refused in refused), sum(not one.answerable for one, _ in refused)
    return [*kinds, f"{right / every:.3f}" if every else "-", f"{right / absent:.3f}" if absent else "-"]


if __name__ == "__main__":
    main()
