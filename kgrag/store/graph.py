"""`GraphStore`: all that kgrag asks of its database, on the embedded database and on Neo4j alike."""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kgrag.common.progress import Progress, Silent
from kgrag.common.retry import RetryPolicy
from kgrag.errors import InputError
from kgrag.store.communities import PARTITION, Communities
from kgrag.store.connection import Connection, waiting
from kgrag.store.digest import digest
from kgrag.store.documents import Documents
from kgrag.store.embedded import DATABASE
from kgrag.store.exchange.export import Exported, export_store
from kgrag.store.exchange.load import Imported, import_store
from kgrag.store.extractions import count_titles
from kgrag.store.graphs import Graphs
from kgrag.store.kept import KeptUntilBuilt
from kgrag.store.ledger import Ledger
from kgrag.store.opening import is_address, open_connection
from kgrag.store.predictions import Predictions
from kgrag.store.readonly import check_reads_only, expect_parameters
from kgrag.store.schema import SCHEMA_VERSION, Schema
from kgrag.store.search import Search
from kgrag.store.vectors import WaitingForVectors
from kgrag.store.writing_apart import take_back_unfinished

__all__ = ["QUERY_TIMEOUT_S", "GraphStore", "open_store", "store_exists"]

QUERY_TIMEOUT_S = 30.0
"""Of the user's own Cypher."""


def open_store(target: str | Path, *, create: bool = True, reads_only: bool = False) -> GraphStore:
    """Open a folder (embedded database, made if `create`) or a `neo4j://` or `bolt://` address.

    Who `reads_only` is not refused where another process has the folder open, or where it may not be written to: what is read is a copy of
    the last finished build (`GraphStore.remark` says so).
    The login of an address comes from `NEO4J_USERNAME`, `NEO4J_PASSWORD` and `NEO4J_DATABASE`. Raises `InputError` where there is no
    store and `create` is false, `StoreLocked` where another process has the folder open, `StoreUnavailable` where the database cannot be
    reached or started, `StoreMismatch` where the store has another schema version.
    """
    connection = open_connection(target, create=create, reads_only=reads_only)
    try:
        return GraphStore(connection, reads_only=reads_only)
    except BaseException:
        connection.close()
        raise


def store_exists(target: str | Path) -> bool:
    """Say whether there is something to open: a folder with a store in it; of a server's address it is assumed."""
    # Not `is_dir`, which raises for a name that is too long.
    return is_address(target) or os.path.isdir(Path(target).expanduser() / "database" / DATABASE)  # noqa: PTH112


class GraphStore:
    """An open store. Safe to use from several threads; writes take turns. Close it, or use it as a context manager."""

    def __init__(self, connection: Connection, *, reads_only: bool = False) -> None:
        self._connection = connection
        self.reads_only = reads_only
        """Whether jobs that would change it are to be refused: it was opened so, or is limited to some documents."""
        self.remark = connection.remark
        """What a reader should know: that a copy is read. Empty where it is the store itself."""
        self._schema = schema = Schema(connection)
        self._waiting = waiting = WaitingForVectors(schema)
        self.ledger = Ledger(connection, schema)
        """What was done about which document or chunk."""
        self.documents = Documents(connection, schema, waiting)
        """Documents and chunks."""
        self.communities = Communities(connection, schema)
        """Communities of graphs, and what each is about."""
        self.graphs = Graphs(connection, schema, waiting, self.ledger, self.communities)
        """Entities and relations, by graph."""
        self.predictions = Predictions(connection, schema)
        """Edges that were predicted, beside what was extracted."""
        self.search = Search(connection)
        """What retrieval asks for."""
        self.kept = KeptUntilBuilt(self.search.ledger_state)
        """What retrieval makes from all there is, until something is built."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; a second call does nothing."""
        self._connection.close()

    def limited_to(self, documents: Collection[str]) -> GraphStore:
        """Return the same store as whoever may read some documents (ids) alone: `documents` and `search` give nothing of others.

        It is closed with this one. Documents that come later are hidden; what was replaced or deleted is gone. Statuses, counts of graphs,
        digests and users' own Cypher are of the whole store.
        """
        ids = sorted(documents)
        limited = copy(self)
        limited.reads_only = True
        limited.documents = Documents(self._connection, self._schema, self._waiting, readable=frozenset(ids))
        limited.search = Search(self._connection, readable=self.search.readable(documents=ids))
        limited.kept = KeptUntilBuilt(limited.search.ledger_state)
        return limited

    @contextmanager
    def waiting(self, retry: RetryPolicy) -> Iterator[None]:
        """Wait for a database server that goes away, as `retry` says, in every read and write within the block, not in others beside it."""
        with waiting(retry):
            yield

    def bind(self, embedder: str, dimensions: int) -> None:
        """Remember which embedder the store is built with, and make its schema. Raises `StoreMismatch` where it was another one.

        What a writer of several transactions began and did not end is taken back, and what an older kgrag did not count is counted.
        """
        self._schema.bind(embedder, dimensions)
        take_back_unfinished(self._connection, self._schema)
        count_titles(self._connection)

    def check(self, embedder: str, dimensions: int) -> None:
        """Raise `StoreMismatch` where the store was built with another embedder, or nothing was built."""
        self._schema.check(embedder, dimensions)

    def query(self, cypher: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run the user's own Cypher. Raises `CypherWriteError` where it would write, `InputError` where it is wrong or took too long."""
        return list(self.stream_query(cypher, parameters))

    def stream_query(
        self, cypher: str, parameters: dict[str, Any] | None = None, *, timeout_s: float = QUERY_TIMEOUT_S
    ) -> Generator[dict[str, Any], None, None]:
        """Run the user's own Cypher, as `query` does; rows come as they are taken, and whoever stops taking them ends it."""
        expect_parameters(parameters or {})
        check_reads_only(self._connection, cypher, parameters or {})
        yield from self._connection.ask(cypher, parameters or {}, timeout_s=timeout_s)

    def finish(self) -> None:
        """Wait until the indexes are ready and built: the first question afterwards is as fast as any other.

        What an embedded store holds when it is closed is kept as the snapshot for readers.
        """
        if self._connection.server is not None:
            self._connection.server.finished()
        if self._schema.meta is not None:
            self._schema.warm_indexes(graphs=sorted(self.graphs.counts()), levels=self.communities.levels())

    def status(self) -> dict[str, Any]:
        """Return what the store holds: the object of `kgrag status --json`."""
        meta = self._schema.meta
        ledger, cost = self.ledger.counts()
        return {
            "schema_version": meta.schema_version if meta else SCHEMA_VERSION,
            "embedder": meta.embedder if meta else None,
            "dimensions": meta.dimensions if meta else None,
            "graphs": self.graphs.counts(),
            "documents": len(self.documents.all()),
            "chunks": self.documents.count_chunks(),
            "ledger": ledger,
            "communities": self._community_states(),
            "cost": cost,
        }

    def digest(self) -> str:
        """Return one SHA-256 over the content; see `kgrag.store.digest`."""
        if self._schema.meta is None:
            raise InputError("Nothing was built in this store yet, so there is nothing to take a digest of.")
        return digest(self._connection)

    def export_to(self, folder: Path, *, progress: Progress | None = None) -> Exported:
        """Write all that is in the store to a folder of CSV files; see `kgrag.store.exchange`."""
        return export_store(self._connection, self._schema.bound(), folder, progress=progress or Silent())

    def import_from(self, folder: Path, *, progress: Progress | None = None) -> Imported:
        """Make this store, which is empty, hold what was exported to a folder; go on with an import that was interrupted."""
        progress = progress or Silent()
        imported = import_store(self._connection, self._schema, folder, progress=progress)
        with progress.step("Build indexes", None, ""):
            self.finish()
        return imported

    def _community_states(self) -> dict[str, str]:
        """Say of each graph with communities whether they are of what the graph says now.

        `current`; `stale`: something was extracted, deleted or merged since; `unfinished`: a run was interrupted, or left a community
        without a label.
        """
        states = {}
        for row in self._schema.read("communities/count"):
            graph = str(row["graph"])
            record = self.ledger.of_subjects(PARTITION, [graph], scope=graph).get(graph)
            if record is None or row["labelled"] < row["communities"]:
                states[graph] = "unfinished"
            else:
                states[graph] = "current" if record.result == self.graphs.state(graph) else "stale"
        return dict(sorted(states.items()))
