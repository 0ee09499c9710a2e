"""What the routes share: the open store, the pages of its documents, and what is written down."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgrag.common.journal import Journal
from kgrag.errors import InputError
from kgrag.knowledge_graph import AsyncKnowledgeGraph
from kgrag.serve.access import User
from kgrag.serve.page_process import PageProcess
from kgrag.serve.problems import NotFound
from kgrag.serve.spending import Spending
from kgrag.serve.telemetry import Telemetry
from kgrag.serve.uploads import UPLOADS_MB
from kgrag.serve.webhook import Webhook
from kgrag.text.questions import checked_question
from kgrag.types import Chunk, Document

__all__ = ["MAX_QUESTION_CHARACTERS", "QUESTION_S", "Desk"]

MAX_QUESTION_CHARACTERS = 4_000
QUESTION_S = 300.0
KNOWN_FILES = 10_000
SENDING_S = 1.0


@dataclass
class Desk:
    """An open store as a support desk uses it. `folder` holds tickets, feedback and the audit log; `root` is where paths start."""

    graph: AsyncKnowledgeGraph
    folder: Path
    root: Path = field(default_factory=Path.cwd)
    """What relative paths of documents are relative to: the working directory of the build."""
    pages: PageProcess = field(default_factory=PageProcess)
    uploads: Path = Path("kgrag-uploads")
    """The folder that uploaded files go to."""
    uploads_mb: int = UPLOADS_MB
    """How much they may take together."""
    metadata: Path | None = None
    """What builds are told of files, groups among it; see `kgrag.documents.file_metadata`."""
    webhook: Webhook | None = None
    """Where tickets are sent, beside being written down."""
    user_tokens: int | None = None
    """Tokens of a hosted model that each user may use in 24 hours."""
    at_once: int | None = None
    """Questions that are worked on at once, others wait; None: as many as suit the model (`kgrag.serve.places`)."""
    question_s: float = QUESTION_S
    """How long a question may take once it is worked on: a model or a database may hang."""
    telemetry: Telemetry = field(default_factory=Telemetry)

    def __post_init__(self) -> None:
        self.journal = Journal(self.folder)
        self.spending = Spending(self.user_tokens, self.journal.read("audit"))
        self._sending: set[asyncio.Task[None]] = set()
        self._checked: dict[Path, tuple[tuple[int, int], str]] = {}

    async def close(self) -> None:
        """Close the store and the process that draws pages; tickets that are being sent have `SENDING_S`."""
        if self._sending:
            _, left = await asyncio.wait(self._sending, timeout=SENDING_S)
            for task in left:
                task.cancel()
            await asyncio.gather(*left)
        self.pages.close()
        await self.graph.close()

    async def seen_by(self, user: User) -> AsyncKnowledgeGraph:
        """Return the graph as a user may see it: whatever is asked for a user is asked of this."""
        return self.graph if user.groups is None else await self.graph.seen_by(user.groups)

    async def sees_all(self, user: User) -> bool:
        """Whether no document is hidden from a user."""
        documents = await asyncio.to_thread(self.graph.store.documents.all)
        return user.groups is None or all(not one.groups or one.groups & user.groups for one in documents)

    async def documents(self, user: User) -> list[Document]:
        """Return every document that a user may read, by path."""
        graph = await self.seen_by(user)
        return await asyncio.to_thread(graph.store.documents.all)

    async def document(self, document_id: str, user: User) -> Document:
        """Return a document by its id. Raises `NotFound`, also where the user may not read it."""
        found = next((one for one in await self.documents(user) if one.id == document_id), None)
        if found is None:
            raise NotFound(f"No document has the id {document_id[:80]!r}: it was replaced or deleted. Ask again.")
        return found

    async def chunk(self, chunk_id: str, user: User) -> Chunk:
        """Return a chunk by its id. Raises `NotFound`, also where the user may not read it."""
        graph = await self.seen_by(user)
        chunks = await asyncio.to_thread(lambda: list(graph.store.documents.chunks([chunk_id])))
        if not chunks:
            raise NotFound(f"No passage has the id {chunk_id[:80]!r}: its document was replaced or deleted. Ask again.")
        return chunks[0]

    async def chunks_of(self, document: Document, user: User) -> list[Chunk]:
        """Return the chunks of a document in reading order."""
        graph = await self.seen_by(user)
        return await asyncio.to_thread(graph.store.documents.chunks_of, [document.id])

    async def note_shown(self, user: User, action: str, chunks: Sequence[Chunk], **more: Any) -> None:
        """Write down that chunks are shown to a user outside of an answer."""
        entry = {"user": user.name, "action": action, **more, "chunks": [chunk.id for chunk in chunks]}
        await asyncio.to_thread(self.journal.write, "audit", entry)

    async def file(self, document: Document) -> Path | None:
        """Return where the document's file is; None where it is gone or is no longer what was read (by its SHA-256).

        Nothing else can be opened over the network: a path comes from the store, never from a request, and its content must be the one that
        was read.
        """
        if document.format == "jsonl":
            return None
        return await asyncio.to_thread(self._first_unchanged, document)

    def places(self, path: str) -> list[Path]:
        """Return where a document's file may be: below the root, and, where this desk built it, below the working directory."""
        return list(dict.fromkeys((self.root / path, Path.cwd() / path)))

    def _first_unchanged(self, document: Document) -> Path | None:
        found = (self._unchanged(place, document.sha256) for place in self.places(document.path))
        return next((place for place in found if place is not None), None)

    def send_ticket(self, ticket: dict[str, Any]) -> None:
        """Send a ticket that is written down to the webhook, without waiting; what came of it goes into the audit log."""
        if self.webhook is None:
            return
        webhook = self.webhook

        async def send() -> None:
            try:
                said = await webhook.send(ticket)
            except asyncio.CancelledError:  # by `close`
                said = "not delivered: the desk closed"
            entry = {"user": ticket["user"], "action": "webhook", "ticket": ticket["id"], "said": said}
            await asyncio.to_thread(self.journal.write, "audit", entry)

        task = asyncio.create_task(send())
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    def check_question(self, question: str) -> str:
        """Return a question that may be asked. Raises `InputError` for an empty or too long one."""
        question = checked_question(question)
        if len(question) > MAX_QUESTION_CHARACTERS:
            raise InputError(
                f"Expected a question of at most {MAX_QUESTION_CHARACTERS:,} characters, got {len(question):,}. Shorten it."
            )
        return question

    def check_pipeline(self, name: str | None) -> str | None:
        """Return the name of a pipeline that may be asked for: one of those listed, never a file. Raises `InputError`."""
        from kgrag.retrieve import pipeline_names

        if name is None or name == self.graph.settings.pipeline or name in pipeline_names():
            return name
        raise InputError(f"Expected the name of a pipeline ({', '.join(pipeline_names())}), got {name[:80]!r}.")

    def _unchanged(self, path: Path, sha256: str) -> Path | None:
        try:
            state = path.stat()
            key = (state.st_mtime_ns, state.st_size)
            known = self._checked.get(path)
            if known is None or known[0] != key:
                if len(self._checked) >= KNOWN_FILES:
                    self._checked.clear()
                with path.open("rb") as file:
                    known = key, hashlib.file_digest(file, "sha256").hexdigest()
                self._checked[path] = known
        except OSError:
            return None
        return path if known[1] == sha256 else None
