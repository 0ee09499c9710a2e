"""Deleting a graph: its entities and relations, merges, communities, ledger and indexes. Chunks stay."""

from __future__ import annotations

from functools import partial

from kgrag.store import schema
from kgrag.store.communities import PARTITION, SUMMARISE, read_communities
from kgrag.store.connection import Connection, Transaction
from kgrag.store.statements import statement

__all__ = ["delete_graph"]

DELETE_NODES = 5000
"""Of one transaction."""
PARTS = ("resolve/delete_members_of_graph", "resolve/delete_merges_of_graph")


def delete_graph(connection: Connection, graph: str, *, dimensions: int) -> int:
    """Delete all of a graph, in transactions of at most `DELETE_NODES` nodes; return how many entities went."""
    schema.create_graph_index(connection, graph, dimensions)  # its label has to exist to be asked for
    parameters = {"graph": graph}
    entities = int(connection.read(statement("store/count_graph", graph=graph), parameters)[0]["entities"])
    for _ in range(0, entities, DELETE_NODES):
        connection.write(partial(_delete_entities, graph=graph))
    communities = read_communities(connection, graph)
    for _ in range(0, len(communities), DELETE_NODES):
        connection.write(partial(_delete_communities, graph=graph))
    members = int(connection.read(statement("resolve/count_merges", graph=graph), parameters)[0]["members"])
    for _ in range(0, members, DELETE_NODES):
        connection.write(partial(_delete_merges, graph=graph))
    for stage in ("extract", "schema", PARTITION, SUMMARISE):
        entries = connection.read(statement("store/work"), {"stage": stage, "scope": graph})
        for _ in range(0, len(entries), DELETE_NODES):
            connection.write(partial(_delete_work, stage=stage, scope=graph))
    schema.drop_graph_index(connection, graph)
    for level in sorted({one.membership.level for one in communities.values()}):
        schema.drop_community_indexes(connection, graph, level)
    return entities


def _delete_entities(transaction: Transaction, *, graph: str) -> None:
    transaction.run("store/delete_graph", graph=graph, limit=DELETE_NODES)


def _delete_communities(transaction: Transaction, *, graph: str) -> None:
    transaction.run("communities/delete_communities_of_graph", scope=graph, limit=DELETE_NODES)


def _delete_merges(transaction: Transaction, *, graph: str) -> None:
    for part in PARTS:
        transaction.run(part, of_graph=graph, limit=DELETE_NODES)


def _delete_work(transaction: Transaction, *, stage: str, scope: str) -> None:
    transaction.run("store/delete_work_of_scope", stage=stage, scope=scope, limit=DELETE_NODES)
