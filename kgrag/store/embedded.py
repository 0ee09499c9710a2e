"""The embedded database: an ArcadeDB server inside this process that speaks Bolt on the loopback interface.

A store is a folder:

    lock          which process has it open (folder_lock.py)
    database/     ArcadeDB's files
    files.json    how long they are, while the store is closed (file_sizes.py)
    snapshot/     those of the last finished build, for readers while the store is taken (snapshot.py)
    log/          its warnings, and a crash report of the Java machine should there ever be one
    session/      made anew at each start: the login of this session only

The database listens on a free port of 127.0.0.1 with a random password. The HTTP server that ArcadeDB starts with it is stopped at once.
Several stores can be open in one process. After `kill -9` the next start recovers from the write-ahead log.
"""

from __future__ import annotations

import errno
import logging
import secrets
import shutil
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.errors import InputError, StoreReadOnly, StoreUnavailable
from kgrag.store.file_sizes import DATABASE_FOLDER, FILE_SIZES, check_file_sizes, note_file_sizes
from kgrag.store.folder_lock import LOCK_FILE, FolderLock
from kgrag.store.jvm import (
    call_at_exit,
    expect_own_jvm,
    java_class,
    jvm_is_of_another_process,
    leave_at_once,
    start_jvm,
)
from kgrag.store.snapshot import SNAPSHOT, keep_snapshot

if TYPE_CHECKING:
    import neo4j

__all__ = ["CLOSED", "DATABASE", "EmbeddedServer"]

DATABASE = "kgrag"
CLOSED = "Expected an open store, got one that was closed. Open it again."
LOG = "log"
LOG_FILE_BYTES = 1_000_000
LOG_FILES = 3
MESSAGE_BYTES = 512 * 2**20
PROBE_BYTES = 2**20
RETRY_S = 1.0
"""How long the driver tries a transaction again by itself; its own value is 30 s, which a thread would spend on a server that is closed."""
STATEMENTS_AT_ONCE = 64
"""Others wait. The database's own value is twice the processors."""
TAKES_NOTHING = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT})
"""What the system says of a folder that can be read and not written to."""

_log = logging.getLogger(__name__)
_open_servers: set[EmbeddedServer] = set()
"""Held here until each is closed: one that nobody refers to any more runs on, and would keep the Java machine from ending."""
_life = threading.RLock()


class EmbeddedServer:
    """A running embedded database. Close it, or it is closed when Python leaves."""

    username = "root"

    def __init__(self, folder: Path, *, create: bool = True, temporary: bool = False) -> None:
        """Start the database of `folder`, which goes when it is closed where it is `temporary`.

        Raises `InputError` where there is no store and `create` is false, or where the folder holds something else; `StoreLocked` where
        another process (or this one) has it open; `StoreReadOnly` where it may not be written to or its disk is full;
        `StoreUnavailable` where the database does not start, or a part of its files is gone.
        """
        expect_own_jvm()
        self._temporary = temporary
        self._finished = False
        self.folder = folder.expanduser().resolve()
        _check_name(self.folder)
        try:
            new = _check_folder(self.folder, create=create)
            self.folder.mkdir(parents=True, exist_ok=True)
            if new:
                self.folder.chmod(0o700)
            (self.folder / LOG).mkdir(exist_ok=True)
            self._lock = FolderLock(self.folder)
        except OSError as error:
            raise (StoreReadOnly if error.errno in TAKES_NOTHING else StoreUnavailable)(
                f"{self.folder}: the store cannot be opened for writing: {error.strerror}. Free space, change the permission, or choose "
                "another --store."
            ) from error
        self.password = secrets.token_urlsafe(24)
        self._limiting = threading.Lock()
        self._server: Any = None
        self._log: Any = None
        self._driver: neo4j.Driver | None = None
        self._drivers: weakref.WeakSet[neo4j.Driver] = weakref.WeakSet()
        """All that were opened: a connection that is left open keeps the Java machine from ending."""
        try:
            if not new and self._lock.found_closed:
                self._check_files()
            with _life:
                self._start()
        except BaseException:
            self.close()
            raise

    @property
    def driver(self) -> neo4j.Driver:
        """The connection to it. It is closed with the server."""
        if self._driver is None:
            self._driver = self.open_driver()
        return self._driver

    def open_driver(self) -> neo4j.Driver:
        """Open a connection of its own, closed with the server at the latest. Raises `StoreUnavailable` where the database was closed."""
        import neo4j

        if self._server is None:
            raise StoreUnavailable(CLOSED)
        driver = neo4j.GraphDatabase.driver(
            f"bolt://127.0.0.1:{self._port}",
            auth=(self.username, self.password),
            max_transaction_retry_time=RETRY_S,
        )
        self._drivers.add(driver)
        return driver

    def sql(self, statement: str) -> list[dict[str, Any]]:
        """Run a statement of ArcadeDB's SQL, which does what its Cypher cannot: vector and full-text indexes."""
        if self._server is None:
            raise StoreUnavailable(CLOSED)
        try:
            with self._database.command("sql", statement) as rows:
                return [{str(name): row.getProperty(name) for name in row.getPropertyNames()} for row in _each(rows)]
        except _java_exception() as error:
            raise StoreUnavailable(f"The embedded database refused {statement!r}: {error}") from error

    def operations(self, cypher: str) -> frozenset[str]:
        """Say what a Cypher statement does: READ, CREATE, UPDATE, DELETE, SCHEMA. Raises `InputError` where it cannot be parsed."""
        if self._server is None:
            raise StoreUnavailable(CLOSED)
        try:
            analysis = self._database.getQueryEngine("opencypher").analyze(cypher)
            return frozenset(str(operation) for operation in analysis.getOperationTypes())
        except _java_exception() as error:
            raise InputError(f"This Cypher cannot be parsed: {_innermost(error)}") from error

    @contextmanager
    def command_timeout(self, timeout_s: float) -> Iterator[None]:
        """Have the database end statements that begin within the block after so many seconds.

        Its Bolt does not know time-outs of transactions, only one for all commands, which it reads when a command begins.
        """
        configuration = self._database.getConfiguration()
        option = java_class("com.arcadedb.GlobalConfiguration").COMMAND_TIMEOUT
        with self._limiting:
            configuration.setValue(option, int(timeout_s * 1000))
            try:
                yield
            finally:
                configuration.setValue(option, 0)

    def close(self) -> None:
        """Stop the database and let others have the folder; a second call does nothing."""
        with _life:
            self._close_drivers()
            self._driver = None
            if self._server is not None:
                self._server.stop()
                self._server = None
                self._close_drivers()  # a thread that was at work may have opened another connection meanwhile
                if not self._temporary and note_file_sizes(self.folder):
                    self._lock.mark_closed()
            if self._log is not None:
                java_class("java.util.logging.Logger").getLogger("").removeHandler(self._log)
                self._log.close()
                self._log = None
            _open_servers.discard(self)
        shutil.rmtree(self.folder / "session", ignore_errors=True)
        try:
            if self._finished:
                self._finished = False
                keep_snapshot(self.folder)
        finally:
            self._lock.release()
            if self._temporary:
                shutil.rmtree(self.folder, ignore_errors=True)

    def _close_drivers(self) -> None:
        """Close all connections. One that a thread is writing to cannot be, and the machine would wait for it: it is not waited for."""
        for driver in list(self._drivers):
            try:
                driver.close()
            except Exception as error:  # noqa: BLE001  the driver promises nothing where it is used meanwhile
                _log.debug("a connection to %s was in use when it was closed: %r", self.folder, error)
                leave_at_once()

    def what_the_disk_says(self) -> str:
        """Say why the store's folder takes no more ("No space left on device"), empty where it does; the database does not tell."""
        probe = self.folder / "session" / "probe"
        try:
            probe.write_bytes(bytes(PROBE_BYTES))
        except OSError as error:
            return error.strerror or str(error)
        finally:
            with suppress(OSError):
                probe.unlink(missing_ok=True)
        return ""

    def _check_files(self) -> None:
        try:
            check_file_sizes(self.folder)
        except StoreUnavailable:
            self._lock.mark_closed()  # for whoever comes next, the note counts still
            raise

    def finished(self) -> None:
        """Have what is there now kept as the snapshot for readers, when the database is closed."""
        self._finished = True

    def _start(self) -> None:
        log = self.folder / LOG
        start_jvm(log)
        session = self.folder / "session"
        shutil.rmtree(session, ignore_errors=True)
        try:
            self._log = _log_to(log)
            session.mkdir(mode=0o700)
            every_database = java_class(
                "com.arcadedb.GlobalConfiguration"
            )  # a server's own is not asked for what is a database's
            every_database.OPENCYPHER_LOAD_CSV_ALLOW_FILE_URLS.setValue(False)
            every_database.OPENCYPHER_LOAD_CSV_ALLOW_REMOTE_URLS.setValue(False)
            # A statement that does not end when its time is over (`kgrag.store.overrun`) keeps a place until it does.
            every_database.QUERY_MAX_CONCURRENT.setValue(STATEMENTS_AT_ONCE)
            configuration = java_class("com.arcadedb.ContextConfiguration")()
            for name, value in self._configuration(session).items():
                configuration.setValue(f"arcadedb.{name}", value)
            self._server = java_class("com.arcadedb.server.ArcadeDBServer")(configuration)
            self._server.start()
            # It cannot be configured away, and nothing of ours needs it.
            self._server.getHttpServer().stopService()
            self._database = self._server.getOrCreateDatabase(DATABASE)
        except (_java_exception(), OSError) as error:
            if full := (error.strerror if isinstance(error, OSError) else self.what_the_disk_says()):
                raise StoreReadOnly(
                    f"The embedded database in {self.folder} did not start: {full}. Free space, or choose another --store."
                ) from error
            raise StoreUnavailable(
                f"The embedded database in {self.folder} did not start: {_innermost(error)}. See {log}."
            ) from error
        self._port = next(
            int(plugin.getPort()) for plugin in self._server.getPlugins() if "Bolt" in str(plugin.getName())
        )
        if not _open_servers:
            call_at_exit(_close_all)
        _open_servers.add(self)

    def _configuration(self, session: Path) -> dict[str, str | int | bool]:
        return {
            "server.mode": "development",  # production hides the reason of every error
            "server.rootPath": str(self.folder),
            "server.databaseDirectory": str(self.folder / DATABASE_FOLDER),
            "server.configDirectory": str(session),
            "server.backupDirectory": str(session / "backups"),
            "server.logsDirectory": str(self.folder / "log"),
            "server.rootPassword": self.password,
            # The password is random and lives as long as the server: stretching it only costs time at each login.
            "server.saltIterations": 1,
            "server.httpIncomingHost": "127.0.0.1",
            "server.httpIncomingPort": "0",
            "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "server.healthCheck.enabled": False,
            "serverMetrics": False,
            "bolt.host": "127.0.0.1",
            "bolt.port": 0,
            "bolt.defaultDatabase": DATABASE,
            # One huge passage must fit: a message is otherwise refused above 16 MB.
            "bolt.maxMessageSize": MESSAGE_BYTES,
            "bolt.packstream.maxValueLength": MESSAGE_BYTES,
            # Survives the death of the process; a power cut may lose the last second, and the build goes on from there.
            "txWalFlush": 0,
        }


def _check_name(folder: Path) -> None:
    """Raise `InputError` where the Java machine cannot be told of a folder: bytes in its name are no text in this locale."""
    try:
        str(folder).encode()
    except UnicodeEncodeError as error:
        shown = str(folder).encode("utf-8", "backslashreplace").decode()
        raise InputError(
            f"{shown}: expected a folder whose whole path is text in {sys.getfilesystemencoding()}, got other bytes. "
            "Rename it, or set a UTF-8 locale (LC_ALL=C.UTF-8)."
        ) from error


def _check_folder(folder: Path, *, create: bool) -> bool:
    """Refuse what is not a store before anything is written there; say whether it will be a new one."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected a store's folder, got a file. Choose another --store.")
    if (folder / DATABASE_FOLDER / DATABASE).is_dir():
        return False
    if not create:
        raise InputError(f"{folder}: there is no store here. Make one with kgrag build --store {folder} PATH...")
    foreign = (
        sorted(entry.name for entry in folder.iterdir() if entry.name not in _OUR_FILES) if folder.exists() else []
    )
    if foreign:
        raise InputError(
            f"{folder}: expected an empty folder or a store, found {foreign[0]!r} ({len(foreign)} entries). Choose another --store."
        )
    return True


_OUR_FILES = frozenset(
    {
        LOCK_FILE,
        FILE_SIZES,
        DATABASE_FOLDER,
        "log",
        "session",
        "backups",
        *(SNAPSHOT + ending for ending in ("", ".new", ".old")),
    }
)
"""A start that was interrupted leaves some of them and no database."""


def _log_to(folder: Path) -> Any:
    """Have the machine's warnings written to a file in `folder`, too; return what does it."""
    handler = java_class("java.util.logging.FileHandler")(
        str(folder / "arcadedb-%g.log"), LOG_FILE_BYTES, LOG_FILES, True
    )
    handler.setFormatter(java_class("java.util.logging.SimpleFormatter")())
    java_class("java.util.logging.Logger").getLogger("").addHandler(handler)
    return handler


def _each(rows: Any) -> Any:
    while rows.hasNext():
        yield rows.next()


def _java_exception() -> type[Exception]:
    return java_class("java.lang.Exception")  # type: ignore[no-any-return]


def _innermost(error: Any) -> str:
    """Return the message nearest to what started it all."""
    message = str(error)
    while error is not None:
        message = str(error.getMessage() or message)
        error = error.getCause()
    return message


def _close_all() -> None:
    """Close each, whatever becomes of the others; log what went wrong. A database that cannot be stopped does not keep the process.

    What a process was forked with is its parent's.
    """
    if jvm_is_of_another_process():
        return
    for server in list(_open_servers):
        try:
            server.close()
        except Exception as error:  # noqa: BLE001  of Java, too
            _log.error("%s", error)
    if _open_servers:
        leave_at_once()
