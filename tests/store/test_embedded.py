"""The embedded database's life: in one process at a time, quiet, and there again after a kill."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import neo4j
import pytest

from kgrag.errors import CypherWriteError, InputError, StoreError, StoreLocked, StoreReadOnly, StoreUnavailable
from kgrag.store.connection import Transaction
from kgrag.store.driver_errors import driver_errors
from kgrag.store.embedded import EmbeddedServer
from kgrag.store.graph import GraphStore, open_store, store_exists
from kgrag.store.opening import open_connection
from kgrag.store.snapshot import SNAPSHOT, copy_for_reading, keep_snapshot
from kgrag.types import Document

from .small_documents import write

WRITING = Path(__file__).with_name("small_documents.py")
HERE = f"""
import importlib.util, sys
from kgrag.store.graph import open_store
from kgrag.store.jvm import expect_short_life
expect_short_life()
specification = importlib.util.spec_from_file_location("writing", {str(WRITING)!r})
writing = importlib.util.module_from_spec(specification)
specification.loader.exec_module(writing)
write = writing.write
"""
"""The beginning of a program that writes what tests here write."""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HERE + code, *arguments], capture_output=True, text=True, timeout=600, check=False
    )


def test_a_second_process_is_told_who_has_the_store(tmp_path: Path) -> None:
    folder = tmp_path / "a.kg"
    with open_store(folder):
        second = run("open_store(sys.argv[1])", str(folder))
        assert "StoreLocked" in second.stderr
        assert f"process {os.getpid()}" in second.stderr
        with pytest.raises(StoreLocked, match="this process"):
            open_store(folder)
    with open_store(folder):
        pass


def test_readers_get_the_last_finished_build_while_another_process_has_the_store(tmp_path: Path) -> None:
    folder = tmp_path / "a.kg"
    documents = [Document(id=name, path=f"{name}.html", title=name, sha256="0", format="html") for name in "ab"]
    with open_store(folder) as store:
        store.bind("e", 8)
        store.documents.put([(documents[0], [])])
        store.finish()
    reading = """
with open_store(sys.argv[1], reads_only=True) as store:
    print([d.id for d in store.documents.all()], store.remark)
"""
    with open_store(folder) as writer:
        writer.documents.put([(documents[1], [])])
        with open_store(folder, reads_only=True) as here:  # two readers at once
            said = run(reading, str(folder)).stdout
            assert said.startswith("['a'] Read from the snapshot of the build that finished")
            assert f"process {os.getpid()}" in said
            assert [d.id for d in here.documents.all()] == ["a"]
    with open_store(folder, reads_only=True) as alone:
        assert ([d.id for d in alone.documents.all()], alone.remark) == (["a", "b"], "")


def test_a_store_without_a_finished_build_cannot_be_read_while_it_is_taken(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.kg"), pytest.raises(StoreLocked, match=r"this process.*Use that one, or close it"):
        open_store(tmp_path / "a.kg", reads_only=True)


def test_a_name_that_is_too_long_is_said_in_one_line(tmp_path: Path) -> None:
    assert not store_exists(tmp_path / ("x" * 300))
    with pytest.raises(StoreUnavailable, match=r"cannot be opened for writing: File name too long\."):
        open_store(tmp_path / ("x" * 300))


def test_a_login_in_an_address_is_refused_and_not_shown() -> None:
    with pytest.raises(InputError, match=r"such as neo4j://db\.example:7687, got one with it") as caught:
        open_store("neo4j://ann:hunter/@2@db.example:7687/x")
    assert "hunter" not in str(caught.value) and "ann" not in str(caught.value)


@pytest.mark.neo4j
def test_a_database_that_the_server_does_not_have_is_named(neo4j_target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_DATABASE", "nope")
    with pytest.raises(StoreUnavailable, match=r"no such database: .*'nope'.* NEO4J_DATABASE names it"):
        open_store(neo4j_target)


@pytest.mark.neo4j
@pytest.mark.usefixtures("neo4j_schema")
def test_what_two_builds_write_at_once_on_a_server_is_said_in_words(neo4j_session: neo4j.Session) -> None:
    create = "UNWIND [1, 2] AS build CREATE (:Document {id: 'twice'})"
    with (
        pytest.raises(StoreError, match=r"written to by somebody else at the same time .* the same command goes on"),
        driver_errors(),
    ):
        neo4j_session.run(create).consume()


@pytest.mark.neo4j
@pytest.mark.usefixtures("neo4j_schema")
def test_what_another_build_made_meanwhile_is_found_when_the_transaction_is_done_again(
    neo4j_target: str, neo4j_session: neo4j.Session
) -> None:
    create = "CREATE (:Document {id: 'met'})"

    def put(transaction: Transaction) -> str:
        tried.append(len(tried))
        if transaction._transaction.run("MATCH (d:Document {id: 'met'}) RETURN d.id").values():
            return "found"
        neo4j_session.run(create).consume()
        transaction._transaction.run(create).consume()
        return "made"

    tried: list[int] = []
    connection = open_connection(neo4j_target, create=False)
    try:
        assert (connection.write(put), tried) == ("found", [0, 1])
    finally:
        neo4j_session.run("MATCH (d:Document {id: 'met'}) DELETE d").consume()
        connection.close()


def test_who_only_reads_makes_no_store_and_a_closed_one_says_that_it_is_closed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no store here"):
        open_store(tmp_path / "absent.kg", reads_only=True)
    assert not (tmp_path / "absent.kg").exists()
    with open_store(tmp_path / "a.kg") as store:
        store.bind("e", 8)
    for use in (store.documents.count, lambda: store.bind("e", 8)):
        with pytest.raises(StoreUnavailable, match="got one that was closed"):
            use()


def test_a_snapshot_has_the_time_at_which_it_was_made(tmp_path: Path) -> None:
    (tmp_path / "database").mkdir()
    os.utime(tmp_path / "database", (0, 0))
    keep_snapshot(tmp_path)
    assert (tmp_path / SNAPSHOT / "database").stat().st_mtime > 0


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_the_store_of_somebody_else_is_told_as_that(
    tmp_path: Path, without_root: Callable[[], AbstractContextManager[None]]
) -> None:
    (tmp_path / "a.kg" / "database").mkdir(parents=True)
    (tmp_path / "a.kg").chmod(0)
    tmp_path.chmod(0o755)
    try:
        with without_root(), pytest.raises(StoreUnavailable, match="may not be read: Permission denied"):
            copy_for_reading(tmp_path / "a.kg", StoreLocked("taken"))
    finally:
        (tmp_path / "a.kg").chmod(0o700)


def test_a_folder_that_may_not_be_written_to_is_read_from_a_copy(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.kg") as store:
        store.bind("e", 8)
    before = sorted(path.name for path in (tmp_path / "a.kg").iterdir())
    database = tmp_path / "a.kg" / "database"
    for one in (*database.rglob("*"), database):  # as `chmod -R a-w` leaves them
        one.chmod(one.stat().st_mode & ~0o222)
    place, remark = copy_for_reading(tmp_path / "a.kg", StoreReadOnly("a.kg: Read-only file system. Choose another."))
    assert all(one.stat().st_mode & 0o200 for one in place.rglob("*")), "the database writes to its copy"
    assert (place / "database" / "kgrag").is_dir() and sorted(p.name for p in (tmp_path / "a.kg").iterdir()) == before
    assert remark == "Read from a copy of it: a.kg: Read-only file system."
    shutil.rmtree(place)


@pytest.mark.parametrize("reads_only", [False, True])
def test_a_store_of_which_a_part_is_gone_is_not_taken_for_a_smaller_one(tmp_path: Path, reads_only: bool) -> None:
    folder = tmp_path / "a.kg"
    with open_store(folder) as store:
        store.bind("e", 8)
        write(store, 1)
        digest = store.digest()
    chunks = next((folder / "database" / "kgrag").glob("Chunk_0.*.bucket"))
    whole = chunks.read_bytes()
    chunks.write_bytes(whole[:1000])
    for _ in range(2):  # it is no better the second time
        with pytest.raises(StoreUnavailable, match=rf"is damaged: database/kgrag/{chunks.name} has 1,000 of .* bytes"):
            open_store(folder, reads_only=reads_only)
    with pytest.raises(StoreUnavailable, match="is damaged"):
        copy_for_reading(folder, StoreReadOnly("a.kg: Read-only file system."))
    chunks.unlink()
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        open_store(folder, reads_only=reads_only)
    chunks.write_bytes(whole)
    for _ in range(2):
        with open_store(folder, reads_only=reads_only) as store:
            assert store.digest() == digest


def test_copies_of_readers_that_were_killed_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    refused = StoreReadOnly("a.kg: Read-only file system. Choose another.")
    with open_store(tmp_path / "a.kg") as store:
        store.bind("e", 8)
    killed, copying, read = (copy_for_reading(tmp_path / "a.kg", refused)[0] for _ in range(3))
    (killed / "lock").touch()
    with open_store(read):
        new, _ = copy_for_reading(tmp_path / "a.kg", refused)
        assert sorted((tmp_path / "temporary").iterdir()) == sorted([copying, read, new])


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_a_disk_that_takes_no_more_is_one_line(tmp_path: Path) -> None:
    limited = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    with open_store(sys.argv[1]) as store:
        store.bind("e", 8)
except StoreUnavailable as error:
    print(error)
"""
    said = run("from kgrag.errors import StoreUnavailable\n" + limited, str(tmp_path / "a.kg"))
    assert "File too large" in said.stdout and len(said.stdout.splitlines()) == 1
    assert "java" not in said.stderr


def test_stores_can_be_open_side_by_side_and_one_after_the_other(tmp_path: Path) -> None:
    document = Document(id="d", path="a.html", title="A", sha256="0", format="html")
    with open_store(tmp_path / "a.kg") as a, open_store(tmp_path / "b.kg") as b:
        a.bind("e", 8)
        b.bind("f", 16)
        a.documents.put([(document, [])])
        assert (len(a.documents.all()), len(b.documents.all())) == (1, 0)
    for _ in range(2):
        with open_store(tmp_path / "a.kg", create=False) as a:
            assert a.documents.all() == [document]
            a.close()


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="kgrag build"):
        open_store(tmp_path / "absent.kg", create=False)
    assert not (tmp_path / "absent.kg").exists()
    (tmp_path / "file").write_text("text")
    with pytest.raises(InputError, match="got a file"):
        open_store(tmp_path / "file")
    with pytest.raises(InputError, match=r"'file'"):
        open_store(tmp_path)
    with pytest.raises(InputError, match="neo4j://"):
        open_store("http://127.0.0.1:7474")
    with pytest.raises(InputError, match="a variable that is not set"):
        open_store(" ")


def test_a_server_that_is_not_there_cannot_be_reached() -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        open_store("bolt://127.0.0.1:1")


def test_a_program_that_forgets_to_close_ends_quietly(tmp_path: Path) -> None:
    ended = run(
        "store = open_store(sys.argv[1]); store.bind('e', 8); write(store, 1); print('done')", str(tmp_path / "a.kg")
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("done\n", "", 0)
    with open_store(tmp_path / "a.kg", create=False) as store:
        assert store.documents.count_chunks() == 5


def test_a_program_that_forgets_a_store_altogether_ends(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.kg") as store:
        store.bind("e", 8)
        write(store, 1)
    # Not `run`: a process that ends soon leaves the Java machine alone, and this one waits for it.
    program = "import gc, sys, kgrag.store.graph as g; print(g.open_store(sys.argv[1]).documents.count_chunks()); gc.collect()"
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.kg")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.stdout, ended.returncode) == ("5\n", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_forked_process_is_refused_the_store_and_leaves_it_to_its_parent(tmp_path: Path) -> None:
    ended = run(
        "import os\n"
        "from kgrag.errors import StoreUnavailable\n"
        "store = open_store(sys.argv[1]); store.bind('e', 8)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    for use in (store.status, lambda: open_store(sys.argv[2]), lambda: open_store(sys.argv[1], reads_only=True)):\n"
        "        try: use()\n"
        "        except StoreUnavailable as error: print('spawn' in str(error), flush=True)\n"
        "    store.close()\n"
        "    sys.exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), store.status()['dimensions'])\n",
        str(tmp_path / "a.kg"),
        str(tmp_path / "b.kg"),
    )
    assert (ended.stdout, ended.stderr) == ("True\nTrue\nTrue\n7 8\n", "")
    assert not (tmp_path / "b.kg").exists()


def test_a_program_that_fails_ends_with_its_own_error(tmp_path: Path) -> None:
    ended = run(
        "store = open_store(sys.argv[1]); store.bind('e', 8); raise SystemExit('our error')", str(tmp_path / "a.kg")
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "our error\n", 1)


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_store_has_whole_transactions_and_goes_on(tmp_path: Path, seed: int) -> None:
    folder = tmp_path / "a.kg"
    program = """
store = open_store(sys.argv[1])
store.bind("e", 8)
for n in range(10_000):
    write(store, n)
    print(n, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", HERE + program, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    written = -1
    for line in process.stdout:
        if line.strip().isdigit() and (written := int(line)) >= 3 + 4 * seed:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    with open_store(folder, create=False) as store:
        documents = {int(document.title) for document in store.documents.all()}
        assert documents >= set(range(written + 1))
        assert store.documents.count_chunks() == 5 * len(documents)
        assert store.ledger.of_stage("extract", "mention").keys() <= {chunk.id for chunk in store.documents.chunks()}
        # What the last transaction did is there as a whole or not at all.
        assert len(store.ledger.of_stage("extract", "mention")) % 5 == 0
        assert len(store.documents.ids_without_embedding()) == store.documents.count_chunks() - len(
            store.ledger.of_stage("embed", "e")
        )
        rewrite(store, 12 + 4 * seed)
        resumed = store.digest()
        store.finish()
        found = store.query(
            "CALL db.index.vector.queryNodes('chunk_embedding', 1000, $v) YIELD node RETURN node.id AS id", v=[1.0] * 8
        )
        assert {row["id"] for row in found} == {chunk.id for chunk in store.documents.chunks()}
    with open_store(tmp_path / "b.kg") as store:
        store.bind("e", 8)
        rewrite(store, 12 + 4 * seed)
        assert store.digest() == resumed


def rewrite(store: GraphStore, count: int) -> None:
    """Make the store hold the first `count` documents, whatever it holds."""
    store.documents.delete([document.id for document in store.documents.all() if int(document.title) >= count])
    for n in range(count):
        write(store, n)


@pytest.mark.parametrize(
    "cypher",
    [
        "CALL do.when(true, 'CREATE (n:Foreign)', '', {})",
        "CALL merge.node(['Foreign'], {a: 1}, {})",
        "CALL db.migrateLegacyTemporals()",
        "CREATE USER foreign SET PASSWORD 'x'",
        "TERMINATE TRANSACTIONS '1'",
    ],
)
def test_the_procedures_of_arcadedb_that_write_are_refused(tmp_path: Path, cypher: str) -> None:
    with open_store(tmp_path / "a.kg") as store, pytest.raises(CypherWriteError):
        store.query(cypher)


def test_the_heap_is_checked(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", HERE + "open_store(sys.argv[1])", str(tmp_path / "a.kg")],
        capture_output=True, text=True, timeout=600, check=False, env={**os.environ, "KGRAG_JVM_HEAP": "much"},
    )  # fmt: skip
    assert "KGRAG_JVM_HEAP: expected a size like 2g or 1500m, got 'much'" in ended.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_signal_ends_a_program_with_an_open_store_in_python_s_way_and_lets_go_of_the_store(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    program = (
        "import sys, time\nfrom kgrag.store.graph import open_store\n"
        "try:\n    with open_store(sys.argv[1]):\n        print('open', flush=True)\n        time.sleep(600)\n"
        "except KeyboardInterrupt:\n    sys.exit(130)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "store.kg")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    process.send_signal(number)
    _, said = process.communicate()
    assert (process.returncode, said) == (code, "")
    with open_store(tmp_path / "store.kg", create=False):  # it has let go of it
        pass


def test_a_store_on_a_full_disk_can_be_read(small_disk: Path) -> None:
    with open_store(small_disk / "a.kg") as store:
        store.bind("e", 8)
        write(store, 1)
        digest = store.digest()
    free = shutil.disk_usage(small_disk).free
    (small_disk / "other").write_bytes(bytes(free))
    with pytest.raises(StoreReadOnly, match="No space left"):
        open_store(small_disk / "a.kg")
    with open_store(small_disk / "a.kg", reads_only=True) as copy:
        assert copy.digest() == digest
        assert copy.remark.startswith("Read from a copy of it: ")


def test_a_program_that_leaves_stores_open_on_a_full_disk_ends(small_disk: Path) -> None:
    program = (
        "import shutil, sys\nfrom pathlib import Path\nfrom kgrag.store.graph import open_store\ndisk = Path(sys.argv[1])\n"
        "stores = [open_store(disk / name) for name in ('a.kg', 'b.kg')]\n"
        "for store in stores:\n    store.bind('e', 8)\n    store.finish()\n"
        "(disk / 'other').write_bytes(bytes(shutil.disk_usage(disk).free))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(small_disk)], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0
    assert ended.stderr
    for line in ended.stderr.splitlines():
        assert "the build is done, but no snapshot of it for readers could be kept: " in line


@pytest.mark.parametrize("address", ["file:///etc/passwd", "http://127.0.0.1:9/"])
def test_the_database_itself_loads_no_files(tmp_path: Path, address: str) -> None:
    server = EmbeddedServer(tmp_path / "a.kg")
    try:
        with server.driver.session() as session, pytest.raises(neo4j.exceptions.Neo4jError, match="URLs are disabled"):
            session.run(f"LOAD CSV FROM '{address}' AS line RETURN line").consume()
    finally:
        server.close()


def test_a_store_may_have_any_name_whatever_the_locale(tmp_path: Path) -> None:
    folder = tmp_path / "größe\n漢.kg"
    ended = subprocess.run(
        [sys.executable, "-c", HERE + "open_store(sys.argv[1]).close()", str(folder)],
        capture_output=True, text=True, timeout=600, check=False, env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    with open_store(folder, create=False) as store:
        assert store.documents.count() == 0


def test_the_database_for_administration_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_DATABASE", "System")
    with pytest.raises(InputError, match="NEO4J_DATABASE: expected a database for a graph"):
        open_store("bolt://127.0.0.1:9")


def test_a_statement_that_the_database_does_not_end_in_time_is_cut_and_keeps_nobody(tmp_path: Path) -> None:
    program = """
with open_store(sys.argv[1]) as store:
    store.bind("none", 64)
    endless = "RETURN reduce(a = 0, x IN range(0, 20000000) | a + reduce(b = 0, y IN range(0, 1000000) | b + y)) AS sum"
    try:
        list(store.stream_query(endless, timeout_s=1))
    except InputError as error:
        print(error)
    print(store.query("RETURN 1 AS one"))
"""
    ended = run("from kgrag.errors import InputError\n" + program, str(tmp_path / "a.kg"))
    assert ended.returncode == 0, ended.stderr
    assert "took longer than 1 s" in ended.stdout and "[{'one': 1}]" in ended.stdout


def test_who_closes_a_store_lets_the_transaction_of_another_thread_end(tmp_path: Path) -> None:
    connection = open_connection(tmp_path / "a.kg", create=True)
    begun, closing = threading.Event(), threading.Event()

    def write(transaction: Transaction) -> None:
        begun.set()
        closing.wait()
        transaction._transaction.run("CREATE (:Document {id: 'last'})").consume()

    with ThreadPoolExecutor(2) as threads:
        writing = threads.submit(connection.write, write)
        begun.wait()
        ended = threads.submit(connection.close)
        with pytest.raises(StoreUnavailable, match="got one that was closed"):
            while True:
                connection.read("exchange/any_node")
        closing.set()
        writing.result()
        ended.result()
    connection = open_connection(tmp_path / "a.kg", create=False)
    try:
        assert connection.read("store/documents") == [{"document": {"id": "last"}}]
    finally:
        connection.close()


def test_a_folder_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"k\xf6nig.kg")
    with pytest.raises(InputError, match=r"k\\udcf6nig\.kg: expected a folder whose whole path is text in utf-8"):
        open_store(folder)
    assert not folder.exists()
