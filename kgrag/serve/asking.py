"""Asking, as all faces of the desk do it: complete the question, ask, remember what was answered so that feedback can name it."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgrag.common.progress import Progress
from kgrag.retrieve import Retrieval
from kgrag.serve.access import User
from kgrag.serve.desk import Desk
from kgrag.serve.problems import NotFound
from kgrag.text.follow_ups import Completed, complete_question
from kgrag.types import Answer

__all__ = ["Asked", "Asking", "about"]

REMEMBERED_ANSWERS = 2_000


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer with its id and the question as it was written and as it was asked."""

    id: str
    question: str
    completed: Completed
    answer: Answer


class Asking:
    """Asks the store of a desk. Safe to use concurrently from one event loop."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._answers: OrderedDict[str, dict[str, Any]] = OrderedDict()
        for entry in desk.journal.read("conversations"):
            self._remember(entry)

    def completed(
        self, question: str, *, turns: Sequence[str] = (), product: str | None = None, complete: bool = True
    ) -> Completed:
        """Complete a question. Raises `InputError` for one that may not be asked."""
        self._desk.check_question(question)
        return complete_question(question, turns, product=product) if complete else Completed(question)

    async def ask(
        self,
        completed: Completed,
        *,
        question: str,
        user: User,
        pipeline: str | None = None,
        top: int | None = None,
        budget: int | None = None,
        progress: Progress | None = None,
        conversation: str | None = None,
    ) -> Asked:
        """Ask, write down who asked what, which chunks were shown and what was answered. Raises what `ask` of the graph raises.

        It is on the disk when this returns: what comes after, feedback or a further turn, finds it again after a crash.
        """
        self._desk.spending.check(user.name)
        seen = await self._desk.seen_by(user)
        telemetry = self._desk.telemetry
        try:
            answer = await seen.ask(
                completed.text,
                pipeline=self._desk.check_pipeline(pipeline),
                top=top,
                budget=budget,
                progress=progress,
            )
        except Exception:
            telemetry.asked("failed", question=question, user=user.name)
            raise
        asked = Asked(secrets.token_hex(8), question, completed, answer)
        tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
        self._desk.spending.count(user.name, tokens)
        audit = {
            "id": asked.id,
            "user": user.name,
            "question": question,
            "completed": completed.text,
            "pipeline": answer.pipeline,
            "abstained": answer.abstained,
            "chunks": [piece.chunk_id for piece in answer.evidence if piece.chunk_id],
            "model": answer.model,
            "tokens": tokens,
            "seconds": answer.seconds,
        }
        turn = {"id": asked.id, "user": user.name, "conversation": conversation, **about(asked)}

        def write() -> None:
            self._desk.journal.write("audit", audit)
            self._desk.journal.write("conversations", turn)

        await asyncio.to_thread(write)
        self._remember(turn)
        telemetry.asked(
            "abstained" if answer.abstained else "answered",
            tokens=tokens,
            question=question,
            id=asked.id,
            user=user.name,
            pipeline=answer.pipeline,
            seconds=answer.seconds,
        )
        return asked

    async def retrieve(
        self, completed: Completed, *, user: User, pipeline: str | None, top: int | None, budget: int | None
    ) -> Retrieval:
        """Find evidence, and write down which chunks were shown to whom."""
        seen = await self._desk.seen_by(user)
        found = await seen.trace(completed.text, pipeline=self._desk.check_pipeline(pipeline), top=top, budget=budget)
        entry = {
            "user": user.name,
            "question": completed.text,
            "pipeline": found.pipeline,
            "chunks": [piece.chunk_id for piece in found.evidence if piece.chunk_id],
        }
        await asyncio.to_thread(self._desk.journal.write, "audit", entry)
        return found

    def answered(self, answer_id: str, user: User) -> dict[str, Any]:
        """Return what a ticket or a verdict on an answer is about, which was given to this user. Raises `NotFound`."""
        turn = self._answers.get(answer_id)
        if turn is None or (turn["user"] != user.name and not user.may("admin")):
            raise NotFound(f"No answer has the id {answer_id[:64]!r}: it is too long ago. Ask again.")
        return {name: value for name, value in turn.items() if name not in ("id", "user", "conversation", "at")}

    def conversation(self, conversation: str, user: User) -> list[dict[str, Any]]:
        """Return the turns of a user's conversation, oldest first."""
        turns = self._answers.values()
        return [turn for turn in turns if turn["conversation"] == conversation and turn["user"] == user.name]

    def _remember(self, turn: dict[str, Any]) -> None:
        if {"id", "user", "conversation"} <= turn.keys():
            self._answers[turn["id"]] = turn
        while len(self._answers) > REMEMBERED_ANSWERS:
            self._answers.popitem(last=False)


def about(asked: Asked) -> dict[str, Any]:
    """What a ticket or a verdict is about, so that it can be read without the store."""
    answer = asked.answer
    return {
        "question": asked.question,
        "completed": asked.completed.text,
        "answer": answer.text,
        "abstained": answer.abstained,
        "pipeline": answer.pipeline,
        "model": answer.model,
        "notes": list(answer.notes),
        "citations": [citation.model_dump(mode="json", exclude={"boxes"}) for citation in answer.citations],
        "passages": [
            piece.model_dump(
                mode="json", include={"chunk_id", "source_id", "document", "section", "page_start", "score", "why"}
            )
            for piece in answer.evidence
        ],
    }
