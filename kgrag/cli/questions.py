"""`kgrag questions make`: questions that nobody had to write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from kgrag.cli.options import AsJson, QuestionSettings, Store, takes_settings

if TYPE_CHECKING:
    from rich.console import Console

    from kgrag.jobs.questions import QuestionsReport

__all__ = ["app"]

app = typer.Typer(
    name="questions",
    help="Questions with gold evidence, for measuring and learning.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _questions() -> None:
    """Keep what is made a subcommand."""


@app.command("make")
@takes_settings
def make(
    out: Annotated[Path, typer.Option("--out", help="The question file that is written (JSON lines); - is stdout.")],
    store: Store = None,
    kinds: Annotated[
        str,
        typer.Option(
            "--kinds",
            help="Separated by commas: hyperlinks, headings, captions, definitions, faq, cross_references, table_cells, comparisons, "
            "triples, bridges, communities, unanswerable; all for every one.",
        ),
    ] = "all",
    limit: Annotated[int, typer.Option("--limit", min=1, help="Questions at most; the kinds take turns.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Decides which drafts are taken.")] = 7,
    not_like: Annotated[
        Path | None,
        typer.Option(
            "--not-like", help="A question file: nothing that is made is like one of its questions.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
    **settings: Unpack[QuestionSettings],
) -> int:
    """Make questions of a store's links, headings, tables and triples, each with the chunks that answer it; with --model in other words."""
    from dataclasses import asdict

    from kgrag.cli.output import print_json, say_remark, shown_beside, terminal_progress
    from kgrag.evaluate.questions import KINDS
    from kgrag.jobs.questions import QuestionOptions
    from kgrag.knowledge_graph import open_graph

    beside = shown_beside(out, as_json=as_json)
    chosen = tuple(KINDS) if kinds == "all" else tuple(filter(None, (kind.strip() for kind in kinds.split(","))))
    options = QuestionOptions(kinds=chosen, limit=limit, seed=seed, not_like=not_like)
    with open_graph(store, create=False, reads_only=True, **settings) as opened:
        say_remark(opened.store)
        report = opened.make_questions(out, options=options, progress=terminal_progress())
    if as_json:
        print_json(asdict(report))
    else:
        _show(report, out, on=beside)
    return 0


def _show(report: QuestionsReport, out: Path, *, on: Console) -> None:
    from kgrag.cli.output import markdown_table

    markdown_table(
        ["kind", "drafts", "questions"],
        [[kind, f"{count:,}", f"{report.taken.get(kind, 0):,}"] for kind, count in report.drafted.items()],
        on=on,
    )
    lines = [f"{sum(report.taken.values()):,} questions in {out}, {report.easy:,} of them easy"]
    lines += [f"left out: {count:,}, {reason}" for reason, count in report.left_out.items()]
    if report.paraphrased or report.not_paraphrased:
        lines.append(f"in other words: {report.paraphrased:,}")
        lines += [f"as the template made it: {count:,}, {reason}" for reason, count in report.not_paraphrased.items()]
    on.print("\n".join(lines), markup=False)
