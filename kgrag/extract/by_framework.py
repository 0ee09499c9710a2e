"""What the three extractors by a framework have in common: the framework as it ships does its work, and what its parser loses is kept.

The framework makes the prompt, asks through its own LLM class, and parses the model's raw reply. The same reply is read by `replies`, too:
what the framework's parser dropped, or raised on, is counted and kept, unless only what the framework gives is wanted (`as_shipped`).
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from kgrag.errors import KgragError, ModelReplyError
from kgrag.extract.grounding import OUTSIDE_SCHEMA, ChunkSurface, ground
from kgrag.extract.replies import read_reply
from kgrag.extract.schema import ExtractionSchema
from kgrag.extract.statements import Stated, Statement, counted
from kgrag.models.base import ChatModel, Message, Reply
from kgrag.models.wrapped import Wrapped
from kgrag.text.names import NORMAL_FORM_VERSION
from kgrag.types import Chunk, Document, Extraction, Usage, content_id

__all__ = ["LOST_BY_FRAMEWORK", "RESPELLED_BY_FRAMEWORK", "FrameworkExtractor", "HeardModel"]

VERSION = "6"
"""Goes up when the same reply would give another extraction."""
LOST_BY_FRAMEWORK = "lost by framework"
RESPELLED_BY_FRAMEWORK = "names respelled by framework"
SHOWN_ERROR_CHARACTERS = 200
MAX_REPAIRED_CHARACTERS = 10_000
"""Of a reply that is no JSON and that a framework would repair: its time grows with the square, 40,000 characters can take half a minute,
and no other call comes back meanwhile. What is longer is read by `replies` alone."""


class _NotShown(Exception):
    """A reply that the framework's parser would take too long for."""


class HeardModel(Wrapped[ChatModel]):
    """The model of one chunk: the framework asks it, and what it wrote and cost is kept here.

    A reply that the model's own checks refuse (cut off at the token limit, not valid against a schema) reaches the framework's parser as it
    is. What was never answered is raised.
    """

    def __init__(self, model: ChatModel, *, repaired: bool = False) -> None:
        """Take a model; `repaired` says that the framework repairs what is no JSON."""
        super().__init__(model)
        self._repaired = repaired
        self.answered = False
        self.text = ""
        """The raw reply, the last where there were several."""
        self.usage = Usage()
        self.mended: list[str] = []
        self.lost: list[str] = []

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Ask the model. Raises what it raises where it gave no reply."""
        try:
            reply = await self._model.reply(messages, schema=schema)
        except ModelReplyError as error:
            if not error.reply and not error.usage.calls:
                raise  # it was refused before it was answered
            self.lost.append(str(error).partition(" The reply was: ")[0].replace(f"{self.name}: ", "").rstrip("."))
            reply = Reply(error.reply, usage=error.usage)
        if reply.mended:
            self.mended.append(f"the model was asked again, because {reply.mended.rstrip('.')}")
        self.answered, self.text = True, reply.text
        self.usage += reply.usage
        if (
            self._repaired
            and reply.data is None
            and len(reply.text) > MAX_REPAIRED_CHARACTERS
            and not _is_json(reply.text)
        ):
            raise _NotShown
        return reply


class FrameworkExtractor(ABC):
    """An `Extractor` that lets a framework ask a model about each chunk's `prompted_text`, by one call.

    Every chunk is ok, empty (the model says that there is nothing), mended (nothing lost), partial (with what was lost as the reason), or
    ends in `ModelReplyError` with the raw reply.
    """

    name: str
    repairs_json = False
    """Whether the framework repairs a reply that is no JSON, character by character."""
    framework: str
    """The distribution whose version is a part of the fingerprint: its prompt and its parser are."""

    def __init__(
        self, model: ChatModel, *, depends_on: Sequence[str], schema: ExtractionSchema | None, as_shipped: bool
    ) -> None:
        self._model = model
        self._as_shipped = as_shipped
        own = ["as shipped"] if as_shipped else []
        shipped = version(self.framework)
        self._depends_on = (VERSION, self.name, shipped, model.name, schema.digest if schema else "", *own, *depends_on)
        self._schema = schema

    @property
    def fingerprint(self) -> str:
        """Of kgrag's and the framework's version, model, prompt, schema and options."""
        return content_id(NORMAL_FORM_VERSION, *self._depends_on)

    def prepare(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        """Need nothing of the corpus."""
        return None

    async def extract(self, chunk: Chunk) -> Extraction:
        """Extract one chunk. Raises `ModelReplyError` with the raw reply and its cost, and `ModelError` from the model."""
        heard = HeardModel(self._model, repaired=self.repairs_json)
        theirs, raised = Stated(), ""
        try:
            theirs = await self._run(chunk, heard)
        except KgragError:
            raise
        except _NotShown:
            raised = f"{self.framework} was not given the reply: it is no JSON, and too long to be repaired"
        except Exception as error:  # a framework's parser may raise anything on a reply
            if not heard.answered:
                raise
            raised = f"{self.framework} raised {type(error).__name__}: {str(error)[:SHOWN_ERROR_CHARACTERS]}"
        read = read_reply(heard.text, chunk_text=chunk.prompted_text)
        # The frameworks compare types letter by letter; a type of the schema is that type however the model writes it.
        ours = self._schema.only(read) if self._schema else read
        stated, remarks = self._both(theirs, ours, whole=not read.lost and not heard.lost, chunk=chunk)
        remarks[OUTSIDE_SCHEMA] = read.size - ours.size
        problems = [*heard.lost, *(read.lost if read.form is not None or not heard.lost else [])]
        if read.form is None and not theirs.size:
            raise ModelReplyError(
                f"{self.name}: expected entities and relations, got none: {'; '.join(counted(problems))}.",
                reply=heard.text,
                usage=heard.usage,
            )
        lost_there = [raised] if raised else []
        if count := remarks[LOST_BY_FRAMEWORK]:
            lost_there.append(f"{count} {LOST_BY_FRAMEWORK}")
        if not stated.size and (problems or (lost_there and self._as_shipped)):
            why = "; ".join(counted([*problems, *lost_there]))
            raise ModelReplyError(f"{self.name}: nothing is left: {why}.", reply=heard.text, usage=heard.usage)
        stated.mended = [*heard.mended, *read.mended]
        stated.lost = problems if read.form is not None else []
        (stated.lost if self._as_shipped and count else stated.mended).extend(lost_there)
        return ground(stated, chunk, reply=heard.text, said=read.size, remarks=remarks, usage=heard.usage)

    def _both(self, theirs: Stated, ours: Stated, *, whole: bool, chunk: Chunk) -> tuple[Stated, dict[str, int]]:
        """Put what the framework's parser gave and what the reply says together, and count what the parser lost and respelled."""
        written = {_letters(name): name for name in _names(ours)}
        gave = {_key(s) for s in theirs.statements}
        named = {_letters(name) for name in _names(theirs)}
        lost = [s for s in ours.statements if _key(s) not in gave]
        lost_names = [n for n in ours.named if _letters(n.name) not in named]
        remarks = {
            LOST_BY_FRAMEWORK: len(lost) + len(lost_names),
            RESPELLED_BY_FRAMEWORK: sum(written.get(_letters(name), name) != name for name in set(_names(theirs))),
        }
        if self._as_shipped:
            return Stated(list(theirs.named), list(theirs.statements), form=ours.form), remarks
        # Of a reply that is broken a parser may make names that the model did not finish: those must be in the chunk.
        surface = ChunkSurface(chunk.prompted_text)
        known = {_key(s) for s in ours.statements}

        def is_sure(*names: str) -> bool:
            return whole or all(_letters(name) in written or surface.spelling(name) for name in names)

        more = [s for s in theirs.statements if _key(s) not in known and is_sure(s.head, s.tail)]
        more_names = [n for n in theirs.named if _letters(n.name) not in written and is_sure(n.name)]
        as_written = [
            replace(s, head=written.get(_letters(s.head), s.head), tail=written.get(_letters(s.tail), s.tail))
            for s in more
        ]
        return Stated([*ours.named, *more_names], [*ours.statements, *as_written], form=ours.form), remarks

    @abstractmethod
    async def _run(self, chunk: Chunk, model: ChatModel) -> Stated:
        """Let the framework ask `model` about a chunk: what its parser gives, as it spells it."""


def _is_json(text: str) -> bool:
    """Whether a text is JSON as it is or in a fence, of which repairing is soon done."""
    try:
        json.loads(re.sub(r"^```\w*+|```$", "", text.strip()))
    except (ValueError, RecursionError):
        return False
    return True


def _names(stated: Stated) -> list[str]:
    return [*(n.name for n in stated.named), *(end for s in stated.statements for end in (s.head, s.tail))]


def _key(statement: Statement) -> tuple[str, str, str]:
    return _letters(statement.head), _letters(statement.type), _letters(statement.tail)


def _letters(name: str) -> str:
    """Fold a name so far that it is the same before and after a framework's parser: `5 mA` and `5 Ma`."""
    return "".join(filter(str.isalnum, name.casefold())) or name.strip()
