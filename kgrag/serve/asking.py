"""Asking, as all faces of the desk do it: complete the question, ask, remember what was answered so that feedback can name it."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.common.progress import Progress
from kgrag.retrieve import Retrieval
from kgrag.serve.access import User
from kgrag.serve.desk import Desk
from kgrag.serve.problems import NotFound
from kgrag.text.follow_ups import Completed, complete_question
from kgrag.types import Answer

__all__ = ["Asked", "Asking"]

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
        self._answers: OrderedDict[str, tuple[str, Asked]] = OrderedDict()

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
    ) -> Asked:
        """Ask, write down who asked what and which chunks were shown, and remember the answer. Raises what `ask` of the graph raises."""
        self._desk.spending.check(user.name)
        seen = await self._desk.seen_by(user)
        answer = await seen.ask(
            completed.text,
            pipeline=self._desk.check_pipeline(pipeline),
            top=top,
            budget=budget,
            progress=progress,
        )
        asked = Asked(secrets.token_hex(8), question, completed, answer)
        tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
        self._desk.spending.count(user.name, tokens)
        self._desk.journal.write(
            "audit",
            {
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
            },
        )
        self._answers[asked.id] = user.name, asked
        while len(self._answers) > REMEMBERED_ANSWERS:
            self._answers.popitem(last=False)
        return asked

    async def retrieve(
        self, completed: Completed, *, user: User, pipeline: str | None, top: int | None, budget: int | None
    ) -> Retrieval:
        """Find evidence, and write down which chunks were shown to whom."""
        seen = await self._desk.seen_by(user)
        found = await seen.trace(completed.text, pipeline=self._desk.check_pipeline(pipeline), top=top, budget=budget)
        self._desk.journal.write(
            "audit",
            {
                "user": user.name,
                "question": completed.text,
                "pipeline": found.pipeline,
                "chunks": [piece.chunk_id for piece in found.evidence if piece.chunk_id],
            },
        )
        return found

    def answered(self, answer_id: str, user: User) -> Asked:
        """Return an answer that was given to this user. Raises `NotFound`."""
        owner, asked = self._answers.get(answer_id, ("", None))
        if asked is None or (owner != user.name and not user.may("admin")):
            raise NotFound(f"No answer has the id {answer_id[:64]!r}: it is too long ago. Ask again.")
        return asked
