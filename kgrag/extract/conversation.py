"""The model as an extraction framework sees it: whatever the model writes, the framework's parser gets what it can take.

A framework's own parser drops or raises on replies that are not quite what it asked for. So each reply is read by `replies` first, asked
for once more where something in it was lost, and handed on in the exact form that the framework's parser wants. What was put right and
what was lost is kept for the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from kgrag.errors import ModelReplyError
from kgrag.extract.replies import read_data, read_reply
from kgrag.extract.statements import Form, Stated
from kgrag.models.base import ChatModel, Message, Reply
from kgrag.types import Usage

__all__ = ["Conversation", "ReadingModel"]

SHOWN_COMPLAINT_CHARACTERS = 600


@dataclass(slots=True)
class Conversation:
    """What was said about one chunk."""

    chunk_text: str
    stated: Stated = field(default_factory=Stated)
    """What the reply that was taken states."""
    reason: str = ""
    """What had to be mended, and how; empty where nothing had."""
    reply: str = ""
    """The raw reply that was taken."""
    usage: Usage = field(default_factory=Usage)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Let the model of this task (and of the tasks that it starts) speak about this chunk."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)


_CURRENT: ContextVar[Conversation] = ContextVar("conversation")


class ReadingModel:
    """A `ChatModel` for a framework: reads each reply, asks once more where something was lost, and gives it in the framework's form.

    `form` is how replies are asked for; `write` puts what was read into the reply that the framework's parser takes.
    """

    def __init__(self, model: ChatModel, *, form: Form, write: Callable[[Stated], Any]) -> None:
        self._model = model
        self._form = form
        self._write = write

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._model.name

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Ask and read. Raises `ModelReplyError` with the raw reply where nothing in it can be used, and what the model raises."""
        said = _CURRENT.get()
        taken, raw = await self._ask(messages, schema, said)
        asked_again = ""
        if taken.lost and schema is None:  # with a schema the model has asked again itself
            asked_again = f"asked again, because {taken.reason}"
            second, second_raw = await self._ask_again(messages, raw, taken, said)
            if second.form is not None and (not second.lost or second.size > taken.size):
                taken, raw = second, second_raw
                asked_again += f"; then {taken.reason}" if taken.reason else ""
            else:
                asked_again += ", and got nothing better"
        said.stated, said.reply = taken, raw
        said.reason = asked_again or taken.reason
        if taken.form is None or (taken.lost and not taken.size):
            raise ModelReplyError(
                f"{self.name}: expected entities and relations, got none: {said.reason}.", reply=raw, usage=said.usage
            )
        if taken.form != self._form:
            said.reason = "; ".join(filter(None, (said.reason, f"the reply came as {taken.form}, not {self._form}")))
        written = self._write(taken)
        return Reply(text=written if isinstance(written, str) else "", data=written, usage=said.usage)

    async def _ask_again(
        self, messages: Sequence[Message], raw: str, first: Stated, said: Conversation
    ) -> tuple[Stated, str]:
        """Show the model its reply and what is wrong with it."""
        wrong = "; ".join(first.lost)[:SHOWN_COMPLAINT_CHARACTERS]
        repair = (
            *messages,
            Message("assistant", raw or "(empty)"),
            Message(
                "user",
                f"That reply cannot be used as it is: {wrong}. "
                "Write the whole reply again, complete, in the form that was asked for, and nothing else.",
            ),
        )
        try:
            return await self._ask(repair, None, said)
        except ModelReplyError as error:
            return Stated(lost=[str(error)]), error.reply

    async def _ask(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None, said: Conversation
    ) -> tuple[Stated, str]:
        """Ask the model once: what it states, and its raw reply."""
        try:
            reply = await self._model.reply(messages, schema=schema)
        except ModelReplyError as error:
            if not error.reply and not error.usage.calls:
                raise  # it was refused before it was answered: there is nothing to read, and asking again is of no use
            said.usage += error.usage
            stated = read_reply(error.reply, chunk_text=said.chunk_text)
            what = str(error).partition(" The reply was: ")[0].replace(f"{self.name}: ", "").rstrip(".")
            # Where nothing can be read, the model's own word for it is enough.
            stated.lost = [what] if stated.form is None else [what, *stated.lost]
            return stated, error.reply
        said.usage += reply.usage
        stated = read_reply(reply.text, chunk_text=said.chunk_text)
        if reply.data is not None and stated.form is None:
            stated = read_data(reply.data)
        if reply.mended:
            stated.mended.insert(0, f"the model was asked again, because {reply.mended.rstrip('.')}")
        return stated, reply.text
