"""A store's folder or address opened as a connection."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kgrag.errors import InputError, StoreLocked, StoreReadOnly
from kgrag.store.connection import Connection
from kgrag.store.driver_errors import driver_errors
from kgrag.store.embedded import DATABASE, EmbeddedServer
from kgrag.store.jvm import expects_short_life
from kgrag.store.snapshot import copy_for_reading

if TYPE_CHECKING:
    import neo4j

__all__ = ["import_driver", "is_address", "open_connection"]

SCHEMES = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")
CONNECT_TIMEOUT_S = 15.0
RETRY_S = 1.0
"""How long the driver tries a transaction again by itself, silently: whoever has a retry policy says that it waits."""


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
    if is_address(target):
        return _open_address(str(target))
    server, remark = _open_folder(Path(target), create=create, reads_only=reads_only)
    try:
        import_driver()
        return Connection(server.driver, DATABASE, open_driver=server.open_driver, server=server, remark=remark)
    except BaseException:
        server.close()
        raise


def _open_address(address: str) -> Connection:
    import_driver()
    import neo4j

    _check_address(address)
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

    with driver_errors(address):
        driver = open_driver()
        try:
            with driver.session(database=database) as session:
                session.run("RETURN 1").consume()
        except BaseException:
            driver.close()
            raise
    return Connection(driver, database, open_driver=open_driver)


def _check_address(address: str) -> None:
    """Raise `InputError` for an address of another kind, with a login, or that is none."""
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


def _open_folder(folder: Path, *, create: bool, reads_only: bool) -> tuple[EmbeddedServer, str]:
    """Start the database of a folder, or of a copy of it where somebody else has it or it may not be written to; remark on that."""
    try:
        return EmbeddedServer(folder, create=create and not reads_only), ""
    except (StoreLocked, StoreReadOnly) as refused:
        if not reads_only:
            raise
        place, remark = copy_for_reading(folder.expanduser().resolve(), refused)
    return EmbeddedServer(place, create=False, temporary=True), remark
