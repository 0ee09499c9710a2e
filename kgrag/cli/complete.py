"""`kgrag complete`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kgrag.cli.options import AsJson, EachGraph, Store

if TYPE_CHECKING:
    from kgrag.jobs.complete import CompletionReport

__all__ = ["complete"]


def complete(
    store: Store = None,
    graph: EachGraph = None,
    method: Annotated[
        str,
        typer.Option("--method", help="rules (mined, the default), complex, transe, common-neighbours, adamic-adar."),
    ] = "rules",
    precision: Annotated[
        float,
        typer.Option(
            "--precision",
            min=0.0,
            max=1.0,
            help="Least share of such predictions that held-out relations confirmed; less sure ones are left out.",
        ),
    ] = 0.1,
    per_question: Annotated[
        int, typer.Option("--per-question", min=1, help="Predictions for one entity and relation, at most.")
    ] = 3,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same edges.")] = 7,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be predicted; write nothing.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take every predicted edge of the graph out.")] = False,
    as_json: AsJson = False,
) -> None:
    """Predict relations that no document states, as edges of their own: the step `predicted` may follow them, nothing cites them."""
    from kgrag.cli.output import print_json, stdout, terminal_progress
    from kgrag.errors import InputError
    from kgrag.knowledge_graph import open_graph

    if undo and dry_run:
        raise InputError("--undo and --dry-run: give one of them.")
    with open_graph(store, create=False) as opened:
        graphs = opened.graph_names(graph)
        if undo:
            taken = {name: opened.undo_predictions(graph=name) for name in graphs}
        else:
            reports = {
                name: opened.predict_relations(
                    graph=name,
                    method=method,
                    precision=precision,
                    per_question=per_question,
                    seed=seed,
                    dry_run=dry_run,
                    progress=terminal_progress(),
                )
                for name in graphs
            }
    if undo:
        if as_json:
            print_json({"taken_out": taken})
            return
        for name, count in taken.items():
            stdout.print(f"Graph {name}: {count} predicted edges taken out.", markup=False)
        return
    if as_json:
        print_json({"graphs": {name: report.model_dump(mode="json") for name, report in reports.items()}})
        return
    for report in reports.values():
        _summarise(report)


def _summarise(report: CompletionReport) -> None:
    from kgrag.cli.output import stdout

    def say(text: str) -> None:
        stdout.print(text, markup=False)

    say(
        f"Graph {report.graph}, method {report.method}: {report.relations} relations of {report.entities} entities; "
        f"{report.exact} of them are quantities, dates, identifiers or part numbers and get no edge"
    )
    say(
        f"Calibrated on {report.held_out} relations held out: {report.confirmed} of {report.proposed} predictions are among them"
    )
    did = "would be written" if report.dry_run else "written"
    say(
        f"Predicted: {report.edges} edges {did} of {report.considered}, each with a share of at least {report.precision:g}"
    )
    for edge in report.best:
        say(f"  {edge}")
    if report.edges and not report.dry_run:
        say("They are no evidence: a pipeline's step `predicted` follows them; kgrag complete --undo takes them out.")
