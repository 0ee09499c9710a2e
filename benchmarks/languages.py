"""Retrieval in eight languages: `python -m benchmarks.languages FOLDER [--languages ja,de] [--pipelines sparse,hybrid,default]`.

`FOLDER` is what Debian's package `installation-guide-amd64` puts into `/usr/share/doc/installation-guide-amd64`: one manual in many
languages, a folder of HTML pages each, its sections numbered alike; the same as text, which lies beside them, is left out. Thirty
questions of ours in each language (`language_questions.jsonl`) are asked of the manual in that language; a hit is a chunk of a section
that answers, with the number or name that it says where there is one. Of the embedder's languages only English was trained on, others it
may read in part. The weight of dense where the embedder does not read the letters (`kgrag.retrieve.steps.seeds`) was chosen on German,
Russian, Japanese and Chinese.

Stores are built into `--stores` where they are not there yet (a minute and a half of processor time each).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.json_lines import read_rows
from benchmarks.stores import fresh_store
from benchmarks.tables import print_table
from kgrag.knowledge_graph import KnowledgeGraph, open_graph
from kgrag.types import Evidence

QUESTIONS = Path(__file__).with_name("language_questions.jsonl")
LANGUAGES = ("en", "de", "fr", "es", "ru", "ja", "zh_CN", "ko")
KS = (1, 5, 20)


def main() -> None:
    """Ask each manual in its language and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--pipelines", default="sparse,hybrid,default")
    parser.add_argument("--stores", type=Path, help="a folder for the stores, LANGUAGE.kg each")
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded", help="where stores are built")
    arguments = parser.parse_args()
    questions = read_rows(QUESTIONS)
    pipelines = arguments.pipelines.split(",")
    rows: list[list[str]] = []
    for language in arguments.languages.split(","):
        if arguments.stores is not None and arguments.store == "embedded":
            target = str(arguments.stores / f"{language}.kg")
            rows += _measured(target, arguments.folder / language, language, questions, pipelines)
            continue
        with fresh_store(arguments.store) as store:
            rows += _measured(store.target, arguments.folder / language, language, questions, pipelines)
    head = ["language", "pipeline", *(f"hit@{k}" for k in KS), "MRR"]
    print_table("Retrieval by language", head, rows, [f"{len(questions)} questions in each language."])


def _measured(
    target: str, manual: Path, language: str, questions: Sequence[Mapping[str, Any]], pipelines: Sequence[str]
) -> list[list[str]]:
    with open_graph(target) as graph:
        if not graph.status()["chunks"]:
            graph.build(*sorted(manual.glob("*.html")))
        return [[language, name, *_scores(graph, name, language, questions)] for name in pipelines]


def _scores(graph: KnowledgeGraph, pipeline: str, language: str, questions: Sequence[Mapping[str, Any]]) -> list[str]:
    found = [graph.retrieve(one[language], pipeline=pipeline, top=max(KS)) for one in questions]
    ranks = [_rank(evidence, one) for evidence, one in zip(found, questions, strict=True)]
    hits = [sum(rank is not None and rank <= k for rank in ranks) / len(ranks) for k in KS]
    return [f"{value:.2f}" for value in (*hits, sum(1 / rank for rank in ranks if rank) / len(ranks))]


def _rank(evidence: Sequence[Evidence], question: Mapping[str, Any]) -> int | None:
    """The place of the first chunk that answers, from 1."""
    section = re.compile("|".join(rf"(?:^|> ){re.escape(number)}" for number in question["sections"]))
    places = (n for n, one in enumerate(evidence, 1) if section.search(one.section) and question["says"] in one.text)
    return next(places, None)


if __name__ == "__main__":
    main()
