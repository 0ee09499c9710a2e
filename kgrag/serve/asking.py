"""Asking, as all faces of the desk do it: complete the question, ask, remember what was answered so that feedback can name it."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from kgrag.common.progress import Progress
from kgrag.models import CHAT_MODELS
from kgrag.retrieve import Retrieval
from kgrag.serve.access import User
from kgrag.serve.desk import Desk
from kgrag.serve.places import AT_ONCE, AT_ONCE_HOSTED, Places
from kgrag.serve.problems import NotFound, TooSlow
from kgrag.serve.spending import EXPECTED_TOKENS, Bill
from kgrag.text.follow_ups import Completed, complete_question
from kgrag.types import Answer

__all__ = ["Asked", "Asking", "about"]

REMEMBERED_ANSWERS = 2_000


@dataclass(frozen=True, slots=True)
class _Turn:
    """An answer that was given, as its line of the journal: a fifth of the memory that its values would take."""

    user: str
    conversation: str
    line: bytes

    def read(self) -> dict[str, Any]:
        """Return what the journal has of it."""
        turn: dict[str, Any] = json.loads(self.line)
        return turn


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer with its id and the question as it was written and as it was asked."""

    id: str
    question: str
    completed: Completed
    answer: Answer


class Asking:
    """Asks the store of a desk. Safe to use concurrently from one event loop."""

    def __init__(self, desk: Desk, *, of_one: int | None = None) -> None:
        """`of_one` is how many questions of one user may wait for a place; None where users are not told apart."""
        self._desk = desk
        self._hosted = desk.graph.settings.model not in CHAT_MODELS
        self.places = Places(desk.at_once or (AT_ONCE_HOSTED if self._hosted else AT_ONCE), of_one=of_one)
        self._answers: OrderedDict[str, _Turn] = OrderedDict()
        for entry in desk.journal.read("conversations"):
            self._remember(entry)

    async def completed(
        self,
        question: str,
        *,
        user: User,
        turns: Sequence[str] = (),
        product: str | None = None,
        complete: bool = True,
    ) -> Completed:
        """Complete a question: by the model where there is one and there are turns, else by rules.

        Raises `InputError` for one that may not be asked, `TooMuch` where the user has nothing left of the model.
        """
        question = self._desk.check_question(question)
        if not complete:
            return Completed(question)
        if not self._hosted or not turns:
            return complete_question(question, turns, product=product)
        async with self.places.taken(user.name), self._billed(user, question, "complete") as bill:
            done, usage = await self._desk.graph.complete_question(question, turns, product=product)
            bill.tokens = usage.prompt_tokens + usage.completion_tokens
        entry = {"user": user.name, "action": "complete", "question": question, "completed": done.text}
        await asyncio.to_thread(self._desk.journal.write, "audit", {**entry, "tokens": bill.tokens})
        return done

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
        seen = await self._desk.seen_by(user)
        telemetry = self._desk.telemetry
        shown = (lambda: progress.step("Wait for a place", None, "questions")) if progress is not None else nullcontext
        try:
            async with self.places.taken(user.name, shown=shown), self._billed(user, question, "ask") as bill:
                answer = await seen.ask(
                    completed.text,
                    pipeline=self._desk.check_pipeline(pipeline),
                    top=top,
                    budget=budget,
                    progress=progress,
                )
                bill.tokens = tokens = answer.usage.prompt_tokens + answer.usage.completion_tokens
        except Exception:
            telemetry.asked("failed", question=question, user=user.name)
            raise
        asked = Asked(secrets.token_hex(8), question, completed, answer)
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
        chosen = self._desk.check_pipeline(pipeline)
        async with self.places.taken(user.name), self._billed(user, completed.text, "retrieve") as bill:
            found = await seen.trace(completed.text, pipeline=chosen, top=top, budget=budget)
            bill.tokens = found.usage.prompt_tokens + found.usage.completion_tokens
        entry = {
            "user": user.name,
            "action": "retrieve",
            "question": completed.text,
            "pipeline": found.pipeline,
            "tokens": bill.tokens,
            "chunks": [piece.chunk_id for piece in found.evidence if piece.chunk_id],
        }
        await asyncio.to_thread(self._desk.journal.write, "audit", entry)
        return found

    @asynccontextmanager
    async def _billed(self, user: User, question: str, action: str) -> AsyncIterator[Bill]:
        """Bill what is used within to a user; of what is stopped, what is expected, as nothing says more. Raises `TooSlow`, `TooMuch`."""
        with self._desk.spending.question(user.name) as bill:
            try:
                async with asyncio.timeout(self._desk.question_s) as clock:
                    yield bill
            except (asyncio.CancelledError, TimeoutError) as error:
                bill.tokens = EXPECTED_TOKENS if self._hosted else 0
                entry = {"user": user.name, "action": f"{action} stopped", "question": question, "tokens": bill.tokens}
                self._desk.journal.write("audit", entry)
                if not clock.expired():
                    raise
                raise TooSlow(
                    f"No answer came in {self._desk.question_s:.0f} s (--question-s): the model hangs or is too slow. Ask again."
                ) from error

    def answered(self, answer_id: str, user: User) -> dict[str, Any]:
        """Return what a ticket or a verdict on an answer is about, which was given to this user. Raises `NotFound`."""
        turn = self._answers.get(answer_id)
        if turn is None or (turn.user != user.name and not user.may("admin")):
            raise NotFound(f"No answer has the id {answer_id[:64]!r}: it is too long ago. Ask again.")
        return {name: value for name, value in turn.read().items() if name not in ("id", "user", "conversation", "at")}

    def conversation(self, conversation: str, user: User) -> list[dict[str, Any]]:
        """Return the turns of a user's conversation, oldest first."""
        turns = self._answers.values()
        return [turn.read() for turn in turns if turn.conversation == conversation and turn.user == user.name]

    def _remember(self, turn: dict[str, Any]) -> None:
        if {"id", "user", "conversation"} <= turn.keys():
            self._answers[turn["id"]] = _Turn(turn["user"], turn["conversation"], json.dumps(turn).encode())
        while len(self._answers) > REMEMBERED_ANSWERS:
            self._answers.popitem(last=False)


def about(asked: Asked) -> dict[str, Any]:
    """What a ticket or a verdict is about, so that it can be read without the store."""
    answer = asked.answer
    return {
        "question": asked.question,
        "completed": asked.completed.text,
        "answer": answer.told,
        "abstained": answer.abstained,
        "pipeline": answer.pipeline,
        "model": answer.model,
        "notes": list(answer.notes),
        "citations": [citation.model_dump(mode="json", exclude={"boxes"}) for citation in answer.sources],
        "passages": [
            piece.model_dump(
                mode="json", include={"chunk_id", "source_id", "document", "section", "page_start", "score", "why"}
            )
            for piece in answer.evidence
        ],
    }
