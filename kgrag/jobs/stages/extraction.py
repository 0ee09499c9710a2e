"""Extracting a graph from chunks: many calls under way, one writer, nothing paid for twice.

    ledger says what is missing ─► calls, up to `concurrency` at once ─► results ─► one transaction a second, with ledger entries

A chunk holds a place from when its call begins until its result is written, and there are so many places: memory does not grow with the
corpus, and a database that is slow or away holds the calls back.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import islice

from kgrag.common.progress import Step
from kgrag.engines.base import Extract
from kgrag.errors import KgragError, StoreError
from kgrag.extract.base import Extractor, InducesSchema, RemarksOnInput, chunk_fingerprints
from kgrag.jobs.report import Failure, GraphReport
from kgrag.jobs.stages.job import Job
from kgrag.jobs.stages.schema import agree_on_schema
from kgrag.models.cached import fresh_replies, replies_in_use
from kgrag.models.watch import CallUnanswered, ModelWatch
from kgrag.settings import Settings
from kgrag.store.ledger import WorkRecord
from kgrag.types import Chunk, Extraction

__all__ = ["extract_graph", "is_done"]

READ_CHUNKS = 500
WRITE_RESULTS = 500
"""Of one transaction: a larger one is not faster, and a smaller one runs a statement for each of its types as well."""
WRITE_EVERY_S = 1.0
"""A result waits no longer to be written than this, or than the transaction before it takes."""
LAST_CALLS_S = 30.0
"""How long calls under way may take to end when the database stays away."""
LOOK_AGAIN_S = 0.05


async def extract_graph(extractor: Extractor, graph: str, job: Job, *, settings: Settings, watch: ModelWatch) -> None:
    """Extract the chunks whose ledger entry is missing, failed, or made by another fingerprint; write what is not as it was.

    Where `settings.retry` is "partial" those of which something was lost are asked for again, too. Interrupted, it writes the results that
    are there before it ends.
    """
    store, report = job.store, job.report
    await asyncio.to_thread(lambda: extractor.prepare(store.documents.all(), store.documents.chunks()))
    report.extractions.setdefault(graph, Counter())
    graph_report = report.graphs.setdefault(graph, GraphReport())
    if isinstance(extractor, RemarksOnInput):
        for remark, (count, which) in extractor.remarks.items():
            graph_report.remarks[remark] += count
            report.notes.append(f"{count:,} {remark}: {which}")
    if isinstance(extractor, InducesSchema):
        await agree_on_schema(extractor, graph, job, wait=watch.wait)
    chunks = await asyncio.to_thread(store.documents.count_chunks)
    with job.progress.step(f"Extract {graph}", chunks, "chunks") as step:
        async with job.engine.extraction(extractor, model=watch.model, settings=settings) as extract:
            under_way = _GraphExtraction(
                extract,
                graph,
                job,
                fingerprint=chunk_fingerprints(extractor),
                concurrency=settings.concurrency,
                watch=watch,
                step=step,
                retry_partial=settings.retry == "partial",
            )
            await under_way.run()


@dataclass(frozen=True, slots=True)
class _Result:
    previous: WorkRecord | None
    extraction: Extraction
    record: WorkRecord


class _GraphExtraction:
    """One graph on its way."""

    def __init__(
        self,
        extract: Extract,
        graph: str,
        job: Job,
        *,
        fingerprint: Callable[[Chunk], str],
        concurrency: int,
        watch: ModelWatch,
        step: Step,
        retry_partial: bool,
    ) -> None:
        self._extract_chunk = extract
        self._fingerprint = fingerprint
        self._graph = graph
        self._store = job.store
        self._watch = watch
        self._step = step
        self._report = job.report
        self._retry_partial = retry_partial
        self._calls = concurrency
        self._places = asyncio.Semaphore(concurrency + 2 * WRITE_RESULTS)
        self._todo: asyncio.Queue[tuple[Chunk, WorkRecord | None] | None] = asyncio.Queue(maxsize=concurrency)
        self._results: list[_Result] = []
        self._enough = asyncio.Event()
        self._all_extracted = False
        self._under_way = 0
        self._ending = False

    async def run(self) -> None:
        """Run to the end. Raises the first error of any part, after the results that are there are written."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._write_as_they_come())
                await self._extract_all()
        except BaseExceptionGroup as group:
            raise _first(group) from group
        finally:
            await self._write()

    async def _extract_all(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._read())
            for _ in range(self._calls):
                tasks.create_task(self._call())
        self._all_extracted = True
        self._enough.set()

    async def _read(self) -> None:
        """Queue the chunks that are to be extracted, in document order."""
        chunks = self._store.documents.chunks()
        while page := await asyncio.to_thread(self._page, chunks):
            for chunk, previous in page:
                if is_done(previous, self._fingerprint(chunk), retry_partial=self._retry_partial):
                    self._report.extractions[self._graph]["unchanged"] += 1
                    self._step.advance()
                else:
                    await self._todo.put((chunk, previous))
        for _ in range(self._calls):
            await self._todo.put(None)

    def _page(self, chunks: Iterator[Chunk]) -> list[tuple[Chunk, WorkRecord | None]]:
        page = list(islice(chunks, READ_CHUNKS))
        known = self._store.ledger.of_subjects("extract", [chunk.id for chunk in page], scope=self._graph)
        return [(chunk, known.get(chunk.id)) for chunk in page]

    async def _call(self) -> None:
        """Extract one chunk after the other."""
        while not self._ending and (item := await self._todo.get()) is not None:
            chunk, previous = item
            await self._places.acquire()
            started = time.perf_counter()
            # What could not be used must not come from the cache again.
            again = previous is not None and previous.state in ("failed", "partial")
            self._under_way += 1
            try:
                with fresh_replies() if again else nullcontext(), replies_in_use() as replies:
                    extraction = await self._extract(chunk)
                if extraction.state != "failed":
                    replies.keep()
            finally:
                self._under_way -= 1
            self._results.append(
                _Result(previous, extraction, self._record(chunk, extraction, previous, time.perf_counter() - started))
            )
            if len(self._results) >= WRITE_RESULTS:
                self._enough.set()

    async def _extract(self, chunk: Chunk) -> Extraction:
        try:
            return await self._watch.outlast(lambda: self._extract_chunk(chunk))
        except CallUnanswered as error:
            return Extraction(chunk_id=chunk.id, state="failed", reason=str(error))

    def _record(self, chunk: Chunk, extraction: Extraction, previous: WorkRecord | None, seconds: float) -> WorkRecord:
        """Make the ledger entry; what the chunk took before counts on."""
        # Half of a surrogate pair, which a reply may have, is no text for a database.
        reason = extraction.reason.encode("utf-8", "backslashreplace").decode()
        record = WorkRecord(
            "extract",
            extraction.chunk_id,
            scope=self._graph,
            version=self._fingerprint(chunk),
            state=extraction.state,
            reason=reason,
            result=extraction.digest,
            seconds=seconds + (previous.seconds if previous else 0.0),
        ).after(previous, extraction.usage)
        if record.state == "failed" and previous and (previous.state, previous.version) == ("partial", record.version):
            # What there is is better than nothing.
            reason = f"{previous.reason} (asked again, which failed: {reason})"
            record = replace(record, state="partial", result=previous.result, reason=reason)
        return record

    async def _write_as_they_come(self) -> None:
        while not (self._all_extracted and not self._results):
            with suppress(TimeoutError):
                async with asyncio.timeout(WRITE_EVERY_S):
                    await self._enough.wait()
            self._enough.clear()
            try:
                await self._write()
            except KgragError:
                await self._let_calls_end()
                raise

    async def _let_calls_end(self) -> None:
        """Wait for the replies that are paid for already: they go into the cache."""
        self._ending = True
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_CALLS_S):
                while self._under_way:
                    await asyncio.sleep(LOOK_AGAIN_S)

    async def _write(self) -> None:
        """Write the results that are there."""
        results, self._results = self._results, []
        if not results:
            return
        changed = [(r.extraction, r.record) for r in results if not _says_the_same(r.previous, r.record)]
        unchanged = [r.record for r in results if _says_the_same(r.previous, r.record)]

        def put() -> None:
            self._store.graphs.put_extractions(self._graph, changed)
            self._store.ledger.put(unchanged)

        writing = asyncio.ensure_future(asyncio.to_thread(put))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:  # what was begun is written, unless the database is away
            self._watch.stop_waiting()
            with suppress(StoreError):
                await writing
            raise
        states, graph = self._report.extractions[self._graph], self._report.graphs[self._graph]
        for result in results:
            states[result.record.state] += 1
            graph.usage += result.extraction.usage
            graph.remarks.update(result.extraction.remarks)
            if result.record.state == "failed":
                failure = Failure(
                    stage="extract", subject=result.record.subject, scope=self._graph, reason=result.record.reason
                )
                self._report.failures.append(failure)
            self._places.release()
        self._step.advance(len(results))


def is_done(record: WorkRecord | None, fingerprint: str, *, retry_partial: bool = False) -> bool:
    """Say whether a chunk needs no extraction."""
    again = ("failed", "partial") if retry_partial else ("failed",)
    return record is not None and record.state not in again and record.version == fingerprint


def _says_the_same(previous: WorkRecord | None, record: WorkRecord) -> bool:
    return previous is not None and (previous.state, previous.result) == (record.state, record.result)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error that ended the others."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
