"""How well the type of a question is told by rules.

    python -m benchmarks.question_types [--data ../shared/data] [--misses]

Prints a row for each set of typed questions and each gold type: how many questions are told as which type, and the share told rightly.
The rules were written with the Arduino and 2wiki questions in view and without the sample's, HotpotQA's and MuSiQue's: the rows of these
say what to expect elsewhere. The Arduino questions also come as two halves by id. Sets whose data is absent are skipped with a message.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import DATA
from benchmarks.retrieval_quality import read_rows
from benchmarks.tables import print_table
from kgrag.retrieve.adaptive import TYPES
from kgrag.text.questions import type_by_rules

ROOT = Path(__file__).resolve().parents[1]
SETS = {"sample": "", "arduino": "", "2wiki": "multi_hop", "hotpotqa": "multi_hop", "musique": "multi_hop"}
"""The sets, and the type of all of their questions where every one needs more than one passage by design."""
EVERY = "all"


@dataclass(frozen=True, slots=True)
class Typed:
    """A question and the type that people gave it."""

    id: str
    question: str
    type: str
    told: str


def read_typed(file: Path, *, same_type: str = "") -> list[Typed]:
    """Read the questions of a file; `same_type` replaces the types that it gives."""
    return [
        Typed(str(row["id"]), row["question"], same_type or row["query_type"], type_by_rules(row["question"]))
        for row in read_rows(file)
    ]


def rows_of(name: str, questions: Sequence[Typed]) -> list[list[str]]:
    """Make the rows of a set: one for each gold type, where there are several also one for all."""
    kinds = [kind for kind in TYPES if any(one.type == kind for one in questions)]
    rows = []
    for kind in kinds if len(kinds) == 1 else [*kinds, EVERY]:
        some = [one for one in questions if kind in (one.type, EVERY)]
        told = Counter(one.told for one in some)
        right = sum(one.told == one.type for one in some) / len(some)
        rows.append([name, kind, str(len(some)), *(str(told[as_type]) for as_type in TYPES), f"{right:.2f}"])
    return rows


def halves(questions: Sequence[Typed]) -> dict[str, list[Typed]]:
    """Part questions with numbers for ids into the even and the odd ones."""
    return {
        "even ids": [one for one in questions if int(one.id) % 2 == 0],
        "odd ids": [one for one in questions if int(one.id) % 2 == 1],
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--misses", action="store_true", help="name the Arduino questions that are told wrongly")
    arguments = parser.parse_args()
    rows, missed = [], []
    for name, same_type in SETS.items():
        file = (ROOT / "examples" if name == "sample" else arguments.data / name) / "questions.jsonl"
        if not file.is_file():
            print(f"{name}: skipped, {file} is absent", file=sys.stderr)
            continue
        questions = read_typed(file, same_type=same_type)
        rows += rows_of(name, questions)
        if name == "arduino":
            for half, some in halves(questions).items():
                rows += rows_of(f"{name}, {half}", some)[-1:]
            missed = [one for one in questions if one.told != one.type]
    head = ["set", "gold", "n", *(f"told {kind}" for kind in TYPES), "right"]
    print_table("Types of questions, told by rules", head, rows, [])
    for one in missed if arguments.misses else ():
        print(f"{one.id}: {one.type}, told as {one.told}: {one.question}")


if __name__ == "__main__":
    main()
