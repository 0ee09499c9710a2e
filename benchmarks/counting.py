"""Fifty questions that count and list, with truth written by hand: `python -m benchmarks.counting [--stores FOLDER] [--store neo4j]`.

Half of them ask about `examples/documents`, half about the 68 Arduino products of `../shared/data`. Questions and truth
(`counting_questions.jsonl`) were written from the documents before any of them was asked. Twenty were for development. The twenty that
were reported first showed faults of the rules, which were mended then, so that ten more were written: those are only measured. An answer is
exact where it names exactly the things of the truth, with its number, its numbers by family, and its values where the truth has them.
`read` counts the questions whose wording is read; the others are answered as any other, from passages. `without share` counts wrong answers
that do not say of how many things the documents state the property; there must be none.

Stores are built where `--stores` does not have them (six minutes of processor time for Arduino, once).
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import DATA
from benchmarks.json_lines import read_rows
from benchmarks.stores import fresh_store
from benchmarks.tables import print_table
from kgrag.knowledge_graph import open_graph
from kgrag.types import Answer

ROOT = Path(__file__).resolve().parents[1]
ARDUINO = DATA / "arduino" / "chunks"
QUESTIONS = Path(__file__).with_name("counting_questions.jsonl")
HALVES = ("development", "first reported", "reported")
SHARE = re.compile(r"\bof \d+ |^There (?:is|are) |^\d+ [^;]*:", re.IGNORECASE)


@dataclass(frozen=True)
class Asked:
    """A question, its truth, and what was answered."""

    question: dict[str, Any]
    answer: Answer

    @property
    def read(self) -> bool:
        """Whether the question was read as one that counts or lists."""
        return self.answer.table is not None

    @property
    def exact(self) -> bool:
        """Whether the answer is the truth."""
        table = self.answer.table
        if table is None:
            return False
        rows = [row for row in table.rows if row.answers]
        truth = self.question
        values = {row.cells[0]: row.cells[1] for row in rows}
        return (
            ("subjects" not in truth or sorted(row.cells[0] for row in rows) == truth["subjects"])
            and ("count" not in truth or len(rows) == truth["count"])
            and ("groups" not in truth or Counter(row.cells[-1] for row in rows) == truth["groups"])
            and all(value in values.get(name, "") for name, value in truth.get("values", {}).items())
        )

    @property
    def says_share(self) -> bool:
        """Whether the answer says of how many things something is stated."""
        return SHARE.search(self.answer.text) is not None


def main() -> None:
    """Ask all questions and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--stores", type=Path, help="a folder with the stores sample.kg and arduino.kg, made where they are absent"
    )
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded", help="where stores are built")
    parser.add_argument("--half", choices=HALVES, help="only this half")
    parser.add_argument("--pipeline", default="default")
    parser.add_argument("--show", action="store_true", help="print what is not exact")
    arguments = parser.parse_args()
    asked: list[Asked] = []
    questions = read_rows(QUESTIONS)
    for corpus in ("sample", "arduino"):
        if corpus == "arduino" and not ARDUINO.is_dir():
            print(f"{ARDUINO} is not there: only the sample is measured.")
            continue
        chosen = [one for one in questions if one["corpus"] == corpus and arguments.half in (None, one["half"])]
        asked += _ask(corpus, chosen, arguments)
    rows = [
        _row(corpus, half, [one for one in asked if (one.question["corpus"], one.question["half"]) == (corpus, half)])
        for corpus in ("sample", "arduino")
        for half in HALVES
    ]
    rows += [_row("both", half, [one for one in asked if one.question["half"] == half]) for half in HALVES]
    head = ["corpus", "half", "questions", "read", "exact", "of read", "without share"]
    print_table("Questions that count and list", head, [row for row in rows if row[2] != "0"], [])
    if arguments.show:
        for one in asked:
            if not one.exact:
                table = one.answer.table
                got = [row.cells[:2] for row in table.rows if row.answers] if table else None
                print(f"\n{one.question['id']}  {one.question['question']}\n  truth {one.question}\n  got   {got}")


def _ask(corpus: str, questions: Sequence[dict[str, Any]], arguments: argparse.Namespace) -> list[Asked]:
    if arguments.stores is not None and arguments.store == "embedded":
        return _answers(corpus, questions, str(arguments.stores / f"{corpus}.kg"), arguments.pipeline)
    with fresh_store(arguments.store) as store:
        return _answers(corpus, questions, store.target, arguments.pipeline)


def _answers(corpus: str, questions: Sequence[dict[str, Any]], target: str, pipeline: str) -> list[Asked]:
    with open_graph(target, pipeline=pipeline) as graph:
        if not graph.status()["chunks"]:
            with tempfile.TemporaryDirectory(prefix="kgrag-benchmark-") as folder:
                graph.build(ROOT / "examples" / "documents" if corpus == "sample" else _passages(Path(folder)))
        return [Asked(one, graph.ask(one["question"])) for one in questions]


def _passages(folder: Path) -> Path:
    """Write the Arduino chunks as ready passages, with product and family."""
    file = folder / "arduino.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for source in sorted(ARDUINO.glob("*.jsonl")):
            for line in source.read_text(encoding="utf-8").splitlines():
                chunk = json.loads(line)
                said = {key: chunk[key] for key in ("text", "product", "category")}
                passage = {"id": f"{chunk['product']}|{chunk['chunk_id']}", "title": chunk["product"], **said}
                out.write(json.dumps(passage, ensure_ascii=False) + "\n")
    return file


def _row(corpus: str, half: str, asked: Sequence[Asked]) -> list[str]:
    read = sum(one.read for one in asked)
    exact = sum(one.exact for one in asked)
    bare = sum(one.read and not one.exact and not one.says_share for one in asked)
    return [corpus, half, *map(str, (len(asked), read, exact)), f"{exact / read:.2f}" if read else "-", str(bare)]


if __name__ == "__main__":
    main()
