"""The vector index of Neo4j is filled from all its nodes at once after it has grown, and who asks it meanwhile is answered."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from kgrag.errors import KgragError, StoreError
from kgrag.store import schema
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.schema import CHUNK_VECTOR_INDEX, FEWEST_FILLED, FILLED_SETTINGS
from kgrag.store.statements import statement

from .conftest import Content

BATCH = 100
pytestmark = pytest.mark.changes_indexes


def _put(store: GraphStore, content: Content, name: str, chunks: int) -> None:
    store.documents.put([content.document(name, *(f"{name} {number}" for number in range(chunks)))])
    ids = store.documents.ids_without_embedding()
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        vectors = content.vectors([chunk.text for chunk in store.documents.chunks(some)])
        store.documents.put_embeddings(some, vectors, embedder=content.embedder, seconds=0.1)


def _index_id(store: GraphStore) -> int:
    """Neo4j's number of the index: another one, once it was made anew."""
    rows = store.query("SHOW INDEXES YIELD id, name, state WHERE state = 'ONLINE'")
    return next(int(row["id"]) for row in rows if row["name"] == CHUNK_VECTOR_INDEX)


def _settings(store: GraphStore) -> dict[str, Any]:
    rows = store._connection.read("schema/vector_settings_neo4j")
    found: dict[str, Any] = next(row["settings"] for row in rows if row["name"] == CHUNK_VECTOR_INDEX)
    return found


def _found(store: GraphStore, content: Content, text: str) -> list[str]:
    vector = content.vectors([text])[0].tolist()
    return [row["id"] for row in store.search.dense_seeds(vector=vector, limit=3, candidates=50)]


@pytest.mark.neo4j
def test_it_is_filled_anew_after_it_grew_by_a_tenth_and_not_before(neo4j_empty: str, content: Content) -> None:
    with open_store(neo4j_empty) as store:
        store.bind(content.embedder, content.dimensions)
        _put(store, content, "few", FEWEST_FILLED - 1)
        made = _index_id(store)
        store.finish()
        assert _index_id(store) == made, "so few are fast as they are"
        _put(store, content, "one", 1)
        before = _found(store, content, "few 7")
        store.finish()
        filled = _index_id(store)
        assert filled != made
        assert _found(store, content, "few 7") == before
        _put(store, content, "some", FEWEST_FILLED // 20)
        store.finish()
        assert _index_id(store) == filled, "less than a tenth came"
        _put(store, content, "more", FEWEST_FILLED // 10)
        digest = store.digest()
        store.finish()
        assert _index_id(store) != filled
        assert store.digest() == digest, "indexes are no content"
        assert len(_found(store, content, "more 3")) == 3


@pytest.mark.neo4j
def test_one_that_was_filled_with_other_settings_is_filled_anew(neo4j_empty: str, content: Content) -> None:
    with open_store(neo4j_empty) as store:
        store.bind(content.embedder, content.dimensions)
        _put(store, content, "many", FEWEST_FILLED)
        store.finish()
        assert _settings(store).items() >= FILLED_SETTINGS.items()
        text = statement("schema/vectors_neo4j", index=CHUNK_VECTOR_INDEX, label="Chunk")
        store._connection.run_alone(statement("schema/drop_index", index=CHUNK_VECTOR_INDEX))
        store._connection.run_alone(text, {"options": {"indexConfig": {"vector.dimensions": content.dimensions}}})
        assert _settings(store)["vector.hnsw.m"] != FILLED_SETTINGS["vector.hnsw.m"]
        store.finish()
        assert _settings(store).items() >= FILLED_SETTINGS.items()
        assert len(_found(store, content, "many 3")) == 3


@pytest.mark.neo4j
def test_one_that_is_made_after_its_nodes_is_filled_from_all_of_them_and_stays(
    neo4j_empty: str, content: Content
) -> None:
    with open_store(neo4j_empty) as store:
        store.bind(content.embedder, content.dimensions)
        _put(store, content, "many", FEWEST_FILLED)
        store._connection.run_alone(statement("schema/drop_index", index=CHUNK_VECTOR_INDEX))
        store.bind(content.embedder, content.dimensions)  # nodes that neo4j-admin loaded have none
        store._connection.read("schema/await_indexes_neo4j", timeout_s=60)
        made = _index_id(store)
        assert _settings(store).items() >= FILLED_SETTINGS.items()
        store.finish()
        assert _index_id(store) == made
        assert len(_found(store, content, "many 3")) == 3


@pytest.mark.neo4j
def test_a_server_that_fills_an_index_no_further_is_said_and_one_that_takes_long_is_waited_for(
    neo4j_empty: str, content: Content, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(neo4j_empty) as store:
        store.bind(content.embedder, content.dimensions)
        _put(store, content, "many", FEWEST_FILLED)
        read, shown = store._connection.read, iter([[10.0], [10.0], [20.0], [20.0], [30.0], []])

        def slowly(name: str, **parameters: Any) -> list[dict[str, Any]]:
            if name != "schema/indexes_under_way_neo4j":
                return read(name, **parameters)
            time.sleep(0.3)
            return [{"name": "one", "state": "POPULATING", "percent": percent, "reason": ""} for percent in next(shown)]

        monkeypatch.setattr(schema, "INDEX_PATIENCE_S", 0.8)
        monkeypatch.setattr(store._connection, "read", slowly)
        store.finish()
        shown = iter([[10.0]] * 9)
        with pytest.raises(StoreError, match=r"no further for 1 s: one \(10 %\)"):
            store.finish()


@pytest.mark.neo4j
def test_who_asks_while_it_is_filled_waits_for_it(neo4j_empty: str, content: Content) -> None:
    with open_store(neo4j_empty) as store, open_store(neo4j_empty) as reader:
        store.bind(content.embedder, content.dimensions)
        _put(store, content, "many", 4 * FEWEST_FILLED)
        expected = _found(reader, content, "many 7")
        filled, failed, answers = threading.Event(), [], []

        def ask() -> None:
            while not filled.is_set():
                try:
                    answers.append(_found(reader, content, "many 7"))
                except KgragError as error:
                    failed.append(error)

        readers = [threading.Thread(target=ask) for _ in range(4)]
        for one in readers:
            one.start()
        try:
            for _ in range(3):
                store._connection.write(
                    lambda transaction: transaction.run("schema/put_filled_index", of=CHUNK_VECTOR_INDEX, nodes=0)
                )
                before = _index_id(store)
                store.finish()
                assert _index_id(store) != before
        finally:
            filled.set()
            for one in readers:
                one.join()
    assert failed == []
    assert answers
    assert all(one == expected for one in answers)
