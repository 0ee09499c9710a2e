"""What the tests of a store's life write, in their own process and in others: imported by a program, it brings little with it."""

from __future__ import annotations

import numpy as np

from kgrag.store.graph import GraphStore
from kgrag.store.ledger import WorkRecord
from kgrag.types import Chunk, Document, Entity, Extraction


def write(store: GraphStore, n: int) -> None:
    """Write the document number n, with vectors and what its chunks say: three transactions."""
    document = Document(id=f"d{n}", path=f"{n}.html", title=str(n), sha256="0", format="html")
    chunks = [
        Chunk(
            id=f"c{n}-{i}", document_id=document.id, source_id=document.id, position=i, text=f"text {n} {i}", tokens=3
        )
        for i in range(5)
    ]
    store.documents.put([(document, chunks)])
    store.documents.put_embeddings([chunk.id for chunk in chunks], np.eye(5, 8, dtype=np.float32), embedder="e")
    said = [Entity(name=f"thing {i}", type=f"Type {n % 7}", normal=f"thing {i}") for i in range(5)]
    store.graphs.put_extractions(
        "mention",
        [
            (Extraction(chunk_id=c.id, entities=(entity,)), WorkRecord("extract", c.id, scope="mention"))
            for c, entity in zip(chunks, said, strict=True)
        ],
    )
