"""How good retrieval is.

    python -m benchmarks.retrieval_quality [--store embedded|neo4j] [--sets 2wiki,emanual] [--pipelines default,dense]

Builds every evaluation set of `--data` (default ../shared/data) into a store under `--stores`, where it stays: the next run only asks. A
Neo4j is started for each set and gone afterwards. Sets whose data is absent are skipped with a message. Prints one table, a row for each
set, graph and pipeline. Every set is asked over the graph of `mention`, and musique also over that of its recorded extractions (`--graph
recorded`), for which its targets are.

The measures are those of ../shared/tools/score.py: R@k is the mean share of gold passages among the first k, all@k the share of questions
with all of them, hit@k with any; facts is the mean share of a question's gold facts that a chunk inside the first 1,500 tokens of
shown text states (whole chunks, up to the first that does not fit). A section of an HTML page counts by its anchors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import DATA
from benchmarks.stores import fresh_store
from benchmarks.tables import print_table
from kgrag.evaluate.gold_questions import GoldQuestion, read_gold_questions
from kgrag.evaluate.questions import drafts_of, select
from kgrag.evaluate.retrieval import PipelineResult, measure_pipeline
from kgrag.jobs.questions import material_of
from kgrag.store.graph import GraphStore

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kgrag" / "retrieval-quality"
"""Where stores stay."""
FACT_BUDGET_TOKENS = 1500
TOP = 20
KS = (1, 5, 8, 10)
LINK_QUESTIONS, LINK_SEED = 300, 7
ARDUINO_TYPES = ("factual", "disambiguation", "reasoning", "multi_hop", "summary")
USERS_QUESTIONS = Path(__file__).resolve().parent / "users_questions"
"""Ours, in the words of people who did not read the manual, with gold evidence. Faults were sought in those of half `a`; of half `b` only
totals were seen."""


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """A corpus, its questions, and the measures that are reported of it with the target of each (None: watched only)."""

    name: str
    corpus: Callable[[Path, Path], Path]
    questions: str
    """A file of the data; empty: the links of its pages (`link_questions`)."""
    measures: dict[str, float | None]
    recorded: str = ""
    """Recorded extractions: a second graph of the same chunks."""
    of: str = ""
    """The set whose corpus it asks about, and whose store it shares; empty: its own."""

    @property
    def corpus_name(self) -> str:
        """The set that its store is called after."""
        return self.of or self.name

    @property
    def graphs(self) -> tuple[str, ...]:
        """The graphs that are built and asked; the targets are for the first."""
        return ("recorded", "mention") if self.recorded else ("mention",)


def ready(path: str) -> Callable[[Path, Path], Path]:
    """Take a corpus that `kgrag build` reads as it is."""
    return lambda data, _: data / path


def arduino(data: Path, scratch: Path) -> Path:
    """Write the Arduino chunks as ready passages: id = product|chunk_id, title = product."""
    file = scratch / "arduino.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for chunks in sorted((data / "arduino" / "chunks").glob("*.jsonl")):
            for row in read_rows(chunks):
                passage = {
                    "id": f"{row['product']}|{row['chunk_id']}",
                    "title": row["product"],
                    "text": row["text"],
                }
                out.write(json.dumps(passage, ensure_ascii=False) + "\n")
    return file


SETS = (
    EvaluationSet(
        "2wiki",
        ready("2wiki/corpus.jsonl"),
        "2wiki/questions.jsonl",
        {"all@8": 0.97, "R@5": None},
    ),
    EvaluationSet(
        "hotpotqa",
        ready("hotpotqa/corpus.jsonl"),
        "hotpotqa/questions.jsonl",
        {"R@5": 0.93, "all@8": 0.90},
    ),
    EvaluationSet(
        "musique",
        ready("musique/corpus.jsonl"),
        "musique/questions.jsonl",
        {"R@5": 0.72, "all@5": 0.42, "all@8": None},
        recorded="musique/recorded_extractions.jsonl",
    ),
    EvaluationSet(
        "arduino",
        arduino,
        "arduino/retrieval_questions.jsonl",
        {"facts": 0.91, "facts of summary": 0.68}
        | dict.fromkeys(f"facts of {kind}" for kind in ARDUINO_TYPES if kind != "summary"),
    ),
    EvaluationSet(
        "emanual",
        ready("emanual/html"),
        "emanual/questions.jsonl",
        {"hit@1": 0.88, "hit@5": 0.96},
    ),
    EvaluationSet(
        "arduino_users",
        arduino,
        str(USERS_QUESTIONS / "arduino.jsonl"),
        dict.fromkeys(("facts", *(f"facts of {kind}" for kind in ARDUINO_TYPES))),
        of="arduino",
    ),
    EvaluationSet(
        "emanual_users",
        ready("emanual/html"),
        str(USERS_QUESTIONS / "emanual.jsonl"),
        {"hit@1": None, "hit@5": None},
        of="emanual",
    ),
    EvaluationSet(
        "clapnq",
        ready("clapnq/corpus.jsonl"),
        "clapnq/questions.jsonl",
        {"hit@1": None, "hit@5": None},
    ),
    EvaluationSet(
        "financebench",
        ready("financebench/pdfs"),
        "financebench/questions.jsonl",
        {"hit@5": 0.40, "hit@10": 0.60},
    ),
    EvaluationSet(
        "git_html",
        ready("git_html"),
        "",
        {"hit@5": None},
    ),
)
ALL_SETS = tuple(one.name for one in SETS)


def chosen_sets(names: str, data: Path) -> Iterator[EvaluationSet]:
    """Yield the sets of these names, separated by commas, in our order; one whose data is absent is skipped with a message."""
    for one in SETS:
        if one.name not in names.split(","):
            continue
        if missing := [there for name in (one.questions, one.corpus_name) if not (there := data / name).exists()]:
            print(f"{one.name}: skipped, {missing[0]} is absent", file=sys.stderr)
        else:
            yield one


def questions_of(one: EvaluationSet, data: Path, store: GraphStore) -> list[GoldQuestion]:
    """Return the questions of a set that have gold evidence."""
    return read_gold_questions(data / one.questions)[0] if one.questions else link_questions(store)


def link_questions(store: GraphStore) -> list[GoldQuestion]:
    """Ask for the targets of LINK_QUESTIONS hyperlinks: the words around a link, its text masked, without the chunks that have them.

    Whether plain search finds the target does not matter here. The gold is any chunk of the section that the link leads to, or of the page
    where it leads to a page.
    """
    material = material_of(store, "")
    drafts = drafts_of(material, ["hyperlinks"])
    selection = asyncio.run(select(drafts, material, limit=LINK_QUESTIONS, seed=LINK_SEED))
    return [
        GoldQuestion(
            draft.id,
            draft.question,
            draft.facts,
            query_type="section" if "(section)" in draft.rule else "page",
            document=draft.document,
            hidden=draft.hidden,
        )
        for draft in (one.draft for one in selection.taken)
    ]


def read_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON lines file."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def evaluate(
    one: EvaluationSet, *, target: str, data: Path, scratch: Path, pipelines: Sequence[str]
) -> list[list[str]]:
    """Build one set if need be and ask its questions through every pipeline: rows of the table."""
    import kgrag

    recorded = data / one.recorded if one.recorded else None
    with kgrag.open(target, extractor=one.graphs, recorded=recorded) as graph:
        graph.build(one.corpus(data, scratch))
        questions = questions_of(one, data, graph.store)
    rows = []
    for extractor in one.graphs:
        with kgrag.open(target, create=False, graph=extractor) as graph:
            for name in pipelines:
                measured = asyncio.run(
                    measure_pipeline(name, graph.retriever(name), questions, ks=KS, budget=FACT_BUDGET_TOKENS, top=TOP)
                )
                aimed = name == "default" and extractor == one.graphs[0]
                figures = ", ".join(
                    f"{measure} {mean_of(measured, measure):.3f}{f' (target {goal:.2f})' if goal and aimed else ''}"
                    for measure, goal in one.measures.items()
                )
                rows.append([one.name, str(len(questions)), extractor, name, figures, f"{measured.percentile(50):.0f}"])
    return rows


def mean_of(measured: PipelineResult, measure: str) -> float:
    """Return the mean of a measure; that of one type of question where it says `facts of summary`."""
    name, _, query_type = measure.partition(" of ")
    return measured.mean(name, query_type or None)


@contextmanager
def store_for(one: EvaluationSet, kind: str, stores: Path) -> Iterator[str]:
    """Give the place of a set's store: a folder that stays, or a Neo4j that ends."""
    if kind == "embedded":
        yield str(stores / one.corpus_name)
    else:
        with fresh_store(kind) as fresh:
            yield fresh.target


def parser_of_sets(description: str | None, *, sets: Iterable[str] = ALL_SETS) -> argparse.ArgumentParser:
    """Make a parser of the options that say which sets are asked (those of `sets` by default), and where their stores and data are."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=Path, default=CACHE)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", default=",".join(sets))
    return parser


def main() -> None:
    """Print the table."""
    from kgrag.retrieve import pipeline_names

    parser = parser_of_sets(__doc__)
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--pipelines", default=",".join(pipeline_names()))
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    rows: list[list[str]] = []
    for one in chosen_sets(arguments.sets, arguments.data):
        with store_for(one, arguments.store, arguments.stores) as target:
            rows += evaluate(
                one,
                target=target,
                data=arguments.data,
                scratch=arguments.stores,
                pipelines=arguments.pipelines.split(","),
            )
    notes = ["R@k, all@k, hit@k over gold passages; facts inside 1,500 tokens of shown text. One default for all sets."]
    print_table(
        f"Retrieval quality, {arguments.store}",
        ["set", "questions", "graph", "pipeline", "figures", "p50 ms"],
        rows,
        notes,
    )


if __name__ == "__main__":
    main()
