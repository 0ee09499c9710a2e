"""The way to the database: one class over Bolt, whichever of the two it leads to."""

from __future__ import annotations

import threading
from asyncio import CancelledError
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kgrag.common.retry import NO_RETRY, RetryPolicy
from kgrag.errors import InputError, KgragError, StoreError, StoreUnavailable
from kgrag.store.driver_errors import Away, Met, NotIndexed, driver_errors
from kgrag.store.embedded import EmbeddedServer
from kgrag.store.jvm import leave_at_once
from kgrag.store.overrun import Overrun, cut_overruns
from kgrag.store.rows import batches_by_size
from kgrag.store.statements import statement
from kgrag.store.uses import Uses

if TYPE_CHECKING:
    import neo4j

__all__ = ["Connection", "Transaction", "waiting"]

FETCH_ROWS = 1000
WRITERS = 4
"""Transactions that a server has at once of what does not hang together."""
FEWEST_ROWS = 32
"""Of one of them."""
DELETED_AT_ONCE = 5000
"""Nodes or relationships of one transaction."""
MEETING = RetryPolicy(attempts=8, first_pause_s=0.02, longest_pause_s=1.0)
"""For writers that wait for each other, one of which the database sends back: without a pause they would meet again."""
INDEX_WAIT_S = 60
"""How long who asks waits for an index that is filled."""
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

    def run_batched(
        self,
        name: str,
        *,
        graph: str | None = None,
        entity: str | None = None,
        relation: str | None = None,
        level: int | None = None,
        **batched: Sequence[Any],
    ) -> list[dict[str, Any]]:
        """Run a statement as `run` does, once for each message that its one parameter takes; return the rows of all. None for none."""
        ((parameter, values),) = batched.items()
        found: list[dict[str, Any]] = []
        for some in batches_by_size(values):
            one: dict[str, Any] = {parameter: some}
            found += self.run(name, graph=graph, entity=entity, relation=relation, level=level, **one)
        return found

    def run_list(self, name: str, **parameters: Any) -> list[Any]:
        """Run a statement as `run_batched` does that returns its rows as the list `rows` of one row.

        For each row the driver asks the socket twice, and while another thread extracts it waits for the interpreter each time.
        """
        return [row for one in self.run_batched(name, **parameters) for row in one["rows"]]


def _plain_rows(result: neo4j.Result) -> list[dict[str, Any]]:
    return list(map(_plain_row, result))


def _plain_row(record: neo4j.Record) -> dict[str, Any]:
    """Return a row of plain values; `record.data()` looks for nodes, relationships and paths in every one of them."""
    return dict(zip(record.keys(), tuple(record), strict=True))


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

    def read(self, name: str, *, label: str | None = None, **parameters: Any) -> list[dict[str, Any]]:
        """Run a statement by its name in a session that may only read; `label` goes into its text, and of `graph` the label as well."""
        return self.with_retry(lambda: [record.data() for record in self._records(name, label, parameters)])

    def read_plain(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Do the same for a statement that returns no nodes, relationships or paths: `read` looks for such in every value of every row."""
        text = statement(name, graph=parameters.get("graph"))
        try:
            return self._plain(text, parameters)
        except NotIndexed:
            # It may be under way, filled anew after a build (`Schema.warm_indexes`).
            self.read("schema/await_indexes_neo4j", timeout_s=INDEX_WAIT_S)
            return self._plain(text, parameters)

    def stream(self, name: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """Run a statement as `read` does; rows come as they are taken."""
        return map(_plain_row, self._records(name, None, parameters))

    def stream_values(self, name: str, **parameters: Any) -> Iterator[tuple[Any, ...]]:
        """Do the same with the values of each row alone, in the order in which the statement returns them."""
        return map(tuple, self._records(name, None, parameters))

    def _records(self, name: str, label: str | None, parameters: dict[str, Any]) -> Iterator[neo4j.Record]:
        text = statement(name, graph=parameters.get("graph"), label=label)
        with self._errors(), self._session(reads=True) as session:
            yield from session.run(text, parameters)

    def _plain(self, text: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        def rows() -> list[dict[str, Any]]:
            with self._errors(), self._session(reads=True) as session:
                return _plain_rows(session.run(text, parameters))

        return self.with_retry(rows)

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
        if not isinstance(error, Away):
            return None
        try:
            self._plain("RETURN 1 AS answers", {})
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

    def delete_in_parts(self, name: str, count: int, **parameters: Any) -> None:
        """Run a statement that deletes at most `limit` nodes or relationships until `count` are gone, each time in a transaction."""
        for _ in range(0, count, DELETED_AT_ONCE):
            self.write(lambda transaction: transaction.run(name, limit=DELETED_AT_ONCE, **parameters))

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
        return MEETING.call(lambda: self.with_retry(write), what="the database", again_on=Met)

    def run_alone(self, text: str, parameters: dict[str, Any] | None = None) -> None:
        """Run a statement that can be in no transaction with others: it changes the schema, or makes transactions of its own."""

        def run() -> None:
            with self._errors(), self._session(reads=False) as session:
                session.run(text, parameters or {}).consume()

        with self._writing:
            self._until_not_met(run)

    def close(self) -> None:
        """Let what other threads do with it come to its end, a while; then close it, and end the embedded server.

        In a process that was forked since it was opened nothing is closed: all of it is the parent's.
        """
        if self._uses.are_of_another_process:
            return
        self._uses.end(wait_s=LAST_USES_S)
        if self.server is not None:
            self.server.close()
        else:
            self._driver.close()

    def with_retry(self, work: Callable[[], T]) -> T:
        """Do `work`, again from its beginning while the server is away, as whoever is in `waiting` wants it; an embedded one cannot be."""
        return work() if self.server is not None else _RETRY.get().call(work, what="the database", again_on=Away)

    def _session(self, *, reads: bool, driver: neo4j.Driver | None = None) -> neo4j.Session:
        return (driver or self._driver).session(
            database=self._database, default_access_mode="READ" if reads else "WRITE", fetch_size=FETCH_ROWS
        )

    @contextmanager
    def _errors(self, *, refused: type[KgragError] = StoreError) -> Iterator[None]:
        """Turn the driver's errors into ours; where the disk takes no more, that is the error."""
        with self._uses.one():
            try:
                with driver_errors(refused=refused):
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
