"""`kgrag ask`: question → evidence → answer with citations. Evidence is retrieved once; what was answered from is what is returned."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection

from kgrag.answer import (
    answer_from_listing,
    extract_answer,
    generate_answer,
    in_another_language,
    language_not_read,
    last_question,
    nearest_statements,
    read_instructions,
    refuse_before_asking,
    refuse_language,
    said_of_language,
    without_typing_errors,
)
from kgrag.common.progress import Progress, Silent
from kgrag.models.base import ChatModel, Embedder
from kgrag.retrieve import AdaptiveRetriever, Retrieval, Retriever
from kgrag.settings import Settings
from kgrag.store.fulltext import fulltext_query
from kgrag.store.graph import GraphStore
from kgrag.text.courtesies import without_courtesies
from kgrag.text.questions import checked_question, read_question
from kgrag.text.words import stems
from kgrag.types import Answer, Silence

__all__ = ["ask"]

SEARCHED_NAMED = 100
"""Of the documents that were searched without finding a word, at most so many are named."""


async def ask(
    question: str,
    *,
    retriever: Retriever | AdaptiveRetriever,
    embedder: Embedder,
    settings: Settings,
    model: ChatModel | None = None,
    top: int | None = None,
    budget: int | None = None,
    form: str = "",
    explanation: str = "",
    hidden: Collection[str] = (),
    progress: Progress | None = None,
) -> Answer:
    """Answer a question from the store's documents, or abstain: by `model`, or without one in the documents' own sentences.

    `form` and `explanation` are for the model: what the answer has to begin with (`yes/no`, `number`), and what is meant by the question.
    `hidden` chunks (ids) are as good as absent: those that a made question was taken from. `progress` is told each step as it begins and
    ends; a step advances by the passages that it found or read.

    Raises `InputError` for an empty question or a prompt file that cannot be used, and what the model raises.
    """
    question = checked_question(question)
    instructions = read_instructions(settings.answer_prompt, open_knowledge=settings.open_knowledge)
    started = time.perf_counter()
    shown = progress or Silent()

    async def find(wording: str) -> Retrieval:
        with shown.step("Search the documents", None, "passages") as search:
            found = await retriever.trace(wording, top=top, budget=budget, hidden=hidden)
            search.advance(len(found.evidence))
        return found

    read = last_question(without_courtesies(question))
    if model is None:
        answer, found, read = await _extracted(question, read, find, embedder, shown)
    else:
        found = await find(question)
        answer = (
            _listed(question, found)
            or await refuse_before_asking(
                question, found.evidence, embedder=embedder, model=model.name, gate=settings.answer_gate
            )
            or await generate_answer(
                question,
                found.evidence,
                model=model,
                embedder=embedder,
                instructions=instructions,
                strict=settings.answer_strict,
                open_knowledge=settings.open_knowledge,
                chain=settings.answer_chain,
                batch_tokens=settings.chain_tokens,
                form=form,
                explanation=explanation,
                progress=progress,
            )
        )
        if answer.abstained and not answer.nearest:
            nearest = await nearest_statements(read, found.evidence, embedder=embedder)
            answer = answer.model_copy(update={"nearest": nearest})
    if answer.abstained and (silence := await asyncio.to_thread(_silence, read, answer, retriever.store)):
        answer = answer.model_copy(update={"silence": silence, "text": f"{answer.text}\n{_said_of(silence)}"})
    return answer.model_copy(
        update={
            "pipeline": settings.pipeline,
            "notes": (*answer.notes, *found.remarks),
            "usage": answer.usage + found.usage,
            "seconds": round(time.perf_counter() - started, 3),
        }
    )


async def _extracted(
    question: str, read: str, find: Callable[[str], Awaitable[Retrieval]], embedder: Embedder, progress: Progress
) -> tuple[Answer, Retrieval, str]:
    """Answer in the documents' own sentences what is read as the question, and return it without typing errors as well."""
    found = await find(read)
    languages = in_another_language(read, found.evidence)
    if languages:
        return refuse_language(question, found.evidence, *languages), found, read
    not_read = language_not_read(read, found.evidence)
    mended = read if not_read else without_typing_errors(read, found.evidence, embedder)
    if mended != read:
        found = await find(mended)
    if listed := _listed(mended, found):
        return listed.model_copy(update={"question": question}), found, mended
    with progress.step("Read the passages", len(found.evidence), "passages") as reading:
        answer = await extract_answer(mended, found.evidence, embedder=embedder)
        reading.advance(len(found.evidence))
    if not_read:
        answer = said_of_language(answer, not_read)
    notes = (f"read as: {mended}",) if mended != without_courtesies(question) else ()
    return answer.model_copy(update={"question": question, "notes": (*notes, *answer.notes)}), found, mended


def _listed(question: str, found: Retrieval) -> Answer | None:
    """Answer a question that counts or lists from all that is stated; None where it is another, or nothing is stated."""
    return answer_from_listing(question, found.listing) if found.listing else None


def _silence(read: str, answer: Answer, store: GraphStore) -> Silence | None:
    """Say what of a question, as it is read, no document mentions; None where each word is, and for one in another language."""
    if in_another_language(read, answer.evidence) or language_not_read(read, answer.evidence):
        return None
    asked = read_question(read)
    words = [*asked.names, *(word for word, stem in stems(asked.text) if stem in asked.terms)]
    terms = list(dict.fromkeys(words))
    absent = [
        term for term in terms if (query := fulltext_query(term)) and not store.search.mentioning_chunk(query=query)
    ]
    absent = [
        term for term in absent if not any(term != other and term.casefold() in other.casefold() for other in absent)
    ]
    if not absent:
        return None
    documents = store.documents.first(SEARCHED_NAMED)
    named = tuple(document.path if document.format != "jsonl" else document.title for document in documents)
    return Silence(terms=tuple(absent), documents=named, count=store.documents.count())


def _said_of(silence: Silence) -> str:
    return f"Not mentioned in any of the {silence.count} documents: {', '.join(silence.terms)}."
