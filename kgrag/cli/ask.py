"""`kgrag ask`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from kgrag.cli.options import AsJson, AskingSettings, Budget, CallSettings, Store, Top, Where, setting, takes_settings

if TYPE_CHECKING:
    from kgrag.knowledge_graph import KnowledgeGraph
    from kgrag.types import Answer, Question

__all__ = ["ask"]

NAMED_ROWS = 20
"""Of a question table, those left out."""


class AskSettings(AskingSettings, CallSettings):
    """What a question is asked with, and how a model answers it."""

    answer_prompt: Annotated[
        Path | None,
        setting(
            "--answer-prompt",
            help="A file with the model's instructions ({evidence}, {seeds}, {linked}, {question} say where these go), or one of detailed, "
            "minimal, steps, strict, conversational, basic, expert, reasoning, linked.",
        ),
    ]
    open_knowledge: Annotated[
        bool | None,
        setting("--open-knowledge", help="A model may add what it knows from elsewhere, marked \\[own knowledge]."),
    ]
    answer_strict: Annotated[
        bool | None, setting("--strict", help="Take out what a model writes that its citations do not support.")
    ]
    answer_gate: Annotated[
        float | None,
        setting(
            "--gate",
            help="Ask the model only where the passages answer at least so probably (0 to 1); else abstain without a call.",
        ),
    ]
    answer_chain: Annotated[
        str | None,
        setting(
            "--chain",
            help="How a model is shown the passages: stuff (at once), map_reduce (in batches, answers merged), refine (batch by batch).",
        ),
    ]


@takes_settings
def ask(
    question: Annotated[
        str | None, typer.Argument(help="The question, in plain words. Without one: a session.", show_default=False)
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            help='A file of questions: one a line, JSON lines of {"id": ..., "question": "..."}, or a CSV table with these columns; both '
            'may have "form" (yes/no, number, ...) and "explanation" for a model. - reads lines from stdin. With --json: a JSON line each.',
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            help="With --questions: also write a table for a person to check (.csv or .md): answer, reasoning, sources with pages, notes.",
            show_default=False,
        ),
    ] = None,
    store: Store = None,
    top: Top = None,
    budget: Budget = None,
    where: Where = None,
    show_context: Annotated[
        bool, typer.Option("--show-context", help="Show the evidence that the answer was made from.")
    ] = False,
    as_json: AsJson = False,
    **settings: Unpack[AskSettings],
) -> int:
    """Answer a question from a store, with numbered citations to document, page and section.

    Without a question, on a terminal: a session, in which /help says what can be done besides asking.
    """
    from kgrag.cli.output import print_json, say_remark, terminal_progress
    from kgrag.errors import InputError
    from kgrag.knowledge_graph import open_graph

    if question is not None and questions is not None:
        raise InputError("Expected a question or --questions FILE, got both.")
    if question is None and questions is None and (as_json or not sys.stdin.isatty()):
        raise InputError("Expected a question, --questions FILE (- for stdin), or a terminal for a session; got none.")
    if report is not None:
        from kgrag.answer.questionnaire import check_report

        if questions is None:
            raise InputError("Expected --questions FILE with --report: a report is of a file of questions.")
        check_report(report)
    asked = _read(questions) if questions is not None else []

    with open_graph(store, create=False, reads_only=True, asks_next=True, **settings) as opened:
        say_remark(opened.store)
        if where:
            opened = opened.where(*where)
        if questions is not None:
            with opened.outlasting(terminal_progress().say):
                return _answer_all(
                    opened, asked, top=top, budget=budget, with_context=show_context, as_json=as_json, report=report
                )
        if question is None:
            from kgrag.cli.session import Session, terminal_reader

            def show(answer: Answer) -> None:
                _show(answer, with_context=show_context)

            Session(opened, show, top=top, budget=budget).run(terminal_reader())
            return 0
        answer = opened.ask(question, top=top, budget=budget)
    if as_json:
        print_json(answer)
    else:
        _show(answer, with_context=show_context)
    return 0


def _read(file: Path) -> list[Question]:
    """Return questions: of JSON lines or a table (CSV) with their forms and explanations, or lines as they stand, with their numbers."""
    from kgrag.cli.output import stderr
    from kgrag.common.question_files import read_question_table, read_questions
    from kgrag.common.standard_streams import read_text_once
    from kgrag.errors import InputError
    from kgrag.types import Question

    if file.suffix.lower() == ".jsonl":
        return read_questions(file)
    if file.suffix.lower() == ".csv":
        table = read_question_table(file)
        if table.without_question:
            rows = ", ".join(map(str, table.without_question[:NAMED_ROWS]))
            more = ", ..." if len(table.without_question) > NAMED_ROWS else ""
            stderr.print(f"note: {file}: left out, as they have no question: rows {rows}{more}.", markup=False)
        return table.questions
    try:
        text = read_text_once(file)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--questions {file}: expected a text file with a question a line: {error}") from error
    found = [
        Question(id=number, question=line.strip())
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    ]
    if not found:
        raise InputError(f"--questions {file}: expected a question a line, got an empty file.")
    return found


def _answer_all(
    opened: KnowledgeGraph,
    asked: list[Question],
    *,
    top: int | None,
    budget: int | None,
    with_context: bool,
    as_json: bool,
    report: Path | None,
) -> int:
    """Answer question after question; one that fails is named and does not end the rest. Return the exit code.

    The report is written anew after every answer: what was answered before an interruption is in it, and the rest as not asked. Raises
    `Interrupted`.
    """
    from kgrag.answer.questionnaire import Filled, head, row
    from kgrag.cli.output import complain, json_line, stdout
    from kgrag.common.whole_files import whole_file
    from kgrag.errors import Interrupted, KgragError

    filled: list[Filled] = []
    # Each row is made once: of thousands of questions all would take longer than an answer.
    rows = [row(Filled(one, None), suffix=report.suffix) for one in asked] if report is not None else []

    def write_report() -> None:
        if report is None:
            return
        if filled:
            rows[len(filled) - 1] = row(filled[-1], suffix=report.suffix)
        with whole_file(report, newline="") as file:
            file.write(head(suffix=report.suffix))
            file.writelines(rows)

    write_report()  # a place that cannot be written to is found before the first answer
    for one in asked:
        if not as_json:
            stdout.print(f"## {one.question}\n", style="bold", markup=False)
        try:
            answer = opened.ask(one.question, top=top, budget=budget, form=one.form, explanation=one.explanation)
        except KeyboardInterrupt as error:
            place = f", the others are `not asked` in {report}" if report is not None else ""
            raise Interrupted(
                f"Interrupted: {len(filled)} of {len(asked)} questions were asked{place}. The same command begins anew."
            ) from error
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this question's
            why = str(error) if isinstance(error, KgragError) else f"Unexpected {type(error).__name__}: {error}"
            filled.append(Filled(one, None, why))
            if as_json:
                sys.stdout.write(json_line({"id": one.id, "question": one.question, "error": why}) + "\n")
            else:
                complain(why)
        else:
            filled.append(Filled(one, answer))
            if as_json:
                sys.stdout.write(json_line({"id": one.id, **answer.model_dump(mode="json")}) + "\n")
            else:
                _show(answer, with_context=with_context)
        write_report()
        if not as_json:
            stdout.print()
    failed = sum(one.answer is None for one in filled)
    if failed:
        complain(f"{failed} of {len(asked)} questions failed.")
    return 1 if failed else 0


def _show(answer: Answer, *, with_context: bool) -> None:
    from kgrag.cli.output import stderr, stdout
    from kgrag.types import place

    stdout.print(answer.told, markup=False)
    if answer.sources:
        stdout.print()
    for citation in answer.sources:
        stdout.print(f"[{citation.number}] {place(citation)}", markup=False)
    for note in answer.notes:
        stderr.print(f"note: {note}", markup=False)
    if with_context:
        for rank, piece in enumerate(answer.evidence, start=1):
            how = f"score {piece.score:.3f} · {piece.tokens} tokens · {', '.join(piece.why)}"
            stdout.print(f"\n--- {rank}. {place(piece)} · {how}", markup=False, style="bold")
            stdout.print(piece.text, markup=False)
    how = (
        "extractive: sentences and table rows of the documents, no language model"
        if answer.model == "rules"
        else f"{answer.model} · {answer.usage.prompt_tokens:,} + {answer.usage.completion_tokens:,} tokens"
        + (f" · ${answer.usage.cost:.4f}" if answer.usage.cost else "")
    )
    stderr.print(
        f"\n{how} · pipeline {answer.pipeline} · {len(answer.evidence)} pieces of evidence · {answer.seconds:.2f} s",
        style="dim",
    )
