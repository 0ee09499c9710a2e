"""`kgrag resolve` and `kgrag explain-merge`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack

import typer

from kgrag.cli.options import AsJson, BaseUrl, EachGraph, Store, setting, takes_settings

if TYPE_CHECKING:
    from rich.console import Console

    from kgrag.jobs.resolve import ResolveReport
    from kgrag.resolve import MergeGroup

__all__ = ["explain_merge", "resolve"]


class ResolveSettings(TypedDict):
    """Who is asked whether two entities are one."""

    model: Annotated[str | None, setting("--model", help="The chat model that --method llm asks.")]
    base_url: BaseUrl


@takes_settings
def resolve(
    store: Store = None,
    graph: EachGraph = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="rules (scored, model-free), llm (asks a chat model), thesis or threshold (for comparison), none.",
        ),
    ] = "rules",
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            help="Score from which the rules say yes (0.9); for the method threshold the cosine (0.95).",
            show_default=False,
        ),
    ] = None,
    generic_words: Annotated[
        str | None,
        typer.Option(
            "--generic-words",
            help="Words that blocking leaves out, with commas between; replaces ours.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only write the plan: each group with every pair's reason.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take every merge of the graph back.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the plans to a file too, as a JSON list; - is stdout.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    **settings: Unpack[ResolveSettings],
) -> int:
    """Merge entities that are one thing; names that differ in a number, sign, unit or version never are."""
    from kgrag.cli.output import print_json, shown_beside, stdout, terminal_progress
    from kgrag.common.whole_files import expect_place, write_whole
    from kgrag.errors import InputError
    from kgrag.knowledge_graph import open_graph

    if undo and dry_run:
        raise InputError("--undo and --dry-run: give one of them.")
    beside = shown_beside(out, as_json=as_json)
    if out is not None:
        expect_place(out)
    words = None if generic_words is None else [word.strip() for word in generic_words.split(",") if word.strip()]
    with open_graph(store, create=False, **settings) as opened:
        graphs = opened.graph_names(graph)
        if undo:
            taken_back = {name: opened.undo_resolve(graph=name, progress=terminal_progress()) for name in graphs}
        else:
            reports = {
                name: opened.resolve(
                    graph=name,
                    method=method,
                    threshold=threshold,
                    generic=words,
                    dry_run=dry_run,
                    progress=terminal_progress(),
                )
                for name in graphs
            }
    if undo:
        if as_json:
            print_json({"taken_back": taken_back})
        else:
            for name, count in taken_back.items():
                stdout.print(f"Graph {name}: {count} merges taken back.", markup=False)
        return 0
    if out is not None:
        plans = [report.plan.model_dump(mode="json") for report in reports.values()]
        write_whole(out, json.dumps(plans, ensure_ascii=False, indent=2) + "\n")
    if as_json:
        print_json({"graphs": {name: report.model_dump(mode="json") for name, report in reports.items()}})
    else:
        for report in reports.values():
            _summarise(report, on=beside)
    return 1 if any(report.unanswered for report in reports.values()) else 0


def explain_merge(
    name: Annotated[str, typer.Argument(help="An entity's name, in any spelling.")],
    other: Annotated[
        str | None, typer.Argument(help="Another name: why the two are, or are not, one.", show_default=False)
    ] = None,
    store: Store = None,
    graph: EachGraph = None,
    as_json: AsJson = False,
) -> None:
    """Say what an entity was merged of, with the reason of every pair, or why two names are not one."""
    from kgrag.cli.output import print_json, say_remark, stdout
    from kgrag.knowledge_graph import open_graph

    with open_graph(store, create=False, reads_only=True) as opened:
        say_remark(opened.store)
        explained = opened.explain_merge(name, other, graph=graph)
    if as_json:
        print_json([one.model_dump(mode="json") for one in explained])
        return
    for one in explained:
        stdout.print(f"{one.name}: {one.description}".rstrip(": "), markup=False)
        if one.group is not None:
            _show(one.group, on=stdout)


def _summarise(report: ResolveReport, *, on: Console) -> None:
    plan = report.plan
    say = on.print
    if report.dry_run:
        for group in plan.groups:
            _show(group, on=on)
        for pair in plan.refused:
            say(f"refused: {pair.a} and {pair.b}: {pair.reason}", markup=False)
    say(
        f"Graph {plan.graph}, method {plan.method}: {plan.entities} entities, {plan.candidates} pairs compared, "
        f"{len(plan.groups)} groups that make {plan.merged} entities fewer ({plan.merged / max(plan.entities, 1):.1%}); "
        f"{len(plan.apart)} pairs kept apart, {len(plan.refused)} joins refused",
        markup=False,
    )
    if plan.usage.calls:
        say(
            f"Model: {plan.usage.calls} calls, {plan.usage.prompt_tokens + plan.usage.completion_tokens} tokens, ${plan.usage.cost:.4f}"
        )
    for note in report.notes:
        say(f"note: {note}", markup=False)
    if report.dry_run:
        say("Nothing was changed (--dry-run).")
        return
    say(
        f"Merged: {report.applied} groups now, {report.unchanged} already; {report.taken_back} earlier merges taken back; "
        f"{report.relations_fused} parallel relations fused, {report.relations_inside} inside one entity"
    )
    if plan.groups:
        say("kgrag explain-merge NAME says why; kgrag resolve --undo takes all back.")


def _show(group: MergeGroup, *, on: Console) -> None:
    names = {member.key: f"{member.name} ({member.type})" for member in group.members}
    on.print(f"{names[group.survivor]} = {len(group.members)} entities", markup=False)
    for pair in group.pairs:
        on.print(f"  {names[pair.a]} + {names[pair.b]}: {pair.verdict} {pair.score:.2f}, {pair.reason}", markup=False)
