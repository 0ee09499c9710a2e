"""What type a question is of: asked of a chat model; by rules where its reply is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel
from kgrag.retrieve import prompts
from kgrag.text.questions import QuestionType, type_by_rules
from kgrag.types import Usage

__all__ = ["TYPES", "ask_type"]

TYPES: tuple[QuestionType, ...] = get_args(QuestionType)


async def ask_type(model: ChatModel, question: str) -> tuple[QuestionType, Usage, str]:
    """Ask the model for the type; a reply that is none gives that of the rules, and what was wrong with it (else empty)."""
    schema = prompts.object_schema(type={"type": "string", "enum": list(TYPES)})
    try:
        reply = await model.reply(prompts.messages(prompts.QUESTION_TYPE, question=question), schema=schema)
    except ModelReplyError as error:
        return type_by_rules(question), error.usage, f"the type of the question is told by rules: {error}"
    said = reply.data.get("type") if isinstance(reply.data, Mapping) else None
    if said not in TYPES:
        wrong = (
            f"the type of the question is told by rules: expected one of {', '.join(TYPES)}, got {reply.text[:80]!r}"
        )
        return type_by_rules(question), reply.usage, wrong
    return said, reply.usage, ""
