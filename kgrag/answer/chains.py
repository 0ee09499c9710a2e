"""How a model is shown passages: at once (`stuff`), in batches whose answers are merged (`map_reduce`), or batch by batch (`refine`).

Passages keep their numbers from call to call, so that every citation means what it meant when it was written.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from kgrag.answer.growing import GrowingAnswer
from kgrag.answer.prompt import answer_messages, merging_messages
from kgrag.common.parts import parts_within
from kgrag.common.progress import Progress, ShowsText
from kgrag.errors import ModelReplyError
from kgrag.models.base import ChatModel, Message
from kgrag.models.endpoint_errors import ContextOverflow
from kgrag.models.streaming import Listener, listening
from kgrag.text.surrogates import without_controls, without_surrogates
from kgrag.types import Evidence, Usage

__all__ = ["ANSWER_SCHEMA", "Chain", "Chained", "Conversation", "schema_for"]

Chain = Literal["stuff", "map_reduce", "refine"]

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


@dataclass(frozen=True, slots=True)
class Chained:
    """What a model replied in the end."""

    data: Mapping[str, Any]
    """As `ANSWER_SCHEMA` says; `quotes` are those of all calls."""
    raw: str
    usage: Usage
    """Of all calls."""
    notes: tuple[str, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether the model says that it answers, and writes something."""
        return self.data.get("answered") is True and bool(self.text)

    @property
    def text(self) -> str:
        """What it wrote."""
        return str(self.data.get("answer", "")).strip()


@dataclass(frozen=True, slots=True)
class Conversation:
    """One question to a model, by one of the chains."""

    model: ChatModel
    instructions: str
    question: str
    """As the model reads it (`kgrag.answer.prompt.wording`)."""
    evidence: Sequence[Evidence]
    """Best first, at least one."""
    batch_tokens: int
    """Of the passages of one call, for `map_reduce` and `refine`; a longer passage has a call of its own."""
    progress: Progress

    async def run(self, chain: Chain) -> Chained:
        """Ask; raises what the model raises. Where its window is too small, a call has fewer passages, and `stuff` becomes `map_reduce`."""
        match chain:
            case "map_reduce":
                return await self._map_reduce(self._batches())
            case "refine":
                return await self._refine()
            case _:
                return await self._stuff()

    async def _stuff(self) -> Chained:
        everything = range(len(self.evidence))
        try:
            data, raw, usage = await self._ask(self._about(everything), aloud=True)
        except ContextOverflow:
            if len(everything) == 1:
                raise
        else:
            return Chained(data, raw, usage)
        half = len(everything) // 2
        asked = await self._map_reduce([everything[:half], everything[half:]])
        note = (
            f"The model's window is too small for {len(everything)} passages at once: it was shown them in batches, and their answers "
            f"merged ({asked.usage.calls} calls). A smaller --budget shows fewer."
        )
        return replace(asked, notes=(note, *asked.notes))

    async def _map_reduce(self, batches: Sequence[Sequence[int]]) -> Chained:
        """Ask of each batch, all at once, and have the answers merged; one answer alone is the answer."""
        found = await asyncio.gather(*(self._of_batch(batch) for batch in batches))
        parts = [part for of_batch in found for part in of_batch]
        replies = [part for part in parts if isinstance(part, Chained)]
        failed = [part for part in parts if not isinstance(part, Chained)]
        if not replies:
            raise failed[0]
        usage = sum((part.usage for part in parts if not isinstance(part, ContextOverflow)), Usage())
        quotes = [quote for reply in replies for quote in _quotes(reply.data)]
        notes = tuple(f"A part of the passages is not in the answer: {error}" for error in failed)
        answers = [reply for reply in replies if reply.answered]
        if len(answers) < 2:
            last = (answers or replies)[0]
            return Chained({**last.data, "quotes": quotes}, last.raw, usage, notes)
        texts = [reply.text for reply in answers]
        messages = merging_messages(self.instructions, question=self.question, answers=texts)
        data, raw, used = await self._ask(messages, aloud=True)
        merged = {**data, "quotes": [*_quotes(data), *quotes]}
        return Chained(merged, raw, usage + used, notes)

    async def _of_batch(self, batch: Sequence[int]) -> list[Chained | ModelReplyError | ContextOverflow]:
        """Ask of some passages; of halves where they are too many for the model's window. One that alone is too long is an error."""
        try:
            data, raw, usage = await self._ask(self._about(batch))
        except ContextOverflow as error:
            if len(batch) == 1:
                return [error]
            half = len(batch) // 2
            return [*await self._of_batch(batch[:half]), *await self._of_batch(batch[half:])]
        except ModelReplyError as error:
            return [error]
        return [Chained(data, raw, usage)]

    async def _refine(self) -> Chained:
        """Ask of one batch after the other, each with the answer so far; a batch that answers nothing leaves it as it is."""
        waiting = self._batches()
        so_far: Chained | None = None
        usage, quotes, notes = Usage(), list[Any](), list[str]()
        while waiting:
            batch, *waiting = waiting
            draft = so_far.text if so_far and so_far.answered else ""
            try:
                data, raw, used = await self._ask(self._about(batch, so_far=draft), aloud=True)
            except (ContextOverflow, ModelReplyError) as error:
                if isinstance(error, ContextOverflow) and len(batch) > 1:
                    half = len(batch) // 2
                    waiting = [batch[:half], batch[half:], *waiting]
                    continue
                if not waiting and so_far is None:
                    raise
                usage += Usage() if isinstance(error, ContextOverflow) else error.usage
                notes.append(f"A part of the passages is not in the answer: {error}")
                continue
            usage, quotes = usage + used, [*quotes, *_quotes(data)]
            reply = Chained(data, raw, used)
            if so_far is None or reply.answered or not so_far.answered:
                so_far = reply
        assert so_far is not None  # noqa: S101  the last batch raised otherwise
        return Chained({**so_far.data, "quotes": quotes}, so_far.raw, usage, tuple(notes))

    def _batches(self) -> list[Sequence[int]]:
        """Divide the passages, in their order, so that those of one call have at most `batch_tokens`."""
        tokens = [piece.tokens for piece in self.evidence]
        return list(parts_within(range(len(tokens)), tokens.__getitem__, most=self.batch_tokens))

    def _about(self, batch: Sequence[int], *, so_far: str = "") -> list[Message]:
        """Write the messages about some passages, by their places in the evidence."""
        return answer_messages(
            self.instructions,
            question=self.question,
            evidence=[self.evidence[index] for index in batch],
            numbers=[index + 1 for index in batch],
            so_far=so_far,
        )

    async def _ask(self, messages: Sequence[Message], *, aloud: bool = False) -> tuple[dict[str, Any], str, Usage]:
        """Ask once: the reply as data and as text, and what it used. `aloud`: whoever shows text hears the answer as it is written.

        A reply that lacks only its quotes or reasoning is taken: they are not needed.
        """
        try:
            with listening(_shown_by(self.progress) if aloud else None):
                reply = await self.model.reply(messages, schema=schema_for(self.instructions))
        except ModelReplyError as error:
            try:
                data = without_controls(without_surrogates(json.loads(error.reply or "")))
            except (ValueError, RecursionError):
                raise error from None
            if (
                isinstance(data, dict)
                and isinstance(data.get("answer"), str)
                and isinstance(data.get("answered"), bool)
            ):
                return data, error.reply or "", error.usage
            raise
        return reply.data or {}, reply.text, reply.usage


def _quotes(data: Mapping[str, Any]) -> list[Any]:
    quotes = data.get("quotes")
    return quotes if isinstance(quotes, list) else []


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
