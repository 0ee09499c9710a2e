"""What runs on the workers of a Ray cluster: actors around the work of `kgrag.engines.work`.

Answers are pairs of a kind and a value, so that what goes wrong with a file or a model is no failure of an actor. A model is not called
here: its calls go through `Mailbox` to the process that builds, which has the keys, the limits, the meter and the cache. A worker that
ends takes no reply with it that was paid for.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.documents import Source
from kgrag.documents.page_parts import parts_of, read_part
from kgrag.documents.processes import Conversion
from kgrag.documents.reading import convert_file
from kgrag.engines.work import extract_chunk, read_source
from kgrag.errors import DocumentError, InputError, KgragError, ModelUnavailable
from kgrag.extract.base import Extractor, InducesSchema, chunk_fingerprints
from kgrag.extract.schema import ExtractionSchema
from kgrag.models.base import Embedder, Message, Reply, Vectors
from kgrag.models.cached import Asking, asked_how
from kgrag.settings import Settings
from kgrag.types import Chunk

if TYPE_CHECKING:
    from kgrag.documents.pdf.pages import Page

__all__ = [
    "PROBE",
    "Answer",
    "ChunkExtractor",
    "ExtractorRecipe",
    "FileReader",
    "Mailbox",
    "Question",
    "TextEmbedder",
    "embedder_for",
]

MAILBOX_AWAY_S = 60.0
ASK_AGAIN_S = 0.5

PROBE = Chunk(id="probe", document_id="probe", source_id="probe", position=0, text="", tokens=0)
"""Of this chunk an extractor that asks a model has the fingerprint that it has of all."""

Answer = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """A call of a chat model."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None
    how: Asking


def embedder_for(made: Embedder | str, settings: Settings) -> Embedder:
    """Return the embedder itself, or open the one of that name."""
    if not isinstance(made, str):
        return made
    from kgrag.models import open_embedder

    return open_embedder(made, settings=settings)


class _Worker:
    """What every actor answers."""

    problem = ""

    def ready(self) -> str:
        """Say that it has started, and why it cannot work; empty where it can."""
        return self.problem


class FileReader(_Worker):
    """Reads files into documents and chunks. One processor; ends after so many files, because converters keep memory."""

    def __init__(self, embedder: Embedder | str, settings: Settings) -> None:
        self._settings = settings
        self._embedder = embedder_for(embedder, settings)

    def read(self, source: Source, data: bytes, *parts: Sequence[Page]) -> Answer:
        """Read a file, whose content comes with it: a worker has no folder in common with others. `documents` or `failed`.

        `parts` are the pages of a long PDF, read before.
        """
        started = time.perf_counter()

        def documents(there: Source) -> Answer:
            pages = [page for part in parts for page in part]
            conversion = Conversion(convert_file(there, pdf=self._settings.pdf, pages=pages), 0.0) if pages else None
            found = list(read_source(there, self._embedder, self._settings, conversion))
            return "documents", (found, time.perf_counter() - started)

        return self._with_file(source, data, documents)

    def parts(self, source: Source, data: bytes, pages: int) -> Answer:
        """Say which parts of at most so many pages a PDF has: `parts`, with nothing where it has one; or `failed`."""
        return self._with_file(
            source, data, lambda there: ("parts", parts_of(there, pdf=self._settings.pdf, pages=pages))
        )

    def read_part(self, source: Source, data: bytes, numbers: range) -> tuple[Answer, list[Page]]:
        """Read some pages of a PDF: `pages` and the seconds that it took, and them as an object of its own; or `failed`."""
        started = time.perf_counter()
        read: list[Page] = []

        def pages(there: Source) -> Answer:
            read.extend(read_part(there, numbers))
            return "pages", time.perf_counter() - started

        return self._with_file(source, data, pages), read

    def _with_file(self, source: Source, data: bytes, work: Callable[[Source], Answer]) -> Answer:
        try:
            # A folder for each file: an actor that has done its work is killed, and cleans nothing up.
            with tempfile.TemporaryDirectory(prefix="kgrag-ray-", ignore_cleanup_errors=True) as folder:
                path = Path(folder) / source.path.name
                path.write_bytes(data)
                return work(replace(source, path=path))
        except MemoryError:
            return "failed", ("needs more memory to read than its worker has", traceback.format_exc())
        except KgragError as error:
            reason = error.reason if isinstance(error, DocumentError) else str(error)
            return "failed", (reason, traceback.format_exc())


class TextEmbedder(_Worker):
    """Embeds texts; the model is loaded once."""

    def __init__(self, embedder: Embedder | str, settings: Settings) -> None:
        self._embedder = embedder_for(embedder, settings)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: [len(texts), dimensions]."""
        return await self._embedder.embed_documents(texts)


@dataclass(frozen=True, slots=True)
class ExtractorRecipe:
    """How a worker gets an extractor: as it is, or by its name where it asks a model."""

    extractor: Extractor | None
    name: str
    schema: ExtractionSchema | None
    settings: Settings
    model: str
    """The name of the model, and `identity` all that its replies depend on."""
    identity: str
    fingerprint: str
    """That the extractor is to have: another one is that of another version of kgrag."""

    def make(self, mailbox: Any) -> Extractor:
        """Make the extractor, whose calls go into the mailbox. Raises `InputError` where it is not the same."""
        if self.extractor is not None:
            return self.extractor
        from kgrag.extract import open_extractor

        made = open_extractor(self.name, model=_MailedModel(self.model, self.identity, mailbox), settings=self.settings)
        if self.schema is not None and isinstance(made, InducesSchema):
            made.use(self.schema)
        if chunk_fingerprints(made)(PROBE) != self.fingerprint:
            raise InputError(
                f"A worker makes another extractor {self.name} than the process that builds: install the same version of kgrag, and of its "
                "extras, on every node."
            )
        return made


class ChunkExtractor(_Worker):
    """Extracts chunks, several at once where it waits for a model."""

    def __init__(self, recipe: ExtractorRecipe, mailbox: Any) -> None:
        try:
            self._extractor = recipe.make(mailbox)
        except KgragError as error:
            self.problem = str(error)

    async def extract(self, chunk: Chunk, how: Asking) -> Answer:
        """Extract a chunk; `extraction`, or `error` for what the process that builds is to deal with."""
        try:
            with how.again():
                return "extraction", await extract_chunk(self._extractor, chunk)
        except KgragError as error:
            return "error", error


class _MailedModel:
    """A `ChatModel` whose calls are made by the process that builds."""

    def __init__(self, name: str, identity: str, mailbox: Any) -> None:
        self.name, self.identity, self._mailbox = name, identity, mailbox

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        from ray.exceptions import RayError

        question, give_up_at = Question(tuple(messages), schema, asked_how()), time.monotonic() + MAILBOX_AWAY_S
        while True:
            try:
                kind, value = await self._mailbox.ask.remote(question)
                break
            except RayError as error:  # The mailbox is started again. What was answered before is in the cache.
                if time.monotonic() > give_up_at:
                    reason = " ".join(str(error).split())[:300]
                    raise ModelUnavailable(f"A worker does not reach the process that builds: {reason}") from error
                await asyncio.sleep(ASK_AGAIN_S)
        if kind == "error":
            raise value
        reply: Reply = value
        return reply


class Mailbox:
    """Brings the calls of workers to the process that builds, and its answers back."""

    def __init__(self) -> None:
        self._asked: asyncio.Queue[tuple[int, Question]] = asyncio.Queue()
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._number = 0

    async def ask(self, question: Question) -> Answer:
        """Wait for the answer to a question."""
        self._number += 1
        number = self._number
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        await self._asked.put((number, question))
        try:
            return await future
        finally:
            del self._waiting[number]

    async def take(self, most: int) -> list[tuple[int, Question]]:
        """Wait for questions, and return those that are there, at most so many."""
        taken = [await self._asked.get()]
        while len(taken) < most and not self._asked.empty():
            taken.append(self._asked.get_nowait())
        return taken

    async def answer(self, number: int, answer: Answer) -> None:
        """Give an answer to who asked; nothing happens where that one has ended."""
        future = self._waiting.get(number)
        if future is not None and not future.done():
            future.set_result(answer)
