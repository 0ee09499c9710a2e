"""What a store holds and what is not done: the object of `kgrag status --json`."""

from __future__ import annotations

from typing import Any

from kgrag.store.graph import GraphStore

__all__ = ["status"]


def status(store: GraphStore) -> dict[str, Any]:
    """Return what the store holds, what the extraction of each graph came to, and what failed or lacks.

    That is each document and chunk that failed, with its reason, and how many entities have no vector, by graph.
    """
    return store.status() | {
        "extractions": store.ledger.extraction_counts(),
        "entities_without_vector": store.graphs.counts_without_embedding(),
        "failures": failures(store),
    }


def failures(store: GraphStore) -> list[dict[str, Any]]:
    """Return what the ledger has as failed: stage, graph, subject (path or chunk id), document, section, pages, attempts, reason."""
    records = store.ledger.failures()
    chunks = {chunk.id: chunk for chunk in store.documents.chunks([r.subject for r in records if r.stage != "convert"])}
    paths = {document.id: document.path for document in store.documents.all()} if chunks else {}
    found = []
    for record in records:
        chunk = chunks.get(record.subject)
        found.append(
            {
                "stage": record.stage,
                "graph": record.scope,
                "subject": record.subject,
                "document": paths.get(chunk.document_id, "") if chunk else record.subject,
                "section": chunk.section if chunk else "",
                "page_start": chunk.page_start if chunk else None,
                "page_end": chunk.page_end if chunk else None,
                "attempts": record.attempts,
                "reason": record.reason,
            }
        )
    return found
