"""Vectors for the chunks and entities that a test put into a store itself, without a build."""

from __future__ import annotations

import asyncio

from kgrag.models.base import Embedder
from kgrag.store.graph import GraphStore

__all__ = ["embed_waiting_chunks", "embed_waiting_entities"]


def embed_waiting_chunks(store: GraphStore, embedder: Embedder) -> None:
    """Give each chunk that has no vector that of its text, as a build would, in one transaction."""
    waiting = list(store.documents.chunks(store.documents.ids_without_embedding()))
    vectors = asyncio.run(embedder.embed_documents([chunk.embedded_text for chunk in waiting]))
    store.documents.put_embeddings([chunk.id for chunk in waiting], vectors, embedder=embedder.name)


def embed_waiting_entities(store: GraphStore, embedder: Embedder, *, graph: str = "mention") -> None:
    """Give each entity that has no vector that of its name."""
    waiting = store.graphs.entities_of(store.graphs.keys_without_embedding(graph))
    vectors = asyncio.run(embedder.embed_documents([entity["name"] for entity in waiting]))
    store.graphs.put_embeddings(graph, [entity["key"] for entity in waiting], vectors)
