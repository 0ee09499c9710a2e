"""Four pages, what they are about and what they name, in a store; and a question to them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kgrag.retrieve import AdaptivePipeline, Pipeline, load_pipeline, open_retriever
from kgrag.store.graph import GraphStore
from kgrag.testing import HashingEmbedder
from kgrag.text.names import normal_form
from kgrag.types import Entity, Evidence
from tests.vectors import embed_waiting_chunks, embed_waiting_entities

if TYPE_CHECKING:
    from tests.contract.conftest import Content

PAGES = {
    "X-100": ("The X-100 pressure sensor runs at 3.3 V.", "Mount the X-100 on the Carrier Q7."),
    "X-1000": ("The X-1000 pressure sensor runs at 33 V.",),
    "Carrier Q7": ("A board with two slots and a fan.",),
    "Warranty": ("Send the device back within two years.",),
}


def put_pages(
    store: GraphStore,
    embedder: HashingEmbedder,
    content: Content,
    texts_by_title: Mapping[str, Sequence[str]] = PAGES,
) -> None:
    pages = {title: content.document(f"{title}.html", *texts, title=title) for title, texts in texts_by_title.items()}
    store.documents.put(list(pages.values()))
    said = []
    for title, (_, chunks) in pages.items():
        for chunk in chunks:
            named = [Entity(name=title, type="Product", normal=normal_form(title), role="title")]
            named += [
                Entity(name=other, type="Product", normal=normal_form(other))
                for other in texts_by_title
                if other != title and f"{other} " in chunk.text.replace(".", " ")
            ]
            said.append(content.said(chunk, *named))
    store.graphs.put_extractions("mention", said)
    embed_waiting_entities(store, embedder)
    embed(store, embedder)


def embed(store: GraphStore, embedder: HashingEmbedder) -> None:
    embed_waiting_chunks(store, embedder)
    store.finish()


def ask(
    store: GraphStore,
    embedder: HashingEmbedder,
    question: str,
    *,
    pipeline: str | Pipeline | AdaptivePipeline = "default",
    **limits: int,
) -> list[Evidence]:
    chosen = load_pipeline(pipeline) if isinstance(pipeline, str) else pipeline
    return asyncio.run(open_retriever(store, embedder, chosen).retrieve(question, **limits))
