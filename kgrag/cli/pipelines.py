"""`kgrag pipelines` and `kgrag pipelines show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kgrag.cli.options import AsJson

if TYPE_CHECKING:
    from kgrag.retrieve import AdaptivePipeline, Pipeline

__all__ = ["app"]

app = typer.Typer(invoke_without_command=True)


@app.callback()
def pipelines(context: typer.Context, as_json: AsJson = False) -> None:
    """List the retrieval pipelines, one line each; `show NAME` draws the steps of one."""
    if context.invoked_subcommand is not None:
        return
    from kgrag.cli.output import print_json, stdout
    from kgrag.retrieve import load_pipeline, pipeline_names

    found = [load_pipeline(name) for name in pipeline_names()]
    if as_json:
        print_json([{"name": one.name, "description": one.description} for one in found])
        return
    width = max(len(one.name) for one in found)
    for one in found:
        stdout.print(f"{one.name:<{width}}  {one.description}", markup=False)


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="A file of pipelines/ by its name, or the path of a TOML file.")],
    as_json: AsJson = False,
) -> None:
    """Draw the steps of a pipeline with their settings."""
    from kgrag.cli.output import print_json, stdout
    from kgrag.retrieve import drawn, load_pipeline

    pipeline: Pipeline | AdaptivePipeline = load_pipeline(name)
    if as_json:
        print_json(pipeline)
    else:
        stdout.print(drawn(pipeline), markup=False)
