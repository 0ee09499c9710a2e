"""`kgrag db`: a local Neo4j, started, looked at and stopped."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgrag.cli.options import AsJson
from kgrag.cli.output import print_json, stderr, stdout

if TYPE_CHECKING:
    from kgrag.neo4j_local.server import Neo4jServer

__all__ = ["app"]

NOT_RUNNING = 3
"""As for every database that cannot be reached."""

app = typer.Typer(
    help="Run a local Neo4j: by Docker where an engine runs, else from Maven artefacts.", no_args_is_help=True
)

Home = Annotated[
    Path | None,
    typer.Option(
        help="The server's folder (data, password, logs). Default: ~/.local/share/kgrag/neo4j", show_default=False
    ),
]
Export = Annotated[bool, typer.Option("--export", help='Print export lines, for eval "$(kgrag db up --export)".')]


class EngineChoice(StrEnum):
    """How the server is run."""

    auto = "auto"
    docker = "docker"
    maven = "maven"


@app.command("up")
def up(
    home: Home = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Bolt port on 127.0.0.1; 0 takes a free one. Default: that of the home's last server, of a new home 7687.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[EngineChoice, typer.Option(help="auto takes Docker where an engine runs.")] = EngineChoice.auto,
    heap_mb: Annotated[
        int | None,
        typer.Option(
            min=256,
            help="Java heap of the server. Default: that of the home's last server, of a new home 2048.",
            show_default=False,
        ),
    ] = None,
    export: Export = False,
    as_json: AsJson = False,
) -> None:
    """Start Neo4j, or find it running, and say how to log in. The first start fetches it (116 MB) and makes a password."""
    from kgrag.neo4j_local import server as neo4j_server

    server = neo4j_server.up(
        home,
        bolt_port=port,
        engine=engine.value,
        heap_mb=heap_mb,
        on_step=lambda step: stderr.print(step, markup=False),
    )
    _show(server, export=export, as_json=as_json)


@app.command("status")
def status(home: Home = None, export: Export = False, as_json: AsJson = False) -> None:
    """Say whether Neo4j runs and how to log in. Exit code 3 where it does not."""
    from kgrag.neo4j_local import server as neo4j_server

    server = neo4j_server.status(home)
    if server is not None:
        return _show(server, export=export, as_json=as_json)
    if as_json:
        print_json({"running": False})
    else:
        stderr.print(
            f"No Neo4j runs on {home or neo4j_server.default_home()}. Start one: kgrag db up{_home_flag(home)}",
            markup=False,
        )
    raise typer.Exit(NOT_RUNNING)


@app.command("down")
def down(
    home: Home = None,
    delete_data: Annotated[bool, typer.Option("--delete-data", help="Delete the database and the folder too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Stop Neo4j; its data stay for the next `kgrag db up`."""
    from kgrag.neo4j_local import server as neo4j_server

    stopped = neo4j_server.down(home, delete_data=delete_data)
    if as_json:
        print_json({"stopped": stopped, "deleted": delete_data})
    else:
        stdout.print("Neo4j is stopped." if stopped else "No Neo4j was running.")


@app.command("admin", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def admin(
    context: typer.Context,
    home: Home = None,
    heap_mb: Annotated[int, typer.Option(min=256, help="Java heap of the program.")] = 512,
) -> None:
    """Run Neo4j's own neo4j-admin on the stopped server: kgrag db admin database import full ... (Maven artefacts have no script)."""
    from kgrag.neo4j_local import server as neo4j_server
    from kgrag.neo4j_local.admin import run_admin

    folder = home or neo4j_server.default_home()
    run_admin(folder, context.args, heap_mb=heap_mb, on_line=lambda line: stdout.print(line, markup=False))


def _show(server: Neo4jServer, *, export: bool, as_json: bool) -> None:
    if export:
        for name, value in server.environment().items():
            typer.echo(f"export {name}={shlex.quote(value)}")
        return
    facts: dict[str, Any] = {
        "running": True,
        "url": server.url,
        "username": server.username,
        "password_file": str(server.home / "password"),
        "home": str(server.home),
        "engine": server.engine,
        "pid": server.pid,
    }
    if as_json:
        return print_json(facts)
    for name, value in facts.items():
        if name != "running" and value is not None:
            stdout.print(f"{name.replace('_', ' '):<14}{value}", markup=False)
    status = f"kgrag db status --export{_home_flag(server.home)}"
    stdout.print(f'\nFor every kgrag command of this shell: eval "$({status})"', markup=False)


def _home_flag(home: Path | None) -> str:
    return "" if home is None else f" --home {shlex.quote(str(home))}"
