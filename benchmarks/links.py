"""What walking along links is worth: LARAG's bounded walk (links, depth, chunks of a link) from five dense seeds.

    python -m benchmarks.links [--sets hotpotqa,git_html] [--stores FOLDER] [--seeds 5] [--kept FILE]

hotpotqa: passages have no hyperlinks, so a mention of another passage's title is a link (`over = "titles"`); gold are the passages that
the question needs. git_html: 300 hyperlinks of its pages, the question is the twelve words on each side of a link with its text masked, the
gold what the link leads to; the chunks that have those words are hidden from every step, so the link itself cannot be followed.

One row for each walk: the mean number of chunks and tokens, the recall of gold and the share of questions with all of it (git_html: any
of it, a section has several chunks), and the same of plain dense search with as many chunks question by question, with the 95 % interval
of the difference, documents drawn. (0,0,0) is plain dense search. Rows that `--kept` has are not measured again.

For git_html also what became of its links: how many lead to another chunk, within their own, out of the manual, and nowhere.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import kgrag
from benchmarks.retrieval_quality import SETS, parser_of_sets, questions_of
from benchmarks.tables import print_table
from kgrag.evaluate.gold_questions import GoldQuestion, states
from kgrag.evaluate.statistics import mean_interval
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.models.base import Embedder
from kgrag.retrieve import Pipeline, Retriever, read_pipeline
from kgrag.store.graph import GraphStore, store_exists
from kgrag.types import Evidence

__all__ = ["walk_pipeline"]

MOST = 500
"""Chunks that may be shown: the walk's own bounds hold long before."""
WALKS: tuple[dict[str, Any], ...] = (
    {"links": 0, "depth": 0, "chunks": 0},
    {"links": 1, "depth": 1, "chunks": 1},
    {"links": 1, "depth": 3, "chunks": 1},
    {"links": 2, "depth": 1, "chunks": 2},
    {"links": 3, "depth": 1, "chunks": 1},
    {"links": 3, "depth": 1, "chunks": 1, "backlinks": True},
    {"links": 3, "depth": 1, "chunks": 1, "order": "question"},
    {"links": 3, "depth": 1, "chunks": 3},
    {"links": 3, "depth": 2, "chunks": 3},
    {"links": 1, "depth": 3, "chunks": 3},
)
"""Those of the paper's table, and (3,1,1) with backlinks, and by the question."""
OVER = {"hotpotqa": "titles", "git_html": "relationships", "emanual": "relationships"}


def walk_pipeline(seeds: int, walk: Mapping[str, Any]) -> Pipeline:
    """Make the pipeline: dense seeds, then the walk, all of it shown."""
    steps = [
        {"kind": "embed"},
        {"kind": "dense", "candidates": seeds},
        {"kind": "walk", "seeds": seeds, **walk},
        {"kind": "read"},
        {"kind": "budget", "top": MOST},
    ]
    made = read_pipeline({"description": "Dense seeds, then a walk along links.", "step": steps}, name=walk_name(walk))
    if not isinstance(made, Pipeline):
        raise TypeError(f"expected a pipeline with steps, got {made!r}")
    return made


def walk_name(walk: Mapping[str, Any]) -> str:
    """Name a walk as the paper does: (links, depth, chunks)."""
    added = [name for name, on in (("backlinks", walk.get("backlinks")), ("by the question", "order" in walk)) if on]
    return ", ".join([f"({walk['links']},{walk['depth']},{walk['chunks']})", *added])


def measured(
    store: GraphStore,
    embedder: Embedder,
    questions: Sequence[GoldQuestion],
    *,
    seeds: int,
    over: str,
    graph: str | None,
) -> Callable[[Mapping[str, Any]], list[dict[str, Any]]]:
    """Return what asks all questions by a walk, and dense search for as many chunks: a row for each question."""
    everything = Retriever(store, embedder, walk_pipeline(MOST, {"links": 0, "depth": 0, "chunks": 0}), graph=graph)
    dense: dict[str, list[Evidence]] = {}

    async def ask(walk: Mapping[str, Any]) -> list[dict[str, Any]]:
        retriever = Retriever(store, embedder, walk_pipeline(seeds, {**walk, "over": over}), graph=graph)
        rows = []
        for one in questions:
            if one.id not in dense:
                dense[one.id] = (await everything.trace(one.question, top=100, hidden=one.hidden)).evidence
            found = (await retriever.trace(one.question, top=MOST, hidden=one.hidden)).evidence
            beside = dense[one.id][: len(found)]
            rows.append(
                {
                    "id": one.id,
                    "document": one.cluster,
                    "chunks": len(found),
                    "tokens": sum(piece.tokens for piece in found),
                    "recall": recall(one, found),
                    "dense_tokens": sum(piece.tokens for piece in beside),
                    "dense_recall": recall(one, beside),
                }
            )
        return rows

    return lambda walk: asyncio.run(ask(walk))


def recall(question: GoldQuestion, evidence: Sequence[Evidence]) -> float:
    """Return the share of the gold facts that the evidence states."""
    return sum(any(states(piece, fact) for piece in evidence) for fact in question.facts) / len(question.facts)


def shown(name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write a row of the table."""

    def mean(key: str) -> float:
        return sum(float(row[key]) for row in rows) / len(rows)

    def all_gold(key: str) -> list[float]:
        return [float(row[key] == 1.0) for row in rows]

    difference = mean_interval(
        [ours - theirs for ours, theirs in zip(all_gold("recall"), all_gold("dense_recall"), strict=True)],
        [row["document"] for row in rows],
    )
    return [
        name,
        f"{mean('chunks'):.2f}",
        f"{mean('tokens'):.0f}",
        f"{mean('recall'):.3f}",
        f"{sum(all_gold('recall')) / len(rows):.3f}",
        f"{mean('dense_tokens'):.0f}",
        f"{mean('dense_recall'):.3f}",
        f"{sum(all_gold('dense_recall')) / len(rows):.3f}",
        f"{difference:+.3f}",
    ]


def link_table(graph: KnowledgeGraph) -> None:
    """Print what became of the links of a store's documents."""
    counts = graph.store.documents.relink()
    rows = [
        ["to another chunk (LINKS_TO)", f"{counts.made:,}"],
        ["within their own chunk", f"{counts.within:,}"],
        ["out of the corpus", f"{counts.external:,}"],
        ["to a file that is no document", f"{counts.no_page:,}"],
        ["of the first two: to an anchor that is nowhere", f"{counts.no_anchor:,}"],
    ]
    print_table("Links", ["links", "how many"], rows, [])


def main() -> None:
    """Print the tables."""
    parser = parser_of_sets(__doc__, sets=("hotpotqa", "git_html"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--kept", type=Path, help="keep every row here: the same command goes on where it was stopped")
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    kept: dict[str, list[dict[str, Any]]] = {}
    if arguments.kept and arguments.kept.exists():
        kept = json.loads(arguments.kept.read_text(encoding="utf-8"))
    for one in SETS:
        if one.name not in arguments.sets.split(","):
            continue
        target = arguments.stores / one.name
        there = store_exists(str(target))
        with kgrag.open(str(target), extractor=("mention",)) as graph:
            if not there:
                graph.build(one.corpus(arguments.data, arguments.stores))
            if OVER[one.name] == "relationships":
                link_table(graph)
            questions = questions_of(one, arguments.data, graph.store)
            ask = measured(
                graph.store, graph.embedder, questions, seeds=arguments.seeds, over=OVER[one.name], graph="mention"
            )
            rows = []
            for walk in WALKS:
                key = f"{one.name} {arguments.seeds} {walk_name(walk)}"
                if key not in kept:
                    kept[key] = ask(walk)
                    if arguments.kept:
                        arguments.kept.write_text(json.dumps(kept), encoding="utf-8")
                rows.append(shown(walk_name(walk), kept[key]))
        print_table(
            f"{one.name}: {len(questions)} questions, {arguments.seeds} dense seeds, then a walk over {OVER[one.name]}",
            [
                *("walk", "chunks", "tokens", "recall", "all gold"),
                *("dense, as many chunks: tokens", "recall", "all gold", "all gold, difference"),
            ],
            rows,
            ["Embedded database, MiniLM; the interval draws whole documents."],
        )


if __name__ == "__main__":
    main()
