"""The engine of several machines: Ray Core, one actor for each processor of the cluster, and this process as the only writer.

    files    ─► FileReader actors      ─► documents, chunks ─┐
    texts    ─► TextEmbedder actors    ─► vectors            ├─► this process writes
    chunks   ─► ChunkExtractor actors  ─► extractions ───────┘
                     └── calls ─► Mailbox ─► the model, in this process: its keys, limits, meter, cache

At most `IN_FLIGHT` pieces of work are given to an actor, so this process holds no more however large the corpus is. Whatever ends an
actor or its node, its work is given to another one; what an actor asked a model before is in the cache. Ray schedules; the ledger is the
checkpoint.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import math
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from kgrag.common.progress import Progress, Silent
from kgrag.documents import Converted, Source
from kgrag.documents.page_parts import PART_PAGES, may_have_parts
from kgrag.documents.processes import MOST_SECONDS, Stopped
from kgrag.engines.base import Extract
from kgrag.engines.ray_workers import (
    Answer,
    ChunkExtractor,
    ExtractorRecipe,
    FileReader,
    Mailbox,
    Question,
    TextEmbedder,
)
from kgrag.engines.work import read_source
from kgrag.errors import DocumentError, InputError, KgragError
from kgrag.extract import asks_model
from kgrag.extract.base import Extractor, InducesSchema, chunk_fingerprints
from kgrag.models import EMBEDDERS, is_hosted
from kgrag.models.base import ChatModel, Embedder, Vectors
from kgrag.models.cached import asked_how
from kgrag.models.wrapped import WrappedEmbedder, identity_of
from kgrag.settings import Settings
from kgrag.types import Chunk, Extraction

__all__ = ["RayEngine", "connect"]

INSTALL_HINT = "pip install 'kgrag[ray]'"
IN_FLIGHT = 2
"""Pieces of work that an actor has: one under way, one waiting."""
FILES_OF_AN_ACTOR = 100
WHOLE_FILE = 2
"""Arguments of a `FileReader` that reads a file: more are its pages."""
TRIES = 3
"""Actors that end with the same piece of work: then it is that work's fault."""
LOOK_AGAIN_S = 0.05
CONNECT_S = 10.0
SAY_AFTER_S = 20.0
"""Without a single actor that can work."""
TAKE_CALLS = 64

T = TypeVar("T")


def connect(address: str | None) -> None:
    """Connect this process to the cluster there, or to one of its own, and leave its signals as they were.

    Ray handles SIGTERM and SIGINT, and twice what ends a process (SIGSEGV), by which the Java machine in this process finds null pointers.
    """
    ray = _ray()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    traced = faulthandler.is_enabled()
    try:
        ray.init(
            address=address or "local",
            include_dashboard=None if address else False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    finally:
        if not traced:
            faulthandler.disable()
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)


def _ray() -> Any:
    """Import Ray, without the handler of SIGSEGV that it would have. Raises `InputError` where it is not installed."""
    os.environ.setdefault("RAY_DISABLE_FAILURE_SIGNAL_HANDLER", "1")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise InputError(f"--engine ray needs the package ray, which is not installed. Run: {INSTALL_HINT}") from error
    return ray


class RayEngine:
    """An `Engine` on a Ray cluster: that of `settings.ray_address`, else one on this machine, which ends with it.

    Raises `InputError` where Ray is not installed or no cluster answers.
    """

    def __init__(self, settings: Settings, *, progress: Progress | None = None) -> None:
        self._ray: Any = _ray()
        """Its types know less than its options."""
        self._settings = settings
        self._progress = progress or Silent()
        self._own = not self._ray.is_initialized()
        if self._own:
            if settings.ray_address:
                _check_address(settings.ray_address)
            try:
                connect(settings.ray_address)
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                where = settings.ray_address or "this machine"
                reason = " ".join(str(error).split())[:300]
                raise InputError(
                    f"--engine ray: no cluster could be reached or started at {where}: {reason}"
                ) from error
        self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        """Actors of each kind."""

    @property
    def batches_ahead(self) -> int:
        """Every actor has its batches."""
        return IN_FLIGHT * self.workers

    @contextmanager
    def readers(
        self, sources: Iterable[Source], *, embedder: Embedder, settings: Settings, stopping: threading.Event
    ) -> Iterator[_Readers]:
        """Read files in actors. Ready passages are read here: a file of them is streamed, and there is nothing to convert."""
        made, local = _portable(embedder), settings.model_copy(update={"engine": "local"})
        actor = self._ray.remote(num_cpus=1)(FileReader)
        files = [source for source in sources if source.format != "jsonl"]
        count = self.workers if any(map(may_have_parts, files)) else min(self.workers, len(files))
        pool = _Pool(
            self._ray,
            lambda: actor.remote(made, local),
            count,
            say=self._progress.say,
            recycle_after=FILES_OF_AN_ACTOR,
        )
        with pool:
            yield _Readers(self._ray, pool, embedder, settings, stopping)

    @asynccontextmanager
    async def embedding(self, embedder: Embedder) -> AsyncIterator[Embedder]:
        """Embed in actors; a hosted embedder is called from here, where its limits and its meter are."""
        if is_hosted(embedder.name):
            yield embedder
            return
        made, settings = _portable(embedder), self._settings
        actor = self._ray.remote(num_cpus=1)(TextEmbedder)
        with _Pool(self._ray, lambda: actor.remote(made, settings), self.workers, say=self._progress.say) as pool:
            yield _Embedder(embedder, pool)

    @asynccontextmanager
    async def extraction(
        self, extractor: Extractor, *, model: ChatModel | None, settings: Settings
    ) -> AsyncIterator[Extract]:
        """Extract in actors; what they ask a model is asked from here."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        asks = asks_model(extractor.name)
        probe = Chunk(id="probe", document_id="probe", source_id="probe", position=0, text="", tokens=0)
        recipe = self._ray.put(
            ExtractorRecipe(
                extractor=None if asks else extractor,
                name=extractor.name,
                schema=extractor.schema if isinstance(extractor, InducesSchema) else None,
                settings=settings.model_copy(update={"engine": "local"}),
                model=model.name if model else "",
                identity=identity_of(model) if model else "",
                fingerprint=chunk_fingerprints(extractor)(probe) if asks else "",
            )
        )
        at_once = max(IN_FLIGHT, math.ceil(settings.concurrency / self.workers)) if asks else IN_FLIGHT
        # `ready` comes through beside calls that wait for a model.
        actor = self._ray.remote(num_cpus=1, max_concurrency=at_once + 1)(ChunkExtractor)
        # On the node of this process, whose end is the build's end in any case.
        here = NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=True)
        letters = self._ray.remote(num_cpus=0, max_restarts=-1, max_concurrency=10_000, scheduling_strategy=here)
        mailbox = letters(Mailbox).remote()
        serving = asyncio.create_task(_serve(mailbox, model)) if model is not None and asks else None
        try:
            with _Pool(
                self._ray,
                lambda: actor.remote(recipe, mailbox),
                self.workers,
                say=self._progress.say,
                in_flight=at_once,
            ) as pool:

                async def extract(chunk: Chunk) -> Extraction:
                    try:
                        kind, value = await pool.done(_Work("extract", (chunk, asked_how())))
                    except _LostError as error:
                        reason = f"The workers that extracted it ended: {error}"
                        return Extraction(chunk_id=chunk.id, state="failed", reason=reason)
                    if kind == "error":
                        raise value
                    extraction: Extraction = value
                    return extraction

                yield extract
        finally:
            if serving is not None:
                serving.cancel()
                with suppress(asyncio.CancelledError):
                    await serving
            self._ray.kill(mailbox)

    def close(self) -> None:
        """Leave the cluster, and end it where it was started here."""
        if self._own and self._ray.is_initialized():
            self._ray.shutdown()
        self._own = False


def _check_address(address: str) -> None:
    """Raise `InputError` where nobody listens at HOST:PORT: Ray tries for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or "://" in address:  # `auto`, or the address of a client's server
        return
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except (OSError, ValueError) as error:
        raise InputError(
            f"--ray-address {address}: expected auto or HOST:PORT of a cluster's head node, and none answers there: {error}"
        ) from error


def _portable(embedder: Embedder) -> Embedder | str:
    """Return what an actor gets: the name of an embedder that it can open itself, whose weights are no message; else the embedder."""
    opened_by_name = embedder.name in EMBEDDERS or ":" in embedder.name
    return embedder.name if opened_by_name else embedder


async def _serve(mailbox: Any, model: ChatModel) -> None:
    """Make the calls that come through the mailbox until cancelled."""
    from ray.exceptions import RayError

    calls: set[asyncio.Task[None]] = set()

    async def call(number: int, question: Question) -> None:
        try:
            with question.how.again():
                answer: tuple[str, Any] = ("reply", await model.reply(question.messages, schema=question.schema))
        except KgragError as error:
            answer = ("error", error)
        with suppress(RayError):  # who asked has ended; the reply is in the cache
            await mailbox.answer.remote(number, answer)

    try:
        while True:
            try:
                taken = await mailbox.take.remote(TAKE_CALLS)
            except RayError:  # it is being started again
                await asyncio.sleep(LOOK_AGAIN_S)
                continue
            for number, question in taken:
                task = asyncio.create_task(call(number, question))
                calls.add(task)
                task.add_done_callback(calls.discard)
    finally:
        for task in calls:
            task.cancel()


@dataclass(slots=True)
class _Work:
    """A piece of work: a method of an actor and its arguments."""

    method: str
    arguments: tuple[Any, ...]
    actor: _Actor | None = None
    ref: Any = None
    returns: int = 1
    """2: of something that stays in the object store, beside what came of the work."""
    value: Any = None
    """A reference to that."""
    tries: int = 0
    began: float = 0.0

    @property
    def has_parts(self) -> bool:
        """Whether a file is to be read of pages that were read before."""
        return self.method == "read" and len(self.arguments) > WHOLE_FILE

    def drop_parts(self) -> None:
        """Have the file read as a whole."""
        if self.method == "read":
            self.arguments = self.arguments[:WHOLE_FILE]


@dataclass(slots=True, eq=False)
class _Actor:
    handle: Any
    starting: Any
    """The answer to `ready`; None once it has come."""
    refs: list[Any] = field(default_factory=list)
    """Of the work whose results were not taken yet: whoever holds a reference keeps the result."""
    given: int = 0
    retired: bool = False
    held: _Work | None = None
    """What it is kept for: work with which an actor has ended gets one for itself, so that no other work is blamed for it."""

    @property
    def under_way(self) -> int:
        return len(self.refs)


class _Pool:
    """Actors of one kind. What ends is replaced, and what it had is given to others. Safe from several threads; close it."""

    def __init__(
        self,
        ray: Any,
        make: Callable[[], Any],
        count: int,
        *,
        say: Callable[[str], None],
        in_flight: int = IN_FLIGHT,
        recycle_after: int | None = None,
    ) -> None:
        from ray.exceptions import RayError, RayTaskError

        self._ray, self._make, self._say = ray, make, say
        self._in_flight, self._recycle_after = in_flight, recycle_after
        self._task_error, self.error = RayTaskError, RayError
        self._lock = threading.RLock()
        self._closed = False
        self.count = count
        self._actors = [self._start() for _ in range(count)]
        self._idle_since = time.monotonic()

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            for actor in self._actors:
                with suppress(self.error):
                    self._ray.kill(actor.handle)

    def _start(self) -> _Actor:
        handle = self._make()
        return _Actor(handle, handle.ready.remote())

    def _is_ready(self, actor: _Actor) -> bool:
        """Whether an actor has started: one that waits for a processor gets no work. Raises `InputError` where it cannot work."""
        if actor.starting is None:
            return True
        done, _ = self._ray.wait([actor.starting], timeout=0)
        if not done:
            return False
        try:
            problem = self._ray.get(actor.starting)
        except self._task_error as error:
            raise InputError(
                f"A worker cannot start: {_last_line(error)}. Install kgrag and its extras on every node."
            ) from error
        except self.error:
            self._replace(actor)
            return False
        if problem:
            raise InputError(problem)
        actor.starting = None
        return True

    def begin(self, work: _Work) -> bool:
        """Give work to the actor that has least; False where each has enough, or none has started."""
        with self._lock:
            if self._closed:
                raise Stopped
            actor = self._for_itself(work) if work.tries else self._least_busy()
            if actor is None:
                self._complain()
                return False
            self._idle_since = math.inf
            work.actor, work.began = actor, time.monotonic()
            method = getattr(actor.handle, work.method)
            if work.returns == 1:
                work.ref = method.remote(*work.arguments)
            else:
                work.ref, work.value = method.options(num_returns=work.returns).remote(*work.arguments)
            actor.refs.append(work.ref)
            actor.given += 1
            if self._recycle_after is not None and actor.given >= self._recycle_after:
                self._retire(actor)
            return True

    def _least_busy(self) -> _Actor | None:
        return self._least([one for one in self._actors if one.under_way < self._in_flight and one.held is None])

    def _least(self, actors: list[_Actor]) -> _Actor | None:
        """Of those that have started, the one that has least to do: one for which no processor is left may never start."""
        return min((one for one in actors if self._is_ready(one)), key=lambda one: one.under_way, default=None)

    def _for_itself(self, work: _Work) -> _Actor | None:
        """Keep an actor for this work; return it once it has nothing else."""
        actor = next((one for one in self._actors if one.held is work), None)
        if actor is None:
            actor = self._least([one for one in self._actors if one.held is None])
        if actor is None:
            return None
        actor.held = work
        _, pending = self._ray.wait(actor.refs, num_returns=len(actor.refs), timeout=0) if actor.refs else ([], [])
        return actor if not pending and self._is_ready(actor) else None

    def _let_go(self, work: _Work) -> None:
        with self._lock:
            for actor in self._actors:
                if actor.held is work:
                    actor.held = None

    def result(self, work: _Work) -> Any:
        """Return what came of work whose `ref` is there. Raises `_AgainError` where it has to be begun again."""
        actor, ref = work.actor, work.ref
        if actor is None:
            raise _AgainError
        try:
            return self._ray.get(ref)
        except self._task_error as error:
            cause: Exception = error.as_instanceof_cause()  # type: ignore[no-untyped-call]
            raise cause from error
        except self.error as error:  # its actor or node has ended, or its result is lost
            work.tries += 1
            with self._lock:
                self._replace(actor)
            work.actor = work.ref = None
            if work.tries >= TRIES:
                raise _LostError(_last_line(error)) from error
            raise _AgainError from error
        finally:
            self._let_go(work)
            with self._lock:
                actor.refs.remove(ref)
                if actor.retired and actor.under_way == 0:
                    with suppress(self.error):
                        self._ray.kill(actor.handle)

    async def done(self, work: _Work) -> Any:
        """Do work. Raises `KgragError` where no worker can."""
        try:
            while True:
                while not self.begin(work):
                    await asyncio.sleep(LOOK_AGAIN_S)
                try:
                    await asyncio.wrap_future(work.ref.future())
                except asyncio.CancelledError:
                    raise
                except Exception:  # noqa: BLE001, S110  `result` says what it is
                    pass
                try:
                    return self.result(work)
                except _AgainError:
                    continue
        finally:
            self._let_go(work)

    def _replace(self, actor: _Actor) -> None:
        """Start another actor in the place of one that has ended."""
        with self._lock:
            if actor in self._actors and not self._closed:
                with suppress(self.error):
                    self._ray.kill(actor.handle)
                self._actors[self._actors.index(actor)] = self._start()

    def _retire(self, actor: _Actor) -> None:
        """Start another actor in the place of one that has done enough; it ends when its last work is done."""
        actor.retired = True
        self._actors[self._actors.index(actor)] = self._start()

    def kill(self, work: _Work) -> None:
        """End the actor that does this work."""
        if work.actor is not None:
            with suppress(self.error):
                self._ray.kill(work.actor.handle)

    def _complain(self) -> None:
        now = time.monotonic()
        if any(one.starting is None for one in self._actors):
            self._idle_since = math.inf
        elif math.isinf(self._idle_since):
            self._idle_since = now
        elif now - self._idle_since > SAY_AFTER_S:
            self._say("Waiting for a worker of the Ray cluster: no processor is free.")
            self._idle_since = now


class _AgainError(Exception):
    """The work has to be begun again, with another actor."""


class _LostError(KgragError):
    """Every actor that was given this work ended with it."""


@dataclass(slots=True, eq=False)
class _File:
    """A file that is being read: at once, or its parts first where it is a long PDF."""

    source: Source
    data: Any
    """Its content, in the object store."""
    under_way: list[_Work] = field(default_factory=list)
    parts: list[_Work] = field(default_factory=list)
    failed: dict[int, Any] = field(default_factory=dict)
    """Why parts have no pages, by their place."""
    seconds: float = 0.0
    """Spent on its parts."""
    answer: Answer | None = None


class _Readers:
    """Reads files in the actors of a pool."""

    def __init__(
        self, ray: Any, pool: _Pool, embedder: Embedder, settings: Settings, stopping: threading.Event
    ) -> None:
        self._ray, self._pool, self._embedder, self._settings = ray, pool, embedder, settings
        self._stopping = stopping
        self._begun: dict[str, _File] = {}
        self._waiting: deque[_Work] = deque()

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

    def _add(self, file: _File, method: str, *arguments: Any, returns: int = 1) -> _Work:
        work = _Work(method, (file.source, file.data, *arguments), returns=returns)
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

    def _answer(self, work: _Work) -> Answer | None:
        """Return what came of work that has ended; None where it is begun again."""
        try:
            return cast("Answer", self._pool.result(work))
        except _LostError as error:
            return "failed", (f"is broken: the workers that read it ended ({error})", str(error))
        except _AgainError:
            pass
        except self._pool.error:
            if not work.has_parts:
                raise
        # Pages may have gone with the node that had them: then the file is read as a whole.
        work.drop_parts()
        work.actor = work.ref = None
        self._waiting.appendleft(work)
        return None

    def _go_on(self, file: _File, work: _Work, answer: Answer) -> None:
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


class _Embedder(WrappedEmbedder):
    """An embedder whose documents are embedded in actors."""

    def __init__(self, embedder: Embedder, pool: _Pool) -> None:
        super().__init__(embedder)
        self._pool = pool

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = await self._pool.done(_Work("embed", (list(texts),)))
        return vectors

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._model.embed_queries(texts)


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
