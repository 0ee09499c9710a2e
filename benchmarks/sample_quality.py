"""How good retrieval and answers are on the sample: `python -m benchmarks.sample_quality [--store embedded|neo4j]`.

Builds `examples/documents`, finds communities, and asks `examples/questions.jsonl` through every pipeline. Prints one table: the share of
gold facts within 1,500 tokens of shown text by type of question, the share of gold facts that the extractive answer says, and how often
it abstains.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kgrag
from benchmarks.json_lines import read_rows
from benchmarks.stores import fresh_store
from benchmarks.tables import print_table
from kgrag.retrieve import pipeline_names

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
BUDGET_TOKENS = 1_500
TYPES = ("factual", "disambiguation", "reasoning", "multi_hop", "summary")


def main() -> None:
    """Build, ask, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--misses", action="store_true", help="name the questions whose facts are not all shown")
    arguments = parser.parse_args()
    questions = read_rows(EXAMPLES / "questions.jsonl")
    rows = []
    with fresh_store(arguments.store) as fresh:
        with kgrag.open(fresh.target) as graph:
            graph.build(EXAMPLES / "documents")
            graph.communities()
        for pipeline in pipeline_names():
            with kgrag.open(fresh.target, pipeline=pipeline) as graph:
                rows.append([pipeline, *_scores(graph, questions, name_misses=arguments.misses)])
    head = ["pipeline", *TYPES, "all", "in the answer", "abstains: answerable", "abstains: unanswerable"]
    print_table(f"Gold facts within {BUDGET_TOKENS:,} tokens, {len(questions)} questions", head, rows, [])


def _scores(graph: kgrag.KnowledgeGraph, questions: Sequence[dict[str, Any]], *, name_misses: bool) -> list[str]:
    shown: dict[str, list[float]] = defaultdict(list)
    said: list[float] = []
    abstained: dict[bool, list[float]] = {True: [], False: []}
    for question in questions:
        answer = graph.ask(question["question"], budget=BUDGET_TOKENS)
        abstained[question["answerable"]].append(answer.abstained)
        if not question["answerable"]:
            continue
        context = _squeeze("\n".join(piece.text for piece in answer.evidence))
        found = [_squeeze(fact) in context for fact in question["gold_facts"]]
        shown[question["query_type"]].append(sum(found) / len(found))
        said.append(sum(_squeeze(fact) in _squeeze(answer.text) for fact in question["gold_facts"]) / len(found))
        if name_misses and not all(found):
            missing = [fact for fact, is_found in zip(question["gold_facts"], found, strict=True) if not is_found]
            print(f"{graph.settings.pipeline} {question['id']}: {question['question']} misses {missing}")
    every = [score for scores in shown.values() for score in scores]
    return [
        f"{_mean(scores):.2f}"
        for scores in (*(shown[name] for name in TYPES), every, said, abstained[True], abstained[False])
    ]


def _squeeze(text: str) -> str:
    """Fold what formats do differently: emphasis, code marks, white space."""
    return " ".join(text.replace("**", "").replace("`", "").split())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


if __name__ == "__main__":
    main()
