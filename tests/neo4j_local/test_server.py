"""A local Neo4j's life."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError

from kgrag.common.retry import RetryPolicy
from kgrag.errors import InputError, StoreUnavailable
from kgrag.neo4j_local import server as neo4j_server
from kgrag.store.graph import open_store

pytestmark = [pytest.mark.neo4j, pytest.mark.changes_indexes]


def run(url: str, cypher: str) -> list[list[object]]:
    login = (os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
    with GraphDatabase.driver(url, auth=login) as driver, driver.session() as session:
        return session.run(cypher).values()


def test_the_session_talks_to_a_real_neo4j_community_server(neo4j_empty: str) -> None:
    assert run(neo4j_empty, "CALL dbms.components() YIELD name, edition RETURN name, edition") == [
        ["Neo4j Kernel", "community"]
    ]


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_gets_an_empty_database(neo4j_empty: str, turn: int) -> None:
    assert run(neo4j_empty, "MATCH (n) RETURN count(n)") == [[0]]
    run(neo4j_empty, "CREATE CONSTRAINT one_turn FOR (n:Turn) REQUIRE n.id IS UNIQUE")
    run(neo4j_empty, f"CREATE (:Turn {{id: {turn}}})-[:AFTER]->(:Turn {{id: 0}})")


def test_a_wrong_password_is_refused(neo4j_target: str) -> None:
    with GraphDatabase.driver(neo4j_target, auth=("neo4j", "neo4j")) as driver, pytest.raises(AuthError):
        driver.verify_connectivity()


def test_only_the_loopback_interface_is_served(neo4j_target: str) -> None:
    port = int(neo4j_target.rpartition(":")[2])
    with socket.socket() as probe:  # possible only while nobody listens on all interfaces
        probe.bind(("127.0.0.2", port))


@pytest.mark.usefixtures("neo4j", "short_life")
def test_a_server_ends_with_its_killed_owner_and_the_next_one_has_its_data_and_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    collections = tmp_path / "collections.log"
    monkeypatch.setenv("_JAVA_OPTIONS", f"{os.environ['_JAVA_OPTIONS']} -Xlog:gc:file={collections}")
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom neo4j import GraphDatabase\n"
        "from kgrag.neo4j_local import server as neo4j_server\n"
        "server = neo4j_server.up(\n"
        "    Path(sys.argv[1]), bolt_port=0, heap_mb=512, owner_pid=os.getpid(), engine='maven', password='correct horse'\n"
        ")\n"
        "with GraphDatabase.driver(server.url, auth=(server.username, server.password)) as driver:\n"
        "    driver.execute_query('CREATE (:Kept)')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    owner = subprocess.run([sys.executable, "-c", script, str(home)], check=False)
    assert owner.returncode == -signal.SIGKILL
    with (home / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # waits until the server is gone
    assert neo4j_server.status(home) is None
    assert stat.S_IMODE((home / "password").stat().st_mode) == 0o600

    second = neo4j_server.up(home, bolt_port=0, heap_mb=512, owner_pid=os.getpid(), engine="maven")
    try:
        assert second.password == "correct horse"
        with (
            GraphDatabase.driver(second.url, auth=(second.username, second.password)) as driver,
            driver.session() as session,
        ):
            assert session.run("MATCH (n:Kept) RETURN count(n)").values() == [[1]]
        assert neo4j_server.up(home) == second == neo4j_server.status(home)
        said = collections.read_text()
        assert "Using Serial" in said
        # Once while it starts; not with every collection of its own, because Python then collects all of its garbage, too.
        assert said.count("System.gc()") <= 1 < said.count("Pause Young")
        with pytest.raises(InputError, match="another password"):
            neo4j_server.up(home, password="battery staple")
        assert neo4j_server.down(home)
        assert neo4j_server.status(home) is None
        assert not neo4j_server.down(home)
        with pytest.raises(InputError, match="with maven, not with docker"):
            neo4j_server.up(home, engine="docker")
    finally:
        neo4j_server.down(home, delete_data=True)
    assert not home.exists()


@pytest.mark.usefixtures("neo4j", "short_life")
def test_a_server_that_a_statement_ends_is_started_again_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    server = neo4j_server.up(home, bolt_port=0, heap_mb=512, owner_pid=os.getpid(), engine="maven")
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    try:
        with open_store(server.url) as store:
            with pytest.raises((InputError, StoreUnavailable), match="memory"):
                list(store.stream_query("RETURN reduce(s = 'x', i IN range(1, 40) | s + s) AS x", timeout_s=60.0))
            log = home / "server.log"
            while neo4j_server.status(home) is not None and "Neo4j is started again" not in log.read_text():
                time.sleep(0.1)
            with store.waiting(RetryPolicy(wait_s=120.0)):
                assert store.documents.count() == 0
        assert neo4j_server.status(home) == server
        assert neo4j_server.down(home)
        again = neo4j_server.up(home, owner_pid=os.getpid())
        assert (again.url, again.heap_mb) == (server.url, 512)
        steps: list[str] = []
        assert neo4j_server.up(home, bolt_port=neo4j_server.BOLT_PORT, heap_mb=1024, on_step=steps.append) == again
        assert f"runs already, on port {again.bolt_port} with a heap of 512 MB" in steps[0]
    finally:
        neo4j_server.down(home, delete_data=True)


def test_a_taken_port_is_named_with_what_to_do(neo4j_target: str, tmp_path: Path) -> None:
    port = int(neo4j_target.rpartition(":")[2])
    with pytest.raises(StoreUnavailable, match=f"Port {port} .* --port"):
        neo4j_server.up(tmp_path / "home", bolt_port=port)


def test_without_a_port_a_home_starts_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("correct horse")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        last = {"url": f"neo4j://127.0.0.1:{port}", "username": "neo4j", "engine": "maven", "bolt_port": port, "pid": 1}
        (tmp_path / "server.json").write_text(json.dumps(last))
        with pytest.raises(StoreUnavailable, match=f"Port {port} .* --port"):
            neo4j_server.up(tmp_path)


def test_a_folder_of_another_kind_is_never_deleted(tmp_path: Path) -> None:
    (tmp_path / "thesis.docx").touch()
    with pytest.raises(InputError, match="not a home"):
        neo4j_server.down(tmp_path, delete_data=True)
    assert (tmp_path / "thesis.docx").exists()
