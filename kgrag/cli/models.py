"""`kgrag models`: whether the configured models are there."""

from __future__ import annotations

from typing import Unpack

import typer

from kgrag.cli.options import AsJson, ModelSettings, Reranker, TimeoutS, takes_settings

__all__ = ["app"]

app = typer.Typer(help="The configured language, embedding and rerank models.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


class _CheckedSettings(ModelSettings):
    reranker: Reranker
    timeout_s: TimeoutS


@app.command("check")
@takes_settings
def check(as_json: AsJson = False, **settings: Unpack[_CheckedSettings]) -> int:
    """Make one tiny call to each configured model and say how it went: reachable, known, structured output, dimensions, time."""
    from kgrag.cli.output import print_json, stdout
    from kgrag.common.waiting import wait_for
    from kgrag.models import check_model_names
    from kgrag.models.check import check_models, exit_code
    from kgrag.models.stack import open_cache
    from kgrag.settings import load_settings

    chosen = load_settings(**settings)
    check_model_names(chosen)
    verdicts = wait_for(check_models(chosen))
    cache = open_cache(chosen)
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
