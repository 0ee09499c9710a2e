"""Conversion of files in processes of their own, several beside each other.

A process that ends (a fault in a parser's native code), takes too long or too much memory is that file's failure, and the next file gets a
new one. A process is this module, run by the interpreter that runs us: it takes a file at a time on its standard input, and ends when that
closes, so when its parent ends, however that ends. Only conversion to blocks is done there; what follows needs the embedder's tokenizer.
The pages of a long PDF are read in parts by several of them, each of which leaves its part in a file for the one that makes blocks of all.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotDone
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.discovery import Source
from kgrag.documents.page_parts import PART_PAGES, may_have_parts, parts_of, read_part
from kgrag.documents.reading import convert_file
from kgrag.errors import DocumentError, KgragError

__all__ = ["IN_PLACE", "Conversion", "ConversionProcesses", "Stopped"]

IN_PLACE = frozenset({"jsonl"})
"""Formats without a conversion: ready passages. Any other takes much longer than to hand a file over (a page of HTML 15 times as long)."""
MOST_SECONDS = 1800.0
"""Of one file, or part of one; a manual of a thousand pages takes one to three minutes of processor time."""
FILES_OF_A_PROCESS = 100
"""Then another one takes its place, because converters keep memory."""
MEMORY_SHARE = 0.75
"""Of this machine's memory, for all processes together."""
AHEAD = 2
"""Files that are converted or wait converted, for each process."""
LOOK_AGAIN_S = 0.2
ENDING_S = 5.0
LENGTH = struct.Struct("!Q")

T = TypeVar("T")


class Stopped(Exception):
    """The build is stopping; the file was not converted."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of a file: its blocks, or why it has none; and how long that took, in seconds."""

    outcome: BlockDocument | DocumentError
    seconds: float

    def blocks(self) -> BlockDocument:
        """Return the blocks. Raises the file's `DocumentError`."""
        if isinstance(self.outcome, DocumentError):
            raise self.outcome
        return self.outcome


class ConversionProcesses:
    """`processes` at most (0: nothing is begun), each started by the first file that needs it. Close it to end them."""

    def __init__(
        self,
        processes: int,
        *,
        pdf: str,
        stopping: threading.Event,
        most_seconds: float = MOST_SECONDS,
        part_pages: int = PART_PAGES,
        files_of_a_process: int = FILES_OF_A_PROCESS,
    ) -> None:
        self._count, self._pdf, self._stopping, self._most_seconds = processes, pdf, stopping, most_seconds
        self._part_pages, self._files_of_a_process = part_pages, files_of_a_process
        self._threads = ThreadPoolExecutor(max(1, processes), "kgrag-convert")
        self._idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        self._running: set[_Process] = set()
        self._closing, self._closed = threading.Lock(), False
        self._begun: dict[Path, Future[Conversion]] = {}
        self._taking = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="kgrag-pages-", ignore_cleanup_errors=True)

    def __enter__(self) -> ConversionProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        with self._closing:
            self._closed = True
            for process in list(self._running):
                process.kill()
        self._threads.shutdown(cancel_futures=True)
        self._folder.cleanup()

    def ahead(self, files: Iterable[T], source_of: Callable[[T], Source | None]) -> Iterator[T]:
        """Yield files as they come, having begun to convert those that follow; `source_of` gives None for what is not to be converted."""
        waiting: deque[T] = deque()
        for file in files:
            source = source_of(file)
            if self._count and source is not None and source.format not in IN_PLACE:
                self._begun[source.path] = self._begin(source)
            waiting.append(file)
            if len(waiting) > AHEAD * self._count:
                yield waiting.popleft()
        yield from waiting

    def result(self, source: Source) -> Conversion | None:
        """Wait for a file that was begun; None for any other. Raises `Stopped`."""
        future = self._begun.pop(source.path, None)
        while future is not None:
            try:
                return future.result(timeout=LOOK_AGAIN_S)
            except NotDone:
                if self._stopping.is_set():
                    raise Stopped from None
        return None

    def _begin(self, source: Source) -> Future[Conversion]:
        file = _File(source)
        self._submit(file, self._look if self._count > 1 and may_have_parts(source) else self._convert)
        return file.future

    def _submit(self, file: _File, work: Callable[..., None], *arguments: object) -> None:
        """Do work for a file in a thread; what it raises is what the file's future does."""

        def do() -> None:
            try:
                work(file, *arguments)
            except Exception as error:  # noqa: BLE001  `result` raises it
                with suppress(InvalidStateError):  # of another part
                    file.future.set_exception(error)

        self._threads.submit(do)

    def _look(self, file: _File) -> None:
        """Have the parts of a long PDF read, of any other file all."""
        answer = self._ask(file, _Task(file.source, self._pdf, part_pages=self._part_pages))
        if not isinstance(answer, list) or not answer:
            if isinstance(answer, DocumentError):
                self._end(file, answer)
            else:
                self._convert(file)
            return
        file.parts = [None] * len(answer)
        for place, numbers in enumerate(answer):
            self._submit(file, self._read, place, numbers)

    def _read(self, file: _File, place: int, numbers: range) -> None:
        """Have a part read; after the last one, all converted."""
        handle, kept = tempfile.mkstemp(dir=self._folder.name)
        os.close(handle)
        answer = self._ask(file, _Task(file.source, self._pdf, numbers=numbers, pages=(kept,)))
        with self._taking:
            file.parts[place] = answer if isinstance(answer, DocumentError) else kept
            is_last = None not in file.parts
        if is_last:
            failed = next((part for part in file.parts if isinstance(part, DocumentError)), None)
            if failed:
                self._end(file, failed)
            else:
                self._convert(file)

    def _convert(self, file: _File) -> None:
        self._end(file, self._ask(file, _Task(file.source, self._pdf, pages=file.read)))

    def _end(self, file: _File, answer: object) -> None:
        for part in file.read:
            Path(part).unlink(missing_ok=True)
        file.future.set_result(Conversion(cast("BlockDocument | DocumentError", answer), file.seconds))

    def _ask(self, file: _File, task: _Task) -> Answer | DocumentError:
        """Have a process do a task, and count its seconds."""
        process, started = self._process(), time.perf_counter()
        answer = process.ask(task, most_seconds=self._most_seconds)
        with self._taking:
            file.seconds += time.perf_counter() - started
        if answer is None:
            self._running.discard(process)
            return DocumentError(file.source.path, process.end(self._most_seconds))
        if process.asked < self._files_of_a_process:
            self._idle.put(process)
        else:
            self._running.discard(process)
            process.kill()
        if not isinstance(answer, tuple):
            return answer
        reason, trace = answer
        error = DocumentError(file.source.path, reason)
        error.add_note(trace)
        return error

    def _process(self) -> _Process:
        """Take an idle process, or start one."""
        with self._closing:
            if self._closed:
                raise Stopped
            try:
                return self._idle.get_nowait()
            except queue.Empty:
                process = _Process(self._count)
                self._running.add(process)
                return process


@dataclass(frozen=True, slots=True)
class _Task:
    """What a process is to do with a file: convert it, or (`part_pages`) say what parts it has, or (`numbers`) read one."""

    source: Source
    pdf: str
    part_pages: int = 0
    numbers: range | None = None
    pages: tuple[str, ...] = ()
    """Files for pages: those to convert, or that for what is read."""


Answer = BlockDocument | list[range] | tuple[str, str]
"""What came of a task, of a part an empty list; or the reason why nothing did, and where."""


@dataclass(slots=True, eq=False)
class _File:
    """A file that is being converted."""

    source: Source
    future: Future[Conversion] = field(default_factory=Future)
    seconds: float = 0.0
    parts: list[str | DocumentError | None] = field(default_factory=list)
    """Files with the pages of each part, or why it has none; None until it is read."""

    @property
    def read(self) -> tuple[str, ...]:
        """The files of the parts that were read."""
        return tuple(part for part in self.parts if isinstance(part, str))


class _Process:
    """A process that converts one file after the other."""

    def __init__(self, beside: int) -> None:
        """`beside` is how many there are at most, this one included."""
        # A session of its own: Ctrl-C on the terminal is for the build, which ends its processes.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kgrag.documents.processes", str(beside)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._late = False
        self.asked = 0

    def ask(self, task: _Task, *, most_seconds: float) -> Answer | None:
        """Return what it answers, None where it ends before."""
        self.asked += 1
        timer = threading.Timer(most_seconds, self._too_late)
        timer.start()
        try:
            _write(cast(IO[bytes], self._process.stdin), task)
            answer: Answer | None = _read(cast(IO[bytes], self._process.stdout))
            return answer
        except OSError:
            return None
        finally:
            timer.cancel()

    def _too_late(self) -> None:
        self._late = True
        self._process.kill()

    def end(self, most_seconds: float) -> str:
        """Say why it ended."""
        try:
            status = self._process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self.kill()
        if self._late:
            return f"took more than {most_seconds:g} s to read"
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return f"is broken: the process that read it ended ({how})"

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # What could not be written is of no use any more.
                    continue


def _write(pipe: IO[bytes], value: object) -> None:
    data = pickle.dumps(value)
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> Any:
    """The next value, None at the end. What is read was written by our own process."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    length = LENGTH.unpack(head)[0]
    data = pipe.read(length)
    return pickle.loads(data) if len(data) == length else None  # noqa: S301


def _limit_memory(processes: int) -> str:
    """Let this process have its part of the memory, where the system has such limits; say how much."""
    try:
        import resource
    except ImportError:  # Windows
        return "all"
    most = int(MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / processes)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    return f"{most / 1e9:.1f} GB"


def _done(task: _Task) -> Answer:
    if task.part_pages:
        return parts_of(task.source, pdf=task.pdf, pages=task.part_pages)
    if task.numbers is not None:
        with Path(task.pages[0]).open("wb") as file:
            pickle.dump(read_part(task.source, task.numbers), file)
        return []
    if not task.pages:
        return convert_file(task.source, pdf=task.pdf)
    # Files that our own processes wrote.
    parts = [pickle.loads(Path(part).read_bytes()) for part in task.pages]  # noqa: S301
    return convert_file(task.source, pdf=task.pdf, pages=[page for part in parts for page in part])


def main() -> None:
    """Convert the files that come until no more do."""
    memory = _limit_memory(int(sys.argv[1]))
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # What a parser prints is no answer.
    while (task := _read(sys.stdin.buffer)) is not None:
        try:
            answer: Answer = _done(task)
        except MemoryError:
            answer = (f"needs more than {memory} of memory to read", traceback.format_exc())
        except KgragError as error:
            answer = (error.reason if isinstance(error, DocumentError) else str(error), traceback.format_exc())
        _write(answers, answer)


if __name__ == "__main__":
    main()
