"""A follow-up completed by a chat model: what it says is held against the conversation, and where it does not hold the rules complete."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgrag.errors import ModelError
from kgrag.models.base import ChatModel
from kgrag.models.reply_schema import TEXT, object_of
from kgrag.retrieve import prompts
from kgrag.text.follow_ups import LOOK_BACK, Completed, complete_question, unfaithful
from kgrag.text.surrogates import without_controls, without_surrogates
from kgrag.types import Usage

__all__ = ["complete_by_model"]

COMPLETE_S = 20.0
"""Somebody waits for the completed question to look at it."""


async def complete_by_model(
    question: str, turns: Sequence[str], *, product: str | None = None, model: ChatModel
) -> tuple[Completed, Usage]:
    """Complete a question from the turns before it (completed questions, oldest first), and say what that used.

    Without turns no model is asked. A reply that says what nobody asked, drops a name or a number, or does not come in time is not taken:
    the rules complete the question then, and `note` says so.
    """
    by_rules = complete_question(question, turns, product=product)
    before = [turn for turn in turns[-LOOK_BACK:] if turn.strip()]
    if not before:
        return by_rules, Usage()
    messages = prompts.messages(
        prompts.FOLLOW_UP, questions_before=prompts.numbered(before), product=product or "none", question=question
    )
    usage = Usage()
    try:
        async with asyncio.timeout(COMPLETE_S):
            reply = await model.reply(messages, schema=object_of(question=TEXT))
        usage = reply.usage
        said = reply.data.get("question") if isinstance(reply.data, Mapping) else None
        completed = " ".join(without_controls(without_surrogates(said)).split()) if isinstance(said, str) else ""
        why = unfaithful(completed, question, [*before, product or ""])
    except TimeoutError:
        why = f"it took more than {COMPLETE_S:.0f} s"
    except ModelError as error:
        why = str(error)
    if why:
        return replace(by_rules, note=f"Completed by rules, not by {model.name}: {why}."), usage
    if completed == " ".join(question.split()):
        return Completed(completed), usage
    return Completed(completed, tuple(before[-1:]), f"Completed by {model.name}."), usage
