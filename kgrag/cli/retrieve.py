"""`kgrag retrieve`: the evidence for a file of questions, for programs that score it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from kgrag.cli.options import AskingSettings, Budget, Store, Top, Where, takes_settings

__all__ = ["retrieve"]


@takes_settings
def retrieve(
    questions: Annotated[Path, typer.Option("--questions", help='JSON lines of {"id": ..., "question": "..."}.')],
    out: Annotated[
        Path, typer.Option("--out", help="JSON lines of evidence, one line for each question, in order; - is stdout.")
    ],
    store: Store = None,
    top: Top = None,
    budget: Budget = None,
    where: Where = None,
    **settings: Unpack[AskingSettings],
) -> None:
    """Write the evidence for each question of a file, best first."""
    import json
    import time

    from kgrag.cli.output import say_remark, shown_beside, stderr, terminal_progress
    from kgrag.common.question_files import read_questions
    from kgrag.common.whole_files import part_of, whole_file
    from kgrag.errors import InputError, Interrupted
    from kgrag.knowledge_graph import open_graph

    asked = read_questions(questions)
    if empty := [str(question.id) for question in asked if not question.question.strip()]:
        raise InputError(
            f"{questions}: expected a question in every line, got an empty text in those of id {', '.join(empty)}."
        )
    remarks: dict[str, None] = {}
    shown = terminal_progress()
    with (
        open_graph(store, create=False, reads_only=True, **settings) as opened,
        whole_file(out) as file,
        opened.outlasting(shown.say),
        shown.step("Retrieve", len(asked), "questions") as step,
    ):
        say_remark(opened.store)
        searched = opened.where(*where) if where else opened
        done = 0
        try:
            for question in asked:
                started = time.perf_counter()
                found = searched.trace(question.question, top=top, budget=budget, hidden=question.hidden)
                line = {
                    "id": question.id,
                    "question": question.question,
                    "pipeline": opened.settings.pipeline,
                    "seconds": round(time.perf_counter() - started, 4),
                    "evidence": [
                        piece.model_dump(mode="json", exclude={"boxes", "sources"}) for piece in found.evidence
                    ],
                }
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                remarks.update(dict.fromkeys(found.remarks))
                done += 1
                step.advance()
        except BaseException as error:
            there = f"{done} of {len(asked)} lines are in {part_of(out)}."
            if part_of(out) != out:
                there = f"{out} was not written: {there}"
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(f"Interrupted. {there}") from error
            stderr.print(f"note: {there}", markup=False)
            raise
    for remark in remarks:
        stderr.print(f"note: {remark}", markup=False)
    shown_beside(out).print(f"{len(asked)} questions → {out}", markup=False)
