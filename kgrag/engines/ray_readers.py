"""Files read in the actors of a pool: each at once, or a long PDF in parts by several actors, of whose pages one makes the document."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from kgrag.documents import Converted, Source
from kgrag.documents.page_parts import PART_PAGES, may_have_parts
from kgrag.documents.processes import MOST_SECONDS, Stopped
from kgrag.engines.ray_pool import IN_FLIGHT, LOOK_AGAIN_S, TRIES, AgainError, LostError, Pool, Work
from kgrag.engines.ray_workers import Answer
from kgrag.engines.work import read_source
from kgrag.errors import DocumentError
from kgrag.models.base import Embedder
from kgrag.settings import Settings

__all__ = ["Readers"]

WHOLE_FILE = 2
"""Arguments of a `FileReader` that reads a file: more are its pages."""

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _File:
    """A file that is being read: at once, or its parts first where it is a long PDF."""

    source: Source
    data: Any
    """Its content, in the object store."""
    under_way: list[Work] = field(default_factory=list)
    parts: list[Work] = field(default_factory=list)
    failed: dict[int, Any] = field(default_factory=dict)
    """Why parts have no pages, by their place."""
    seconds: float = 0.0
    """Spent on its parts."""
    answer: Answer | None = None


class Readers:
    """Reads files in the actors of a pool."""

    def __init__(self, ray: Any, pool: Pool, embedder: Embedder, settings: Settings, stopping: threading.Event) -> None:
        self._ray, self._pool, self._embedder, self._settings = ray, pool, embedder, settings
        self._stopping = stopping
        self._begun: dict[str, _File] = {}
        self._waiting: deque[Work] = deque()

    def ahead(self, files: Iterable[T], source_of: Callable[[T], Source | None]) -> Iterator[T]:
        """Yield files as they come; twice as many as there are actors are begun before they are asked for."""
        waiting: deque[T] = deque()
        for file in files:
            source = source_of(file)
            if source is not None and source.format != "jsonl":
                self._begin(source)
            waiting.append(file)
            if len(waiting) > IN_FLIGHT * self._pool.count:
                yield waiting.popleft()
        yield from waiting

    def _begin(self, source: Source) -> None:
        try:
            data = source.path.read_bytes()
        except OSError:  # It is that file's failure when its turn comes.
            return
        file = self._begun[source.stored_path] = _File(source, self._ray.put(data))
        if self._pool.count > 1 and may_have_parts(source):
            self._add(file, "parts", PART_PAGES)
        else:
            self._add(file, "read")

    def _add(self, file: _File, method: str, *arguments: Any, returns: int = 1) -> Work:
        work = Work(method, (file.source, file.data, *arguments), returns=returns)
        file.under_way.append(work)
        self._waiting.append(work)
        self._give()
        return work

    def _give(self) -> None:
        while self._waiting and self._pool.begin(self._waiting[0]):
            self._waiting.popleft()

    def read(self, source: Source) -> tuple[Iterable[Converted], float]:
        """Wait for the documents of a file; those of any that was not begun are read here."""
        file = self._begun.pop(source.stored_path, None)
        if file is None:
            return read_source(source, self._embedder, self._settings), 0.0
        while file.answer is None:
            if self._stopping.is_set():
                raise Stopped
            self._give()
            self._take([file], LOOK_AGAIN_S)
            # Of files whose turn has not come only parts: this process holds the documents of one file.
            self._take([one for one in self._begun.values() if one.under_way and one.under_way[0].method != "read"], 0)
        kind, value = file.answer
        if kind == "failed":
            reason, trace = value
            failure = DocumentError(source.path, reason)
            failure.add_note(trace)
            raise failure
        documents, seconds = value
        return documents, file.seconds + seconds

    def _take(self, files: Sequence[_File], timeout_s: float) -> None:
        """Take what has come of files, waiting so long for some of it, and give what follows from that."""
        refs = {work.ref: (file, work) for file in files for work in file.under_way if work.ref is not None}
        if not refs:
            time.sleep(timeout_s)
            return
        done, pending = self._ray.wait([*refs], num_returns=1 if timeout_s else len(refs), timeout=timeout_s)
        for ref in done:
            file, work = refs[ref]
            answer = self._answer(work)
            if answer is not None:
                file.under_way.remove(work)
                self._go_on(file, work, answer)
        for ref in pending:
            work = refs[ref][1]
            if time.monotonic() - work.began > IN_FLIGHT * MOST_SECONDS:
                self._pool.kill(work)
                work.tries = TRIES

    def _answer(self, work: Work) -> Answer | None:
        """Return what came of work that has ended; None where it is begun again."""
        try:
            return cast("Answer", self._pool.result(work))
        except LostError as error:
            return "failed", (f"is broken: the workers that read it ended ({error})", str(error))
        except AgainError:
            pass
        except self._pool.error:
            if work.method != "read" or len(work.arguments) <= WHOLE_FILE:
                raise
        if work.method == "read":
            # Its pages may have gone with the node that had them: then the file is read as a whole.
            work.arguments = work.arguments[:WHOLE_FILE]
        work.actor = work.ref = None
        self._waiting.appendleft(work)
        return None

    def _go_on(self, file: _File, work: Work, answer: Answer) -> None:
        kind, value = answer
        if work in file.parts:
            if kind == "failed":
                file.failed[file.parts.index(work)] = value
            else:
                file.seconds += value
            if not file.under_way:
                parts, file.parts = file.parts, []
                if file.failed:
                    file.answer = "failed", file.failed[min(file.failed)]
                else:
                    self._add(file, "read", *(part.value for part in parts))
        elif kind != "parts":
            file.answer = answer
        elif value:
            file.parts = [self._add(file, "read_part", numbers, returns=2) for numbers in value]
        else:
            self._add(file, "read")
