"""The generated answer: a chat model answers from numbered passages, and every sentence is held against what it cites."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kgrag.answer.citations import cite, without_marks
from kgrag.answer.grounding import (
    check_claims,
    set_own_knowledge_apart,
    ungrounded_notes,
    with_claims_marked,
    without_ungrounded,
)
from kgrag.answer.growing import GrowingAnswer
from kgrag.answer.prompt import INSTRUCTIONS, answer_messages
from kgrag.common.progress import Progress, ShowsText, Silent
from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel, Embedder, Message
from kgrag.models.endpoint_errors import ContextOverflow
from kgrag.models.streaming import Listener, listening
from kgrag.text.refusals import is_refusal
from kgrag.types import Answer, Citation, Evidence, Usage

__all__ = ["ANSWER_SCHEMA", "generate_answer"]

ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "quotes": {
            "type": "array",
            "maxItems": 8,
            "description": "What the passages say that bears on the question, word for word: at most eight; empty where nothing does.",
            "items": {
                "type": "object",
                "properties": {
                    "passage": {"type": "integer", "description": "The number of the passage."},
                    "quote": {"type": "string", "description": "A sentence or table row, exactly as it stands there."},
                },
                "required": ["passage", "quote"],
                "additionalProperties": False,
            },
        },
        "answered": {"type": "boolean", "description": "Whether the passages answer the question, at least in part."},
        "answer": {"type": "string", "description": "The answer with its citations, or what was not found."},
    },
    "required": ["quotes", "answered", "answer"],
    "additionalProperties": False,
}
"""Quotes come first: a model has what the passages say before it decides. Without a bound a small one writes quotes until it is cut."""
NOTHING_FOUND = "The documents do not answer this: no passage was found for it."
NOTHING_GROUNDED = "The documents do not answer this: nothing of what the model wrote is in the passages that it cites."
SHORTEST_QUOTE_CHARACTERS = 8


async def generate_answer(
    question: str,
    evidence: Sequence[Evidence],
    *,
    model: ChatModel,
    embedder: Embedder,
    instructions: str = INSTRUCTIONS,
    strict: bool = False,
    open_knowledge: bool = False,
    progress: Progress | None = None,
) -> Answer:
    """Let a model answer a question from evidence, best first, or abstain.

    A citation's number is the place of its passage in `evidence`, from 1; numbers that mean no passage are taken out and named in
    `Answer.notes`. A sentence that what it cites does not support is marked `[unverified]` and named in the notes with the reason;
    `strict` takes it out, and abstains where nothing is left. With `open_knowledge` (the instructions have to allow it:
    `read_instructions`) an unsupported sentence without a citation of its own is marked `[own knowledge]` instead, and named as such.
    Instructions that speak of "reasoning" get a field of the reply for it, which comes first and is kept apart in `Answer.reasoning`.
    An abstention has no citations. Without evidence no model is asked.
    `pipeline` is left to the caller. Where the model's window is too small, the best half of the passages is tried, which the notes say.
    Raises what the model raises; `ModelReplyError` too where it answers and writes nothing.
    """
    shown = tuple(evidence)
    progress = progress or Silent()
    if not shown:
        return Answer(question=question, text=NOTHING_FOUND, abstained=True, model=model.name, pipeline="")
    while True:
        try:
            with progress.step(f"Ask {model.name}", len(shown), "passages"), listening(_shown_by(progress)):
                messages = answer_messages(instructions, question=question, evidence=shown)
                data, raw, usage = await _reply(model, messages, schema_for(instructions))
            break
        except ContextOverflow:
            if len(shown) == 1:
                raise
            shown = shown[: len(shown) // 2]
    text, answered = str(data.get("answer", "")).strip(), data.get("answered") is True
    if not text:
        raise ModelReplyError(f"{model.name}: expected an answer, got an empty one.", reply=raw, usage=usage)
    notes: list[str] = []
    citations: tuple[Citation, ...] = ()
    if answered and is_refusal(without_marks(text)):
        answered = False
        notes.append("The model said that it answers, and wrote a refusal: taken for an abstention.")
    if answered:
        with progress.step("Check the citations", len(shown), "passages"):
            text, citations, notes = await _checked(text, question, shown, embedder, strict, open_knowledge)
        if not text:
            text, answered, citations = NOTHING_GROUNDED, False, ()
        citations = _with_quotes(citations, data.get("quotes"), shown)
    else:
        text = without_marks(text)
    if len(shown) < len(evidence):
        notes.append(
            f"The model's window is too small for {len(evidence)} passages: it was shown the best {len(shown)}. Set a smaller --budget."
        )
    return Answer(
        question=question,
        text=text,
        citations=citations,
        abstained=not answered,
        model=model.name,
        pipeline="",
        evidence=shown,
        usage=usage,
        notes=tuple(notes),
        reasoning=str(data.get("reasoning") or "").strip(),
    )


def schema_for(instructions: str) -> dict[str, Any]:
    """Return what the reply has to be: with a field for reasoning, before all others, where the instructions speak of one."""
    if '"reasoning"' not in instructions:
        return ANSWER_SCHEMA
    thought = {
        "type": "string",
        "description": "How the answer follows from the passages. Readers do not see it as the answer.",
    }
    return {
        **ANSWER_SCHEMA,
        "properties": {"reasoning": thought, **ANSWER_SCHEMA["properties"]},
        "required": ["reasoning", *ANSWER_SCHEMA["required"]],
    }


def _shown_by(progress: Progress) -> Listener | None:
    """Return who is told the pieces of a reply: of the JSON the answer's text goes to whoever shows text."""
    if not isinstance(progress, ShowsText):
        return None
    showing, growing = progress, GrowingAnswer()

    def told(piece: str | None) -> None:
        nonlocal growing
        if piece is None:
            growing = GrowingAnswer()
            showing.restart()
        elif text := growing.add(piece):
            showing.text(text)

    return told


async def _reply(
    model: ChatModel, messages: Sequence[Message], schema: Mapping[str, Any]
) -> tuple[dict[str, Any], str, Usage]:
    """Ask: the reply as data and as text, and what it used. One that lacks only its quotes or reasoning is taken: they are not needed."""
    try:
        reply = await model.reply(messages, schema=schema)
    except ModelReplyError as error:
        try:
            data = json.loads(error.reply or "")
        except (ValueError, RecursionError):
            raise error from None
        if isinstance(data, dict) and isinstance(data.get("answer"), str) and isinstance(data.get("answered"), bool):
            return data, error.reply or "", error.usage
        raise
    return reply.data or {}, reply.text, reply.usage


async def _checked(
    text: str, question: str, shown: Sequence[Evidence], embedder: Embedder, strict: bool, open_knowledge: bool
) -> tuple[str, tuple[Citation, ...], list[str]]:
    """Check citations and sentences: the text as it is given, its citations, and what a reader must know."""
    cited = cite(text, shown)
    notes = []
    if cited.unknown:
        numbers = ", ".join(f"[{number}]" for number in cited.unknown)
        notes.append(f"The model cited {numbers}, but was shown passages 1 to {len(shown)}: taken out of the answer.")
    claims = await check_claims(cited.text, shown, question=question, embedder=embedder)
    if not cited.citations:
        notes.append("The model cited no passage: nothing in the documents is known to support this answer.")
    if open_knowledge:
        set_own_knowledge_apart(claims)
    notes += ungrounded_notes(claims)
    if not strict:
        return with_claims_marked(cited.text, claims), cited.citations, notes
    left = without_ungrounded(cited.text, claims)
    return left, cite(left, shown).citations, notes


def _with_quotes(citations: Sequence[Citation], quotes: Any, shown: Sequence[Evidence]) -> tuple[Citation, ...]:
    """Give each citation the model's own quotes, where its passage really has them."""
    by_number: dict[int, list[str]] = {}
    for quote in quotes if isinstance(quotes, list) else []:
        number, said = (quote.get("passage"), quote.get("quote")) if isinstance(quote, dict) else (None, None)
        if isinstance(number, int) and isinstance(said, str) and 1 <= number <= len(shown):
            folded = " ".join(said.split())
            if len(folded) >= SHORTEST_QUOTE_CHARACTERS and folded in " ".join(shown[number - 1].text.split()):
                by_number.setdefault(number, []).append(folded)
    return tuple(
        one.model_copy(update={"quote": " … ".join(by_number[one.number])}) if one.number in by_number else one
        for one in citations
    )
