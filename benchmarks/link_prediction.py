"""How good link prediction between questions and chunks is, and what of it is due to the graph.

    python -m benchmarks.link_prediction [--stores DIR] [--sets hotpotqa,musique] [--seeds 7,8,9] [--only ncn,mlp]

For each set a predictor is trained on questions that are made of its documents (`kgrag train lp`; none is like a question of the set), and
asked the set's own questions. One row for each way: the vectors alone, controls with the same supervision and no graph (the nearest
made question's chunks; `mlp`), the predictors, the ways of joining a question to the graph, edges and questions left out, and the
paper's own settings. Figures are means over the seeds; in brackets the difference from the vectors alone with its 95 % interval, questions
(their mean over seeds) drawn, documents together. Sets are built into `--stores` where they are not there yet.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import kgrag
from benchmarks import DATA
from benchmarks.carry_over import Place, places_of
from benchmarks.retrieval_quality import CACHE, questions_of
from benchmarks.tables import print_table
from kgrag.common.progress import Silent
from kgrag.evaluate.gold_questions import GoldQuestion, read_gold_questions
from kgrag.evaluate.statistics import mean_interval
from kgrag.jobs.questions import QuestionOptions
from kgrag.jobs.train_links import LinkOptions, chunks_of_facts, supervision_of
from kgrag.knowledge_graph import KnowledgeGraph
from kgrag.link_prediction.options import PAPER, TrainingOptions
from kgrag.link_prediction.scoring import Scorer
from kgrag.link_prediction.training import Supervision, train
from kgrag.retrieve.chunk_graph import stored_chunks

KS = (5, 10)
MADE = 1000
DEFAULT = TrainingOptions()
WAYS: Mapping[str, LinkOptions] = {
    "ncn": LinkOptions(DEFAULT),
    "ncn, joined to all": LinkOptions(DEFAULT.model_copy(update={"attach": "all", "attach_by": "one"})),
    "ncn, joined to none": LinkOptions(DEFAULT.model_copy(update={"attach": "none"})),
    "ncn, nearest chunks joined": LinkOptions(DEFAULT.model_copy(update={"edges": ("nearest",)})),
    "ncn, no cloze questions": LinkOptions(DEFAULT, cloze=False),
    "ncn, at most 1,000 cloze questions": LinkOptions(DEFAULT, most_clozes=1000),
    "ncn, two cloze questions a chunk": LinkOptions(DEFAULT, most_clozes=1_000_000),
    "ncn, no made questions": LinkOptions(DEFAULT, made=0),
    "ncn, negatives uniform": LinkOptions(DEFAULT.model_copy(update={"sampler": "uniform"})),
    "ncn, negatives by degree": LinkOptions(DEFAULT.model_copy(update={"sampler": "degree"})),
    "ncn, no cosine in the logit": LinkOptions(DEFAULT.model_copy(update={"residual": False})),
    "ncn, as in the paper": LinkOptions(PAPER),
    "vgae": LinkOptions(DEFAULT.model_copy(update={"predictor": "vgae"})),
    "peg": LinkOptions(DEFAULT.model_copy(update={"predictor": "peg"})),
    "seal": LinkOptions(DEFAULT.model_copy(update={"predictor": "seal", "hidden": 32, "layers": 2, "epochs": 5})),
    "mlp (no graph)": LinkOptions(DEFAULT.model_copy(update={"predictor": "mlp"})),
}
NEAREST_QUESTION = "nearest made question (no graph)"

Scores = NDArray[np.float32]


def shares(scores: Scores, facts: Sequence[Sequence[Sequence[int]]], k: int) -> list[float]:
    """Return the share of each question's facts that one of its k best chunks states: scores [questions, chunks]."""
    found = []
    for row, wanted in zip(scores, facts, strict=True):
        best = set(np.argsort(-row, kind="stable")[:k].tolist())
        found.append(sum(not best.isdisjoint(places) for places in wanted) / len(wanted))
    return found


def measured(
    place: Place, seeds: Sequence[int], only: Sequence[str], say: Callable[[str], None]
) -> tuple[dict[str, dict[int, list[float]]], dict[str, float], list[GoldQuestion]]:
    """Return each way's scores by k, question by question, with the CPU seconds of one training, and the questions."""
    with kgrag.open(place.store, create=False, graph=place.graph) as opened:
        if not place.made.is_file():
            not_like = DATA / place.set.questions if place.set.questions else None
            opened.make_questions(place.made, options=QuestionOptions(limit=MADE, not_like=not_like))
        made, _ = read_gold_questions(place.made)
        chunks = stored_chunks(opened.store, place.graph, DEFAULT)
        facts_of = chunks_of_facts(opened.store, chunks)
        questions = questions_of(place.set, DATA, opened.store)
        facts = [[sorted(set(places)) for places in facts_of(question)] for question in questions]
        vectors = np.asarray(
            asyncio.run(opened.embedder.embed_queries([one.question for one in questions])), dtype=np.float32
        )
        found = {"vectors alone": {k: shares(vectors @ chunks.graph.vectors.T, facts, k) for k in KS}}
        seconds: dict[str, float] = {}
        if not only or NEAREST_QUESTION in only:
            supervision = _supervision(opened, place, LinkOptions(DEFAULT), made)
            found[NEAREST_QUESTION] = {
                k: shares(by_nearest_question(vectors, supervision, len(chunks.ids)), facts, k) for k in KS
            }
        for name, options in WAYS.items():
            if only and name not in only:
                continue
            runs = []
            for seed in seeds:
                training = options.training.model_copy(update={"seed": seed})
                asked = made if options.made else []
                supervision = _supervision(opened, place, replace(options, training=training), asked)
                graph = stored_chunks(opened.store, place.graph, training).graph
                began = time.process_time()
                trained = train(graph, supervision, training)
                seconds[name] = time.process_time() - began
                runs.append(scored(Scorer(trained, graph), vectors))
            found[name] = {k: np.mean([shares(run, facts, k) for run in runs], axis=0).tolist() for k in KS}
            say(f"{place.set.name}, {name}: " + ", ".join(f"R@{k} {np.mean(found[name][k]):.3f}" for k in KS))
    return found, seconds, questions


def by_nearest_question(vectors: Scores, supervision: Supervision, chunks: int) -> Scores:
    """Score a chunk by the greatest cosine of a made question that is about it with the one that is asked; -1 for one without."""
    cosines = vectors @ supervision.vectors.T
    scores = np.full((len(vectors), chunks), -1.0, dtype=np.float32)
    for question, chunk in supervision.edges:
        scores[:, chunk] = np.maximum(scores[:, chunk], cosines[:, question])
    return scores


def scored(scorer: Scorer, vectors: Scores) -> Scores:
    """Return the probability of each chunk for each question, 0 for those that are not scored."""
    scores = np.zeros((len(vectors), scorer.graph.chunks), dtype=np.float32)
    for row, vector in zip(scores, vectors, strict=True):
        for chunk, probability in scorer.best(vector, scorer.graph.chunks):
            row[chunk] = probability
    return scores


def _supervision(
    opened: KnowledgeGraph, place: Place, options: LinkOptions, made: Sequence[GoldQuestion]
) -> Supervision:
    chunks = stored_chunks(opened.store, place.graph, options.training)
    supervision, _ = asyncio.run(
        supervision_of(made, chunks, store=opened.store, embedder=opened.embedder, options=options, progress=Silent())
    )
    return supervision


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", type=Path, default=CACHE)
    parser.add_argument("--sets", default="hotpotqa,musique,emanual,arduino")
    parser.add_argument("--seeds", default="7,8,9")
    parser.add_argument("--only", default="", help="ways, separated by semicolons")
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    only = [name.strip() for name in arguments.only.split(";") if name.strip()]
    places = places_of(arguments.sets, DATA, arguments.stores)
    done = [(place, *measured(place, seeds, only, print)) for place in places]
    rows = []
    for name in done[0][1]:
        cells = []
        for _, found, _, questions in done:
            for k in KS:
                cell = f"{np.mean(found[name][k]):.3f}"
                if name != "vectors alone":
                    before = found["vectors alone"][k]
                    differences = [ours - theirs for ours, theirs in zip(found[name][k], before, strict=True)]
                    one = mean_interval(differences, [question.cluster for question in questions])
                    cell += f" ({one:+.3f})"
                cells.append(cell)
        rows.append([name, *cells, *(f"{seconds[name]:.0f}" if name in seconds else "" for _, _, seconds, _ in done)])
    head = [f"{place.set.name} R@{k}" for place, *_ in done for k in KS]
    head += [f"{place.set.name} CPU s" for place, *_ in done]
    notes = [f"Means over seeds {arguments.seeds}. In brackets the difference from the vectors alone."]
    print_table("Link prediction", ["way", *head], rows, notes)


if __name__ == "__main__":
    main()
