"""The generated answer: a chat model answers from numbered passages, and every sentence is held against what it cites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgrag.answer.chains import Chain, Conversation
from kgrag.answer.citations import cite, without_marks
from kgrag.answer.grounding import (
    check_claims,
    set_own_knowledge_apart,
    ungrounded_notes,
    with_claims_marked,
    without_ungrounded,
)
from kgrag.answer.prompt import INSTRUCTIONS, wording
from kgrag.common.progress import Progress, Silent
from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel, Embedder
from kgrag.text.answer_shapes import lacks_form
from kgrag.text.refusals import is_refusal
from kgrag.types import Answer, Citation, Evidence

__all__ = ["generate_answer"]

NOTHING_FOUND = "The documents do not answer this: no passage was found for it."
NOTHING_GROUNDED = "The documents do not answer this: nothing of what the model wrote is in the passages that it cites."
NOTHING_SAID = "The documents do not answer this: the model says so, and no more."
NOTHING_BUT_MARKS = "The documents do not answer this: the model wrote citations and no answer."
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
    chain: Chain = "stuff",
    batch_tokens: int = 1500,
    form: str = "",
    explanation: str = "",
    progress: Progress | None = None,
) -> Answer:
    """Let a model answer a question from evidence, best first, or abstain.

    A citation's number is the place of its passage in `evidence`, from 1; numbers that mean no passage are taken out and named in
    `Answer.notes`. A sentence that what it cites does not support is marked `[unverified]` and named in the notes with the reason;
    `strict` takes it out, and abstains where nothing is left. With `open_knowledge` (the instructions have to allow it:
    `read_instructions`) an unsupported sentence without a citation of its own is marked `[own knowledge]` instead, and named as such.
    Instructions that speak of "reasoning" get a field of the reply for it, which comes first and is kept apart in `Answer.reasoning`.
    An abstention has no citations. Without evidence no model is asked.
    `chain` is how the passages are shown (`kgrag.answer.chains`), `form` what the answer has to begin with (`yes or no`, `a number`), which
    the notes say where it does not; `explanation` is what is meant by the question.
    `pipeline` is left to the caller. Where the model's window is too small, passages are shown in batches, which the notes say.
    Raises what the model raises; `ModelReplyError` too where it answers and writes nothing.
    """
    shown = tuple(evidence)
    progress = progress or Silent()
    if not shown:
        return Answer(question=question, text=NOTHING_FOUND, abstained=True, model=model.name, pipeline="")
    asked = wording(question, form=form, explanation=explanation)
    conversation = Conversation(model, instructions, asked, shown, batch_tokens, progress)
    with progress.step(f"Ask {model.name}", len(shown), "passages"):
        reply = await conversation.run(chain)
    text, answered = reply.text, reply.data.get("answered") is True
    if not text and reply.data.get("answered") is False:
        text = NOTHING_SAID
    if not text:
        raise ModelReplyError(
            f"{model.name}: expected an answer, got an empty one.", reply=reply.raw, usage=reply.usage
        )
    notes: list[str] = []
    citations: tuple[Citation, ...] = ()
    if not without_marks(text):
        text, answered = NOTHING_BUT_MARKS, False
    elif answered and is_refusal(without_marks(text)):
        answered = False
        notes.append("The model said that it answers, and wrote a refusal: taken for an abstention.")
    if answered:
        with progress.step("Check the citations", len(shown), "passages"):
            text, citations, notes = await _checked(text, question, shown, embedder, strict, open_knowledge)
        if not text:
            text, answered, citations = NOTHING_GROUNDED, False, ()
        citations = _with_quotes(citations, reply.data.get("quotes"), shown)
    else:
        text = without_marks(text)
    if answered and form and (missing := lacks_form(text, form)):
        notes.append(f"The answer was to have this form: {form}. It has no {missing}.")
    notes += reply.notes
    return Answer(
        question=question,
        text=text,
        citations=citations,
        abstained=not answered,
        model=model.name,
        pipeline="",
        evidence=shown,
        usage=reply.usage,
        notes=tuple(notes),
        reasoning=str(reply.data.get("reasoning") or "").strip(),
    )


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
