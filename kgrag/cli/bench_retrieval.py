"""`kgrag bench retrieval`: how good pipelines find gold evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from kgrag.cli.options import AsJson, Pipelines, RetrievalSettings, Store, takes_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from kgrag.evaluate.gold_questions import GoldQuestion
    from kgrag.evaluate.retrieval import PipelineResult
    from kgrag.evaluate.statistics import Interval
    from kgrag.knowledge_graph import KnowledgeGraph

__all__ = ["gold_nowhere_words", "retrieval"]

NAMED_IDS = 10
"""Ids of questions that a note names."""


@takes_settings
def retrieval(
    questions: Annotated[
        Path,
        typer.Option(
            "--questions",
            help="JSON lines with id, question, query_type and gold: evidence (ids) or facts (lists of ids).",
        ),
    ],
    pipelines: Pipelines = "default",
    store: Store = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="One of --pipelines, that the others are compared with.", show_default=False),
    ] = None,
    k: Annotated[
        str, typer.Option("--k", help="Pieces of evidence that are looked at, separated by commas.")
    ] = "1,5,8",
    budget: Annotated[int, typer.Option("--budget", min=1, help="Tokens inside which gold facts count.")] = 1500,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=1, help="Pieces that every pipeline shows. Default: as many as each says.", show_default=False
        ),
    ] = None,
    learn: Annotated[
        Path | None,
        typer.Option(
            "--learn",
            help="Write an adaptive pipeline here: for each type of question the best of --pipelines, cross-validated.",
            show_default=False,
        ),
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(
            "--chart",
            help="Draw gold facts over tokens, a line for each pipeline, into this SVG file; - is stdout.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 where a question finds nothing or a step changes nothing.")
    ] = False,
    as_json: AsJson = False,
    **settings: Unpack[RetrievalSettings],
) -> int:
    """Recall, all gold, MRR, gold facts inside a token budget, tokens and latency of pipelines, by type of question."""
    from kgrag.cli.output import print_json, say_remark, shown_beside, stderr
    from kgrag.common.whole_files import expect_place, write_whole
    from kgrag.errors import InputError
    from kgrag.evaluate.gold_questions import read_gold_questions, without_place
    from kgrag.knowledge_graph import open_graph
    from kgrag.retrieve import listed_pipelines
    from kgrag.retrieve.pipeline import expect_pipeline_place

    names = listed_pipelines(pipelines)
    if baseline is not None and baseline not in names:
        raise InputError(f"Expected --baseline to be one of --pipelines ({', '.join(names)}), got {baseline!r}.")
    if chart is not None:
        from kgrag.common.plots import require_matplotlib

        require_matplotlib()
    # A place that takes no file is told before an hour of questions.
    if chart is not None:
        expect_place(chart)
    if learn is not None:
        expect_pipeline_place(learn)
    beside = shown_beside(chart, as_json=as_json)
    ks = _counts(k)
    asked, without_gold = read_gold_questions(questions)
    with open_graph(store, create=False, reads_only=True, **settings) as opened:
        say_remark(opened.store)
        nowhere = without_place(asked, opened.store.search.places_of_chunks())
        results = _measure(opened, names, asked, ks=ks, budget=budget, top=top)
        made_with = _made_with(opened, questions) if as_json else None  # the digest reads the whole store
        learnt = None if learn is None else _learn(opened, results, asked, learn, questions.name)
        graphs = _cost_of_graphs(opened, len(asked))
    if chart is not None:
        from kgrag.evaluate.plots import quality_over_tokens

        curves = {result.pipeline: result.curve for result in results}
        title = f"Gold facts over tokens, {questions.name}, {len(asked)} questions"
        write_whole(chart, quality_over_tokens(curves, title=title))
    about = {
        "questions": len(asked),
        "without_gold": without_gold,
        "gold_nowhere": nowhere,
        "k": ks,
        "budget": budget,
        "top": top,
        "made_with": made_with,
    }
    if nowhere:
        stderr.print(gold_nowhere_words(nowhere, len(asked)), markup=False)
    if as_json:
        measured = _as_json(results, baseline)
        print_json({**about, "baseline": baseline, "pipelines": measured, "graphs": graphs, "learnt": learnt})
    else:
        _show(results, baseline, ks=ks, budget=budget, without_gold=without_gold, on=beside)
        if learnt is not None:
            _show_learnt(learnt, learn, on=beside)
    for result in results:
        for remark in result.remarks:
            stderr.print(f"note: {remark}", markup=False)
        for step in result.idle:
            stderr.print(f"note: {result.pipeline}: the step {step!r} changed nothing for any question", markup=False)
        if result.empty:
            stderr.print(f"note: {result.pipeline}: nothing was found for {_some(result.empty)}", markup=False)
    return 1 if check and any(result.idle or result.empty for result in results) else 0


def gold_nowhere_words(nowhere: Sequence[str], asked: int) -> str:
    """Say that gold of some questions (ids) is nowhere in the store, so that no pipeline can find it."""
    return (
        f"note: gold of {len(nowhere)} of {asked} questions is nowhere in this store, so nothing can find it: {_some(nowhere)}. "
        "Expected ids of passages, chunks or HTML elements, path or path#page=4: see docs/retrieval.md"
    )


def _some(ids: Sequence[str]) -> str:
    """Name the first ids, and say how many there are besides; the JSON has all."""
    more = len(ids) - NAMED_IDS
    return ", ".join(ids[:NAMED_IDS]) + (f" and {more:,} more" if more > 0 else "")


def _made_with(opened: KnowledgeGraph, questions: Path) -> dict[str, Any]:
    """What the figures depend on besides the questions and the pipelines' names."""
    from hashlib import sha256
    from importlib.metadata import version

    from kgrag.common.standard_streams import read_bytes_once
    from kgrag.evaluate.statistics import RESAMPLES, SEED

    settings = opened.settings
    return {
        "kgrag": version("kgrag"),
        "store": settings.store,
        "digest": opened.digest(),
        "questions_sha256": sha256(read_bytes_once(questions)).hexdigest(),
        "embedder": settings.embedder,
        "model": settings.model,
        "reranker": settings.reranker,
        "graph": settings.graph,
        "bootstrap": {"seed": SEED, "resamples": RESAMPLES, "drawn": "documents"},
    }


def _counts(text: str) -> list[int]:
    from kgrag.errors import InputError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise InputError(f"Expected --k to be numbers from 1 separated by commas, got {text!r}.")
    return sorted({int(part) for part in parts})


def _measure(
    opened: KnowledgeGraph,
    names: Sequence[str],
    asked: Sequence[GoldQuestion],
    *,
    ks: Sequence[int],
    budget: int,
    top: int | None,
) -> list[PipelineResult]:
    from kgrag.cli.output import terminal_progress
    from kgrag.common.waiting import wait_for
    from kgrag.evaluate.retrieval import measure_pipeline

    retrievers = [(name, opened.retriever(name)) for name in names]  # a wrong one is told before any is run

    async def measure() -> list[PipelineResult]:
        with terminal_progress().step("Ask", len(names) * len(asked), "questions") as step:
            return [
                await measure_pipeline(name, one, asked, ks=ks, budget=budget, top=top, advance=step.advance)
                for name, one in retrievers
            ]

    return wait_for(measure())


def _learn(
    opened: KnowledgeGraph, results: Sequence[PipelineResult], asked: Sequence[GoldQuestion], out: Path, source: str
) -> dict[str, Any]:
    from dataclasses import asdict

    from kgrag.common.waiting import wait_for
    from kgrag.common.whole_files import write_whole
    from kgrag.evaluate.learn_adaptive import adaptive_file, learn
    from kgrag.retrieve.adaptive import ask_type
    from kgrag.text.questions import type_by_rules

    model = opened.model

    async def types() -> list[Any]:
        if model is None:
            return [type_by_rules(one.question) for one in asked]
        return [(await ask_type(model, one.question))[0] for one in asked]

    learnt = learn(results, wait_for(types()))
    write_whole(out, adaptive_file(learnt, questions=source))
    return {**asdict(learnt), "difference": _difference(learnt.difference)}


def _cost_of_graphs(opened: KnowledgeGraph, questions: int) -> dict[str, dict[str, float]]:
    """What the extraction of each graph cost, all together and for each of the questions: no pipeline's tokens have it."""
    return {
        graph: {
            "calls": counts["calls"],
            "tokens": counts["tokens"],
            "usd": counts["usd"],
            "tokens_a_question": round(counts["tokens"] / questions, 1),
        }
        for graph, counts in opened.store.ledger.extraction_counts().items()
    }


def _as_json(results: Sequence[PipelineResult], baseline: str | None) -> dict[str, Any]:
    from dataclasses import asdict

    from kgrag.evaluate.statistics import paired_difference

    def scores(result: PipelineResult, query_type: str | None) -> dict[str, Any]:
        some = result.of_type(query_type)
        return {
            "questions": len(some),
            **{measure: round(result.mean(measure, query_type), 4) for measure in some[0].scores},
            "p50_ms": round(result.percentile(50, query_type), 1),
            "p95_ms": round(result.percentile(95, query_type), 1),
        }

    compared = next((result for result in results if result.pipeline == baseline), None)
    rows = {}
    for result in results:
        row: dict[str, Any] = {
            "all": scores(result, None),
            "types": {query_type: scores(result, query_type) for query_type in result.types},
            "facts_by_tokens": {str(tokens): round(share, 4) for tokens, share in result.curve.items()},
            "steps": [asdict(effect) for effect in result.effects],
            "idle_steps": result.idle,
            "empty_contexts": result.empty,
            "remarks": result.remarks,
            "each": [
                {
                    "id": one.question.id,
                    "query_type": one.question.query_type,
                    "document": one.question.cluster,
                    "pipeline": one.found.pipeline,
                    "ms": round(one.milliseconds, 1),
                    **{measure: round(score, 4) for measure, score in one.scores.items()},
                }
                for one in result.asked
            ],
        }
        if compared is not None and result is not compared:
            row["against_baseline"] = {
                measure: _difference(
                    paired_difference(
                        [one.scores[measure] for one in result.asked],
                        [one.scores[measure] for one in compared.asked],
                        [one.question.cluster for one in result.asked],
                    )
                )
                for measure in result.asked[0].scores
            }
        rows[result.pipeline] = row
    return rows


def _difference(one: Interval) -> dict[str, float]:
    return {"mean": one.value, "low": one.low, "high": one.high}


def _show(
    results: Sequence[PipelineResult],
    baseline: str | None,
    *,
    ks: Sequence[int],
    budget: int,
    without_gold: int,
    on: Console,
) -> None:
    from kgrag.cli.output import markdown_table
    from kgrag.evaluate.statistics import paired_difference

    measures = [*(f"{kind}@{k}" for kind in ("R", "all") for k in ks), "MRR", "facts"]
    head = ["pipeline", "type", "n", *measures, "tokens", "p50 ms", "p95 ms"]
    rows = [
        [
            result.pipeline,
            query_type or "all",
            str(len(result.of_type(query_type))),
            *(f"{result.mean(measure, query_type):.3f}" for measure in measures),
            f"{result.mean('tokens', query_type):.0f}",
            f"{result.percentile(50, query_type):.0f}",
            f"{result.percentile(95, query_type):.0f}",
        ]
        for result in results
        for query_type in (None, *result.types)
    ]
    markdown_table(head, rows, on=on)
    compared = next((result for result in results if result.pipeline == baseline), None)
    if compared is not None:
        on.print(f"\nDifference from {baseline}, paired bootstrap of whole documents, 95 % interval", markup=False)
        differences = []
        for result in results:
            if result is compared:
                continue
            row = [result.pipeline]
            for measure in measures:
                one = paired_difference(
                    [asked.scores[measure] for asked in result.asked],
                    [asked.scores[measure] for asked in compared.asked],
                    [asked.question.cluster for asked in result.asked],
                )
                row.append(f"{one:+.3f}")
            differences.append(row)
        markdown_table(["pipeline", *measures], differences, on=on)
    on.print(
        f"\nR@k, all@k: gold in the first k pieces; MRR: of the first that has any; facts: gold inside {budget:,} tokens of whole pieces."
        + (f" {without_gold} questions without gold were left out." if without_gold else ""),
        markup=False,
    )


def _show_learnt(learnt: dict[str, Any], out: Path | None, *, on: Console) -> None:
    gain = learnt["difference"]
    on.print(
        f"\nLearnt → {out}: otherwise {learnt['otherwise']}, "
        + (", ".join(f"{kind} {name}" for kind, name in learnt["map"].items()) or "no type has a pipeline of its own")
        + f"\n{learnt['measure']} cross-validated {learnt['cross_validated']:.3f}, best single pipeline {learnt['best_single']:.3f}, "
        f"difference {gain['mean']:+.3f} [{gain['low']:+.3f}, {gain['high']:+.3f}]; on the same questions {learnt['in_sample']:.3f}",
        markup=False,
    )
