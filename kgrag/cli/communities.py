"""`kgrag communities` and `kgrag communities show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from kgrag.cli.options import AsJson, EachGraph, HostedSettings, Store, takes_settings

if TYPE_CHECKING:
    from kgrag.communities import CommunityReport

__all__ = ["app"]

app = typer.Typer(invoke_without_command=True)


@app.callback()
@takes_settings
def communities(
    context: typer.Context,
    store: Store = None,
    graph: EachGraph = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same communities.")] = 7,
    k: Annotated[int, typer.Option("--k", min=0, help="Nearest neighbours that count as similar.")] = 15,
    cutoff: Annotated[
        float, typer.Option("--cutoff", min=-1.0, max=1.0, help="Lowest cosine of similar entities.")
    ] = 0.80,
    relations: Annotated[
        float,
        typer.Option(
            "--relations", min=0.0, max=1e6, help="Weight of the extracted relations beside similarity; 0: without."
        ),
    ] = 1.0,
    max_size: Annotated[
        int, typer.Option("--max-size", min=2, help="Communities with more entities are divided again.")
    ] = 40,
    summary_floor: Annotated[
        int, typer.Option("--summary-floor", min=1, help="Communities with fewer entities get a label and no summary.")
    ] = 5,
    budget: Annotated[int, typer.Option("--budget", min=200, help="Tokens of what a summary is made from.")] = 2000,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Find communities from nothing, not from those that are there.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done and what it would cost; write and call nothing.")
    ] = False,
    as_json: AsJson = False,
    **settings: Unpack[HostedSettings],
) -> int:
    """Find communities of entities and summarise those that changed; the same command updates and resumes."""
    if context.invoked_subcommand is not None:
        return 0
    from kgrag.cli.output import print_json, terminal_progress
    from kgrag.knowledge_graph import open_graph

    with open_graph(store, create=False, **settings) as opened:
        graphs = opened.graph_names(graph)
        reports = [
            opened.communities(
                graph=name,
                seed=seed,
                k=k,
                cutoff=cutoff,
                relations=relations,
                max_size=max_size,
                summary_floor=summary_floor,
                budget=budget,
                fresh=fresh,
                dry_run=dry_run,
                progress=terminal_progress(),
            )
            for name in graphs
        ]
    if as_json:
        print_json({"graphs": {report.graph: report.model_dump(mode="json") for report in reports}})
    else:
        for report in reports:
            _summarise(report)
    return 0 if all(report.complete for report in reports) else 1


def _summarise(report: CommunityReport) -> None:
    from kgrag.cli.output import stdout

    def say(text: str) -> None:
        stdout.print(text, markup=False)

    say(
        f"Graph {report.graph}: {report.entities} entities, {report.similar_pairs} similar pairs, "
        f"{report.related_pairs} related pairs; {report.isolated} entities are joined to none and in no community"
    )
    if report.without_vector:
        say(f"note: {report.without_vector} entities have no vector yet and were left out: run kgrag build")
    for level in report.levels:
        say(
            f"Level {level.level}: {level.communities} communities of {level.entities} entities, the largest has {level.largest}"
        )
    say(f"Modularity of level 0: {report.modularity:.3f}")
    states = ", ".join(f"{count} {state}" for state, count in sorted(report.summaries.items()))
    say(f"Summaries by {report.model}: {states or 'none'}")
    usage = report.usage
    if usage.calls:
        would = "would take about" if report.dry_run else "took"
        price = f"${usage.cost:.4f}" if report.price_known else "no price known"
        say(
            f"Cost: {would} {usage.calls} calls, {usage.prompt_tokens} tokens in, {usage.completion_tokens} tokens out, {price}"
        )
    for failure in report.failures:
        say(f"failed: community {failure.key} ({failure.size} entities): {failure.reason}")
    say("Time: " + ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in report.seconds.items()))


@app.command("show")
def show(
    store: Store = None,
    graph: EachGraph = None,
    level: Annotated[
        int | None,
        typer.Option(
            "--level", min=0, help="Only the communities of this level, with their summaries.", show_default=False
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", help="Draw the communities into this SVG file; - is stdout.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the communities as a tree; with --level those of one level with their summaries."""
    from kgrag.cli.output import print_json, say_remark, shown_beside
    from kgrag.common.whole_files import expect_place, write_whole
    from kgrag.communities.picture import render_svg
    from kgrag.communities.tree import render_level, render_tree
    from kgrag.knowledge_graph import open_graph

    beside = shown_beside(svg, as_json=as_json)
    if svg is not None:
        expect_place(svg)
    with open_graph(store, create=False, reads_only=True) as opened:
        say_remark(opened.store)
        name = opened.graph_name(graph)
        found = opened.show_communities(graph=name)
    if svg is not None:
        write_whole(svg, render_svg(found, graph=name))
    if as_json:
        print_json([one.model_dump(mode="json") for one in found if level is None or one.level == level])
        return
    if not found:
        beside.print(f"Graph {name} has no communities yet: kgrag communities finds them.", markup=False)
        return
    beside.print(render_tree(found) if level is None else render_level(found, level), markup=False)
    if svg is not None:
        beside.print(f"Drawn into {svg}", markup=False)
