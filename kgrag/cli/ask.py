"""`kgrag ask`."""

from __future__ import annotations

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
    from kgrag.types import Answer

__all__ = ["ask"]


def ask(
    question: Annotated[str, typer.Argument(help="The question, in plain words.")],
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
            help="A file with the model's instructions; {evidence} and {question} say where these go.",
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
) -> None:
    """Answer a question from a store, with numbered citations to document, page and section."""
    from kgrag.cli.output import print_json
    from kgrag.knowledge_graph import open_graph

    with open_graph(
        store,
        create=False,
        pipeline=pipeline,
        embedder=embedder,
        graph=graph,
        model=model,
        base_url=base_url,
        reranker=reranker,
        answer_prompt=answer_prompt,
        answer_strict=strict,
        timeout_s=timeout_s,
        model_cache=model_cache,
    ) as opened:
        answer = opened.ask(question, top=top, budget=budget)
    if as_json:
        print_json(answer)
    else:
        _show(answer, with_context=show_context)


def _show(answer: Answer, *, with_context: bool) -> None:
    from kgrag.cli.output import stderr, stdout

    stdout.print(answer.text, markup=False)
    if answer.citations:
        stdout.print()
    for citation in answer.citations:
        place = _place(citation.document, citation.section, citation.page_start, citation.page_end)
        stdout.print(f"[{citation.number}] {place}", markup=False)
    for note in answer.notes:
        stderr.print(f"note: {note}", markup=False)
    if with_context:
        for rank, piece in enumerate(answer.evidence, start=1):
            place = _place(piece.document, piece.section, piece.page_start, piece.page_end)
            how = f"score {piece.score:.3f} · {piece.tokens} tokens · {', '.join(piece.why)}"
            stdout.print(f"\n--- {rank}. {place} · {how}", markup=False, style="bold")
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


def _place(document: str, section: str, page_start: int | None, page_end: int | None) -> str:
    """Say where: `docs/a.pdf, page 3-4, Electrical > Supply`."""
    parts = [document]
    if page_start is not None:
        parts.append(f"page {page_start}" if page_end in (None, page_start) else f"pages {page_start}-{page_end}")
    if section:
        parts.append(section)
    return ", ".join(parts)
