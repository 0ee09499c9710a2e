"""`kgrag serve`: the support desk."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Unpack

import typer

from kgrag.cli.options import AllowedHosts, AskingSettings, CallSettings, Store, Users, takes_settings

__all__ = ["serve", "serving", "until_told"]

MISSING = "kgrag serve and kgrag mcp need the extra `serve`: pip install 'kgrag[serve]'"


class ServeSettings(AskingSettings, CallSettings):
    """What the questions of the desk are asked with."""


@takes_settings
def serve(
    store: Store = None,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on. One that other machines reach needs --users.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 8321,
    users: Users = None,
    allowed_host: AllowedHosts = None,
    desk: Annotated[
        Path | None,
        typer.Option(
            "--desk", help="Folder of tickets, feedback and the audit log. Default: ./.kgrag-desk", show_default=False
        ),
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(
            "--root",
            help="What relative paths of documents are relative to: the build's working directory.",
            show_default=False,
        ),
    ] = None,
    uploads: Annotated[
        Path | None,
        typer.Option("--uploads", help="Folder of uploaded documents. Default: ./kgrag-uploads", show_default=False),
    ] = None,
    uploads_mb: Annotated[
        int, typer.Option("--uploads-mb", min=1, help="How large all uploads may be together.")
    ] = 10_000,
    metadata: Annotated[
        Path | None,
        typer.Option("--metadata", help="As for kgrag build: product, category, groups of files.", show_default=False),
    ] = None,
    webhook: Annotated[
        str | None,
        typer.Option("--webhook", help="Address that tickets are posted to as JSON, too.", show_default=False),
    ] = None,
    webhook_private: Annotated[
        bool, typer.Option("--webhook-private", help="The webhook may be in the own network.")
    ] = False,
    user_tokens: Annotated[
        int | None,
        typer.Option("--user-tokens", min=1, help="Tokens of a model for each user in 24 hours.", show_default=False),
    ] = None,
    at_once: Annotated[
        int | None,
        typer.Option(
            "--at-once",
            min=1,
            help="Questions that are worked on at once; others wait in turn. Default: 4, with a hosted model 32",
            show_default=False,
        ),
    ] = None,
    question_s: Annotated[
        float, typer.Option("--question-s", min=1, help="Seconds that a question may take once it is worked on.")
    ] = 300.0,
    drain_s: Annotated[
        float,
        typer.Option(
            "--drain-s",
            min=0,
            help="Seconds that questions have to be answered once the desk is told to end; after them the reply is 503.",
        ),
    ] = 3.0,
    log: Annotated[
        Path | None, typer.Option("--log", help="Log events as JSON lines to a file; - is stderr.", show_default=False)
    ] = None,
    log_questions: Annotated[bool, typer.Option("--log-questions", help="Log what is asked, too.")] = False,
    **settings: Unpack[ServeSettings],
) -> None:
    """Open the support desk: a page on which people ask, a REST API, an OpenAI endpoint. Ctrl-C ends it."""
    running = serving()
    listening = running.Listening(
        host,
        port,
        users,
        tuple(allowed_host or ()),
        desk=desk or Path(".kgrag-desk"),
        root=root or Path.cwd(),
        uploads=uploads or Path("kgrag-uploads"),
        uploads_mb=uploads_mb,
        metadata=metadata,
        webhook=running.Webhook(webhook, webhook_private) if webhook is not None else None,
        user_tokens=user_tokens,
        at_once=at_once,
        question_s=question_s,
        drain_s=drain_s,
        logs_questions=log_questions,
    )
    if log is not None:
        running.log_to(None if str(log) == "-" else log)
    access = running.check_listening(listening)
    if sys.stderr.isatty():  # it takes some seconds
        typer.echo("Opening the store and the models ...", err=True)
    until_told(running.run(store, listening, access, settings=dict(settings), say=typer.echo))
    typer.echo("The desk is closed.")


def until_told(job: Coroutine[Any, Any, None]) -> None:
    """Run what serves until Ctrl-C or SIGTERM, which is its ordinary end: what is under way is finished first."""
    if sys.platform != "win32":
        signal.set_wakeup_fd(-1)  # else a SIGTERM ends the process within seconds, whatever is under way
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    with suppress(KeyboardInterrupt):
        asyncio.run(job)


def serving() -> ModuleType:
    """Return the module that runs the desk. Raises `InputError` that names the extra where a package of it is not installed."""
    from importlib import import_module

    from kgrag.errors import InputError

    try:
        return import_module("kgrag.serve.running")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("kgrag"):
            raise
        raise InputError(f"{MISSING} ({error.name} is not installed)") from error
