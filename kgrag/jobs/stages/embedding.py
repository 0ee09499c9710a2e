"""Giving vectors to what has none: chunks, entities. While one batch is written the next is embedded.

A reply that cannot be used costs the texts that it is about their vectors and no other text its own: the batch is asked for by halves, and
what fails alone stays without, is named, and is asked for again by the next build. Where the embedder gives not even the vector of a word,
no text is at fault: the error is raised.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kgrag.common.progress import Progress, Step
from kgrag.common.retry import RetryPolicy
from kgrag.documents.table_rows import row_texts
from kgrag.engines import Engine, LocalEngine
from kgrag.errors import ModelReplyError, ModelUnavailable
from kgrag.jobs.report import BuildReport, Failure
from kgrag.models.base import Embedder, Vectors, expect_unit_vectors
from kgrag.models.cached import fresh_replies
from kgrag.store.graph import GraphStore
from kgrag.store.ledger import WorkRecord

__all__ = ["embed_chunks", "embed_entities", "embed_table_rows"]

EMBED_CHUNKS = 256
EMBED_ENTITIES = 2048
EMBED_TABLES = 64
"""Chunks with a table whose rows are embedded at a time."""

PROBE = "word"

K = TypeVar("K")


async def embed_chunks(
    store: GraphStore,
    embedder: Embedder,
    *,
    progress: Progress,
    retry: RetryPolicy,
    engine: Engine | None = None,
    report: BuildReport | None = None,
) -> int:
    """Embed the chunks that have no vector yet; return how many. Without a `report` of what failed a failure is raised."""
    waiting = await asyncio.to_thread(store.documents.ids_without_embedding)
    failures: list[Failure] = []

    def write(ids: Sequence[str], vectors: Vectors, seconds: float) -> None:
        store.documents.put_embeddings(ids, vectors, embedder=embedder.name, seconds=seconds)

    def fail(failed: Sequence[tuple[str, str]]) -> None:
        failures.extend(Failure(stage="embed", subject=chunk, scope=embedder.name, reason=why) for chunk, why in failed)
        records = [WorkRecord("embed", c, scope=embedder.name, state="failed", reason=why) for c, why in failed]
        store.ledger.put(records)

    with progress.step("Embed", len(waiting), "chunks") as step:
        await _embed_all(
            waiting,
            EMBED_CHUNKS,
            read=lambda ids: [(chunk.id, chunk.embedded_text) for chunk in store.documents.chunks(ids)],
            write=write,
            fail=None if report is None else fail,
            embedder=embedder,
            engine=engine,
            retry=retry,
            step=step,
        )
    if report is not None:
        report.failures.extend(failures)
    return len(waiting) - len(failures)


async def embed_table_rows(
    store: GraphStore, embedder: Embedder, *, progress: Progress, retry: RetryPolicy, engine: Engine | None = None
) -> int:
    """Embed what the rows of tables say, of each chunk of which no row is there yet; return how many rows."""
    before = await asyncio.to_thread(store.search.count_table_rows)
    waiting = await asyncio.to_thread(store.documents.ids_without_table_rows)

    def read(ids: Sequence[str]) -> list[tuple[tuple[str, str], str]]:
        return [((chunk.id, said), said) for chunk in store.documents.chunks(ids) for said in row_texts(chunk)]

    with progress.step("Embed rows of tables", len(waiting), "chunks") as step:
        await _embed_all(
            waiting,
            EMBED_TABLES,
            read=read,
            write=lambda rows, vectors, _: store.documents.put_table_rows(rows, vectors),
            embedder=embedder,
            engine=engine,
            retry=retry,
            step=step,
        )
    return await asyncio.to_thread(store.search.count_table_rows) - before


async def embed_entities(
    graph: str,
    store: GraphStore,
    embedder: Embedder,
    *,
    progress: Progress,
    retry: RetryPolicy,
    engine: Engine | None = None,
    report: BuildReport | None = None,
) -> None:
    """Embed the entities that are new or whose name or description changed. Without a `report` of what failed a failure is raised."""
    waiting = await asyncio.to_thread(store.graphs.keys_without_embedding, graph)

    def read(keys: Sequence[str]) -> list[tuple[str, str]]:
        return [
            (one["key"], f"{one['name']} ({one['type']}) {one['description']}".strip())
            for one in store.graphs.entities_of(keys)
        ]

    def fail(failed: Sequence[tuple[str, str]]) -> None:
        assert report is not None  # noqa: S101  else it is not called
        report.failures.extend(Failure(stage="embed", subject=key, scope=graph, reason=why) for key, why in failed)

    with progress.step(f"Embed {graph}", len(waiting), "entities") as step:
        await _embed_all(
            waiting,
            EMBED_ENTITIES,
            read=read,
            write=lambda keys, vectors, _: store.graphs.put_embeddings(graph, keys, vectors),
            fail=None if report is None else fail,
            embedder=embedder,
            engine=engine,
            retry=retry,
            step=step,
        )


async def _embed_all(
    waiting: Sequence[str],
    size: int,
    *,
    read: Callable[[Sequence[str]], list[tuple[K, str]]],
    write: Callable[[Sequence[K], Vectors, float], None],
    fail: Callable[[Sequence[tuple[K, str]]], None] | None = None,
    embedder: Embedder,
    engine: Engine | None,
    retry: RetryPolicy,
    step: Step,
) -> None:
    """Embed what batches of `size` give, as many ahead as the engine takes, and write them in order, one after the other."""
    if not waiting:
        return
    engine = engine or LocalEngine()
    async with engine.embedding(embedder) as embedding:

        async def embed(some: Sequence[str]) -> tuple[int, list[K], Vectors, list[tuple[K, str]], float]:
            rows = await asyncio.to_thread(read, some)
            keys, texts = [key for key, _ in rows], [text for _, text in rows]
            started = perf_counter()
            failed: list[tuple[K, str]] = []
            try:
                vectors = await _embed(embedding, texts, retry)
            except ModelReplyError:
                if fail is None or not await _answers(embedding, retry):
                    raise
                given = list(zip(keys, await _by_halves(embedding, texts, retry), strict=True))
                failed = [(key, str(one)) for key, one in given if isinstance(one, ModelReplyError)]
                good = [(key, one) for key, one in given if not isinstance(one, ModelReplyError)]
                keys, vectors = [key for key, _ in good], np.array([one for _, one in good], dtype=np.float32)
            return len(some), keys, vectors, failed, perf_counter() - started

        under_way: deque[asyncio.Task[tuple[int, list[K], Vectors, list[tuple[K, str]], float]]] = deque()

        async def write_first() -> None:
            read_from, keys, vectors, failed, seconds = await under_way[0]
            under_way.popleft()
            if keys:
                await asyncio.to_thread(write, keys, vectors, seconds)
            if failed and fail is not None:
                await asyncio.to_thread(fail, failed)
            step.advance(read_from)

        try:
            for start in range(0, len(waiting), size):
                under_way.append(asyncio.create_task(embed(waiting[start : start + size])))
                if len(under_way) > engine.batches_ahead:
                    await write_first()
            while under_way:
                await write_first()
        finally:
            for task in under_way:
                task.cancel()
            for task in under_way:
                with suppress(asyncio.CancelledError, Exception):
                    await task


async def _answers(embedder: Embedder, retry: RetryPolicy) -> bool:
    """Whether the embedder has a vector for a word."""
    with fresh_replies():  # what is kept says nothing of the embedder now
        try:
            await _embed(embedder, [PROBE], retry)
        except ModelReplyError:
            return False
    return True


async def _by_halves(
    embedder: Embedder, texts: Sequence[str], retry: RetryPolicy
) -> list[NDArray[np.float32] | ModelReplyError]:
    """Embed texts of which some have no vector: of each its vector, or the error that it ends in alone."""
    try:
        return list(await _embed(embedder, texts, retry))
    except ModelReplyError as error:
        if len(texts) == 1:
            return [error]
        half = len(texts) // 2
        return [one for some in (texts[:half], texts[half:]) for one in await _by_halves(embedder, some, retry)]


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
