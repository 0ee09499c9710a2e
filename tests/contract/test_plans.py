"""How Neo4j runs each statement: by indexes, and not by reading all nodes of a label, but where all are wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kgrag.store.graph import GraphStore, open_store
from kgrag.store.statements import statement

ROOT = Path(__file__).resolve().parents[2]
SCANS = {"AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "CartesianProduct"}
ONE_NODE = {"NodeUniqueIndexSeek", "NodeUniqueIndexSeek(Locking)", "Argument"}
EVERYTHING = {"digest", "exchange"}
"""Folders whose statements are for the whole store."""
WHOLE: dict[str, set[str]] = {
    "retrieve": {
        # The graph of PageRank, read once; what the store has; counts of all things with a property.
        *("walk_chunks", "walk_relations", "ledger_state", "graph_names", "graph_types", "things"),
        # A level of communities is read as a whole; the last two stop at the first node.
        *("communities_of_level", "nearest_communities", "any_community", "graph_entity"),
    },
    "store": {
        # What waits for a vector, once for each stage; lists and counts of all.
        *("chunks_without_embedding", "entities_without_embedding", "chunk_vectors", "document_chunk_counts"),
        *("documents", "linking_chunks", "work", "count_work", "count_work_of_graphs", "failures", "graphs"),
        *("entity_types", "relation_types"),
        # A graph goes, a part at a time.
        *("delete_graph", "delete_work_of_scope"),
    },
    "resolve": {
        *("any_merge", "count_merges", "merges", "unmerged_entities"),
        *("delete_members_of_graph", "delete_merges_of_graph"),
    },
    "communities": {
        *("chunk_sizes", "communities", "count", "entities", "levels", "similar", "vectors"),
        "delete_communities_of_graph",
    },
    # Of a graph all that is predicted from, and all that was.
    "completion": {"triples", "predicted", "delete_predicted"},
    "evaluate": set(),
}
"""Statements that may read all there is of something, by folder. Some do only where the statistics of the moment say that it costs less."""


@pytest.mark.neo4j
@pytest.mark.parametrize("folder", WHOLE)
def test_no_other_statement_reads_all_nodes_of_a_label(folder: str, neo4j_empty: str) -> None:
    with open_store(neo4j_empty) as store:
        store.bind("test", 8)
        store.finish()  # An index that is not online yet is in no plan.
        files = sorted((ROOT / "cypher" / folder).glob("*.cypher"))
        scans = {file.stem for file in files if SCANS.intersection(operators(store, file))}
    assert scans <= WHOLE[folder]


def test_every_folder_of_statements_is_looked_at() -> None:
    assert {file.parent.name for file in (ROOT / "cypher").rglob("*.cypher")} == WHOLE.keys() | EVERYTHING | {"schema"}


def operators(store: GraphStore, file: Path) -> Iterator[str]:
    """Yield the operators of a statement's plan; its parameters are those that its file gives for Neo4j Browser."""
    given = re.search(r":param (\{.*\})", file.read_text(encoding="utf-8"))
    parameters = store.query(f"RETURN {given[1]} AS given")[0]["given"] if given else {}
    name = f"{file.parent.name}/{file.stem}"
    text = statement(name, graph="mention", level=0, entity="Product", relation="HAS_PART")
    plan = store._connection.explain(text, parameters).plan
    assert plan is not None
    yield from _operators(plan)


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    name = plan["operatorType"].partition("@")[0]
    children = plan.get("children", ())
    # Two nodes that are each found by a unique key are joined by a product of one and one.
    if name != "CartesianProduct" or not all(leaf in ONE_NODE for child in children for leaf in _leaves(child)):
        yield name
    for child in children:
        yield from _operators(child)


def _leaves(plan: Mapping[str, Any]) -> Iterator[str]:
    children = plan.get("children", ())
    if not children:
        yield plan["operatorType"].partition("@")[0]
    for child in children:
        yield from _leaves(child)
