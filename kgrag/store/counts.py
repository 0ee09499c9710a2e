"""How much of everything the database holds, and what making it took."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from kgrag.store.connection import Connection
from kgrag.store.statements import statement

__all__ = ["count_extractions", "count_graphs", "count_work"]

EXTRACTION_STATES = ("ok", "empty", "repaired", "failed")


def count_graphs(connection: Connection) -> dict[str, dict[str, int]]:
    """Return how many entities, relations and communities each graph has, by its name, sorted."""
    entities = {row["graph"]: row["entities"] for row in connection.read(statement("store/graphs"), {})}
    relations = {row["graph"]: row["relations"] for row in connection.read(statement("store/count_relations"), {})}
    communities = {row["graph"]: row["communities"] for row in connection.read(statement("communities/count"), {})}
    return {
        name: {
            "entities": entities[name],
            "relations": relations.get(name, 0),
            "communities": communities.get(name, 0),
        }
        for name in sorted(entities)
    }


def count_work(connection: Connection) -> tuple[dict[str, dict[str, int]], dict[str, float]]:
    """Return the entries of the ledger by stage and state, and the tokens, US dollars and seconds of all."""
    ledger: dict[str, dict[str, int]] = defaultdict(dict)
    cost = {"tokens": 0, "usd": 0.0, "seconds": 0.0}
    for row in connection.read(statement("store/count_work"), {}):
        ledger[row["stage"]][row["state"]] = row["entries"]
        cost = {
            "tokens": cost["tokens"] + row["tokens"],
            "usd": cost["usd"] + row["cost"],
            "seconds": cost["seconds"] + row["seconds"],
        }
    return {stage: dict(sorted(states.items())) for stage, states in sorted(ledger.items())}, cost


def count_extractions(connection: Connection) -> dict[str, dict[str, Any]]:
    """Return for each graph its chunks by state, ungrounded relations, calls, tokens, US dollars and seconds."""
    rows = connection.read(statement("store/count_work_of_graphs"), {})
    ungrounded = connection.read(statement("store/count_ungrounded"), {}) if rows else []
    ungrounded_of = {row["graph"]: row["ungrounded"] for row in ungrounded}
    counts: dict[str, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: str(row["graph"])):
        graph = counts.setdefault(
            row["graph"],
            {"chunks": dict.fromkeys(EXTRACTION_STATES, 0), "ungrounded": ungrounded_of.get(row["graph"], 0)}
            | dict.fromkeys(("calls", "tokens", "completion_tokens"), 0)
            | dict.fromkeys(("usd", "seconds"), 0.0),
        )
        graph["chunks"][row["state"]] = row["chunks"]
        for name in ("calls", "tokens", "completion_tokens", "seconds"):
            graph[name] += row[name] or 0
        graph["usd"] += row["cost"]
    return counts
