"""What changes the documents of a desk, one change at a time: uploads, builds in this process, deletes."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kgrag.common.progress import Step
from kgrag.documents.discovery import FORMATS
from kgrag.errors import InputError, KgragError
from kgrag.jobs.report import BuildReport
from kgrag.serve.access import User
from kgrag.serve.desk import Desk
from kgrag.serve.problems import Busy
from kgrag.types import Document

__all__ = ["BuildState", "Curating", "Deleted", "StepState", "Uploaded"]

MAX_NAME_BYTES = 180
"""Of a file's or folder's name: file systems take 255."""
KEPT_LINES = 20
STOP_S = 20.0
"""A build that is told to stop writes what is ready; it goes on where it stopped when it is started again."""


@dataclass(slots=True)
class StepState:
    """A step of a build: how much of what is done."""

    name: str
    total: int | None
    unit: str
    count: int = 0
    state: Literal["begun", "done"] = "begun"

    def advance(self, count: int = 1) -> None:
        """Say that `count` more units are done."""
        self.count += count


@dataclass(slots=True)
class BuildState:
    """The last build of this desk, as it is shown while it runs and after; a `Progress`, told from several threads."""

    id: str = ""
    state: Literal["none", "running", "done", "failed"] = "none"
    steps: list[StepState] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """What cannot wait for the end: what the build waits for."""
    report: BuildReport | None = None
    problem: str = ""

    @contextmanager
    def step(self, name: str, total: int | None, unit: str) -> Iterator[Step]:
        """Open a step."""
        made = StepState(name, total, unit)
        self.steps = [*self.steps, made]
        yield made
        made.state = "done"

    def say(self, line: str) -> None:
        """Keep a line."""
        self.lines = [*self.lines, line][-KEPT_LINES:]


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A file that was written: where it is, as documents are named, and its size."""

    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """Documents that went, and whether the file went with them: one that was not uploaded stays where it is."""

    documents: list[Document]
    file_deleted: bool


class Curating:
    """Uploads, builds and deletes for a desk. Use it from one event loop."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._changing = asyncio.Lock()
        self._building: asyncio.Task[None] | None = None
        self.build_state = BuildState()

    @property
    def max_bytes(self) -> int:
        """Of a file that is uploaded: larger ones a build would not read."""
        return self._desk.graph.settings.max_file_mb * 1_000_000

    async def upload(self, name: str, product: str, data: AsyncIterator[bytes], *, user: User) -> Uploaded:
        """Write a file into the folder of uploads, in place of one of the same name; nothing is there until all of it is.

        Raises `InputError` for a name that is none, an empty or too large file, or a folder that cannot be written.
        """
        folder = self._desk.uploads / _checked(product, "product") if product else self._desk.uploads
        target = folder / _checked_file(name)
        part = folder / f".{secrets.token_hex(8)}.part"
        size = 0
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                with part.open("xb") as out:
                    async for piece in data:
                        size += len(piece)
                        if size > self.max_bytes:
                            raise InputError(f"{name}: larger than {self.max_bytes // 1_000_000} MB. Split it.")
                        await asyncio.to_thread(out.write, piece)
                    out.flush()
                    await asyncio.to_thread(os.fsync, out.fileno())
                if not size:
                    raise InputError(f"{name}: expected a document, got an empty file.")
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(
                f"{folder}: cannot be written ({error.strerror}). Give --uploads another folder."
            ) from error
        path = self._desk.stored_path(target)
        await self._audit(user, "upload", path=path, bytes=size)
        return Uploaded(path, size)

    async def start_build(self, folder: str | None, *, user: User) -> BuildState:
        """Start to build the uploads, or a folder or file of the server below the desk's root. Raises `InputError`, `Busy`."""
        path = await asyncio.to_thread(self._to_build, folder)
        if self._changing.locked():
            raise Busy("The documents are being changed already. Wait until that is done.")
        self._check_graph()
        await self._check_groups()
        await self._changing.acquire()
        self.build_state = state = BuildState(id=secrets.token_hex(8), state="running")
        try:
            await self._audit(user, "build", path=str(path))
            self._building = asyncio.create_task(self._build(path, state))
        except BaseException:
            self._changing.release()
            raise
        return state

    async def delete(self, document_id: str, *, user: User) -> Deleted:
        """Take a document out of the store, and its file out of the uploads. Raises `NotFound`, `Busy`."""
        document = await self._desk.document(document_id, user)
        if self._changing.locked():
            raise Busy("The documents are being changed already. Wait until that is done.")
        async with self._changing:
            gone = await self._desk.graph.delete(document.id)
            others = await asyncio.to_thread(self._desk.graph.store.documents.of_path, document.path)
            file_deleted = not others and await asyncio.to_thread(self._delete_upload, document)
            await self._audit(user, "delete", document=document.id, path=document.path, file_deleted=file_deleted)
        return Deleted(gone, file_deleted)

    async def close(self) -> None:
        """Stop a build that runs, and wait until it has: it goes on where it stopped when it is started again."""
        if self._building is not None and not self._building.done():
            self._building.cancel()
            with suppress(TimeoutError):
                await asyncio.wait_for(_settled(self._building), STOP_S)

    async def _build(self, path: Path, state: BuildState) -> None:
        log = logging.getLogger("kgrag.serve")
        try:
            state.report = await self._desk.graph.build(path, metadata=self._desk.metadata, progress=state)
            state.state = "done"
        except asyncio.CancelledError:
            state.state, state.problem = "failed", "The build was stopped; it goes on where it stopped."
            raise
        except KgragError as error:
            state.state, state.problem = "failed", str(error)
            log.warning("build %s failed: %s", state.id, type(error).__name__)
        except Exception as error:
            state.state, state.problem = "failed", f"Unexpected {type(error).__name__}. This is a defect of kgrag."
            log.error("build %s: %s", state.id, type(error).__name__, exc_info=error)
        finally:
            self._changing.release()
            self._desk.telemetry.built(state.state)

    def _to_build(self, folder: str | None) -> Path:
        """Return what to build: nothing outside the desk's root can be named over the network, by `..` or by a link."""
        if folder is None:
            if not self._desk.uploads.is_dir():
                raise InputError("Nothing was uploaded yet. Upload a document, or name a folder of the server.")
            return self._desk.uploads
        refused = (
            f"{folder[:200]!r}: expected a folder or file below {self._desk.root}, the desk's --root, that is there."
        )
        if "\0" in folder:
            raise InputError(refused)
        try:
            chosen = (self._desk.root / folder).resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise InputError(refused) from error
        root = self._desk.root.resolve()
        if not chosen.is_relative_to(root):
            raise InputError(refused)
        if root != Path.cwd().resolve():
            raise InputError(
                f"Documents are named after the folder that a build is started in: start the desk in its --root {root} to build a folder "
                "of the server."
            )
        return Path(folder)

    def _check_graph(self) -> None:
        settings = self._desk.graph.settings
        if settings.graph is not None and settings.extractor != (settings.graph,):
            raise InputError(
                f"This desk searches the graph {settings.graph!r}, and which extractor made that is not known here. "
                "Run kgrag build with the desk closed, or start the desk without --graph."
            )

    async def _check_groups(self) -> None:
        """A build without the metadata that named their groups would make restricted documents everybody's. Raises `InputError`."""
        documents = await asyncio.to_thread(self._desk.graph.store.documents.all)
        if self._desk.metadata is None and any(one.groups for one in documents):
            raise InputError(
                "Some documents are restricted to groups: start the desk with the --metadata FILE that says so, or a build would forget it."
            )

    def _delete_upload(self, document: Document) -> bool:
        uploads = self._desk.uploads.resolve()
        for place in self._desk.places(document.path):
            # The path is the store's; whatever it says, only what was uploaded is ever deleted.
            if place.parent.resolve().is_relative_to(uploads) and place.is_file():
                place.unlink()
                return True
        return False

    async def _audit(self, user: User, action: str, **more: Any) -> None:
        await asyncio.to_thread(self._desk.journal.write, "audit", {"user": user.name, "action": action, **more})


async def _settled(task: Awaitable[None]) -> None:
    with suppress(asyncio.CancelledError, Exception):
        await task


def _checked_file(name: str) -> str:
    """Return the name of a file that a build reads. Raises `InputError`."""
    _checked(name, "file name")
    if Path(name).suffix.lower() not in FORMATS or name.startswith("~$"):
        raise InputError(f"{name[:100]!r}: expected a file that ends in {', '.join(FORMATS)}.")
    return name


def _checked(name: str, what: str) -> str:
    """Return a name that is one part of a path, on every system, and looks like what it is. Raises `InputError`."""
    bad = (
        not name.strip()
        or name != name.strip()
        or name.startswith(".")
        or name.endswith(".")
        or any(character in "/\\:" or unicodedata.category(character)[0] == "C" for character in name)
        or len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES
    )
    if bad:
        raise InputError(
            f"{name[:100]!r}: expected a {what} without folders, control characters or a dot at its ends, at most {MAX_NAME_BYTES} bytes."
        )
    return name
