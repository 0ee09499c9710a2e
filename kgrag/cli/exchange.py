"""`kgrag export` and `kgrag import`: a store as files, and back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from kgrag.cli.options import AsJson, Store

__all__ = ["export", "import_"]


def export(
    to: Annotated[Path, typer.Option("--to", help="A folder that is not there yet, or empty.")],
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Write all that a store holds as CSV files, for `kgrag import` and for Neo4j's own `neo4j-admin database import`."""
    from kgrag.cli.output import print_json, say_remark, stderr, stdout, terminal_progress
    from kgrag.common.standard_streams import expect_no_stream
    from kgrag.settings import load_settings
    from kgrag.store.graph import open_store

    expect_no_stream(to)
    with open_store(load_settings(store=store).store, create=False, reads_only=True) as opened:
        say_remark(opened)
        done = opened.export_to(to, progress=terminal_progress())
    if as_json:
        print_json(asdict(done))
        return
    counts = ", ".join(f"{count:,} {kind}" for kind, count in done.rows.items())
    stdout.print(f"{done.folder}: {done.bytes / 1e6:,.1f} MB: {counts}", markup=False)
    stdout.print(f"digest {done.digest}")
    stderr.print("Into another store:  kgrag import FOLDER --store TARGET")
    stderr.print(
        "Into a new Neo4j, fastest: stop the server, run the next line, start it, then `kgrag import FOLDER --store neo4j://...`."
    )
    stdout.print(done.command, markup=False)


def import_(
    folder: Annotated[Path, typer.Argument(help="What kgrag export wrote.")],
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Make an empty store hold what was exported. Interrupted, the same command goes on; after `neo4j-admin`, it does what that leaves."""
    from kgrag.cli.output import print_json, stdout, terminal_progress
    from kgrag.settings import load_settings
    from kgrag.store.exchange.load import read_manifest
    from kgrag.store.graph import open_store

    read_manifest(folder)  # a wrong folder makes no store
    with open_store(load_settings(store=store).store) as opened:
        done = opened.import_from(folder, progress=terminal_progress())
    if as_json:
        print_json(asdict(done))
        return
    how = "neo4j-admin had loaded the files: indexes made, lists mended" if done.loaded_before else "read"
    stdout.print(f"{how}: " + ", ".join(f"{count:,} {kind}" for kind, count in done.rows.items()), markup=False)
    stdout.print(f"digest {done.digest}, as it was exported")
