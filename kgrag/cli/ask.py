"""`kgrag ask`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgrag.cli.options import (
    AsJson,
    BaseUrl,
    Budget,
    Embedder,
    Graph,
    Model,
    ModelCache,
    Pipeline,
    Reranker,
    Store,
    TimeoutS,
    Top,
)

if TYPE_CHECKING:
    from kgrag.knowledge_graph import KnowledgeGraph
    from kgrag.types import Answer

__all__ = ["ask"]


def ask(
    question: Annotated[
        str | None, typer.Argument(help="The question, in plain words. Without one: a session.", show_default=False)
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            help='A file of questions, one a line, or JSON lines of {"id": ..., "question": "..."}; - reads them from stdin. With --json: '
            "one JSON line for each.",
            show_default=False,
        ),
    ] = None,
    store: Store = None,
    pipeline: Pipeline = None,
    embedder: Embedder = None,
    graph: Graph = None,
    model: Model = None,
    base_url: BaseUrl = None,
    reranker: Reranker = None,
    answer_prompt: Annotated[
        Path | None,
        typer.Option(
            "--answer-prompt",
            help="A file with the model's instructions ({evidence}, {seeds}, {linked}, {question} say where these go), or one of detailed, "
            "minimal, steps, strict, conversational, basic, expert, reasoning, linked.",
            show_default=False,
        ),
    ] = None,
    open_knowledge: Annotated[
        bool | None,
        typer.Option(
            "--open-knowledge",
            help="A model may add what it knows from elsewhere, marked [own knowledge].",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[
        bool | None,
        typer.Option(
            "--strict", help="Take out what a model writes that its citations do not support.", show_default=False
        ),
    ] = None,
    timeout_s: TimeoutS = None,
    model_cache: ModelCache = None,
    top: Top = None,
    budget: Budget = None,
    show_context: Annotated[
        bool, typer.Option("--show-context", help="Show the evidence that the answer was made from.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Answer a question from a store, with numbered citations to document, page and section.

    Without a question, on a terminal: a session, in which /help says what can be done besides asking.
    """
    from kgrag.cli.output import print_json, say_remark
    from kgrag.errors import InputError
    from kgrag.knowledge_graph import open_graph

    if question is not None and questions is not None:
        raise InputError("Expected a question or --questions FILE, got both.")
    if question is None and questions is None and (as_json or not sys.stdin.isatty()):
        raise InputError("Expected a question, --questions FILE (- for stdin), or a terminal for a session; got none.")
    asked = _read(questions) if questions is not None else []

    with open_graph(
        store,
        create=False,
        reads_only=True,
        asks_next=True,
        pipeline=pipeline,
        embedder=embedder,
        graph=graph,
        model=model,
        base_url=base_url,
        reranker=reranker,
        answer_prompt=answer_prompt,
        answer_strict=strict,
        open_knowledge=open_knowledge,
        timeout_s=timeout_s,
        model_cache=model_cache,
    ) as opened:
        say_remark(opened.store)
        if questions is not None:
            return _answer_all(opened, asked, top=top, budget=budget, with_context=show_context, as_json=as_json)
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


def _read(file: Path) -> list[tuple[str | int, str]]:
    """Return ids and questions: of JSON lines, or lines as they stand, with their numbers."""
    from kgrag.common.question_files import read_questions
    from kgrag.errors import InputError

    if file.suffix == ".jsonl":
        return [(question.id, question.question) for question in read_questions(file)]
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--questions {file}: expected a text file with a question a line: {error}") from error
    found: list[tuple[str | int, str]] = [
        (number, line.strip()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()
    ]
    if not found:
        raise InputError(f"--questions {file}: expected a question a line, got an empty file.")
    return found


def _answer_all(
    opened: KnowledgeGraph,
    asked: list[tuple[str | int, str]],
    *,
    top: int | None,
    budget: int | None,
    with_context: bool,
    as_json: bool,
) -> int:
    """Answer question after question; one that fails is named and does not end the rest. Return the exit code."""
    from kgrag.cli.output import complain, json_line, stdout
    from kgrag.errors import KgragError

    failed = 0
    for number, question in asked:
        if not as_json:
            stdout.print(f"## {question}\n", style="bold")
        try:
            answer = opened.ask(question, top=top, budget=budget)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this question's
            failed += 1
            why = str(error) if isinstance(error, KgragError) else f"Unexpected {type(error).__name__}: {error}"
            if as_json:
                sys.stdout.write(json_line({"id": number, "question": question, "error": why}) + "\n")
            else:
                complain(why)
        else:
            if as_json:
                sys.stdout.write(json_line({"id": number, **answer.model_dump(mode="json")}) + "\n")
            else:
                _show(answer, with_context=with_context)
        if not as_json:
            stdout.print()
    if failed:
        complain(f"{failed} of {len(asked)} questions failed.")
    return 1 if failed else 0


def _show(answer: Answer, *, with_context: bool) -> None:
    from kgrag.cli.output import stderr, stdout
    from kgrag.cli.session import place

    stdout.print(answer.text, markup=False)
    if answer.citations:
        stdout.print()
    for citation in answer.citations:
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
