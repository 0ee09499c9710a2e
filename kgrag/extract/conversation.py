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
        first, first_reply = await self._ask(messages, schema, said)
        taken, raw, again = first, first_reply, False
        # With a schema the model has asked again itself.
        if first.lost and schema is None:
            wrong = "; ".join(first.lost)[:SHOWN_COMPLAINT_CHARACTERS]
            repair = (
                *messages,
                Message("assistant", first_reply or "(empty)"),
                Message(
                    "user",
                    f"That reply cannot be used as it is: {wrong}. "
                    "Write the whole reply again, complete, in the form that was asked for, and nothing else.",
                ),
            )
            second, second_reply = await self._ask(repair, None, said)
            again = True
            if (not second.lost and second.form is not None) or second.size > first.size:
                taken, raw = second, second_reply
        said.stated, said.reply = taken, raw
        if taken.form is None or (taken.lost and not taken.size):
            asked = " (asked twice)" if again else ""
            raise ModelReplyError(
                f"Expected entities and relations{asked}, got a reply that has none: {taken.reason}.",
                reply=raw,
                usage=said.usage,
            )
        said.reason = "; ".join(
            part
            for part in (
                f"asked again, because {first.reason}" if again and taken is not first else "",
                f"asked again without success: {first.reason}" if again and taken is first else "",
                taken.reason if taken is not first or not again else "",
                f"the reply came as {taken.form}" if taken.form != self._form else "",
            )
            if part
        )
        written = self._write(taken)
        return Reply(text=written if isinstance(written, str) else "", data=written, usage=said.usage)

    async def _ask(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None, said: Conversation
    ) -> tuple[Stated, str]:
        """Ask the model once: what it states, and its raw reply."""
        try:
            reply = await self._model.reply(messages, schema=schema)
        except ModelReplyError as error:
            said.usage += error.usage
            stated = read_reply(error.reply, chunk_text=said.chunk_text)
            if not stated.lost:
                stated.lost.append("the reply is not of the schema that was asked for")
            return stated, error.reply
        said.usage += reply.usage
        if schema is None or reply.data is None:
            return read_reply(reply.text, chunk_text=said.chunk_text), reply.text
        stated = read_data(reply.data)
        return stated, reply.text
