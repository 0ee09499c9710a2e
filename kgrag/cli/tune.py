"""`kgrag tune`: which switches of retrieval help on your questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from kgrag.cli.options import AsJson, RetrievalSettings, Store, takes_settings

if TYPE_CHECKING:
    from kgrag.jobs.switch_scores import Cost
    from kgrag.jobs.tune import Tuned

__all__ = ["tune"]


@takes_settings
def tune(
    questions: Annotated[
        Path,
        typer.Option(
            "--questions",
            help="JSON lines with id, question and gold: evidence (ids) or facts (lists of ids). At least four.",
        ),
    ],
    store: Store = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the pipeline that was found here.", show_default=False),
    ] = None,
    switches: Annotated[
        Path | None,
        typer.Option(
            "--switches",
            help="A TOML file with the switches and their choices. Default: those of kgrag/evaluate/switches.toml.",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        str,
        typer.Option("--measure", help="What is to grow: facts (inside --budget), R@5, all@5, hit@1, hit@5 or MRR."),
    ] = "facts",
    budget: Annotated[int, typer.Option("--budget", min=1, help="Tokens inside which gold facts count.")] = 1500,
    top: Annotated[int, typer.Option("--top", min=1, max=1000, help="Pieces that every pipeline shows.")] = 20,
    factorial: Annotated[
        bool,
        typer.Option("--factorial", help="Ask every combination too, for the effect of each choice beside each other."),
    ] = False,
    kept: Annotated[
        Path | None,
        typer.Option(
            "--kept",
            help="Keep all scores in this file: the same command goes on where it was stopped.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    **settings: Unpack[RetrievalSettings],
) -> int:
    """Search greedily over switches of retrieval: which help on your questions, how sure that is, what they cost."""
    from kgrag.cli.bench_retrieval import gold_nowhere_words
    from kgrag.cli.output import print_json, say_remark, stderr, terminal_progress
    from kgrag.knowledge_graph import open_graph

    with open_graph(store, create=False, reads_only=True, **settings) as opened:
        say_remark(opened.store)
        tuned = opened.tune(
            questions,
            out=out,
            switches=switches,
            measure=measure,
            budget=budget,
            top=top,
            factorial=factorial,
            kept=kept,
            progress=terminal_progress(),
        )
    if as_json:
        print_json(_as_json(tuned, out))
    else:
        _show(tuned, out)
    if tuned.gold_nowhere:
        stderr.print(gold_nowhere_words(tuned.gold_nowhere, tuned.questions), markup=False)
    for reason in dict.fromkeys(tuned.refused.values()):  # many combinations are refused for one reason
        stderr.print(f"note: left out: {reason}", markup=False)
    return 0


def _as_json(tuned: Tuned, out: Path | None) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(tuned), "out": None if out is None else str(out)}


def _show(tuned: Tuned, out: Path | None) -> None:
    from kgrag.cli.output import markdown_table, stdout
    from kgrag.cli.train import without_gold_words
    from kgrag.evaluate.switches import name_of

    stdout.print(
        f"{tuned.questions} questions of {tuned.documents} documents, mean of {tuned.measure}{without_gold_words(tuned.without_gold)}. "
        f"Start: {name_of(tuned.start)}: {tuned.before[0]:.3f}, {_cost(tuned.before[1])}.\n\n"
        "Each choice alone, against the start (95 % intervals, documents drawn):\n",
        markup=False,
    )
    alone = sorted(tuned.alone, key=lambda one: -one[0].gain.value)
    markdown_table(
        ["switch", "choice", "gain", "tokens", "p50 ms", "model calls"],
        [
            [
                one.switch,
                one.choice,
                f"{one.gain:+.3f}",
                f"{cost.tokens:.0f}",
                f"{cost.milliseconds:.0f}",
                f"{cost.calls:.1f}",
            ]
            for one, cost in alone
        ],
    )
    taken = [
        f"{place}. {one.switch}: {one.before} → {one.choice}, {one.gain:+.3f}"
        for place, one in enumerate(tuned.search.taken, start=1)
    ] or ["Nothing gains more than a standard error: the start stays."]
    lines = [
        "",
        "Greedy search over all questions:",
        *taken,
        f"Found: {name_of(tuned.search.chosen)}: {tuned.after[0]:.3f} (the search saw these questions), {_cost(tuned.after[1])}.",
        f"Each half of the questions asked by what the other half chose, against the start: {tuned.held_out:+.3f}.",
        *(f"Half {number} chose: {name_of(one)}" for number, one in enumerate(tuned.halves, start=1)),
    ]
    stdout.print("\n".join(lines), markup=False)
    if tuned.combinations:
        stdout.print("\nEvery combination, best first:\n", markup=False)
        markdown_table(
            ["choices", tuned.measure, "tokens", "p50 ms", "model calls"],
            [
                [name_of(choices), f"{mean:.3f}", f"{cost.tokens:.0f}", f"{cost.milliseconds:.0f}", f"{cost.calls:.1f}"]
                for choices, mean, cost in tuned.combinations
            ],
        )
        stdout.print("\nEffect of a choice, over all combinations and beside others' choices:\n", markup=False)
        markdown_table(
            ["switch", "choice", "beside", "effect"],
            [[one.switch, one.choice, one.given or "all", f"{one.mean:+.3f}"] for one in tuned.effects],
        )
    if out is not None:
        stdout.print(
            f"\nWritten: {out}. Use it with --pipeline {out}; kgrag bench retrieval compares it with others.",
            markup=False,
        )


def _cost(cost: Cost) -> str:
    calls = f", {cost.calls:.1f} model calls" if cost.calls else ""
    return f"{cost.tokens:.0f} tokens shown, {cost.milliseconds:.0f} ms{calls}"
