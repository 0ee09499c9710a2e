"""`kgrag compare`, `kgrag report` and `kgrag judge calibrate`: which way of asking is best for which kind of question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

import typer

from kgrag.cli.options import (
    AsJson,
    BaseUrl,
    Budget,
    CallSettings,
    Concurrency,
    Embedder,
    HostedSettings,
    Pipelines,
    RetrievalSettings,
    Store,
    Top,
    takes_settings,
)
from kgrag.common.reasons import shortened

if TYPE_CHECKING:
    from kgrag.jobs.compare import CompareReport
    from kgrag.jobs.compare_outlook import Outlook

__all__ = ["compare", "judge_app", "report"]

judge_app = typer.Typer(
    name="judge", help="How far a judge can be trusted.", no_args_is_help=True, pretty_exceptions_enable=False
)
Preset = Annotated[
    str, typer.Option("--preset", help="Constants of the metrics: strict, thesis, thesis_strict, or a TOML file.")
]


class CompareSettings(RetrievalSettings, HostedSettings):
    """What asks and what is asked."""


class PairSettings(CallSettings):
    """The endpoint of a judge, and how it is called."""

    base_url: BaseUrl
    concurrency: Concurrency


class CalibrateSettings(PairSettings):
    """Those of a judge that compares meanings, too."""

    embedder: Embedder


@takes_settings
def compare(
    questions: Annotated[
        Path,
        typer.Option(
            "--questions", help="JSON lines with id, question, query_type, gold_answer, gold_facts, answerable."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of the run: the same command again goes on there.")],
    pipelines: Pipelines = "default,hybrid",
    store: Store = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="What the others are compared with. Default: the first.", show_default=False),
    ] = None,
    judge: Annotated[
        str, typer.Option("--judge", help="rules (model-free), or a chat model as --model takes it.")
    ] = "rules",
    preset: Preset = "strict",
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="How often each question is asked.")] = 1,
    judge_repeats: Annotated[
        int,
        typer.Option("--judge-repeats", min=1, help="How often a model judges each answer; the report has the spread."),
    ] = 1,
    top: Top = None,
    budget: Budget = None,
    rejudge_failed: Annotated[
        bool, typer.Option("--rejudge-failed", help="Ask the judge again for the parts that could not be judged.")
    ] = False,
    rejudge: Annotated[
        bool, typer.Option("--rejudge", help="Judge everything anew; no question is asked again.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what is missing and what it would take; call nothing.")
    ] = False,
    as_json: AsJson = False,
    **settings: Unpack[CompareSettings],
) -> int:
    """Ask questions through pipelines and judge the answers, resumable at every cell. `kgrag report` makes a page of it."""
    from pydantic import ValidationError

    from kgrag.cli.output import print_json, say_remark, terminal_progress
    from kgrag.common.standard_streams import expect_no_stream
    from kgrag.errors import InputError
    from kgrag.jobs.comparison import CompareOptions
    from kgrag.knowledge_graph import open_graph
    from kgrag.retrieve import listed_pipelines

    expect_no_stream(out)
    try:
        options = CompareOptions(
            pipelines=tuple(listed_pipelines(pipelines)),
            baseline=baseline,
            judge=judge,
            preset=preset,
            repeats=repeats,
            judge_repeats=judge_repeats,
            top=top,
            budget=budget,
        )
    except ValidationError as error:
        wrong = "; ".join(one["msg"].removeprefix("Value error, ") for one in error.errors())
        raise InputError(f"kgrag compare: {wrong}") from error
    again: Literal["missing", "failed", "all"] = "all" if rejudge else "failed" if rejudge_failed else "missing"
    with open_graph(store, create=False, reads_only=True, **settings) as opened:
        say_remark(opened.store)
        if dry_run:
            expected = opened.compare_outlook(questions, out=out, options=options, rejudge=again)
            if as_json:
                from dataclasses import asdict

                print_json(asdict(expected))
            else:
                _show_outlook(expected)
            return 0
        done = opened.compare(questions, out=out, options=options, rejudge=again, progress=terminal_progress())
    _show_done(done, out, as_json=as_json)
    return 0 if done.complete else 1


def _show_outlook(expected: Outlook) -> None:
    from kgrag.cli.output import stdout

    guessed = "" if expected.measured else " (a guess: the run has no answer yet)"
    price = "no known price (--prices)" if expected.cost is None else f"{expected.cost:.2f} dollars"
    stdout.print(
        f"{expected.cells:,} cells: {expected.answers:,} to answer, {expected.judgements:,} to judge; {expected.calls:,} calls of models, "
        f"about {expected.prompt_tokens:,} + {expected.completion_tokens:,} tokens, {price}, "
        f"{expected.seconds:,.0f} s one after the other{guessed}",
        markup=False,
    )


def _show_done(done: CompareReport, out: Path, *, as_json: bool) -> None:
    from kgrag.cli.output import print_json, stderr, stdout
    from kgrag.jobs.compare import dollars

    if as_json:
        print_json(
            {
                "cells": done.cells,
                "answered": done.answered,
                "judged": done.judged,
                "parts_missing": done.parts_missing,
                "failed": [
                    dict(zip(("pipeline", "question", "stage", "reason"), one, strict=True)) for one in done.failed
                ],
                "usage": done.usage.model_dump(),
                "without_price": done.without_price,
                "seconds": done.seconds,
            }
        )
    else:
        used = done.usage
        cost = dollars(used.cost, without_price=done.without_price)
        stdout.print(
            f"{done.cells:,} cells: {done.answered:,} answered, {done.judged:,} judged now, {len(done.failed)} failed, "
            f"{done.parts_missing} parts could not be judged; {used.calls:,} calls, "
            f"{used.prompt_tokens + used.completion_tokens:,} tokens, {cost}, {done.seconds:.1f} s",
            markup=False,
        )
        stdout.print(f"kgrag report {out} makes a page of it", markup=False)
    for pipeline, question, stage, reason in done.failed:
        stderr.print(f"failed: {pipeline}, question {question}, {stage}: {reason}", markup=False)
    if done.parts_missing and not as_json:
        stderr.print(f"not judged, the first of {done.parts_missing}: {shortened(done.first_missing)}", markup=False)
        stderr.print("--rejudge-failed has the same command ask the judge again for those parts.", markup=False)


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run (--out of kgrag compare).")],
    preset: Annotated[str | None, typer.Option("--preset", help="Default: the run's own.", show_default=False)] = None,
) -> None:
    """Write report.html, report.md, figures.csv, scores.csv and answers.csv into the folder of a run."""
    from kgrag.cli.output import stdout
    from kgrag.evaluate.answer_table import write_answers
    from kgrag.evaluate.figures_table import write_figures
    from kgrag.evaluate.judge.presets import load_preset
    from kgrag.evaluate.report import answer_in_three_sentences, write_csv, write_html, write_markdown
    from kgrag.evaluate.runs import Run
    from kgrag.evaluate.summary import summarise

    with Run(run) as opened:
        chosen = load_preset(preset or opened.settings.preset)
        summary = summarise(opened, preset=chosen)
        write_markdown(opened, run / "report.md", summary=summary)
        write_figures(run / "figures.csv", summary=summary)
        write_csv(run / "scores.csv", summary=summary)
        write_answers(opened, run / "answers.csv")
        write_html(opened, run / "report.html", summary=summary)
    for sentence in answer_in_three_sentences(summary):
        stdout.print(sentence, markup=False)
    stdout.print(
        f"\n{run / 'report.html'}, report.md, figures.csv, scores.csv and answers.csv are written.", markup=False
    )


@judge_app.callback()
def _judge() -> None:
    """Keep what is done with a judge a subcommand."""


@judge_app.command("calibrate")
@takes_settings
def calibrate(
    file: Annotated[
        Path, typer.Argument(help="JSON lines of answers or pairs of answers with what people made of them.")
    ],
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="rules, or a chat model. Default: rules, or the run's.", show_default=False),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option("--preset", help="Constants of the metrics. Default: thesis, or the run's.", show_default=False),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run",
            help="Keep it in this run: its report then corrects the share of right answers.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    **settings: Unpack[CalibrateSettings],
) -> None:
    """Agreement of a judge with people: accuracy and kappa on answers, correlation on pairs, beside how far people agree."""
    import asyncio
    from contextlib import nullcontext

    from kgrag.cli.output import print_json, stderr, stdout, terminal_progress
    from kgrag.evaluate.runs import Run
    from kgrag.jobs.calibrate import calibrate as job
    from kgrag.settings import load_settings

    with nullcontext() if run is None else Run(run) as opened:
        of_run = None if opened is None else opened.settings
        if of_run is not None and settings["embedder"] is None:
            settings["embedder"] = of_run.embedder
        calibrating = job(
            file,
            judge=judge or (of_run.judge if of_run else "rules"),
            preset=preset or (of_run.preset if of_run else "thesis"),
            settings=load_settings(**settings),
            run=opened,
            progress=terminal_progress(),
        )
        found = asyncio.run(calibrating)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    for line in found.lines():
        stdout.print(line, markup=False)
    if found.first_missing:
        stderr.print(f"not judged, the first: {shortened(found.first_missing)}", markup=False)


@judge_app.command("pairs")
@takes_settings
def pairs(
    run: Annotated[Path, typer.Argument(help="The folder of a run (--out of kgrag compare).")],
    first: Annotated[str, typer.Argument(help="A pipeline of the run.")],
    second: Annotated[str, typer.Argument(help="Another one.")],
    judge: Annotated[str, typer.Option("--judge", help="A chat model.")],
    only_differences: Annotated[
        bool,
        typer.Option(
            "--only-differences",
            help="Show only sentences that the other answer does not have (against a liking for length).",
        ),
    ] = False,
    as_json: AsJson = False,
    **settings: Unpack[PairSettings],
) -> int:
    """Which of two pipelines' answers a judge prefers, each pair asked in both orders; a verdict that follows the order is a tie."""
    import asyncio

    from kgrag.cli.output import print_json, stderr, stdout, terminal_progress
    from kgrag.errors import InputError
    from kgrag.evaluate.runs import Run
    from kgrag.jobs.pairs import compare_pairs
    from kgrag.models import CHAT_MODELS, open_chat_model
    from kgrag.models.names import JUDGE
    from kgrag.settings import load_settings

    if judge in CHAT_MODELS:
        raise InputError(
            f"--judge {judge}: expected a chat model, which says which of two answers is better; {judge} judges each by itself."
        )
    chosen = load_settings(**settings)
    model = open_chat_model(judge, settings=chosen, setting=JUDGE)
    with Run(run) as opened:
        job = compare_pairs(
            opened,
            first,
            second,
            model=model,
            only_differences=only_differences,
            concurrency=chosen.concurrency,
            progress=terminal_progress(),
        )
        found = asyncio.run(job)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        stdout.print(found.in_words, markup=False)
        for question, reason in found.failed.items():
            stderr.print(f"failed: question {question}: {reason}", markup=False)
    return 1 if found.failed else 0
