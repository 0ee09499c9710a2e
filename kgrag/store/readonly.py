"""The user's own Cypher: run where it only reads, refused where it would write.

The judgement is the database's own: Neo4j's plan (`EXPLAIN`), ArcadeDB's parse. On Neo4j a session that may only read is a second net.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kgrag.errors import CypherWriteError
from kgrag.store.connection import Connection

__all__ = ["check_reads_only"]

FORBIDDEN_OPERATORS = frozenset({"LoadCSV", "TerminateTransactions"})
"""They are reading to Neo4j: files of the server, and other people's transactions."""

_LOADS_FILE = re.compile(r"\bLOAD\s+CSV\b", re.IGNORECASE)
"""The same for ArcadeDB, which parses it as reading (its server is configured to load nothing, too)."""
_ASKS_FOR_PLAN = re.compile(r"\A\s*(EXPLAIN|PROFILE)\b", re.IGNORECASE)
_QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:``|[^`])*`|//[^\n]*|/\*.*?\*/""", re.DOTALL)


def check_reads_only(connection: Connection, cypher: str, parameters: dict[str, Any]) -> None:
    """Raise `CypherWriteError` for Cypher that writes, changes the schema, administers the server or reads its files."""
    if connection.server is not None:
        operations = connection.server.operations(cypher)
        if operations != {"READ"}:
            raise _refusal(cypher, ", ".join(sorted(operations - {"READ"})) or "an unknown operation")
        if found := _LOADS_FILE.search(_QUOTED.sub(" ", cypher)):
            raise _refusal(cypher, found[0])
        return
    summary = connection.explain(_ASKS_FOR_PLAN.sub("", cypher), parameters)
    if summary.query_type != "r":
        raise _refusal(
            cypher,
            {"rw": "reading and writing", "w": "writing", "s": "changing the schema or the server"}.get(
                str(summary.query_type), "writing"
            ),
        )
    if forbidden := FORBIDDEN_OPERATORS.intersection(_operators(summary.plan)):
        raise _refusal(cypher, ", ".join(sorted(forbidden)))


def _operators(plan: Mapping[str, Any] | None) -> Iterator[str]:
    if plan:
        yield plan["operatorType"].partition("@")[0]
        for child in plan.get("children", ()):
            yield from _operators(child)


def _refusal(cypher: str, what: str) -> CypherWriteError:
    shown = " ".join(cypher.split())
    return CypherWriteError(
        f"Expected Cypher that only reads; its plan says {what}: {shown[:200]}. To change a store, use kgrag build and kgrag delete."
    )
