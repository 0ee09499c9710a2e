"""`kgrag mcp`: the store as tools of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kgrag.cli.options import AllowedHosts, BaseUrl, Embedder, Graph, Model, Pipeline, Reranker, Store, Users

__all__ = ["mcp"]


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
    pipeline: Pipeline = None,
    embedder: Embedder = None,
    graph: Graph = None,
    model: Model = None,
    base_url: BaseUrl = None,
    reranker: Reranker = None,
) -> None:
    """Serve a store to other programs' models: search, fetch, ask, neighbours, list_documents, schema. Nothing is written to it."""
    from kgrag.cli.serve import serving, until_told

    running = serving()
    listening = running.Listening(host, port, users, tuple(allowed_host or ()), desk or Path(".kgrag-desk"), Path.cwd())
    settings = {
        "pipeline": pipeline,
        "embedder": embedder,
        "graph": graph,
        "model": model,
        "base_url": base_url,
        "reranker": reranker,
    }
    # stdout is the protocol's.
    access = running.check_listening(listening) if http else None
    job = running.run_mcp(
        store,
        listening,
        access,
        settings=settings,
        allow_cypher=allow_cypher,
        say=lambda line: typer.echo(line, err=True),
    )
    until_told(job)
