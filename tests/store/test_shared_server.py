"""A Neo4j in which there is more than kgrag's own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import neo4j
import pytest

from kgrag.errors import StoreMismatch
from kgrag.store.graph import GraphStore, open_store

pytestmark = [pytest.mark.neo4j, pytest.mark.changes_indexes]


def test_nodes_of_others_under_the_same_labels_are_refused_before_anything_is_written(
    neo4j_empty: str, neo4j_session: neo4j.Session
) -> None:
    neo4j_session.run("CREATE (:Person {name: 'Ada'})-[:READS]->(:Document {name: 'a letter'})").consume()
    with open_store(neo4j_empty) as store, pytest.raises(StoreMismatch, match="kgrag did not write"):
        store.bind("e", 8)
    assert neo4j_session.run("MATCH (n:__Meta__) RETURN count(*) AS n").single(strict=True)["n"] == 0
    neo4j_session.run("MATCH (d:Document) DETACH DELETE d").consume()
    with open_store(neo4j_empty) as store:
        store.bind("e", 8)  # what has other labels does not matter
        assert store.documents.count() == 0


def test_two_builds_of_one_empty_store_may_begin_at_once(neo4j_empty: str) -> None:
    with open_store(neo4j_empty) as first, open_store(neo4j_empty) as second, open_store(neo4j_empty) as third:
        first.bind("e", 8)
        second.bind("e", 8)
        with pytest.raises(StoreMismatch):
            third.bind("another", 8)


def test_builds_that_begin_at_the_same_moment_make_the_indexes_of_an_empty_store_together(
    neo4j_empty: str, neo4j_session: neo4j.Session
) -> None:
    for (name,) in neo4j_session.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name").values():
        neo4j_session.run(f"DROP CONSTRAINT `{name}` IF EXISTS").consume()
        neo4j_session.run(f"DROP INDEX `{name}` IF EXISTS").consume()
    stores = [open_store(neo4j_empty) for _ in range(4)]
    all_are_there = threading.Barrier(len(stores))

    def begin(store: GraphStore) -> None:
        all_are_there.wait()
        store.bind("e", 8)

    with ThreadPoolExecutor(len(stores)) as threads:
        list(threads.map(begin, stores))  # raises what one of them raised
    for store in stores:
        assert store.documents.count() == 0
        store.close()
