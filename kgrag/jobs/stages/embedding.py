"""Giving vectors to what has none: chunks, entities."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from kgrag.common.progress import Progress
from kgrag.common.retry import RetryPolicy
from kgrag.errors import ModelUnavailable
from kgrag.models.base import Embedder, Vectors
from kgrag.store.graph import GraphStore

__all__ = ["embed_chunks", "embed_entities"]

EMBED_CHUNKS = 256
EMBED_ENTITIES = 2048


async def embed_chunks(store: GraphStore, embedder: Embedder, *, progress: Progress, retry: RetryPolicy) -> int:
    """Embed the chunks that have no vector yet; return how many."""
    missing = await asyncio.to_thread(store.documents.count_chunks_without_embedding)
    with progress.step("Embed", missing, "chunks") as step:
        while chunks := await asyncio.to_thread(store.documents.chunks_without_embedding, EMBED_CHUNKS):
            started = time.perf_counter()
            vectors = await _embed(embedder, [chunk.embedded_text for chunk in chunks], retry)
            seconds = time.perf_counter() - started
            ids = [chunk.id for chunk in chunks]
            await asyncio.to_thread(
                store.documents.put_embeddings, ids, vectors, embedder=embedder.name, seconds=seconds
            )
            step.advance(len(chunks))
    return missing


async def embed_entities(
    graph: str, store: GraphStore, embedder: Embedder, *, progress: Progress, retry: RetryPolicy
) -> None:
    """Embed the entities that are new or whose name or description changed."""
    missing = await asyncio.to_thread(store.graphs.count_entities_without_embedding, graph)
    with progress.step(f"Embed {graph}", missing, "entities") as step:
        while entities := await asyncio.to_thread(store.graphs.entities_without_embedding, graph, EMBED_ENTITIES):
            texts = [f"{entity['name']} ({entity['type']}) {entity['description']}".strip() for entity in entities]
            vectors = await _embed(embedder, texts, retry)
            keys = [entity["key"] for entity in entities]
            await asyncio.to_thread(store.graphs.put_embeddings, graph, keys, vectors)
            step.advance(len(entities))


async def _embed(embedder: Embedder, texts: Sequence[str], retry: RetryPolicy) -> Vectors:
    return await retry.acall(
        lambda: embedder.embed_documents(texts), what=f"the embedder {embedder.name}", again_on=ModelUnavailable
    )
