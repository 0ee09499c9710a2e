"""`kgrag status`, `digest`, `cypher` and `delete`: look into a store, and take a document out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from contextlib import closing
from itertools import islice
from typing import Annotated, Any

import typer

from kgrag.cli.options import AsJson, Store

__all__ = ["cypher", "delete", "digest", "status"]

TABLE_ROWS = 500
"""Of one table."""


def status(store: Store = None, as_json: AsJson = False) -> None:
    """Say what a store holds: documents, chunks, graphs, what is done and what failed."""
    from kgrag.cli.output import print_json, say_remark, stdout
    from kgrag.jobs.status import status as status_of
    from kgrag.settings import load_settings
    from kgrag.store.graph import open_store

    settings = load_settings(store=store)
    with open_store(settings.store, create=False, reads_only=True) as opened:
        say_remark(opened)
        state = status_of(opened)
    if as_json:
        print_json(state)
        return
    stdout.print(f"{settings.store}: {state['documents']} documents, {state['chunks']} chunks", markup=False)
    if state["embedder"] is None:
        stdout.print("Nothing was built in this store yet. Fill it with kgrag build PATH...")
        return
    stdout.print(
        f"embedder {state['embedder']} ({state['dimensions']} dimensions), schema version {state['schema_version']}"
    )
    for name, counts in state["graphs"].items():
        stdout.print(f"graph {name}: " + ", ".join(f"{count} {what}" for what, count in counts.items()), markup=False)
    for name, freshness in state["communities"].items():
        if freshness != "current":
            stdout.print(
                f"communities of {name} are {freshness}: kgrag communities brings them up to date", markup=False
            )
    for stage, states in state["ledger"].items():
        stdout.print(f"{stage}: " + ", ".join(f"{count} {what}" for what, count in states.items()), markup=False)
    for name, work in state["extractions"].items():
        stdout.print(f"extraction of {name}: {_extraction_line(work, state['chunks'])}", markup=False)
    for name, lacking in state["entities_without_vector"].items():
        stdout.print(f"graph {name}: {lacking} entities have no vector: kgrag build asks for them again", markup=False)
    for failure in state["failures"]:
        stdout.print(f"failed: {_failure_line(failure)}", markup=False)
    if state["failures"]:
        stdout.print("kgrag build with the same arguments tries these again, and nothing else.", markup=False)


def _extraction_line(work: dict[str, Any], chunks: int) -> str:
    states = {state: count for state, count in work["chunks"].items() if count}
    parts = [", ".join(f"{count} chunks {state}" for state, count in states.items())]
    waiting = chunks - sum(states.values())
    parts += [f"{waiting} not yet"] if waiting else []
    parts += [f"{work['ungrounded']} relations ungrounded"] if work["ungrounded"] else []
    if work["calls"]:
        parts.append(f"{work['calls']:,} calls, {work['tokens']:,} tokens, ${work['usd']:,.4f}")
    return "; ".join(parts)


def _failure_line(failure: dict[str, Any]) -> str:
    if failure["subject"] == failure["document"]:
        return f"{failure['stage']} {failure['subject']}: {failure['reason']}"
    pages = sorted({page for page in (failure["page_start"], failure["page_end"]) if page is not None})
    place = [failure["document"], *([f"page {'-'.join(map(str, pages))}"] if pages else [])]
    place += [failure["section"]] if failure["section"] else []
    of_graph = f" {failure['graph']}" if failure["graph"] else ""
    return f"{failure['stage']}{of_graph}: chunk {failure['subject']} ({', '.join(place)}): {failure['reason']}"


def digest(store: Store = None) -> None:
    """Print one SHA-256 over the content of a store: equal content, equal digest, on either database."""
    from kgrag.cli.output import say_remark
    from kgrag.settings import load_settings
    from kgrag.store.graph import open_store

    with open_store(load_settings(store=store).store, create=False, reads_only=True) as opened:
        say_remark(opened)
        typer.echo(opened.digest())


def cypher(
    statement: Annotated[str, typer.Argument(help="A Cypher statement that reads; `-` takes it from standard input.")],
    store: Store = None,
    parameters: Annotated[
        str, typer.Option("--parameters", help="A JSON object of the statement's parameters.")
    ] = "{}",
    max_rows: Annotated[int, typer.Option("--max-rows", min=1, help="Rows that are shown.")] = 10_000,
    timeout_s: Annotated[float, typer.Option("--timeout-s", min=0.1, help="The database ends it after so long.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Run a Cypher statement that only reads; one that writes, or calls what could reach beyond the graph, is refused."""
    from kgrag.cli.output import say_remark, stderr
    from kgrag.errors import InputError
    from kgrag.settings import load_settings
    from kgrag.store.graph import open_store

    try:
        values = json.loads(parameters)
    except json.JSONDecodeError as error:
        raise InputError(f"--parameters: expected a JSON object, got {parameters!r}: {error}") from error
    if not isinstance(values, dict):
        raise InputError(f"--parameters: expected a JSON object, got {parameters!r}")
    text = sys.stdin.read() if statement == "-" else statement
    with (
        open_store(load_settings(store=store).store, create=False, reads_only=True) as opened,
        closing(opened.stream_query(text, values, timeout_s=timeout_s)) as rows,
    ):
        say_remark(opened)
        (_show_json if as_json else _show_table)(islice(rows, max_rows))
        if next(rows, None) is not None:
            stderr.print(f"Cut after {max_rows:,} rows; --max-rows shows more.")


def _show_json(rows: Iterable[dict[str, Any]]) -> None:
    from kgrag.cli.output import json_text

    opening = "["
    for row in rows:
        sys.stdout.write(f"{opening}\n{json_text(row)}")
        opening = ","
    sys.stdout.write("[]\n" if opening == "[" else "\n]\n")


def _show_table(rows: Iterable[dict[str, Any]]) -> None:
    """Show rows in tables of at most `TABLE_ROWS`, so that the first are seen before the last have come."""
    from rich.table import Column, Table

    from kgrag.cli.output import print_table

    rows, shown = iter(rows), False
    while some := list(islice(rows, TABLE_ROWS)):
        table, shown = Table(*(Column(name, overflow="fold") for name in some[0])), True
        for row in some:
            table.add_row(*(_cell(value) for value in row.values()))
        print_table(table)
    if not shown:
        print_table(Table("no rows"))


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 300 else text[:299] + "…"


def delete(
    document: Annotated[
        str, typer.Argument(help="A document's path, id or title; a .jsonl path takes all of its passages.")
    ],
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Take a document out of a store, with what only it supported."""
    from kgrag.cli.output import print_json, stdout, terminal_progress
    from kgrag.knowledge_graph import open_graph

    with open_graph(store, create=False) as graph:
        deleted = graph.delete(document, progress=terminal_progress())
    if as_json:
        print_json({"deleted": [gone.model_dump(mode="json") for gone in deleted]})
    else:
        stdout.print(f"Deleted {len(deleted)} document(s) of {deleted[0].path}", markup=False)
