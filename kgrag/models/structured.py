"""Replies as data: by JSON schema where the endpoint can, by prompt and validation where it cannot, with one repair round."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from kgrag.errors import ModelError, ModelReplyError
from kgrag.models.base import ChatModel, Message, Reply
from kgrag.models.wrapped import Wrapped, identity_of
from kgrag.text.surrogates import without_controls, without_surrogates

__all__ = ["StructuredChatModel", "StructuredMode", "StructuredOutputUnsupported", "parse_object", "structured_mode"]

StructuredMode = Literal["native", "prompted"]
CODE_FENCE = re.compile(r"```(?:json|JSON)?\s*\n(.*?)(?:\n```|\Z)", re.DOTALL)
SHOWN_PROBLEMS = 5
MAX_BROKEN_STARTS = 1_000
"""Brackets at which an object is looked for: a reply of nothing but brackets costs no more."""

INSTRUCTION = (
    "Reply with one JSON object and nothing else: no explanation, no Markdown fence. "
    "It must be valid against this JSON schema:\n{schema}"
)
REPAIR = "That reply cannot be used: {problem} Write it again, whole and corrected. {instruction}"


class StructuredOutputUnsupported(ModelError):
    """An endpoint does not take a JSON schema with a request."""


@dataclass(slots=True)
class _Known:
    mode: StructuredMode
    proven: bool = False
    """Whether a reply in this mode was JSON."""


_MODES: dict[str, _Known] = {}
"""What was found out about endpoints in this process, by identity of the model."""
_MODES_LOCK = threading.Lock()


def structured_mode(model: ChatModel) -> StructuredMode | None:
    """Return how this model gives structured output; None before it was asked for any."""
    with _MODES_LOCK:
        known = _MODES.get(identity_of(model))
        return known.mode if known is not None and (known.proven or known.mode == "prompted") else None


class StructuredChatModel(Wrapped[ChatModel]):
    """A `ChatModel` whose `data` is valid against the schema that was asked for, around any model.

    The model inside is given the schema; one that raises `StructuredOutputUnsupported`, or that writes no JSON although it took the schema,
    is asked by the prompt from then on. A reply that is not valid is shown to the model with what is wrong, once.
    """

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Answer; with `schema`, with `data` that is valid. Raises `ModelReplyError` with the last raw reply and what all rounds cost."""
        if schema is None:
            return await self._model.reply(messages)
        first, problem = await self._ask(messages, schema)
        if problem is None:
            return first
        if not problem.text.strip():
            repair = list(messages)  # nothing to show it
        else:
            wrong = REPAIR.format(problem=problem.what, instruction=_instruction(schema))
            repair = [*messages, Message("assistant", problem.text), Message("user", wrong)]
        second, still = await self._ask(repair, schema)
        usage = first.usage + second.usage
        if still is None:
            return replace(second, usage=usage, mended=problem.what)
        raise ModelReplyError(
            f"{self.name}: expected JSON by the schema, got twice what is none: {still.what.rstrip('.')}. "
            "Ask again, or take another model: kgrag models check says whether one writes JSON by a schema.",
            reply=still.text or problem.text,
            usage=usage,
        )

    async def _ask(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> tuple[Reply, _Problem | None]:
        """Ask once: the reply, with its data or with what is wrong with it."""
        mode = self._mode()
        try:
            if mode == "native":
                try:
                    reply = await self._model.reply(messages, schema=schema)
                except StructuredOutputUnsupported:
                    self._learn("prompted")
                    reply = await self._model.reply(_with_instruction(messages, schema))
            else:
                reply = await self._model.reply(_with_instruction(messages, schema))
        except ModelReplyError as error:
            if not error.usage.calls:
                raise  # refused, not answered
            return Reply(text=error.reply, usage=error.usage), _Problem(error.reply, _first_line(error))
        data, problem = _read(reply, schema)
        if data is not None:
            self._learn(mode, proven=True)
        elif mode == "native" and "{" not in reply.text:
            self._doubt()
        if problem is not None:
            return reply, _Problem(reply.text, problem)
        return replace(reply, data=data), None

    def _mode(self) -> StructuredMode:
        with _MODES_LOCK:
            return _MODES.setdefault(self.identity, _Known("native")).mode

    def _learn(self, mode: StructuredMode, *, proven: bool = False) -> None:
        with _MODES_LOCK:
            known = _MODES.setdefault(self.identity, _Known(mode))
            if known.mode == mode:
                known.proven = known.proven or proven
            elif mode == "prompted":
                _MODES[self.identity] = _Known(mode)

    def _doubt(self) -> None:
        """Stop sending schemas to a model that took one and wrote no JSON, unless it did write some before."""
        with _MODES_LOCK:
            if not _MODES[self.identity].proven:
                _MODES[self.identity] = _Known("prompted")


@dataclass(frozen=True, slots=True)
class _Problem:
    text: str
    """The raw reply."""
    what: str
    """What is wrong with it, as a sentence."""


def parse_object(text: str) -> dict[str, Any] | None:
    """Find the JSON object in a reply: bare, in a fence, or among prose (the longest). None where there is no whole one."""
    stripped = text.strip()
    candidates = [stripped, *(fence.strip() for fence in CODE_FENCE.findall(text))]
    for candidate in candidates:
        try:
            data = json.loads(candidate)
            if isinstance(data, str):  # JSON that was written as a string of JSON
                data = json.loads(data)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            return data
    objects = list(_objects(text))
    return max(objects, key=lambda one: one[0])[1] if objects else None


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the whole objects of a text, each with its length."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    tries = 0
    while start >= 0 and tries < MAX_BROKEN_STARTS:
        try:
            data, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start, tries = text.find("{", start + 1), tries + 1
            continue
        if isinstance(data, dict):
            yield end - start, data
        start = text.find("{", end)


def _read(reply: Reply, schema: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
    """Return the object in a reply, and what is wrong with it."""
    data = reply.data if isinstance(reply.data, dict) else parse_object(reply.text)
    if data is None:
        return (
            None,
            "it has no JSON object." if "{" not in reply.text else "its JSON object is not complete or not valid.",
        )
    errors = sorted(
        _validator(json.dumps(schema, sort_keys=True)).iter_errors(data), key=lambda error: list(map(str, error.path))
    )
    if not errors and (key := _said_twice(reply.text, data, schema)) is not None:
        return data, f"it has several JSON objects, which say different things of {key!r}."
    if not errors:
        return without_controls(without_surrogates(data)), None
    shown = [
        f"at {'.'.join(map(str, error.path)) or 'the top'}: {error.message[:200]}" for error in errors[:SHOWN_PROBLEMS]
    ]
    more = f" and {len(errors) - SHOWN_PROBLEMS} more" if len(errors) > SHOWN_PROBLEMS else ""
    return data, f"it is not valid against the schema ({'; '.join(shown)}{more})."


def _said_twice(text: str, data: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Return the key, of one value and not of a list, for which a draft and what follows it have other values; None where none has."""
    single = [key for key, one in schema.get("properties", {}).items() if one.get("type") not in ("array", "object")]
    others = [one for _, one in _objects(text) if one.keys() >= data.keys()] if text.count("{") > 1 else []
    return next((key for key in single for one in others if key in data and one[key] != data[key]), None)


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from jsonschema.validators import validator_for

    loaded = json.loads(schema)
    return validator_for(loaded)(loaded)


def _instruction(schema: Mapping[str, Any]) -> str:
    return INSTRUCTION.format(schema=json.dumps(schema, ensure_ascii=False))


def _with_instruction(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """Put the schema below the last message, where models heed it most."""
    last = messages[-1]
    return [*messages[:-1], replace(last, content=f"{last.content}\n\n{_instruction(schema)}")]


def _first_line(error: ModelReplyError) -> str:
    return str(error).partition(" The reply was: ")[0]
