"""The way to the database: one class over Bolt, whichever of the two it leads to."""

from __future__ import annotations

import logging
import os
import sys
import threading
from asyncio import CancelledError
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from kgrag.common.retry import NO_RETRY, RetryPolicy
from kgrag.errors import InputError, KgragError, StoreError, StoreLocked, StoreReadOnly, StoreUnavailable
from kgrag.store.embedded import DATABASE, EmbeddedServer
from kgrag.store.jvm import expects_short_life, leave_at_once
from kgrag.store.overrun import Overrun, cut_overruns
from kgrag.store.snapshot import copy_for_reading
from kgrag.store.statements import statement
from kgrag.store.uses import Uses

if TYPE_CHECKING:
    import neo4j

__all__ = ["Connection", "Transaction", "import_driver", "is_address", "open_connection", "waiting"]

SCHEMES = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")
CONNECT_TIMEOUT_S = 15.0
RETRY_S = 1.0
"""How long the driver tries a transaction again by itself, silently: whoever has a retry policy says that it waits."""
FETCH_ROWS = 1000
WRITERS = 4
"""Transactions that a server has at once of what does not hang together."""
FEWEST_ROWS = 32
"""Of one of them."""
DEADLOCK_TRIES = 8
INDEX_WAIT_S = 60
"""How long who asks waits for an index that is filled."""
NO_INDEX = ("Neo.ClientError.Procedure.ProcedureCallFailed", "no such vector schema index")
"""Code of what a question to an index is told that is not there, and words of its message."""
DEADLOCKED = "Neo.TransientError.Transaction.DeadlockDetected"
"""What one of two transactions is told that wait for each other: it was taken back, and can be tried again."""
SHUTTING_DOWN = frozenset({"Neo.ClientError.Transaction.Terminated", "Neo.TransientError.Transaction.Terminated"})
"""What a statement under way is told when the server goes; the driver does not count it as worth another try."""
UNKNOWN_HOST = "Cannot resolve address"
"""What the driver says, as a `ValueError`, of a host that has no address: a wrong name, or one that cannot be looked up now."""
NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"
MADE_TWICE = frozenset(
    f"Neo.ClientError.Schema.{what}"
    for what in (
        "ConstraintValidationFailed",
        "EquivalentSchemaRuleAlreadyExists",
        "IndexAlreadyExists",
        "IndexWithNameAlreadyExists",
        "ConstraintAlreadyExists",
        "ConstraintWithNameAlreadyExists",
    )
)
"""What the second of two builds on a server is told that make the same chunk, or the same index, at once."""
TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"
"""The beginning of what a statement is told that took longer than its time-out."""
OUT_OF_MEMORY = "OutOfMemory"
"""In the codes of what a statement is told that wants more than a server gives it; the driver takes it for worth another try."""
BROKEN_OFF = "defunct connection"
"""In what the driver says of a connection that ended while it was waited for an answer."""
WENT_AWAY = (
    "The database went away while it carried out a statement: one that wants more memory than it has can end it. "
    "A Neo4j of kgrag db up, or with Docker, starts again by itself within a minute; "
    "kgrag db status says whether it runs, kgrag db up starts it. "
    "Ask for less at once (LIMIT, shorter ranges), or give it more memory: kgrag db up --heap-mb."
)
OVERRUN_S = 5.0
"""After which the connection of a statement that its database does not end in time is cut."""
PLAN_TIMEOUT_S = 30.0
"""Of the plan of a user's statement."""
LAST_USES_S = 2.0
"""That who closes a connection waits for the transactions of other threads: within what a process has after SIGTERM."""

T = TypeVar("T")
R = TypeVar("R")


_RETRY: ContextVar[RetryPolicy] = ContextVar("retry", default=NO_RETRY)
"""What is done about a server that is away: by the job that says so, in its tasks and threads, not by who asks beside it."""


@contextmanager
def waiting(retry: RetryPolicy) -> Iterator[None]:
    """Within the block, wait for a server that is away as `retry` says."""
    before = _RETRY.set(retry)
    try:
        yield
    finally:
        _RETRY.reset(before)


class _Away(StoreUnavailable):
    """The database was there and is not: waiting may help, as it does not against a wrong password."""


class _Met(StoreError):
    """A transaction was taken back, as it and another one waited for each other, or made the same thing: done again it finds that made."""


class _NotIndexed(StoreError):
    """An index was asked that is not there, or not yet: Neo4j says the same of one that it is filling."""


class Transaction:
    """Runs statements inside one transaction."""

    def __init__(self, transaction: neo4j.ManagedTransaction) -> None:
        self._transaction = transaction

    def run(
        self,
        name: str,
        *,
        graph: str | None = None,
        entity: str | None = None,
        relation: str | None = None,
        level: int | None = None,
        index: str | None = None,
        label: str | None = None,
        **parameters: Any,
    ) -> list[dict[str, Any]]:
        """Run a statement by name that returns no nodes, relationships or paths; identifiers go into its text, all else are parameters."""
        text = statement(name, graph=graph, entity=entity, relation=relation, level=level, index=index, label=label)
        return _plain_rows(self._transaction.run(text, parameters))

    def run_list(self, name: str, **parameters: Any) -> list[Any]:
        """Run a statement that returns its rows as the list `rows` of one row; parameters as of `run`.

        For each row the driver asks the socket twice, and while another thread extracts it waits for the interpreter each time.
        """
        rows: list[Any] = self.run(name, **parameters)[0]["rows"]
        return rows


def _plain_rows(result: neo4j.Result) -> list[dict[str, Any]]:
    """Take the rows of a result without looking for nodes, relationships and paths in every value of them."""
    names = result.keys()
    return [dict(zip(names, tuple(record), strict=True)) for record in result]


class Connection:
    """An open database. One thread writes at a time: writers that meet make each other start again.

    That thread may have several transactions at once, which `write_apart` runs.
    """

    def __init__(
        self,
        driver: neo4j.Driver,
        database: str,
        *,
        open_driver: Callable[[], neo4j.Driver],
        server: EmbeddedServer | None = None,
        remark: str = "",
    ) -> None:
        self.remark = remark
        """What a reader should know about where it reads; empty where that is the store itself."""
        self._driver = driver
        self._open_driver = open_driver
        """Opens another one to the same database: its connections can be cut without those of others."""
        self._database = database
        self._writing = threading.RLock()
        self._uses = Uses()
        self.server = server
        """The embedded server where there is one: it has a second language for what its Cypher cannot do."""

    def read(self, text: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        """Run a statement's text in a session that may only read."""
        return self.with_retry(lambda: list(self.stream(text, parameters)))

    def read_plain(self, text: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        """Do the same for a statement that returns no nodes, relationships or paths: `read` looks for such in every value of every row."""

        def rows() -> list[dict[str, Any]]:
            with self._errors(), self._session(reads=True) as session:
                return _plain_rows(session.run(text, parameters))

        try:
            return self.with_retry(rows)
        except _NotIndexed:
            # It may be under way, filled anew after a build (`Schema.warm_indexes`).
            self.read(statement("schema/await_indexes_neo4j"), {"timeout_s": INDEX_WAIT_S})
            return self.with_retry(rows)

    def stream(self, text: str, parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Run a statement's text in a session that may only read; rows come as they are taken."""
        with self._errors(), self._session(reads=True) as session:
            for record in session.run(text, parameters):
                yield record.data()

    def stream_values(self, text: str, parameters: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Do the same with the plain values of each row, in the order in which the statement returns them.

        For vectors: `stream` has the driver look at every number in them again, which takes more than half of the time.
        """
        with self._errors(), self._session(reads=True) as session:
            for record in session.run(text, parameters):
                yield tuple(record)

    def explain(self, text: str, parameters: dict[str, Any]) -> neo4j.ResultSummary:
        """Have a user's statement planned without running it. Raises `InputError` where it is wrong."""
        import neo4j

        late = f"The database did not plan the statement within {PLAN_TIMEOUT_S:g} s, so its connection was cut."
        with self._cut_session(PLAN_TIMEOUT_S, late=late) as (session, overrun):
            query = neo4j.Query(f"EXPLAIN {text}", timeout=PLAN_TIMEOUT_S)
            return overrun.wait(lambda: session.run(query, parameters).consume())

    def ask(self, text: str, parameters: dict[str, Any], *, timeout_s: float) -> Generator[dict[str, Any], None, None]:
        """Run a user's statement in a session that may only read; rows come as they are taken.

        The database ends it after `timeout_s`, and when whoever takes the rows stops doing so; where it does not, the connection is cut.
        Raises `InputError` where the statement is wrong, took too long or wants more than the database has, and other errors where the
        database is what fails.
        """
        import neo4j

        late = (
            f"The statement took longer than {timeout_s:g} s. The database did not end it, so its connection was cut."
        )
        with self._cut_session(timeout_s, late=late) as (session, overrun):
            try:
                with self.server.command_timeout(timeout_s) if self.server is not None else nullcontext():
                    query = neo4j.Query(text, timeout=timeout_s)
                    result = overrun.wait(lambda: session.run(query, parameters))
                for record in overrun.each(result):
                    yield record.data()
            except (KeyboardInterrupt, GeneratorExit):
                # `close` would wait for the statement's end; after a cancellation the connection is cut, whereupon the server ends it.
                session.__exit__(CancelledError, None, None)  # type: ignore[no-untyped-call]
                raise

    @contextmanager
    def _cut_session(self, timeout_s: float, *, late: str) -> Iterator[tuple[neo4j.Session, Overrun]]:
        """Open a session for a user's statement on a connection of its own, which is cut where the database does not end it in time.

        Raises `InputError`, with `late` where it was cut, and other errors where the database is what fails.
        """
        driver = self._open_driver()
        with closing(driver), cut_overruns(timeout_s + OVERRUN_S, driver.close) as overrun:
            try:
                with self._errors(refused=InputError), self._session(reads=True, driver=driver) as session:
                    yield session, overrun
            except StoreError as error:
                if overrun.cut:
                    if self.server is not None:
                        leave_at_once()  # the Java machine goes on with it, and would end no sooner
                    raise InputError(late) from error
                if (fault := self._fault_of_statement(error)) is None:
                    raise
                raise fault from error

    def _fault_of_statement(self, error: StoreError) -> InputError | None:
        """Say what is wrong with a statement with which the database failed; None where it is the database itself.

        Raises `StoreUnavailable` where the statement's connection broke and the database is gone since.
        """
        from neo4j import exceptions

        cause = error.__cause__
        told = isinstance(cause, exceptions.Neo4jError)
        if isinstance(cause, exceptions.DatabaseError) or (told and OUT_OF_MEMORY in str(getattr(cause, "code", ""))):
            return InputError(f"The database did not carry the statement out: {getattr(cause, 'message', '') or cause}")
        if not isinstance(error, _Away):
            return None
        try:
            self.read_plain("RETURN 1 AS answers", {})
        except StoreError as away:
            if BROKEN_OFF not in str(cause):
                return None
            raise StoreUnavailable(WENT_AWAY) from away
        why = " ".join(str(getattr(cause, "message", "") if told else "").split())
        return InputError(
            "The database broke the statement off, and answers others: "
            + (why or "it wants more memory, or is nested deeper, than the database takes.")
        )

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in one transaction, again where the database asks for it: it must not keep anything of a run that failed."""

        with self._writing:
            return self._write(work)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other thread write within the block."""
        with self._writing:
            yield

    def write_apart(self, rows: Sequence[R], work: Callable[[Transaction, Sequence[R]], None]) -> None:
        """Run `work` over parts of `rows`, each in a transaction of its own; on a server up to four of them are under way at once.

        For rows none of which says anything of what another one writes: where it ends in the middle some of them are written. A part that
        waits for another one that waits for it is tried again. The embedded database, which writes in one thread, gets one part.
        """
        size = max(FEWEST_ROWS, -(-len(rows) // WRITERS)) if self.server is None else max(1, len(rows))
        self.write_parts([rows[start : start + size] for start in range(0, len(rows), size)], work)

    def write_parts(self, parts: Sequence[Sequence[R]], work: Callable[[Transaction, Sequence[R]], None]) -> None:
        """Do the same with parts that are given; up to four are under way at once."""
        with self._writing:
            if len(parts) == 1:
                self._write(lambda transaction: work(transaction, parts[0]))
                return
            with ThreadPoolExecutor(WRITERS, "kgrag-write") as threads:
                under_way = [
                    threads.submit(copy_context().run, self._write, partial(_on_part, work, part)) for part in parts
                ]
            for one in under_way:
                one.result()

    def _write(self, work: Callable[[Transaction], T]) -> T:
        def write() -> T:
            with self._errors(), self._session(reads=False) as session:
                return session.execute_write(lambda transaction: work(Transaction(transaction)))

        return self._until_not_met(write)

    def _until_not_met(self, write: Callable[[], T]) -> T:
        """Do `write`, again where it met another one: this process's or another build's."""
        for _ in range(DEADLOCK_TRIES - 1):
            with suppress(_Met):
                return self.with_retry(write)
        return self.with_retry(write)

    def run_alone(self, text: str, parameters: dict[str, Any] | None = None) -> None:
        """Run a statement that can be in no transaction with others: it changes the schema, or makes transactions of its own."""

        def run() -> None:
            with self._errors(), self._session(reads=False) as session:
                session.run(text, parameters or {}).consume()

        with self._writing:
            self._until_not_met(run)

    def close(self) -> None:
        """Let what other threads do with it come to its end, a while; then close it, and end the embedded server."""
        self._uses.end(wait_s=LAST_USES_S)
        if self.server is not None:
            self.server.close()
        else:
            self._driver.close()

    def with_retry(self, work: Callable[[], T]) -> T:
        """Do `work`, again from its beginning while the server is away, as whoever is in `waiting` wants it; an embedded one cannot be."""
        return work() if self.server is not None else _RETRY.get().call(work, what="the database", again_on=_Away)

    def _session(self, *, reads: bool, driver: neo4j.Driver | None = None) -> neo4j.Session:
        return (driver or self._driver).session(
            database=self._database, default_access_mode="READ" if reads else "WRITE", fetch_size=FETCH_ROWS
        )

    @contextmanager
    def _errors(self, *, refused: type[KgragError] = StoreError) -> Iterator[None]:
        """Turn the driver's errors into ours; where the disk takes no more, that is the error."""
        with self._uses.one():
            try:
                with _errors(refused=refused):
                    yield
            except InputError:
                raise
            except StoreError as error:
                if self.server is not None and (why := self.server.what_the_disk_says()):
                    raise StoreUnavailable(
                        f"{self.server.folder}: the store cannot be written to: {why}. Free space, or choose another --store; what was "
                        "done before is kept."
                    ) from error
                raise


def _on_part(work: Callable[[Transaction, Sequence[R]], None], part: Sequence[R], transaction: Transaction) -> None:
    work(transaction, part)


def import_driver() -> None:
    """Import the driver, in a process that ends soon without pandas, which it imports wherever that is installed: half a second.

    It then does not take what pandas makes for parameters; a command of ours has none.
    """
    if not expects_short_life() or "pandas" in sys.modules:
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        import neo4j  # noqa: F401
    finally:
        del sys.modules["pandas"]


def is_address(target: str | Path) -> bool:
    """Say whether a store is a server's address, not a folder."""
    return isinstance(target, str) and "://" in target


def open_connection(target: str | Path, *, create: bool, reads_only: bool = False) -> Connection:
    """Open a folder (embedded database) or a `neo4j://` or `bolt://` address. Who `reads_only` gets a copy of a folder that is taken.

    The login of an address comes from `NEO4J_USERNAME` (neo4j), `NEO4J_PASSWORD` and `NEO4J_DATABASE` (neo4j). Raises `InputError` for
    what is neither, `StoreUnavailable`, `StoreLocked`.
    """
    if isinstance(target, str) and not target.strip():
        raise InputError("--store: expected a folder or an address, got an empty text: a variable that is not set?")
    # One line for each unknown label or property is not a warning for whoever asks an empty store.
    logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)
    # Where nobody listens to the driver, each of its own tries would be a line on stderr: what failed in the end is an error of ours.
    if not (driver_log := logging.getLogger("neo4j")).handlers:
        driver_log.addHandler(logging.NullHandler())
    if not is_address(target):
        server, remark = _open_folder(Path(target), create=create, reads_only=reads_only)
        try:
            import_driver()
            return Connection(server.driver, DATABASE, open_driver=server.open_driver, server=server, remark=remark)
        except BaseException:
            server.close()
            raise
    import_driver()
    import neo4j

    address = str(target)
    if not address.startswith(SCHEMES):
        raise InputError(
            f"--store: expected a folder or an address that begins with {', '.join(SCHEMES)}; got {address!r}."
        )
    scheme, _, rest = address.partition("://")
    if "@" in rest:  # it would be in messages, too
        host = rest.rpartition("@")[2].partition("/")[0]
        raise InputError(
            f"--store: expected an address without a login, such as {scheme}://{host}, got one with it. "
            "Set NEO4J_USERNAME and NEO4J_PASSWORD."
        )
    try:
        urlsplit(address)
    except ValueError as error:
        raise InputError(
            f"--store: expected an address such as {scheme}://host:7687, got {address!r}: {error}."
        ) from error
    database = os.environ.get("NEO4J_DATABASE", "neo4j")
    if database.casefold() == "system":
        raise InputError(
            "NEO4J_DATABASE: expected a database for a graph (default: neo4j); system is the server's own."
        )
    login = (os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))

    def open_driver() -> neo4j.Driver:
        return neo4j.GraphDatabase.driver(
            address,
            auth=login if login[1] else None,
            connection_timeout=CONNECT_TIMEOUT_S,
            connection_acquisition_timeout=2 * CONNECT_TIMEOUT_S,
            max_transaction_retry_time=RETRY_S,
        )

    with _errors(address):
        driver = open_driver()
        try:
            with driver.session(database=database) as session:
                session.run("RETURN 1").consume()
        except BaseException:
            driver.close()
            raise
    return Connection(driver, database, open_driver=open_driver)


def _open_folder(folder: Path, *, create: bool, reads_only: bool) -> tuple[EmbeddedServer, str]:
    """Start the database of a folder, or of a copy of it where somebody else has it or it may not be written to; remark on that."""
    try:
        return EmbeddedServer(folder, create=create and not reads_only), ""
    except (StoreLocked, StoreReadOnly) as refused:
        if not reads_only:
            raise
        place, remark = copy_for_reading(folder.expanduser().resolve(), refused)
    return EmbeddedServer(place, create=False, temporary=True), remark


@contextmanager
def _errors(address: str = "the database", *, refused: type[KgragError] = StoreError) -> Iterator[None]:
    """Turn the driver's errors into ours; `refused` is what a statement that the database does not take is."""
    from neo4j import exceptions

    try:
        yield
    except KgragError:
        raise
    except exceptions.AuthError as error:
        password = "set" if os.environ.get("NEO4J_PASSWORD") else "not set"
        raise StoreUnavailable(
            f"{address} refused the login; NEO4J_PASSWORD is {password}. Set NEO4J_USERNAME and NEO4J_PASSWORD. {error.message}"
        ) from error
    except ValueError as error:
        if not str(error).startswith(UNKNOWN_HOST):
            raise
        raise _Away(f"{address} cannot be reached: {error}. Is the host's name right?") from error
    except exceptions.ConfigurationError as error:
        raise StoreUnavailable(f"{address} cannot be reached: {error}.") from error
    except (exceptions.Neo4jError, exceptions.DriverError) as error:
        if getattr(error, "code", None) == NO_DATABASE:
            raise StoreUnavailable(
                f"{address} has no such database: {error.message}. NEO4J_DATABASE names it (default: neo4j)."
            ) from error
        if str(getattr(error, "code", "")).startswith(TIMED_OUT):
            raise refused(f"The database ended a statement that took too long: {error}") from error
        if getattr(error, "code", None) == DEADLOCKED:
            raise _Met(f"The database took a transaction back: {error.message or error}") from error
        if getattr(error, "code", None) == NO_INDEX[0] and NO_INDEX[1] in str(error):
            raise _NotIndexed(f"The database refused a statement: {error.message or error}") from error
        if getattr(error, "code", None) in MADE_TWICE:
            raise _Met(
                f"The store was written to by somebody else at the same time ({error.message}). "
                "When that has ended, the same command goes on from what was done."
            ) from error
        if error.is_retryable() or getattr(error, "code", None) in SHUTTING_DOWN:
            why = " ".join(str(error).split())  # a driver's message may have lines
            raise _Away(f"{address} cannot be reached: {why}. Is it running? kgrag db up starts a Neo4j.") from error
        if isinstance(error, exceptions.ClientError):
            raise refused(f"The database refused a statement: {error.message or error}") from error
        raise StoreError(f"The database failed: {error}") from error
