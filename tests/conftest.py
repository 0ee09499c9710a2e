"""Fixtures that tests share: a real Neo4j, an empty store on either database, the data of others; and one environment for all runs."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path

import hypothesis
import neo4j as neo4j_driver
import pytest

from kgrag.neo4j_local import server as neo4j_server
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.jvm import QUICK_START
from kgrag.store.jvm_archive import ARCHIVE_VARIABLE, QUIET, Archive, speaks_of_archives
from kgrag.store.opening import open_connection
from kgrag.store.schema import (
    CHUNK_VECTOR_INDEX,
    ROW_VECTOR_INDEX,
    SCHEMA_VERSION,
    Meta,
    Schema,
    community_vector_index,
    entity_vector_index,
)
from kgrag.testing import HashingEmbedder

NEO4J_REQUIRED = os.environ.get("KGRAG_REQUIRE_NEO4J") == "1"
NEO4J_ENGINE = os.environ.get("KGRAG_TEST_NEO4J_ENGINE", "auto")
SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# A change is judged by the same examples each time, however slow the machine is. `make fuzz` looks for new ones.
hypothesis.settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile(
    "fuzz", max_examples=2_000, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("same")
FUZZ_FACTOR = 20
"""How many times more examples `make fuzz` takes of a test that sets their number itself."""
FEWEST_FOR_ARCHIVE = 500
"""Of tests: for fewer no archive of Java's classes is made."""
CREATION_LIMIT_S = 60
USUAL_DIMENSIONS = HashingEmbedder().dimensions
INDEXED_GRAPHS = (
    *("mention", "other", "path", "recorded", "words", "triples", "lines"),
    *("llm", "simple_kg", "graph_transformer"),
)
"""Graphs of several tests, whose vector indexes an emptied Neo4j has."""
INDEXED_LEVELS = (0, 1, 2)
"""Of communities of the first of them."""
MOST_OBJECTS = 50_000
"""That garbage collections look at while tests run."""
_begun: set[Path] = set()
"""Files of tests."""
MAKES_ARCHIVE = """
import tempfile
from pathlib import Path
from kgrag.cli import run
from kgrag.store.jvm import expect_short_life

expect_short_life(typical=True)
with tempfile.TemporaryDirectory() as folder:
    (document := Path(folder) / "a.md").write_text("The X-100 has the valve Y-2 and needs 5 V.")
    store = str(Path(folder) / "a.kg")
    run(["build", str(document), "--store", store])
    run(["communities", "--store", store])
    run(["ask", "What does the X-100 need?", "--store", store])
    run(["cypher", "MATCH (c:Chunk) RETURN c.id", "--store", store])
"""
"""A program that uses of the embedded database what tests use."""

OF_THE_TERMINAL = (
    *("CI", "GITHUB_ACTIONS", "PY_COLORS", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"),
    *("COLUMNS", "LINES", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
)
OF_MODELS = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_VERSION", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),
    *("OLLAMA_HOST", "CO_API_KEY", "COHERE_API_KEY", "CO_API_URL"),
)
OF_THE_DATABASE = ("NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE")
OF_THE_TESTS = (
    *("KGRAG_REQUIRE_NEO4J", "KGRAG_TEST_NEO4J_ENGINE", "KGRAG_JAVA_HOME"),
    *("KGRAG_WRITE_GOLDEN", "KGRAG_UPDATE_GOLDEN"),
)


def pytest_configure() -> None:
    """Make the environment of tests and of the programs that they start the same everywhere."""
    of_kgrag = [name for name in os.environ if name.startswith("KGRAG_") and name not in OF_THE_TESTS]
    for name in (*OF_THE_TERMINAL, *OF_MODELS, *OF_THE_DATABASE, *of_kgrag):
        os.environ.pop(name, None)
    # Else each program that a test starts compiles kgrag for itself.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["TERM"] = "dumb"
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1", "localhost"]))
    # Java programs that live for seconds: compiling them better costs more than it gives. Halves the processor time of all tests.
    # The room for what is new is large, so that hardly anything has to be collected. The module of vectors, which short commands do
    # without, is there so that one archive of classes fits all; so are the last two options.
    os.environ.setdefault(
        "ARCADEDB_JVM_ARGS",
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmn512m --add-modules=jdk.incubator.vector "
        "-XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0",
    )
    # llama.cpp's threads spin while they wait for each other: for minutes on a busy machine.
    os.environ["LLAMA_ARG_THREADS"] = "1"
    # An archive of Java's classes would be made by the first test that asks in a process of its own.
    os.environ[ARCHIVE_VARIABLE] = "off"
    # A job in the background ignores SIGINT, and so would every program that a test starts and interrupts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what was imported out of garbage collections, and have Java's classes loaded from an archive."""
    gc.collect()
    gc.freeze()
    if not session.config.option.collectonly:
        use_archive_of_java(make=len(session.items) >= FEWEST_FOR_ARCHIVE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None]:
    """Leave out what was imported and kept since, once it is much: every collection of Java's brings a whole one of Python's."""
    yield
    if nextitem is not None and nextitem.path not in _begun:
        _begun.add(nextitem.path)
        if len(gc.get_objects()) > MOST_OBJECTS:
            gc.collect()
            gc.freeze()


def use_archive_of_java(*, make: bool) -> None:
    """Have the Java machine of every process that opens a store load its classes from an archive that the user's cache folder keeps.

    Some fifty processes do: each takes a quarter less processor time, more than a second. To make it takes ten.
    """
    options = os.environ["ARCADEDB_JVM_ARGS"]
    if speaks_of_archives(options):
        return
    archive = Archive((*QUICK_START, options)).file
    if make and not archive.is_file():
        environment = {name: value for name, value in os.environ.items() if name != ARCHIVE_VARIABLE}
        said = subprocess.run(
            [sys.executable, "-c", MAKES_ARCHIVE], env=environment, capture_output=True, text=True, check=False
        )
        if said.returncode:
            print(f"no archive of Java's classes: {said.stderr}", file=sys.stderr)
        until = time.monotonic() + CREATION_LIMIT_S
        while archive.with_suffix(".claim").exists() and time.monotonic() < until:
            time.sleep(0.1)
    if archive.is_file():
        os.environ["ARCADEDB_JVM_ARGS"] = f"{options} -XX:AOTCache={archive} {QUIET}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put tests together that find the same indexes. Give those that set the number of examples more of them in a search for new ones."""
    items.sort(key=place_by_indexes)
    if config.getoption("--hypothesis-profile") != "fuzz":
        return
    for item in items:
        test = getattr(item, "obj", None)
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples < hypothesis.settings().max_examples:
            test._hypothesis_internal_use_settings = hypothesis.settings(
                own, max_examples=FUZZ_FACTOR * own.max_examples
            )


def place_by_indexes(item: pytest.Item) -> tuple[bool, bool, int]:
    """Return the place of a test among all: first those whose stores have the vector indexes of most, last those that change indexes.

    Tests run in any order. In this one Neo4j, which after each change of an index plans every statement anew, plans half as much.
    """
    dimensions = getattr(getattr(item, "module", None), "DIMENSIONS", USUAL_DIMENSIONS)
    changes = item.get_closest_marker("changes_indexes") is not None
    return changes, dimensions != USUAL_DIMENSIONS, dimensions


@pytest.fixture(scope="session", autouse=True)
def _no_replies_of_other_sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what models reply to tests out of the user's cache: the next session's server may have the same port."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGRAG_MODEL_CACHE", str(tmp_path_factory.mktemp("models") / "replies.sqlite"))
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
    with java_of_short_life():
        server = neo4j_server.up(
            home,
            bolt_port=0,
            heap_mb=1024,
            engine=NEO4J_ENGINE,
            owner_pid=os.getpid(),
            # Two thirds of its work is planning: not anew because a test has twice the rows of the one before or a longer list, and
            # no plan is forgotten for others. Tests of plans have theirs made anew.
            settings={
                "dbms.cypher.min_replan_interval": "1d",
                "internal.cypher.use_parameter_size": "false",
                "server.memory.query_cache.per_db_cache_num_entries": "20000",
            },
        )
    try:
        yield server
    finally:
        neo4j_server.down(home, delete_data=True)


@contextmanager
def java_of_short_life() -> Iterator[None]:
    """Have a Neo4j that is started in the block compile in one stage and collect garbage in one thread: it costs half as much."""
    with pytest.MonkeyPatch.context() as patch:
        # The compiler's first stage alone would get a code cache that it has to sweep all the time. This variable, unlike others, comes
        # after the options that kgrag gives.
        code = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
        # What is in Neo4j's own jars need not be checked class by class, a sixth of what its start costs.
        trusted = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
        # Neither a heap nor a room for classes that grow from small, each time by a collection of all garbage.
        room = "-Xms512m -Xmn300m -XX:MetaspaceSize=400m"
        patch.setenv("_JAVA_OPTIONS", f"{code} -XX:-UseG1GC -XX:+UseSerialGC {room} {trusted}")
        yield


@pytest.fixture
def short_life() -> Iterator[None]:
    """The same for a test that starts a Neo4j of its own."""
    with java_of_short_life():
        yield


@pytest.fixture(scope="session")
def neo4j_target(neo4j: neo4j_server.Neo4jServer) -> Iterator[str]:
    """The address of that Neo4j, with its login in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEO4J_USERNAME", neo4j.username)
        patch.setenv("NEO4J_PASSWORD", neo4j.password)
        patch.delenv("NEO4J_DATABASE", raising=False)
        yield neo4j.url


@pytest.fixture(scope="session")
def neo4j_session(neo4j_target: str) -> Iterator[neo4j_driver.Session]:
    """What empties that Neo4j between tests."""
    login = (os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"])
    with neo4j_driver.GraphDatabase.driver(neo4j_target, auth=login) as driver, driver.session() as session:
        yield session


@pytest.fixture(scope="session")
def neo4j_schema(neo4j_target: str, neo4j_session: neo4j_driver.Session) -> frozenset[str]:
    """The constraints and indexes that every store has, by name. Made once: after a change of them Neo4j plans every statement anew."""
    with open_store(neo4j_target) as store:
        store.bind("test", HashingEmbedder().dimensions)
    return frozenset(name for name, _ in schema_of_neo4j(neo4j_session))


@pytest.fixture
def vector_dimensions(request: pytest.FixtureRequest) -> int | None:
    """Of the vector indexes that a test may find, empty, as they are after a store was emptied; None where there may be none.

    After each change of an index Neo4j plans every statement anew, which is most of what its tests cost, and the embedded database takes
    longer to make them than most tests: a module whose tests all take one embedder says its `DIMENSIONS`.
    """
    dimensions: int | None = getattr(request.module, "DIMENSIONS", None)
    return dimensions


class FilledStores:
    """The stores that were filled once, by module and fixture: folders, and what the only database of Neo4j has now."""

    def __init__(self) -> None:
        self.folders: dict[str, str] = {}
        self.in_neo4j: str | None = None


@pytest.fixture(scope="session")
def filled_stores() -> FilledStores:
    """Those of this session."""
    return FilledStores()


@pytest.fixture
def emptied_neo4j(
    neo4j_target: str,
    neo4j_session: neo4j_driver.Session,
    neo4j_schema: frozenset[str],
    vector_dimensions: int | None,
    filled_stores: FilledStores,
) -> Callable[[], str]:
    """Leaves nothing in that Neo4j but the constraints and indexes of a store that was emptied, and returns its address.

    Community has only one database, so tests take turns in it.
    """

    def empty() -> str:
        filled_stores.in_neo4j = None
        neo4j_session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()
        missing = expected_indexes() if vector_dimensions is not None else set()
        for name, dimensions in schema_of_neo4j(neo4j_session):
            of_words = name in neo4j_schema or (vector_dimensions is not None and name.startswith("community_text_"))
            if dimensions == vector_dimensions if dimensions else of_words:
                missing.discard(name)
            else:
                neo4j_session.run(f"DROP CONSTRAINT `{name}` IF EXISTS").consume()
                neo4j_session.run(f"DROP INDEX `{name}` IF EXISTS").consume()
        if vector_dimensions is not None and missing:
            make_indexes(neo4j_target, vector_dimensions)
        return neo4j_target

    return empty


def expected_indexes() -> set[str]:
    """Return the names of the vector indexes that an emptied Neo4j has."""
    of_levels = {community_vector_index(INDEXED_GRAPHS[0], level) for level in INDEXED_LEVELS}
    return {CHUNK_VECTOR_INDEX, ROW_VECTOR_INDEX, *map(entity_vector_index, INDEXED_GRAPHS)} | of_levels


def make_indexes(target: str, dimensions: int) -> None:
    """Make them all, as a store does one by one when it is built: each time Neo4j would plan every statement anew."""
    connection = open_connection(target, create=True, reads_only=False)
    try:
        schema = Schema(connection)
        schema.create(Meta(SCHEMA_VERSION, "test", dimensions))
        for graph in INDEXED_GRAPHS:
            schema.ensure_graph(graph)
        for level in INDEXED_LEVELS:
            schema.ensure_level(INDEXED_GRAPHS[0], level)
    finally:
        connection.close()


@pytest.fixture
def neo4j_empty(emptied_neo4j: Callable[[], str]) -> str:
    """The same address, with an empty database behind it."""
    return emptied_neo4j()


def schema_of_neo4j(session: neo4j_driver.Session) -> list[tuple[str, int | None]]:
    """Return the names of constraints and indexes, a vector index with its dimensions. A new database has the look-up indexes, too."""
    rows = session.run(
        "SHOW INDEXES YIELD name, type, options WHERE type <> 'LOOKUP' "
        "RETURN name, options.indexConfig.`vector.dimensions` AS dimensions"
    ).values()
    return [(name, dimensions) for name, dimensions in rows]


on_each_database = pytest.fixture(params=["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)])


@pytest.fixture(scope="session")
def embedded_empty(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Folders of embedded stores with constraints and indexes and nothing else, by dimensions, to copy."""

    @cache
    def made(dimensions: int) -> Path:
        folder = tmp_path_factory.mktemp("empty") / "store.kg"
        connection = open_connection(folder, create=True, reads_only=False)
        try:
            Schema(connection).create(Meta(SCHEMA_VERSION, "test", dimensions))
        finally:
            connection.close()
        return folder

    return made


@on_each_database
def store_target(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    vector_dimensions: int | None,
    embedded_empty: Callable[[int], Path],
) -> str:
    """An empty place for a store, once on each database: what `--store` takes."""
    if request.param == "embedded":
        target = tmp_path / "store.kg"
        if vector_dimensions is not None:
            shutil.copytree(embedded_empty(vector_dimensions), target)
        return str(target)
    address: str = request.getfixturevalue("neo4j_empty")
    return address


@pytest.fixture
def store(store_target: str) -> Iterator[GraphStore]:
    """An empty store, once on each database."""
    with open_store(store_target) as opened:
        yield opened


@on_each_database
def filled_once(
    request: pytest.FixtureRequest,
    filled_stores: FilledStores,
    tmp_path_factory: pytest.TempPathFactory,
    vector_dimensions: int | None,
    embedded_empty: Callable[[int], Path],
) -> Callable[[Callable[[str], object]], str]:
    """Fills the store of a module's fixture where it is not filled yet, and returns its target: for tests that only read it.

    On Neo4j that may be more than once, where a test in between has emptied it.
    """

    def target(fill: Callable[[str], object]) -> str:
        content = f"{request.module.__name__} {fill.__qualname__}"
        if request.param == "neo4j":
            address: str = request.getfixturevalue("neo4j_target")
            if filled_stores.in_neo4j != content:
                fill(request.getfixturevalue("neo4j_empty"))
                filled_stores.in_neo4j = content
            return address
        if content not in filled_stores.folders:
            folder = str(tmp_path_factory.mktemp("filled") / "store.kg")
            if vector_dimensions is not None:
                shutil.copytree(embedded_empty(vector_dimensions), folder)
            fill(folder)
            filled_stores.folders[content] = folder
        return filled_stores.folders[content]

    return target


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder ../shared/data; the test is skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"needs {SHARED_DATA}")
    return SHARED_DATA


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


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 40 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(disk)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("who runs the tests may not mount a file system")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.fixture
def without_root() -> Callable[[], AbstractContextManager[None]]:
    """Make a block in which the process is a user whom permissions concern."""

    @contextmanager
    def somebody() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        os.setresuid(65534, 65534, 0)
        try:
            yield
        finally:
            os.setresuid(0, 0, 0)

    return somebody
