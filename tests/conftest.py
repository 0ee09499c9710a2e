"""Fixtures that tests share: a real Neo4j, an empty store on either database, the data of others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from kgrag.neo4j_local import server as neo4j_server

NEO4J_REQUIRED = os.environ.get("KGRAG_REQUIRE_NEO4J") == "1"
NEO4J_ENGINE = os.environ.get("KGRAG_TEST_NEO4J_ENGINE", "auto")
# A change is judged by the same examples each time; runs by hand look for new ones.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None)
hypothesis.settings.register_profile("hand", deadline=None)
hypothesis.settings.load_profile("ci" if NEO4J_REQUIRED else "hand")
SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def _no_replies_of_other_sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what models reply to tests out of the user's cache: the next session's server may have the same port."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAG_MODEL_CACHE", str(tmp_path_factory.mktemp("models") / "replies.sqlite"))
        for variable in (
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OLLAMA_HOST",
            "CO_API_KEY",
            "COHERE_API_KEY",
            "CO_API_URL",
        ):
            patch.delenv(variable, raising=False)
        yield


@pytest.fixture(scope="session")
def neo4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[neo4j_server.Neo4jServer]:
    """A Neo4j of this session's own. The server ends with the session, even if that is killed.

    Where none can be started the test is skipped, or fails if `KGRAG_REQUIRE_NEO4J=1`.
    """
    missing = neo4j_server.engine_missing()
    if missing is not None:
        if NEO4J_REQUIRED:
            pytest.fail(f"KGRAG_REQUIRE_NEO4J=1, and {missing}")
        pytest.skip(missing)
    home = tmp_path_factory.mktemp("neo4j")
    server = neo4j_server.up(home, bolt_port=0, heap_mb=1024, engine=NEO4J_ENGINE, owner_pid=os.getpid())
    try:
        yield server
    finally:
        neo4j_server.down(home, delete_data=True)


@pytest.fixture(scope="session")
def neo4j_target(neo4j: neo4j_server.Neo4jServer) -> Iterator[str]:
    """The address of that Neo4j, with its login in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEO4J_USERNAME", neo4j.username)
        patch.setenv("NEO4J_PASSWORD", neo4j.password)
        patch.delenv("NEO4J_DATABASE", raising=False)
        yield neo4j.url


@pytest.fixture
def neo4j_empty(neo4j_target: str) -> str:
    """The same address, with nothing in the database: no node, no index, no constraint."""
    wipe_neo4j(neo4j_target)
    return neo4j_target


@pytest.fixture(params=["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def store_target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty place for a store, once on each database: what `--store` takes."""
    if request.param == "embedded":
        return str(tmp_path / "store.kg")
    address: str = request.getfixturevalue("neo4j_empty")
    return address


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder ../shared/data; the test is skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs {SHARED_DATA}")
    return SHARED_DATA


def wipe_neo4j(url: str) -> None:
    """Empty the database at `url`: Community has only one, so tests take turns in it."""
    from neo4j import GraphDatabase

    login = (os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
    with GraphDatabase.driver(url, auth=login) as driver, driver.session() as session:
        for (name,) in session.run("SHOW CONSTRAINTS YIELD name").values():
            session.run(f"DROP CONSTRAINT `{name}`").consume()
        # Neo4j's own two look-up indexes stay: every new database has them.
        for (name,) in session.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name").values():
            session.run(f"DROP INDEX `{name}`").consume()
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session that had to run the contract on Neo4j and did not."""
    if NEO4J_REQUIRED and not session.config.option.collectonly:
        _, contract, skipped = neo4j_counts(session.config)
        if skipped or not contract:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests ran on a real Neo4j; .ci/run reads this line."""
    passed, contract, skipped = neo4j_counts(config)
    terminalreporter.write_line(f"Neo4j: {passed} tests passed, {contract} of them of the contract, {skipped} skipped.")
    if NEO4J_REQUIRED and (skipped or not contract):
        terminalreporter.write_line(
            "KGRAG_REQUIRE_NEO4J=1 asks for the contract on Neo4j without a skip: failed.", red=True
        )


def neo4j_counts(config: pytest.Config) -> tuple[int, int, int]:
    """Return how many tests on Neo4j passed, how many of them are of the contract, and how many were skipped."""
    stats = config.pluginmanager.get_plugin("terminalreporter").stats
    passed, skipped = (
        [report for report in stats.get(outcome, ()) if "neo4j" in report.keywords] for outcome in ("passed", "skipped")
    )
    return len(passed), sum(report.nodeid.startswith("tests/contract/") for report in passed), len(skipped)
