"""`kgrag train`: what is learnt from questions with gold evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

import typer

from kgrag.cli.options import AsJson, Embedder, Graph, QuestionSettings, Store, takes_settings

if TYPE_CHECKING:
    from kgrag.jobs.train import TrainedRanker

__all__ = ["app", "trained_fields", "trained_words", "without_gold_words"]

app = typer.Typer(
    name="train",
    help="Learn from questions: from your own, or from those that the documents' structure gives.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Questions = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        help="Questions with gold evidence (JSON lines). Default: made of the store, written beside --out.",
        show_default=False,
    ),
]


@app.callback()
def _train() -> None:
    """Keep what is trained a subcommand."""


@app.command("ranker")
@takes_settings
def ranker(
    out: Annotated[Path, typer.Option("--out", help="The pipeline file that is written where it is better.")],
    store: Store = None,
    questions: Questions = None,
    pipeline: Annotated[str, typer.Option("--pipeline", "-p", help="What is adapted.")] = "default",
    limit: Annotated[int, typer.Option("--limit", min=1, help="Questions that are made at most.")] = 300,
    seed: Annotated[int, typer.Option("--seed", help="Decides which are made.")] = 7,
    as_json: AsJson = False,
    **settings: Unpack[QuestionSettings],
) -> int:
    """Adapt the ranking of a pipeline to the store; write it only where held-out questions are answered better by it."""
    from kgrag.cli.output import print_json, say_remark, stdout, terminal_progress
    from kgrag.jobs.questions import QuestionOptions
    from kgrag.knowledge_graph import open_graph

    options = QuestionOptions(limit=limit, seed=seed)
    with open_graph(store, create=False, reads_only=True, **settings) as opened:
        say_remark(opened.store)
        trained = opened.train_ranker(
            out, questions=questions, options=options, pipeline=pipeline, progress=terminal_progress()
        )
    if as_json:
        print_json(trained_fields(trained))
    else:
        stdout.print(trained_words(trained, pipeline), markup=False)
    return 0


def trained_fields(trained: TrainedRanker) -> dict[str, Any]:
    """Return what came of training as `--json` says it."""
    adapted, gain = trained.adapted, trained.adapted.difference
    return {
        "out": str(trained.out) if trained.out else None,
        "questions": str(trained.questions),
        "asked": trained.asked,
        "without_gold": trained.without_gold,
        "with_gold_found": adapted.questions,
        "before": adapted.before,
        "after": adapted.after,
        "difference": {"mean": gain.value, "low": gain.low, "high": gain.high},
        "weights": dict(adapted.weights),
    }


def without_gold_words(count: int) -> str:
    """Say behind a number of questions how many lines of their file say no evidence."""
    return f"; {count} more say no evidence and were left out" if count else ""


def trained_words(trained: TrainedRanker, pipeline: str) -> str:
    """Say what came of adapting a pipeline, in lines."""
    adapted, gain = trained.adapted, trained.adapted.difference
    lines = [
        f"{adapted.questions} of {trained.asked} questions ({trained.questions}) have gold among what {pipeline} finds"
        f"{without_gold_words(trained.without_gold)}.",
        f"Held-out gain, each question ranked by weights learnt without its document: {adapted.after:.3f} against {adapted.before:.3f} "
        f"before, {gain:+.3f}.",
        f"Written: {trained.out}. Use it with --pipeline {trained.out}."
        if trained.out
        else f"No gain that is sure: nothing is written, {pipeline} stays as it is.",
    ]
    return "\n".join(lines)


class LinkSettings(TypedDict):
    """The graph and the vectors that links are predicted by."""

    graph: Graph
    embedder: Embedder


@app.command("lp")
@takes_settings
def lp(
    out: Annotated[
        Path, typer.Option("--out", help="The pipeline file that is written, the predictor (.npz) beside it.")
    ],
    store: Store = None,
    questions: Questions = None,
    options: Annotated[
        Path | None,
        typer.Option(
            "--options",
            help="A TOML file with other settings of the training (docs/link-prediction.md); `paper`: those of LP-RAG.",
            show_default=False,
        ),
    ] = None,
    predictor: Annotated[
        str | None,
        typer.Option(
            "--predictor", help="ncn (default), vgae, peg, seal, or mlp, which sees no graph.", show_default=False
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Questions made of the structure at most.")] = 1000,
    cloze: Annotated[
        bool, typer.Option("--cloze/--no-cloze", help="Words of some chunks as questions besides.")
    ] = True,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Decides what chance decides. Default: 7.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    **settings: Unpack[LinkSettings],
) -> int:
    """Train a link predictor between questions and chunks (LP-RAG), and write a pipeline that takes its seeds by it."""
    from kgrag.cli.output import print_json, say_remark, stdout, terminal_progress
    from kgrag.jobs.train_links import LinkOptions, training_options
    from kgrag.knowledge_graph import open_graph

    training = training_options(options, predictor=predictor, seed=seed)
    chosen = LinkOptions(training, made=limit, cloze=cloze)
    with open_graph(store, create=False, reads_only=True, **settings) as opened:
        say_remark(opened.store)
        trained = opened.train_links(out, questions=questions, options=chosen, progress=terminal_progress())
    result = trained.trained
    if as_json:
        print_json(
            {
                "out": str(trained.out),
                "model": str(trained.model),
                "chunks": trained.chunks,
                "edges": trained.edges,
                "questions": trained.questions,
                "questions_without_chunk": trained.unplaced,
                "without_gold": trained.without_gold,
                "losses": list(result.losses),
                "best_epoch": result.best_epoch,
                "question_seconds": round(trained.question_seconds, 3),
                "training_seconds": round(trained.training_seconds, 3),
                "bytes": trained.bytes,
                "options": result.options.model_dump(mode="json"),
            }
        )
        return 0
    lost = f"; no chunk is the gold evidence of {trained.unplaced}" if trained.unplaced else ""
    lines = [
        f"{trained.questions:,} questions over {trained.chunks:,} chunks and {trained.edges:,} edges between them{lost}"
        f"{without_gold_words(trained.without_gold)}.",
        f"Loss on held-out questions: {result.losses[0]:.3f} after the first epoch, {min(result.losses):.3f} after epoch "
        f"{result.best_epoch}, whose weights are kept.",
        f"Questions took {trained.question_seconds:.1f} s, training {trained.training_seconds:.1f} s; the model takes "
        f"{trained.bytes / 1000:,.0f} kB.",
        f"Written: {trained.model}, {trained.out}. Use it with --pipeline {trained.out}; kgrag bench retrieval compares it with others.",
    ]
    stdout.print("\n".join(lines), markup=False)
    return 0
