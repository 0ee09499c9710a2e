"""`kgrag ask`: question → evidence → answer with citations. Evidence is retrieved once; what was answered from is what is returned."""

from __future__ import annotations

import time

from kgrag.answer import extract_answer
from kgrag.errors import InputError
from kgrag.models.base import Embedder
from kgrag.retrieve import Retriever
from kgrag.settings import Settings
from kgrag.types import Answer

__all__ = ["ask"]


async def ask(
    question: str,
    *,
    retriever: Retriever,
    embedder: Embedder,
    settings: Settings,
    top: int | None = None,
    budget: int | None = None,
) -> Answer:
    """Answer a question from the store's documents, or abstain. Raises `InputError` for an empty question."""
    if not question.strip():
        raise InputError("Expected a question, got an empty text.")
    started = time.perf_counter()
    evidence = await retriever.retrieve(question, top=top, budget=budget)
    answer = await extract_answer(question, evidence, embedder=embedder)
    return answer.model_copy(update={"pipeline": settings.pipeline, "seconds": round(time.perf_counter() - started, 3)})
