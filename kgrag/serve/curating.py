"""What changes the documents of a desk, one change at a time: uploads, builds in this process, deletes."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from kgrag.common.journal import NotWrittenDown
from kgrag.common.progress import Step
from kgrag.documents.discovery import stored_path
from kgrag.errors import InputError, KgragError
from kgrag.jobs.report import BuildReport
from kgrag.serve.access import User
from kgrag.serve.desk import Desk
from kgrag.serve.problems import Busy, NotFound, problem_of, told
from kgrag.serve.uploads import Uploaded, Uploads
from kgrag.types import Document

__all__ = ["BuildState", "Curating", "Deleted", "StepState"]

KEPT_LINES = 20
STOP_S = 1.0
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
class Deleted:
    """Documents that went, and whether the file went with them: one that was not uploaded stays where it is."""

    documents: list[Document]
    file_deleted: bool


class Curating:
    """Uploads, builds and deletes for a desk. Use it from one event loop."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._uploads = Uploads(
            desk.uploads,
            file_bytes=desk.graph.settings.max_file_mb * 1_000_000,
            total_bytes=desk.uploads_mb * 1_000_000,
        )
        self._changing = asyncio.Lock()
        self._building: asyncio.Task[None] | None = None
        self.build_state = BuildState()

    @property
    def max_bytes(self) -> int:
        """Of a file that is uploaded: larger ones a build would not read."""
        return self._uploads.file_bytes

    async def upload(self, name: str, product: str, data: AsyncIterator[bytes], *, user: User) -> Uploaded:
        """Write a file into the folder of uploads; see `Uploads.write`."""
        done = await self._uploads.write(name, product, data)
        await self._audit(user, "upload", path=done.path, bytes=done.bytes)
        return done

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
            file_deleted = not others and await asyncio.to_thread(
                self._uploads.delete, self._desk.places(document.path)
            )
            await self._audit(user, "delete", document=document.id, path=document.path, file_deleted=file_deleted)
        return Deleted(gone, file_deleted)

    async def delete_upload(self, path: str, *, user: User) -> None:
        """Delete an uploaded file of which the store has no document. Raises `NotFound`, `InputError`, `Busy`."""
        if self._changing.locked():
            raise Busy("The documents are being changed already. Wait until that is done.")
        async with self._changing:
            if await asyncio.to_thread(self._desk.graph.store.documents.of_path, path):
                raise InputError(
                    f"{path[:200]!r}: the store has a document of this file: delete that, and the file goes with it."
                )
            places = [] if "\0" in path else self._desk.places(path)
            if not await asyncio.to_thread(self._uploads.delete, places):
                raise NotFound(f"No uploaded file has the path {path[:200]!r}.")
            await self._audit(user, "delete", path=path, file_deleted=True)

    def is_upload(self, path: str) -> bool:
        """Whether a path, as a build names it, is below the folder of uploads."""
        return PurePosixPath(path).is_relative_to(stored_path(self._desk.uploads))

    def stop(self) -> None:
        """Tell a build that runs to stop: it goes on where it stopped when it is started again."""
        if self._building is not None and not self._building.done():
            self._building.cancel()

    async def close(self) -> None:
        """Wait until a build has stopped."""
        self.stop()
        if self._building is not None:
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
            state.state, state.problem = "failed", told(error)
            log.warning("build %s failed: %s", state.id, problem_of(error)["type"])
        except OSError as error:
            state.state, state.problem = "failed", told(NotWrittenDown(str(error)))
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

    async def _audit(self, user: User, action: str, **more: Any) -> None:
        await asyncio.to_thread(self._desk.journal.write, "audit", {"user": user.name, "action": action, **more})


async def _settled(task: Awaitable[None]) -> None:
    with suppress(asyncio.CancelledError, Exception):
        await task
