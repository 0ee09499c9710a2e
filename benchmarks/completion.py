"""What knowledge-graph completion finds, and whether it makes up for relations that an extractor missed.

    python -m benchmarks.completion [--stores FOLDER] [--data ../shared/data] [--seeds 1,2,3] [--methods rules,complex]

Two parts over MuSiQue's recorded triples; the store is that of `benchmarks.retrieval_quality` under `--stores`, built where it is absent
and copied, so that it stays as it is.

1. Link prediction: a tenth of the triples is held out by each seed, every method learns from the rest, and both ends of each of them
   are asked for: filtered, realistic rank. Triples with an entity or relation that the rest does not have are counted, not ranked.
2. Robustness: 5, 10 and 20 % of the recorded triples are deleted by each seed, the graph is built of what is left, and 50 questions are
   asked by `default`, and by `default` with the step `predicted` after `kgrag complete`.

Intervals are 95 % by Student's t over the seeds. Seconds are of the processor.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import DATA
from benchmarks.retrieval_quality import CACHE, FACT_BUDGET_TOKENS, KS, TOP, read_rows
from benchmarks.tables import print_table
from kgrag.completion import METHODS, open_predictor
from kgrag.completion.ranking import evaluate
from kgrag.completion.triples import Triple, Triples, hold_out
from kgrag.evaluate.gold_questions import GoldQuestion, read_gold_questions
from kgrag.evaluate.retrieval import measure_pipeline
from kgrag.knowledge_graph import KnowledgeGraph, open_graph

HELD_OUT = 0.1
DELETED = (0.0, 0.05, 0.1, 0.2)
GRAPH = "recorded"
DEFAULT = Path(__file__).resolve().parents[1] / "pipelines" / "default.toml"
FOLLOW, READ = '[[step]]\nkind = "predicted"\n\n', '[[step]]\nkind = "read"\n'


def interval(values: Sequence[float]) -> str:
    """Write a mean with its 95 % interval by Student's t."""
    from scipy.stats import t

    mean = float(np.mean(values))
    if len(values) < 2:
        return f"{mean:.3f}"
    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return f"{mean:.3f} ±{half:.3f}"


def link_prediction(triples: Sequence[Triple], methods: Sequence[str], seeds: Sequence[int]) -> list[list[str]]:
    """Measure every method on what each seed holds out: rows of the table."""
    rows = []
    for method in methods:
        figures: dict[str, list[float]] = {name: [] for name in ("MRR", "Hits@1", "Hits@3", "Hits@10")}
        counts, seconds = [], []
        for seed in seeds:
            kept, held_out = hold_out(triples, HELD_OUT, seed)
            training, predictor = Triples.of(kept), open_predictor(method, seed=seed)
            started = time.process_time()
            predictor.fit(training)
            seconds.append(time.process_time() - started)
            ranking = evaluate(predictor, training, held_out)
            figures["MRR"].append(ranking.mrr)
            for k in (1, 3, 10):
                figures[f"Hits@{k}"].append(ranking.hits(k))
            counts.append(f"{len(ranking.tails)} / {ranking.unseen}")
        rows.append([method, *map(interval, figures.values()), ", ".join(counts), f"{np.mean(seconds):.1f}"])
        print(" | ".join(rows[-1]), flush=True)
    return rows


def without_some(recorded: Path, share: float, seed: int, out: Path) -> Path:
    """Write the recorded extractions with a share of their triples deleted; the greater share of a seed has the smaller in it."""
    records = list(read_rows(recorded))
    places = [(i, j) for i, record in enumerate(records) for j in range(len(record["triples"]))]
    order = np.random.default_rng(seed).permutation(len(places))
    gone = {places[at] for at in order[: round(share * len(places))].tolist()}
    with out.open("w", encoding="utf-8") as file:
        for i, record in enumerate(records):
            kept = [triple for j, triple in enumerate(record["triples"]) if (i, j) not in gone]
            file.write(json.dumps({**record, "triples": kept}, ensure_ascii=False) + "\n")
    return out


def robustness(
    store: Path, data: Path, scratch: Path, *, seeds: Sequence[int], method: str, precision: float
) -> list[list[str]]:
    """Delete, build, ask, predict, ask again: rows of the table."""
    followed = scratch / "followed.toml"
    followed.write_text(DEFAULT.read_text(encoding="utf-8").replace(READ, FOLLOW + READ), encoding="utf-8")
    questions = read_gold_questions(data / "musique" / "questions.jsonl")[0]
    recorded = data / "musique" / "recorded_extractions.jsonl"
    rows, whole = [], set[Triple]()
    for share in DELETED:
        figures: dict[str, list[float]] = {"without": [], "with": []}
        said = []
        for seed in seeds if share else seeds[:1]:
            left = without_some(recorded, share, seed, scratch / "recorded.jsonl")
            with open_graph(store, extractor=(GRAPH,), graph=GRAPH, recorded=left) as graph:
                graph.build(data / "musique" / "corpus.jsonl")
                there = set(graph.store.predictions.triples(GRAPH))
                whole = whole or there
                before = asked(graph, "default", questions)
                report = graph.predict_relations(graph=GRAPH, method=method, precision=precision)
                after = asked(graph, str(followed), questions)
                predicted = {(edge.head, edge.type, edge.tail) for edge in graph.store.predictions.of_graph(GRAPH)}
                graph.undo_predictions(graph=GRAPH)
            figures["without"].append(float(np.mean(before)))
            figures["with"].append(float(np.mean(after)))
            better, worse = (
                sum(one > other for one, other in zip(*pair, strict=True))
                for pair in ((after, before), (before, after))
            )
            missing = whole - there
            said.append(f"{report.edges} ({len(predicted & missing)} of {len(missing)}), +{better} -{worse}")
        rows.append([f"{share:.0%}", interval(figures["without"]), interval(figures["with"]), "; ".join(said)])
        print(" | ".join(rows[-1]), flush=True)
    return rows


def asked(graph: KnowledgeGraph, pipeline: str, questions: list[GoldQuestion]) -> list[float]:
    """Ask all questions: 1 where all gold passages are among the first five, for each."""
    retriever = graph.retriever(pipeline)
    measured = asyncio.run(measure_pipeline(pipeline, retriever, questions, ks=KS, budget=FACT_BUDGET_TOKENS, top=TOP))
    return [one.scores["all@5"] for one in measured.asked]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=Path, default=CACHE)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--methods", default=",".join(METHODS), help="Of the table of link prediction.")
    parser.add_argument("--follow", default="rules", help="The method whose edges are followed.")
    parser.add_argument("--precision", type=float, default=0.1)
    parser.add_argument("--parts", default="links,robustness")
    arguments = parser.parse_args()
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    recorded = arguments.data / "musique" / "recorded_extractions.jsonl"
    if not recorded.exists():
        parser.error(
            f"{recorded} is absent: expected MuSiQue with its recorded extractions; give its folder by --data."
        )
    with tempfile.TemporaryDirectory(prefix="kgrag-completion-") as name:
        scratch = Path(name)
        store = scratch / "musique"
        if (arguments.stores / "musique").exists():
            shutil.copytree(arguments.stores / "musique", store)
        with open_graph(store, extractor=("recorded",), graph=GRAPH, recorded=recorded) as graph:
            if GRAPH not in graph.store.graphs.counts():
                graph.build(arguments.data / "musique" / "corpus.jsonl")
            triples = graph.store.predictions.triples(GRAPH)
        if "links" in arguments.parts:
            print_table(
                f"Link prediction, {len(triples)} triples of MuSiQue",
                ["method", "MRR", "Hits@1", "Hits@3", "Hits@10", "ranked / unseen", "processor s to learn"],
                link_prediction(triples, arguments.methods.split(","), seeds),
                ["Both sides, filtered, realistic rank; a tenth held out by each seed."],
            )
        if "robustness" in arguments.parts:
            print_table(
                f"all-gold@5 of 50 MuSiQue questions, {arguments.follow}, precision {arguments.precision:g}",
                [
                    "triples deleted",
                    "default",
                    "with predicted edges",
                    "edges (deleted ones found), questions won and lost",
                ],
                robustness(
                    store, arguments.data, scratch, seeds=seeds, method=arguments.follow, precision=arguments.precision
                ),
                ["By seed where there are several. Intervals: 95 % by Student's t over the seeds."],
            )


if __name__ == "__main__":
    main()
