"""Writing what many chunks say in several transactions: on a server that takes less time than one, which uses one of its processors.

    entities ─► mentions, in up to four transactions at once ─► relations, what follows for entities, the ledger
       └── and an entry in the ledger of what was begun  ──────────────────►  which goes

What a chunk mentions is its own, so those transactions say nothing of each other. What hangs together comes before and after, in one
transaction each; but in a graph of very many relations these are written in rounds (`rounds.py`) before the last one. A writer that ends
in between leaves its entry: who opens the store for writing next takes back what that one wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
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
    put_relations,
    take_back_extractions,
)
from kgrag.store.ledger import WorkRecord, put_work
from kgrag.store.mentions import Edge
from kgrag.store.namings import Namings
from kgrag.store.relation_writing import Changed
from kgrag.store.rounds import rounds
from kgrag.store.schema import Schema
from kgrag.types import Extraction, content_id

__all__ = ["WRITE", "put_extractions_apart", "take_back_unfinished"]

WRITE = "write"
"""Stage of the ledger: what a writer began and has not ended. The scope is of graph and chunks."""
UNFINISHED = "unfinished"
"""Subject of all of them: the ledger has an index on it."""
FEWEST_MENTIONS = 500
"""Fewer are written in the transaction of the entities."""
SERIAL_RELATIONS = 2_000_000
"""In graphs of fewer relations one transaction writes those of a batch."""
FEWEST_RELATIONS = 500
"""Of a batch that is written in rounds: each has transactions of its own."""


def put_extractions_apart(
    connection: Connection,
    graph: str,
    extractions: Sequence[Extraction],
    records: Sequence[WorkRecord],
    *,
    namings: Namings,
    count_relations: Callable[[], int],
) -> int:
    """Make a graph hold what these chunks say now, with `records` of the ledger, in several transactions where that pays.

    Chunks that said something in this graph before are written in one. `count_relations` says how many the store has, and is asked only
    for batches that may be written in rounds; returned is by how many it grew.
    """
    chunk_ids = sorted({extraction.chunk_id for extraction in extractions})
    note = WorkRecord(WRITE, UNFINISHED, scope=content_id(graph, *chunk_ids), state="begun")

    def end(transaction: Transaction, begun: Begun, written: Changed | None = None) -> int:
        growth = end_extractions(transaction, begun, namings=namings, written=written)
        put_work(transaction, records)
        return growth

    def begin(transaction: Transaction) -> Begun | int:
        begun = begin_extractions(transaction, graph, extractions)
        if begun.fresh and len(begun.mentions) >= FEWEST_MENTIONS:
            said = {"graph": graph, "chunks": chunk_ids, "created": sorted(begun.created)}
            put_work(transaction, [replace(note, result=json.dumps(said))])
            return begun
        put_mentions(transaction, begun.mentions)
        return end(transaction, begun)

    def end_what_was_begun(transaction: Transaction, begun: Begun, written: Changed | None) -> int:
        if transaction.run("store/end_writing", key=note.key):
            return end(transaction, begun, written)
        # Another writer took it for left behind, and took it back.
        growth = put_extractions(transaction, graph, extractions)
        put_work(transaction, records)
        return growth

    with connection.alone():
        begun = connection.write(begin)
        if isinstance(begun, int):
            return begun
        connection.write_apart(begun.mentions, put_mentions)
        in_rounds = len(begun.edges) >= FEWEST_RELATIONS and count_relations() >= SERIAL_RELATIONS
        written = _put_relations_in_rounds(connection, begun) if in_rounds else None
        return connection.write(partial(end_what_was_begun, begun=begun, written=written))


def _put_relations_in_rounds(connection: Connection, begun: Begun) -> Changed:
    """Write relations in rounds of up to four transactions at once, none of which has an entity of another one's."""
    changes: list[Changed] = []  # of several threads

    def write(transaction: Transaction, edges: Sequence[Edge]) -> None:
        # Of a transaction that is tried again both tries count: nothing of the first is to be missed, should it have been kept.
        changes.append(put_relations(transaction, begun, edges))

    for parts in rounds(begun.edges):
        connection.write_parts(parts, write)
    written = Changed()
    for one in changes:
        written.add(one)
    return written


def take_back_unfinished(connection: Connection, schema: Schema) -> int:
    """Take back what writers began that ended before they had done it; return how many they were."""
    rows = connection.read("store/unfinished_writing", stage=WRITE, subject=UNFINISHED)
    for note in (WorkRecord.from_row(row["work"]) for row in rows):
        said = json.loads(note.result)
        schema.ensure_graph(said["graph"])
        connection.write(partial(_take_back, key=note.key, said=said))
    return len(rows)


def _take_back(transaction: Transaction, key: str, said: Mapping[str, Any]) -> None:
    if transaction.run("store/end_writing", key=key):
        take_back_extractions(transaction, said["graph"], said["chunks"], said["created"])
