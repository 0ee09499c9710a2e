"""Writes that a server takes in several transactions at once: the store is what one transaction would have made it, whatever happens."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kgrag.errors import StoreError
from kgrag.store import writing_apart
from kgrag.store.connection import Transaction
from kgrag.store.graph import GraphStore
from kgrag.store.ledger import WorkRecord
from kgrag.types import Chunk, Extraction

CHUNKS = 150
Said = list[tuple[Extraction, WorkRecord]]


@pytest.fixture(params=["relations in one transaction", "relations in rounds"], autouse=True)
def in_rounds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Relations of a large graph are written in rounds: here those of any graph. Returns whether they are."""
    if request.param.endswith("rounds"):
        monkeypatch.setattr(writing_apart, "SERIAL_RELATIONS", 0)
        monkeypatch.setattr(writing_apart, "FEWEST_RELATIONS", 1)
    return bool(request.param.endswith("rounds"))


@pytest.fixture
def chunks(store: GraphStore, content: Any) -> list[Chunk]:
    document, chunks = content.document("many.html", *(f"text {number}" for number in range(CHUNKS)))
    store.documents.put([(document, chunks)])
    return list(chunks)


def _said(content: Any, chunks: Sequence[Chunk]) -> Said:
    """Six names in each chunk, of which one is in all and one is a relation to it, by other spellings in other chunks."""
    said = []
    for number, chunk in enumerate(chunks):
        rare = [content.entity(f"part {number} {letter}") for letter in "abc"]
        hub = content.entity(
            "HUB" if number % 3 else "Hub", normal="hub", role="title" if number % 5 == 0 else "mention"
        )
        group = content.entity(f"group {number % 7}")
        relations = [
            content.relation(group.name, "PART_OF", "hub", description=f"said in {number}"),
            *(content.relation(part.name, "PART_OF", group.name) for part in rare),
            content.relation(rare[0].name, "STANDS_BESIDE", rare[1].name),
        ]
        said.append(content.said(chunk, hub, group, *rare, relations=relations))
    return said


def _digest_of(store: GraphStore, said: Said) -> str:
    """The digest of a store in which one write said all of it, which is taken out again."""
    store.graphs.put_extractions("mention", said)
    whole = store.digest()
    store.graphs.delete("mention")
    return whole


def _write_bit_by_bit(store: GraphStore, said: Said) -> None:
    for start in range(0, len(said), 30):
        store.graphs.put_extractions("mention", said[start : start + 30])


@pytest.mark.changes_indexes
def test_what_chunks_say_is_the_same_however_it_is_written(
    store: GraphStore, content: Any, chunks: list[Chunk]
) -> None:
    said = _said(content, chunks)
    store.graphs.put_extractions("mention", said)
    at_once = store.digest()
    assert store.ledger.counts()[0]["extract"] == {"ok": CHUNKS}
    assert "write" not in store.ledger.counts()[0]
    store.graphs.delete("mention")
    _write_bit_by_bit(store, said[::-1])
    assert store.digest() == at_once
    hub = (
        "MATCH (e:__Entity__ {normal: 'hub'}) RETURN e.mentions AS mentions, COUNT { (e)-[:FROM_CHUNK]->() } AS chunks"
    )
    assert store.query(hub) == [{"mentions": CHUNKS, "chunks": CHUNKS}]


@pytest.mark.changes_indexes
def test_what_a_writer_left_unfinished_is_taken_back_when_the_store_is_bound(
    store: GraphStore, content: Any, chunks: list[Chunk]
) -> None:
    said = _said(content, chunks)
    store.graphs.put_extractions("mention", said[:10])
    before = store.digest()
    # An entry that no database takes: it comes last, when entities and mentions are written.
    broken = [(extraction, replace(record, reason={"no": "text"})) for extraction, record in said[10:]]
    with pytest.raises(StoreError):
        store.graphs.put_extractions("mention", broken)
    store.bind(content.embedder, content.dimensions)
    assert store.digest() == before
    store.graphs.put_extractions("mention", said[10:])
    after = store.digest()
    store.graphs.delete("mention")
    _write_bit_by_bit(store, said)
    assert store.digest() == after


@pytest.mark.changes_indexes
def test_what_another_writer_took_back_is_written_all_the_same(
    store: GraphStore, content: Any, chunks: list[Chunk], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = _said(content, chunks)
    whole = _digest_of(store, said)
    connection = store._connection
    write_apart = connection.write_apart

    def bound_meanwhile(rows: Any, work: Any) -> None:
        write_apart(rows[:300], work)
        store.bind(content.embedder, content.dimensions)
        write_apart(rows[300:], work)

    monkeypatch.setattr(connection, "write_apart", bound_meanwhile)
    store.graphs.put_extractions("mention", said)
    assert store.digest() == whole


@pytest.mark.changes_indexes
def test_what_is_taken_back_between_rounds_is_written_all_the_same(
    store: GraphStore, content: Any, chunks: list[Chunk], monkeypatch: pytest.MonkeyPatch, in_rounds: bool
) -> None:
    said = _said(content, chunks)
    whole = _digest_of(store, said)
    store.graphs.put_extractions("mention", said[:40])
    connection = store._connection
    write_parts = connection.write_parts
    calls: list[int] = []

    def bound_meanwhile(parts: Any, work: Any) -> None:
        calls.append(len(parts))
        if len(calls) == 4:  # after the mentions and two rounds
            store.bind(content.embedder, content.dimensions)
        write_parts(parts, work)

    monkeypatch.setattr(connection, "write_parts", bound_meanwhile)
    store.graphs.put_extractions("mention", said[40:])
    assert store.digest() == whole
    if connection.server is None:
        assert (len(calls), max(calls[1:], default=0)) == ((8, 4) if in_rounds else (1, 0)), (
            "mentions, and seven rounds of four parts"
        )


def test_transactions_that_wait_for_each_other_are_tried_again(store: GraphStore, content: Any) -> None:
    documents = [content.document(f"{number}.html", "text")[0] for number in range(64)]
    store.documents.put([(document, []) for document in documents])
    first, last = ({"id": documents[place].id, "path": "changed", "title": ""} for place in (0, -1))
    tries: list[int] = []
    both_have_theirs = threading.Barrier(2)

    def change_both(transaction: Transaction, rows: Sequence[int]) -> None:
        tries.append(rows[0])
        ends = (first, last) if rows[0] == 0 else (last, first)
        transaction.run("store/put_documents", rows=[ends[0]])
        if len(rows) < len(documents) and len(tries) <= 2:
            both_have_theirs.wait(60)
        transaction.run("store/put_documents", rows=[ends[1]])

    store._connection.write_apart(range(64), change_both)
    changed = store.query("MATCH (d:Document {path: 'changed'}) RETURN count(d) AS documents")
    assert changed == [{"documents": 2}]
    assert len(tries) >= 3 if store._connection.server is None else tries == [0]
