"""Giving vectors to what has none: chunks, entities. While one batch is written the next is embedded."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import TypeVar

from kgrag.common.progress import Progress, Step
from kgrag.common.retry import RetryPolicy
from kgrag.documents.table_rows import row_texts
from kgrag.engines import Engine, LocalEngine
from kgrag.errors import ModelUnavailable
from kgrag.models.base import Embedder, Vectors, expect_unit_vectors
from kgrag.store.graph import GraphStore

__all__ = ["embed_chunks", "embed_entities", "embed_table_rows"]

EMBED_CHUNKS = 256
EMBED_ENTITIES = 2048
EMBED_TABLES = 64
"""Chunks with a table whose rows are embedded at a time."""

K = TypeVar("K")


async def embed_chunks(
    store: GraphStore, embedder: Embedder, *, progress: Progress, retry: RetryPolicy, engine: Engine | None = None
) -> int:
    """Embed the chunks that have no vector yet; return how many."""
    waiting = await asyncio.to_thread(store.documents.ids_without_embedding)

    def write(ids: Sequence[str], vectors: Vectors, seconds: float) -> None:
        store.documents.put_embeddings(ids, vectors, embedder=embedder.name, seconds=seconds)

    with progress.step("Embed", len(waiting), "chunks") as step:
        await _embed_all(
            waiting,
            EMBED_CHUNKS,
            read=lambda ids: [(chunk.id, chunk.embedded_text) for chunk in store.documents.chunks(ids)],
            write=write,
            embedder=embedder,
            engine=engine,
            retry=retry,
            step=step,
        )
    return len(waiting)


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
) -> None:
    """Embed the entities that are new or whose name or description changed."""
    waiting = await asyncio.to_thread(store.graphs.keys_without_embedding, graph)

    def read(keys: Sequence[str]) -> list[tuple[str, str]]:
        return [
            (one["key"], f"{one['name']} ({one['type']}) {one['description']}".strip())
            for one in store.graphs.entities_of(keys)
        ]

    with progress.step(f"Embed {graph}", len(waiting), "entities") as step:
        await _embed_all(
            waiting,
            EMBED_ENTITIES,
            read=read,
            write=lambda keys, vectors, _: store.graphs.put_embeddings(graph, keys, vectors),
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

        async def embed(some: Sequence[str]) -> tuple[int, list[K], Vectors, float]:
            rows = await asyncio.to_thread(read, some)
            started = perf_counter()
            vectors = await _embed(embedding, [text for _, text in rows], retry)
            return len(some), [key for key, _ in rows], vectors, perf_counter() - started

        under_way: deque[asyncio.Task[tuple[int, list[K], Vectors, float]]] = deque()

        async def write_first() -> None:
            read_from, keys, vectors, seconds = await under_way[0]
            under_way.popleft()
            if keys:
                await asyncio.to_thread(write, keys, vectors, seconds)
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
