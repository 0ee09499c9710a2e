"""The generated answer: a chat model answers from numbered evidence, and its citations are checked against it."""

from __future__ import annotations

from collections.abc import Sequence

from kgrag.answer.citations import cite
from kgrag.answer.template import ANSWER_TEMPLATE, fill_template
from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel, Message
from kgrag.types import Answer, Evidence

__all__ = ["ANSWER_SCHEMA", "generate_answer"]

ANSWER_SCHEMA = {
    "type": "object",
    "properties": {
        "answered": {"type": "boolean", "description": "Whether the passages answer the question, at least in part."},
        "answer": {"type": "string", "description": "The answer with its citations, or what was not found."},
    },
    "required": ["answered", "answer"],
    "additionalProperties": False,
}
NOTHING_FOUND = "The documents do not answer this: no passage was found for it."


async def generate_answer(
    question: str, evidence: Sequence[Evidence], *, model: ChatModel, template: str = ANSWER_TEMPLATE
) -> Answer:
    """Let a model answer a question from evidence, best first, or abstain.

    A citation's number is the place of its passage in `evidence`, from 1. Numbers that mean no passage are taken out of the text and
    named in `Answer.notes`, and so is an answer that cites nothing. Without evidence no model is asked. `pipeline` is left to the caller.
    Raises what the model raises; `ModelReplyError` too where it says that it answers and writes nothing.
    """
    shown = tuple(evidence)
    if not shown:
        return Answer(question=question, text=NOTHING_FOUND, abstained=True, model=model.name, pipeline="")
    prompt = fill_template(template, question=question, evidence=shown)
    reply = await model.reply([Message("user", prompt)], schema=ANSWER_SCHEMA)
    data = reply.data or {}
    text, answered = str(data.get("answer", "")).strip(), data.get("answered") is True
    if not text:
        raise ModelReplyError(
            f"{model.name}: expected an answer, got an empty one.", reply=reply.text, usage=reply.usage
        )
    cited = cite(text, shown)
    notes = []
    if cited.unknown:
        numbers = ", ".join(f"[{number}]" for number in cited.unknown)
        notes.append(f"The model cited {numbers}, but was shown passages 1 to {len(shown)}: taken out of the answer.")
    if answered and not cited.citations:
        notes.append("The model cited no passage: nothing in the documents is known to support this answer.")
    return Answer(
        question=question,
        text=cited.text,
        citations=cited.citations if answered else (),
        abstained=not answered,
        model=model.name,
        pipeline="",
        evidence=shown,
        usage=reply.usage,
        notes=tuple(notes),
    )
