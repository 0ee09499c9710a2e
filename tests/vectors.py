"""Vectors for the chunks that a test put into a store itself, without a build."""

from __future__ import annotations

import asyncio

from kgrag.models.base import Embedder
from kgrag.store.graph import GraphStore

__all__ = ["embed_waiting_chunks"]


def embed_waiting_chunks(store: GraphStore, embedder: Embedder) -> None:
    """Give each chunk that has no vector that of its text, as a build would, in one transaction."""
    waiting = store.documents.chunks_without_embedding(1000)
    vectors = asyncio.run(embedder.embed_documents([chunk.embedded_text for chunk in waiting]))
    store.documents.put_embeddings([chunk.id for chunk in waiting], vectors, embedder=embedder.name)
