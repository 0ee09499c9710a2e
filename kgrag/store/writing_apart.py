"""Writing what many chunks say in several transactions: on a server that takes less time than one, which uses one of its processors.

    entities ─► mentions, in up to four transactions at once ─► relations, what follows for entities, the ledger
       └── and an entry in the ledger of what was begun  ──────────────────►  which goes

What a chunk mentions is its own, so those transactions say nothing of each other. What hangs together comes before and after, in one
transaction each. A writer that ends in between leaves its entry: who opens the store for writing next takes back what that one wrote.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kgrag.store.connection import Connection, Transaction
from kgrag.store.extractions import (
    Begun,
    begin_extractions,
    end_extractions,
    put_extractions,
    put_mentions,
    take_back_extractions,
)
from kgrag.store.ledger import WorkRecord, put_work
from kgrag.store.namings import Namings
from kgrag.store.schema import Schema
from kgrag.store.statements import statement
from kgrag.types import Extraction, content_id

__all__ = ["WRITE", "put_extractions_apart", "take_back_unfinished"]

WRITE = "write"
"""Stage of the ledger: what a writer began and has not ended. The scope is of graph and chunks."""
UNFINISHED = "unfinished"
"""Subject of all of them: the ledger has an index on it."""
FEWEST_MENTIONS = 500
"""Fewer are written in the transaction of the entities."""


def put_extractions_apart(
    connection: Connection,
    graph: str,
    extractions: Sequence[Extraction],
    records: Sequence[WorkRecord],
    *,
    namings: Namings,
) -> None:
    """Make a graph hold what these chunks say now, with `records` of the ledger, in several transactions where that pays.

    Chunks that said something in this graph before are written in one.
    """
    chunk_ids = sorted({extraction.chunk_id for extraction in extractions})
    note = WorkRecord(WRITE, UNFINISHED, scope=content_id(graph, *chunk_ids), state="begun")

    def end(transaction: Transaction, begun: Begun) -> None:
        end_extractions(transaction, begun, namings=namings)
        put_work(transaction, records)

    def begin(transaction: Transaction) -> Begun | None:
        begun = begin_extractions(transaction, graph, extractions)
        if begun.fresh and len(begun.mentions) >= FEWEST_MENTIONS:
            said = {"graph": graph, "chunks": chunk_ids, "created": sorted(begun.created)}
            put_work(transaction, [replace(note, result=json.dumps(said))])
            return begun
        put_mentions(transaction, begun.mentions)
        end(transaction, begun)
        return None

    def end_what_was_begun(transaction: Transaction, begun: Begun) -> None:
        if transaction.run("store/end_writing", key=note.key):
            end(transaction, begun)
            return
        # Another writer took it for left behind, and took it back.
        put_extractions(transaction, graph, extractions)
        put_work(transaction, records)

    with connection.alone():
        begun = connection.write(begin)
        if begun is not None:
            connection.write_apart(begun.mentions, put_mentions)
            connection.write(partial(end_what_was_begun, begun=begun))


def take_back_unfinished(connection: Connection, schema: Schema) -> int:
    """Take back what writers began that ended before they had done it; return how many they were."""
    rows = connection.read(statement("store/unfinished_writing"), {"stage": WRITE, "subject": UNFINISHED})
    for note in (WorkRecord.from_row(row["work"]) for row in rows):
        said = json.loads(note.result)
        schema.ensure_graph(said["graph"])
        connection.write(partial(_take_back, key=note.key, said=said))
    return len(rows)


def _take_back(transaction: Transaction, key: str, said: Mapping[str, Any]) -> None:
    if transaction.run("store/end_writing", key=key):
        take_back_extractions(transaction, said["graph"], said["chunks"], said["created"])
