"""The user's own Cypher: run where it only reads the graph, refused where it would write or reach beyond the database.

Whether it writes is the database's own judgement: Neo4j's plan (`EXPLAIN`), ArcadeDB's parse; a session that may only read is a second
net. Both take procedures for reading that fetch a URL or write a file (`apoc.load.json`, `apoc.export.csv.all`): only those listed here are
let through, and only functions that are Cypher's own.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from kgrag.errors import CypherWriteError, InputError
from kgrag.store.connection import Connection
from kgrag.text.surrogates import without_surrogates

__all__ = ["called_names", "check_reads_only", "expect_parameters"]

PROCEDURES = frozenset(
    {f"db.index.fulltext.{name}" for name in ("listavailableanalyzers", "querynodes", "queryrelationships")}
    | {f"db.index.vector.{name}" for name in ("querynodes", "queryrelationships")}
    | {f"db.schema.{name}" for name in ("nodetypeproperties", "reltypeproperties", "visualization")}
    | {"db.labels", "db.ping", "db.propertykeys", "db.relationshiptypes", "dbms.components"}
)
"""In lower case: ArcadeDB does not tell letter cases apart."""
TEMPORAL = ("date", "datetime", "localdatetime", "localtime", "time")
FUNCTIONS = frozenset(
    {f"{kind}.{name}" for kind in TEMPORAL for name in ("truncate", "realtime", "statement", "transaction")}
    | {f"datetime.{name}" for name in ("fromepoch", "fromepochmillis")}
    | {f"duration.{name}" for name in ("between", "inmonths", "indays", "inseconds")}
    | {"point.distance", "point.withinbbox", "vector.similarity.cosine", "vector.similarity.euclidean"}
)
"""Those with a name space; functions without one are Cypher's own, since nobody else may define such."""
SHOWN = frozenset({"ShowIndexes", "ShowConstraints"})
"""What SHOW may tell: settings, transactions, users and procedures are the server's."""
FORBIDDEN_OPERATORS = frozenset({"LoadCSV", "TerminateTransactions"})
"""They are reading to Neo4j: files of the server, and other people's transactions."""

MOST_NESTED = 400
"""Brackets in each other: with twice as many Neo4j goes on planning for minutes."""
_LOADS_FILE = re.compile(r"\bLOAD\s+CSV\b", re.IGNORECASE)
"""The same for ArcadeDB, which parses it as reading (its server is configured to load nothing, too)."""
_CONTROLS = frozenset({"BEGIN", "COMMIT", "ROLLBACK", "START"})
"""First words of statements on the transaction, which ArcadeDB takes for reading: it would leave one open, or end ours."""
_ASKS_FOR_PLAN = re.compile(r"\A\s*(EXPLAIN|PROFILE)\b", re.IGNORECASE)
_UNICODE_ESCAPE = re.compile(r"\\u+([0-9a-fA-F]{4})")
_TOKEN = re.compile(
    r"""(?P<skipped>\s+|//[^\r\n]*|/\*.*?\*/)
    | (?P<text>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    | `(?P<quoted>(?:``|[^`])*)`
    | (?P<word>[^\W\d]\w*)
    | (?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)


def check_reads_only(connection: Connection, cypher: str, parameters: dict[str, Any]) -> None:
    """Raise `CypherWriteError` for Cypher that writes, changes the schema, administers the server or reaches beyond the database.

    Raises `InputError` where it cannot be parsed.
    """
    if without_surrogates(cypher) != cypher:
        raise InputError("This Cypher cannot be parsed: it has half of a surrogate pair, which is no character.")
    plain = _without_text(cypher)
    if (depth := _depth(plain)) > MOST_NESTED:
        raise InputError(
            f"This Cypher is nested {depth:,} brackets deep, which takes minutes to plan: expected at most {MOST_NESTED}."
        )
    if (first := plain.split()[:1]) and first[0].upper() in _CONTROLS:
        raise _refusal(cypher, f"it begins with {first[0]}")
    if connection.server is not None:
        operations = connection.server.operations(cypher)
        if operations != {"READ"}:
            raise _refusal(
                cypher, f"its plan says {', '.join(sorted(operations - {'READ'})) or 'an unknown operation'}"
            )
    else:
        summary = connection.explain(_ASKS_FOR_PLAN.sub("", cypher), parameters)
        if summary.query_type != "r":
            kinds = {"rw": "reading and writing", "w": "writing", "s": "changing the schema or the server"}
            raise _refusal(cypher, f"its plan says {kinds.get(str(summary.query_type), 'writing')}")
        forbidden = {
            operator
            for operator in _operators(summary.plan)
            if operator in FORBIDDEN_OPERATORS or (operator.startswith("Show") and operator not in SHOWN)
        }
        if forbidden:
            raise _refusal(cypher, f"its plan says {', '.join(sorted(forbidden))}")
    # Neo4j replaces such escapes before it reads a statement: what either reading calls must be allowed.
    for text in {cypher, _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)), cypher)}:
        if found := _LOADS_FILE.search(_without_text(text)):
            raise _refusal(cypher, f"it says {found[0]}")
        procedures, functions = called_names(text)
        if foreign := (procedures - PROCEDURES) | (functions - FUNCTIONS):
            raise _refusal(cypher, f"it calls {', '.join(sorted(foreign))}, which kgrag does not know to be harmless")


def called_names(cypher: str) -> tuple[set[str], set[str]]:
    """Return the procedures, and the functions with a name space, that a statement calls, in lower case."""
    procedures, functions = set(), set()
    tokens = [match for match in _TOKEN.finditer(cypher) if match.lastgroup != "skipped"]
    place = 0
    while place < len(tokens):
        start, parts = place, []
        while place < len(tokens) and tokens[place].lastgroup in {"word", "quoted"}:
            parts.append(tokens[place][tokens[place].lastgroup or 0])
            place += 1
            if place >= len(tokens) or tokens[place][0] != ".":
                break
            place += 1
        if not parts:
            place += 1
            continue
        name = ".".join(parts).lower()
        before = tokens[start - 1][0].upper() if start else ""
        followed_by = tokens[place][0] if place < len(tokens) else ""
        if before == "CALL":
            procedures.add(name)
        elif "." in name and followed_by == "(":
            functions.add(name)
    return procedures, functions


def _without_text(cypher: str) -> str:
    """Blank comments, strings and quoted names out."""
    return _TOKEN.sub(lambda match: match[0] if match.lastgroup in {"word", "other"} else " ", cypher)


def _depth(plain: str) -> int:
    """Return how many brackets are open at once at most."""
    steps = (1 if character in "([{" else -1 for character in plain if character in "([{)]}")
    return max(accumulate(steps), default=0)


def _operators(plan: Mapping[str, Any] | None) -> Iterator[str]:
    if plan:
        yield plan["operatorType"].partition("@")[0]
        for child in plan.get("children", ()):
            yield from _operators(child)


def _refusal(cypher: str, why: str) -> CypherWriteError:
    shown = " ".join(cypher.split())
    return CypherWriteError(
        f"Expected Cypher that only reads the graph; {why}: {shown[:200]}. To change a store, use kgrag build and kgrag delete."
    )


def expect_parameters(parameters: Any) -> None:
    """Raise `InputError` for parameters that are no names with values that the database has, before they are sent."""
    if not isinstance(parameters, Mapping):
        raise InputError(f"Parameters of Cypher: expected a dictionary of names and values, got {parameters!r:.80}.")
    for name, value in parameters.items():
        if not (isinstance(name, str) and _is_value(value)):
            raise InputError(
                "Parameters of Cypher: expected texts, numbers, True, False, None, dates, and lists and dictionaries of these; "
                f"got {name!r}: {value!r:.80}."
            )


def _is_value(value: Any) -> bool:
    match value:
        case int():
            return -(2**63) <= value < 2**63
        case Mapping():
            return all(isinstance(key, str) and _is_value(one) for key, one in value.items())
        case list() | tuple():
            return all(map(_is_value, value))
    return value is None or isinstance(value, str | float | bytes | datetime.date | datetime.time | datetime.timedelta)
