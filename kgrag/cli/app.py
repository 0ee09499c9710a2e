"""The commands, one file for each group; this is their list."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer

from kgrag.cli import (
    ask,
    bench,
    build,
    communities,
    compare,
    complete,
    db,
    exchange,
    feedback,
    inspect,
    mcp,
    models,
    pipelines,
    questions,
    resolve,
    retrieve,
    serve,
    train,
    tune,
    users,
)
from kgrag.cli.examples import show_examples

__all__ = ["app", "command"]

SHORT_COMMANDS = frozenset({"ask", "cypher", "delete", "digest", "explain-merge", "retrieve", "status", "train"})
"""They ask one thing and end, or read once and then work outside of the database: what they open starts quickly and takes little memory."""
ASKING_COMMANDS = frozenset({"ask", "retrieve"})
"""Those of them that use most of what the others use."""

app = typer.Typer(
    name="kgrag",
    help="Turn technical documents into a knowledge graph and answer questions from it, with citations to the page.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Settings come from flags, then KGRAG_* in the environment, then kgrag.toml. --debug shows the traceback of an error.",
)
app.command("build")(build.build)
app.command("resolve")(resolve.resolve)
app.command("complete")(complete.complete)
app.command("explain-merge")(resolve.explain_merge)
app.command("ask")(ask.ask)
app.command("retrieve")(retrieve.retrieve)
app.command("serve")(serve.serve)
app.command("mcp")(mcp.mcp)
app.command("compare")(compare.compare)
app.command("report")(compare.report)
app.command("tune")(tune.tune)
app.command("status")(inspect.status)
app.command("digest")(inspect.digest)
app.command("cypher")(inspect.cypher)
app.command("delete")(inspect.delete)
app.command("export")(exchange.export)
app.command("import")(exchange.import_)
app.add_typer(bench.app, name="bench")
app.add_typer(communities.app, name="communities")
app.add_typer(db.app, name="db")
app.add_typer(compare.judge_app, name="judge")
app.add_typer(models.app, name="models")
app.add_typer(pipelines.app, name="pipelines")
app.add_typer(questions.app, name="questions")
app.add_typer(feedback.app, name="feedback")
app.add_typer(users.app, name="users")
app.add_typer(train.app, name="train")


@cache
def command() -> Callable[..., Any]:
    """Make the program of the list, once for all that this process runs of it: to look at the parameters of all commands takes 40 ms."""
    program = typer.main.get_command(app)
    show_examples(program)
    return program


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"kgrag {version('kgrag')}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand in SHORT_COMMANDS:
        from kgrag.store.jvm import expect_short_life

        expect_short_life(typical=context.invoked_subcommand in ASKING_COMMANDS)
