"""`kgrag users`: who may use the support desk."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(help="Who may use the support desk: a file of users, for kgrag serve --users.", no_args_is_help=True)


class RoleChoice(StrEnum):
    """What a user may do."""

    ask = "ask"
    curate = "curate"
    admin = "admin"


@app.callback()
def _users() -> None:
    """Keep `add` a command of its own."""


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Letters, digits and . _ @ -")],
    users: Annotated[Path, typer.Option("--users", help="The file; made if it is not there.")] = Path("users.toml"),
    role: Annotated[
        RoleChoice, typer.Option("--role", help="ask; curate: uploads, builds, deletes; admin: sees tickets, too.")
    ] = RoleChoice.ask,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group", help="Whose documents they may read, too. May be given several times.", show_default=False
        ),
    ] = None,
    password: Annotated[
        bool,
        typer.Option("--password", help="Ask for a password, to log in on the page by name. Its Argon2 hash is kept."),
    ] = False,
) -> None:
    """Add a user and print the token to log in with, once: the file keeps only its SHA-256."""
    from kgrag.cli.output import stderr
    from kgrag.common.standard_streams import expect_no_stream
    from kgrag.serve.access import add_user

    expect_no_stream(users)
    said = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True) if password else None
    typer.echo(add_user(users, name, role.value, group or [], password=said))
    stderr.print(f"{name} may {role.value}. This token is shown once; {users} keeps only its SHA-256.", markup=False)
