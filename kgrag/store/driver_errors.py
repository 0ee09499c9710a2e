"""The driver's errors as ours: what they say of the server, and whether waiting or another try may help."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from kgrag.errors import KgragError, StoreError, StoreUnavailable

__all__ = ["Away", "Met", "NotIndexed", "driver_errors"]

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


class Away(StoreUnavailable):
    """The database was there and is not: waiting may help, as it does not against a wrong password."""


class Met(StoreError):
    """A transaction was taken back, as it and another one waited for each other, or made the same thing: done again it finds that made."""


class NotIndexed(StoreError):
    """An index was asked that is not there, or not yet: Neo4j says the same of one that it is filling."""


@contextmanager
def driver_errors(address: str = "the database", *, refused: type[KgragError] = StoreError) -> Iterator[None]:
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
        raise Away(f"{address} cannot be reached: {error}. Is the host's name right?") from error
    except exceptions.ConfigurationError as error:
        raise StoreUnavailable(f"{address} cannot be reached: {error}.") from error
    except (exceptions.Neo4jError, exceptions.DriverError) as error:
        code = str(getattr(error, "code", None) or "")
        if code == NO_DATABASE:
            raise StoreUnavailable(
                f"{address} has no such database: {error.message}. NEO4J_DATABASE names it (default: neo4j)."
            ) from error
        if code.startswith(TIMED_OUT):
            raise refused(f"The database ended a statement that took too long: {error}") from error
        if code == DEADLOCKED:
            raise Met(f"The database took a transaction back: {error.message or error}") from error
        if code == NO_INDEX[0] and NO_INDEX[1] in str(error):
            raise NotIndexed(f"The database refused a statement: {error.message or error}") from error
        if code in MADE_TWICE:
            raise Met(
                f"The store was written to by somebody else at the same time ({error.message}). "
                "When that has ended, the same command goes on from what was done."
            ) from error
        if error.is_retryable() or code in SHUTTING_DOWN:
            why = " ".join(str(error).split())  # a driver's message may have lines
            raise Away(f"{address} cannot be reached: {why}. Is it running? kgrag db up starts a Neo4j.") from error
        if isinstance(error, exceptions.ClientError):
            raise refused(f"The database refused a statement: {error.message or error}") from error
        raise StoreError(f"The database failed: {error}") from error
