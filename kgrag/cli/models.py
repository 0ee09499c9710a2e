"""`kgrag models`: whether the configured models are there."""

from __future__ import annotations

from typing import Annotated

import typer

from kgrag.cli.options import AsJson, BaseUrl, Embedder, Model, TimeoutS

__all__ = ["app"]

app = typer.Typer(help="The configured language, embedding and rerank models.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command("check")
def check(
    model: Model = None,
    embedder: Embedder = None,
    reranker: Annotated[
        str | None,
        typer.Option(
            "--reranker", help="cohere:NAME or sentence-transformers:NAME. Default: none.", show_default=False
        ),
    ] = None,
    base_url: BaseUrl = None,
    timeout_s: TimeoutS = None,
    as_json: AsJson = False,
) -> int:
    """Make one tiny call to each configured model and say how it went: reachable, known, structured output, dimensions, time."""
    from kgrag.cli.output import print_json, stdout
    from kgrag.common.waiting import wait_for
    from kgrag.models import check_model_names
    from kgrag.models.check import check_models, exit_code
    from kgrag.models.stack import open_cache
    from kgrag.settings import load_settings

    settings = load_settings(model=model, embedder=embedder, reranker=reranker, base_url=base_url, timeout_s=timeout_s)
    check_model_names(settings)
    verdicts = wait_for(check_models(settings))
    cache = open_cache(settings)
    size = None if cache is None else cache.size()
    if as_json:
        kept = (
            None
            if size is None
            else {"path": str(size.path), "entries": dict(size.entries), "megabytes": size.megabytes}
        )
        print_json({"models": [verdict.as_json() for verdict in verdicts], "cache": kept})
        return exit_code(verdicts)
    for verdict in verdicts:
        state = "ok    " if verdict.ok else "FAILED"
        stdout.print(f"{verdict.role:<9} {verdict.name}  {state}  {verdict.line}", markup=False)
    if size is not None:
        stdout.print(
            f"cache     {size.path}  {sum(size.entries.values()):,} replies, {size.megabytes:.1f} MB", markup=False
        )
    return exit_code(verdicts)
