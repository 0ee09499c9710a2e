"""`kgrag feedback`: what people said at the support desk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(help="What people said at the support desk.", no_args_is_help=True)


@app.callback()
def _feedback() -> None:
    """Keep `export` a command of its own."""


@app.command("export")
def export(
    out: Annotated[Path, typer.Option("--out", help="The question file: JSON lines; - is stdout.")],
    desk: Annotated[Path, typer.Option("--desk", help="The folder of kgrag serve --desk.")] = Path(".kgrag-desk"),
) -> None:
    """Make a question file for kgrag bench retrieval and kgrag compare of verdicts, and list what the documents do not say."""
    from kgrag.cli.output import shown_beside
    from kgrag.common.journal import Journal
    from kgrag.errors import InputError
    from kgrag.jobs.feedback import export_feedback

    if not desk.is_dir():
        raise InputError(
            f"{desk}: expected the folder that kgrag serve --desk names, got none: nothing was said there."
        )
    journal = Journal(desk)
    done = export_feedback(journal.read("feedback"), journal.read("tickets"), out)
    beside = shown_beside(out)
    beside.print(
        f"{done.questions} questions → {out}: {done.right} with a right answer, "
        f"{done.questions - done.right} that the documents do not answer"
    )
    if done.left_out:
        beside.print(f"{done.left_out} verdicts left out: they say that an answer is wrong, not what is right")
    for question, times in done.unanswered:
        beside.print(
            f"not in the documents, passed on {times} {'time' if times == 1 else 'times'}: {question}", markup=False
        )
