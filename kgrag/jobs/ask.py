"""`kgrag ask`: question → evidence → answer with citations. Evidence is retrieved once; what was answered from is what is returned."""

from __future__ import annotations

import time
from collections.abc import Collection

from kgrag.answer import extract_answer, generate_answer, read_instructions
from kgrag.common.progress import Progress, Silent
from kgrag.errors import InputError
from kgrag.models.base import ChatModel, Embedder
from kgrag.retrieve import AdaptiveRetriever, Retriever
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
    instructions = read_instructions(settings.answer_prompt)
    started = time.perf_counter()
    progress = progress or Silent()
    with progress.step("Search the documents", None, "passages") as search:
        found = await retriever.trace(question, top=top, budget=budget, hidden=hidden)
        search.advance(len(found.evidence))
    if model is None:
        with progress.step("Read the passages", len(found.evidence), "passages") as read:
            answer = await extract_answer(question, found.evidence, embedder=embedder)
            read.advance(len(found.evidence))
    else:
        answer = await generate_answer(
            question,
            found.evidence,
            model=model,
            embedder=embedder,
            instructions=instructions,
            strict=settings.answer_strict,
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
