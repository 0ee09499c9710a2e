"""`kgrag ask`: question → evidence → answer with citations. Evidence is retrieved once; what was answered from is what is returned."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection

from kgrag.answer import (
    answer_from_listing,
    extract_answer,
    generate_answer,
    in_another_language,
    last_question,
    read_instructions,
    refuse_language,
    without_typing_errors,
)
from kgrag.common.progress import Progress, Silent
from kgrag.errors import InputError
from kgrag.models.base import ChatModel, Embedder
from kgrag.retrieve import AdaptiveRetriever, Retrieval, Retriever
from kgrag.settings import Settings
from kgrag.types import Answer

__all__ = ["ask"]


async def ask(
    question: str,
    *,
    retriever: Retriever | AdaptiveRetriever,
    embedder: Embedder,
    settings: Settings,
    model: ChatModel | None = None,
    top: int | None = None,
    budget: int | None = None,
    hidden: Collection[str] = (),
    progress: Progress | None = None,
) -> Answer:
    """Answer a question from the store's documents, or abstain: by `model`, or without one in the documents' own sentences.

    `hidden` chunks (ids) are as good as absent: those that a made question was taken from. `progress` is told each step as it begins and
    ends; a step advances by the passages that it found or read.

    Raises `InputError` for an empty question or a prompt file that cannot be used, and what the model raises.
    """
    if not question.strip():
        raise InputError("Expected a question, got an empty text.")
    instructions = read_instructions(settings.answer_prompt, open_knowledge=settings.open_knowledge)
    started = time.perf_counter()
    shown = progress or Silent()

    async def find(wording: str) -> Retrieval:
        with shown.step("Search the documents", None, "passages") as search:
            found = await retriever.trace(wording, top=top, budget=budget, hidden=hidden)
            search.advance(len(found.evidence))
        return found

    if model is None:
        answer, found = await _extracted(question, find, embedder, shown)
    else:
        found = await find(question)
        answer = _listed(question, found) or await generate_answer(
            question,
            found.evidence,
            model=model,
            embedder=embedder,
            instructions=instructions,
            strict=settings.answer_strict,
            open_knowledge=settings.open_knowledge,
            progress=progress,
        )
    return answer.model_copy(
        update={
            "pipeline": settings.pipeline,
            "notes": (*answer.notes, *found.remarks),
            "usage": answer.usage + found.usage,
            "seconds": round(time.perf_counter() - started, 3),
        }
    )


async def _extracted(
    question: str, find: Callable[[str], Awaitable[Retrieval]], embedder: Embedder, progress: Progress
) -> tuple[Answer, Retrieval]:
    """Answer in the documents' own sentences: what a long question asks at last, without its typing errors, in the documents' language."""
    read = last_question(question)
    found = await find(read)
    languages = in_another_language(read, found.evidence)
    if languages:
        return refuse_language(question, found.evidence, *languages), found
    mended = without_typing_errors(read, found.evidence, embedder)
    if mended != read:
        found = await find(mended)
    if listed := _listed(mended, found):
        return listed.model_copy(update={"question": question}), found
    with progress.step("Read the passages", len(found.evidence), "passages") as reading:
        answer = await extract_answer(mended, found.evidence, embedder=embedder)
        reading.advance(len(found.evidence))
    notes = (f"read as: {mended}",) if mended != question else ()
    return answer.model_copy(update={"question": question, "notes": (*notes, *answer.notes)}), found


def _listed(question: str, found: Retrieval) -> Answer | None:
    """Answer a question that counts or lists from all that is stated; None where it is another, or nothing is stated."""
    return answer_from_listing(question, found.listing) if found.listing else None
