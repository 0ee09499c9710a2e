"""Whoever waits for a server that is away does not have others wait, too."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from neo4j import Driver, GraphDatabase

from kgrag.common.retry import RetryPolicy
from kgrag.errors import InputError, StoreUnavailable
from kgrag.store.connection import Connection, waiting
from kgrag.store.opening import open_connection


@pytest.fixture
def away() -> Iterator[Connection]:
    """A connection to where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    def open_driver() -> Driver:
        return GraphDatabase.driver(f"bolt://127.0.0.1:{port}")

    connection = Connection(open_driver(), "neo4j", open_driver=open_driver)
    yield connection
    connection.close()


def test_a_read_beside_a_job_that_waits_is_refused_at_once(away: Connection) -> None:
    said = threading.Event()
    policy = RetryPolicy(wait_s=3_600, say=lambda line: said.set())
    ended: list[StoreUnavailable] = []

    def build() -> None:
        with waiting(policy), suppress(StoreUnavailable):
            away.read("exchange/any_node")
        try:
            away.read("exchange/any_node")
        except StoreUnavailable as error:
            ended.append(error)

    job = threading.Thread(target=build)
    job.start()
    assert said.wait(600)
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        away.read("exchange/any_node")
    assert job.is_alive()
    policy.stop()
    job.join(600)
    assert len(ended) == 1


def test_an_address_that_leads_nowhere_says_so() -> None:
    with pytest.raises(StoreUnavailable, match=r"Cannot resolve address nowhere\.invalid:7687"):
        open_connection("neo4j://nowhere.invalid:7687", create=False)
    with pytest.raises(InputError, match="expected an address such as neo4j://host:7687"):
        open_connection("neo4j://[::1", create=False)
