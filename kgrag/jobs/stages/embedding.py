"""Giving vectors to what has none: chunks, rows of tables, entities. While one batch is written the next is embedded.

A reply that cannot be used costs the texts that it is about their vectors and no other text its own (`kgrag.models.by_halves`): what fails
alone stays without, is named, and is asked for again by the next build.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import TypeVar

import numpy as np

from kgrag.common.progress import Step
from kgrag.common.retry import RetryPolicy
from kgrag.documents.table_rows import row_texts
from kgrag.errors import ModelReplyError, ModelUnavailable
from kgrag.jobs.report import Failure
from kgrag.jobs.stages.job import Job
from kgrag.models.base import Embedder, Vectors, expect_unit_vectors
from kgrag.models.by_halves import vectors_or_errors
from kgrag.store.documents import TABLE_ROWS
from kgrag.store.ledger import WorkRecord

__all__ = ["embed_chunks", "embed_entities", "embed_table_rows"]

EMBED_CHUNKS = 256
EMBED_ENTITIES = 2048
EMBED_TABLES = 64
"""So many are embedded at a time at most: of tables, chunks with one whose rows are."""
FIRST_SHARE = 8
"""The first batch has this part of them. Batches grow while one takes less than `QUICK_S`: an interruption loses those under way, and
nothing is shown until one is done."""
QUICK_S = 1.0
SHOWN_CHARACTERS = 80
"""Of a row that has no vector."""

K = TypeVar("K")


async def embed_chunks(job: Job) -> int:
    """Embed the chunks that have no vector yet; return how many."""
    store, scope = job.store, job.embedder.name
    waiting = await asyncio.to_thread(store.documents.ids_without_embedding)
    failures: list[Failure] = []

    def write(ids: Sequence[str], vectors: Vectors, seconds: float) -> None:
        store.documents.put_embeddings(ids, vectors, embedder=scope, seconds=seconds)

    def fail(failed: Sequence[tuple[str, str]]) -> None:
        failures.extend(Failure(stage="embed", subject=chunk, scope=scope, reason=why) for chunk, why in failed)
        store.ledger.put([WorkRecord("embed", c, scope=scope, state="failed", reason=why) for c, why in failed])

    with job.progress.step("Embed", len(waiting), "chunks") as step:
        await _embed_all(
            waiting,
            EMBED_CHUNKS,
            read=lambda ids: [(chunk.id, chunk.embedded_text) for chunk in store.documents.chunks(ids)],
            write=write,
            fail=fail,
            job=job,
            step=step,
        )
    job.report.failures.extend(failures)
    return len(waiting) - len(failures)


async def embed_table_rows(job: Job) -> int:
    """Embed what the rows of tables say, of each chunk of which no row is there yet or one failed; return how many rows."""
    store, scope = job.store, job.embedder.name
    before = await asyncio.to_thread(store.search.count_table_rows)
    done = await asyncio.to_thread(store.ledger.of_stage, TABLE_ROWS, scope)
    lacking = {chunk for chunk, record in done.items() if record.state == "failed"}
    waiting = sorted({*await asyncio.to_thread(store.documents.ids_without_table_rows), *lacking})

    def read(ids: Sequence[str]) -> list[tuple[tuple[str, str], str]]:
        return [((chunk.id, said), said) for chunk in store.documents.chunks(ids) for said in row_texts(chunk)]

    failing: set[str] = set()

    def fail(failed: Sequence[tuple[tuple[str, str], str]]) -> None:
        whys: dict[str, list[str]] = defaultdict(list)
        for (chunk, said), why in failed:
            whys[chunk].append(f"{said[:SHOWN_CHARACTERS]!r}: {why}")
        reasons = {chunk: f"{len(some)} of its rows, first {some[0]}" for chunk, some in whys.items()}
        job.report.failures.extend(
            Failure(stage="embed", subject=chunk, scope=scope, reason=why) for chunk, why in reasons.items()
        )
        store.ledger.put(
            [WorkRecord(TABLE_ROWS, c, scope=scope, state="failed", reason=why) for c, why in reasons.items()]
        )
        failing.update(reasons)

    def write(rows: Sequence[tuple[str, str]], vectors: Vectors, seconds: float) -> None:
        mended = sorted(lacking.intersection(chunk for chunk, _ in rows) - failing)
        store.documents.put_table_rows(rows, vectors, mended=mended)

    with job.progress.step("Embed rows of tables", len(waiting), "chunks") as step:
        await _embed_all(waiting, EMBED_TABLES, read=read, write=write, fail=fail, job=job, step=step)
    return await asyncio.to_thread(store.search.count_table_rows) - before


async def embed_entities(graph: str, job: Job) -> None:
    """Embed the entities that are new or whose name or description changed."""
    store = job.store
    waiting = await asyncio.to_thread(store.graphs.keys_without_embedding, graph)

    def read(keys: Sequence[str]) -> list[tuple[str, str]]:
        return [
            (one["key"], f"{one['name']} ({one['type']}) {one['description']}".strip())
            for one in store.graphs.entities_of(keys)
        ]

    def fail(failed: Sequence[tuple[str, str]]) -> None:
        job.report.failures.extend(Failure(stage="embed", subject=key, scope=graph, reason=why) for key, why in failed)

    with job.progress.step(f"Embed {graph}", len(waiting), "entities") as step:
        await _embed_all(
            waiting,
            EMBED_ENTITIES,
            read=read,
            write=lambda keys, vectors, _: store.graphs.put_embeddings(graph, keys, vectors),
            fail=fail,
            job=job,
            step=step,
        )


async def _embed_all(
    waiting: Sequence[str],
    size: int,
    *,
    read: Callable[[Sequence[str]], list[tuple[K, str]]],
    write: Callable[[Sequence[K], Vectors, float], None],
    fail: Callable[[Sequence[tuple[K, str]]], None],
    job: Job,
    step: Step,
) -> None:
    """Embed what batches of up to `size` give, as many ahead as the engine takes, and write them in order, one after the other."""
    if not waiting:
        return
    async with job.engine.embedding(job.embedder) as embedding:

        async def embed(some: Sequence[str]) -> tuple[int, list[K], Vectors, list[tuple[K, str]], float]:
            rows = await asyncio.to_thread(read, some)
            keys, texts = [key for key, _ in rows], [text for _, text in rows]
            started = perf_counter()
            if not job.names_failures:
                return len(some), keys, await _embed(embedding, texts, job.retry), [], perf_counter() - started
            given = await vectors_or_errors(lambda asked: _embed(embedding, asked, job.retry), texts)
            each = list(zip(keys, given, strict=True))
            failed = [(key, str(one)) for key, one in each if isinstance(one, ModelReplyError)]
            good = [(key, one) for key, one in each if not isinstance(one, ModelReplyError)]
            vectors = np.array([one for _, one in good], dtype=np.float32)
            return len(some), [key for key, _ in good], vectors, failed, perf_counter() - started

        under_way: deque[asyncio.Task[tuple[int, list[K], Vectors, list[tuple[K, str]], float]]] = deque()
        at_once = max(1, size // FIRST_SHARE)

        async def write_first() -> None:
            nonlocal at_once
            read_from, keys, vectors, failed, seconds = await under_way[0]
            under_way.popleft()
            if seconds < QUICK_S:
                at_once = min(size, max(at_once, 2 * read_from))
            if failed:  # first: of what is written in part it is known that something lacks
                await asyncio.to_thread(fail, failed)
            if keys:
                await asyncio.to_thread(write, keys, vectors, seconds)
            step.advance(read_from)

        try:
            start = 0
            while start < len(waiting):
                under_way.append(asyncio.create_task(embed(waiting[start : start + at_once])))
                start += at_once
                if len(under_way) > job.engine.batches_ahead:
                    await write_first()
            while under_way:
                await write_first()
        finally:
            for task in under_way:
                task.cancel()
            for task in under_way:
                with suppress(asyncio.CancelledError, Exception):
                    await task


async def _embed(embedder: Embedder, texts: Sequence[str], retry: RetryPolicy) -> Vectors:
    """Embed texts, equal ones once."""
    unique = list(dict.fromkeys(texts))
    given = await retry.acall(
        lambda: embedder.embed_documents(unique), what=f"the embedder {embedder.name}", again_on=ModelUnavailable
    )
    vectors = expect_unit_vectors(given, len(unique), model=embedder.name)
    if len(unique) == len(texts):
        return vectors
    place = {text: row for row, text in enumerate(unique)}
    return vectors[[place[text] for text in texts]]
