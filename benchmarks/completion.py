"""How well five methods predict held-out relations: MuSiQue's recorded triples.

    python -m benchmarks.completion [--stores FOLDER] [--data ../shared/data] [--seeds 1,2,3] [--methods rules,complex]

The store is that of `benchmarks.retrieval_quality` under `--stores`, built where it is absent and copied, so that it stays as it is. A
tenth of the triples is held out by each seed, every method learns from the rest, and both ends of each of them are asked for: filtered,
realistic rank. Triples with an entity or relation that the rest does not have are counted, not ranked. Intervals are 95 % by Student's t
over the seeds. Seconds are of the processor; `OPENBLAS_NUM_THREADS=1` keeps threads that wait for each other out of them.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.retrieval_quality import CACHE, DATA
from benchmarks.tables import print_table
from kgrag.completion import METHODS, open_predictor
from kgrag.completion.ranking import evaluate
from kgrag.completion.triples import Triple, Triples, hold_out
from kgrag.knowledge_graph import open_graph

HELD_OUT = 0.1
GRAPH = "recorded"


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


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=Path, default=CACHE)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--methods", default=",".join(METHODS))
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
            rows = graph.store.search.walk_relations(graph=GRAPH)
            triples = sorted((row["head"], row["type"], row["tail"]) for row in rows if row["type"] != "SIMILAR")
    print_table(
        f"Link prediction, {len(triples)} triples of MuSiQue",
        ["method", "MRR", "Hits@1", "Hits@3", "Hits@10", "ranked / unseen", "processor s to learn"],
        link_prediction(triples, arguments.methods.split(","), seeds),
        ["Both sides, filtered, realistic rank; a tenth held out by each seed."],
    )


if __name__ == "__main__":
    main()
