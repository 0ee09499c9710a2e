"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["AsJson", "Budget", "Pipeline", "Store", "Top"]

Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        help="A folder (embedded database) or neo4j://host:7687 (with NEO4J_USERNAME, NEO4J_PASSWORD, NEO4J_DATABASE). Default: ./.kgrag",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document to stdout.")]
Pipeline = Annotated[
    str | None,
    typer.Option(
        "--pipeline", "-p", help="A file of pipelines/ by its name, or the path of a TOML file.", show_default=False
    ),
]
Top = Annotated[
    int | None, typer.Option("--top", min=1, help="Cut after so many pieces of evidence.", show_default=False)
]
Budget = Annotated[
    int | None, typer.Option("--budget", min=1, help="Cut after so many tokens of evidence.", show_default=False)
]
