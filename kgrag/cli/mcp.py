"""`kgrag mcp`: the store as tools of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from kgrag.cli.options import AllowedHosts, AskingSettings, Store, Users, takes_settings

__all__ = ["mcp"]


@takes_settings
def mcp(
    store: Store = None,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP at /mcp instead of stdio.")] = False,
    host: Annotated[
        str, typer.Option("--host", help="With --http: one that other machines reach needs --users.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="With --http; 0 takes a free one.")] = 8322,
    users: Users = None,
    allowed_host: AllowedHosts = None,
    desk: Annotated[
        Path | None, typer.Option("--desk", help="Folder of the audit log. Default: ./.kgrag-desk", show_default=False)
    ] = None,
    allow_cypher: Annotated[
        bool, typer.Option("--allow-cypher", help="Add a tool for Cypher that only reads.")
    ] = False,
    **settings: Unpack[AskingSettings],
) -> None:
    """Serve a store to other programs' models: search, fetch, ask, neighbours, list_documents, schema. Nothing is written to it."""
    from kgrag.cli.serve import serving, until_told

    running = serving()
    listening = running.Listening(host, port, users, tuple(allowed_host or ()), desk or Path(".kgrag-desk"), Path.cwd())
    # stdout is the protocol's.
    access = running.check_listening(listening) if http else None
    job = running.run_mcp(
        store,
        listening,
        access,
        settings=dict(settings),
        allow_cypher=allow_cypher,
        say=lambda line: typer.echo(line, err=True),
    )
    until_told(job)
