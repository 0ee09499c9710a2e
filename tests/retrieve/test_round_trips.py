"""How often retrieval goes to the database, and that no statement of it reads all chunks or entities: counts and plans, not times."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kgrag
from kgrag.common.waiting import wait_for
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.statements import statement

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "Which X-100 boards and TPR transmitters have an output of 4 to 20 mA, and which of them measure pressure?"
AT_ONCE = {"hybrid": 2, "names": 2}
"""Steps that ask for two lists: both questions are under way before either is answered."""
WALK, STORE = {"walk_chunks", "walk_relations", "walk_links"}, {"ledger_state", "graph_names", "graph_types"}
LISTING = {"amounts", "things", "stated_words"}
WHOLE = WALK | STORE | LISTING
"""Statements that are for all there is: the graph of PageRank, read once, what the store has, and counts of all things with a property."""
COMMUNITIES = {"communities_of_level", "nearest_communities", "any_community", "graph_entity"}
"""A level of communities is read as a whole; the last two stop at the first node."""
SCANS = {"AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "CartesianProduct"}
MEETING_S = 30.0


class Watched:
    """A connection that counts what goes over it, and has two statements wait until both have begun."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.asked = 0
        self.meeting: threading.Barrier | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def read_plain(self, text: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        """Count, wait and pass on."""
        self.asked += 1
        if self.meeting is not None:
            self.meeting.wait(MEETING_S)
        rows: list[dict[str, Any]] = self._connection.read_plain(text, parameters)
        return rows


def test_a_step_of_default_goes_to_the_database_once(store_target: str) -> None:
    with kgrag.open(store_target) as graph:
        graph.build(*sorted((ROOT / "examples" / "documents").rglob("*.html")))
        retriever = graph.retriever("default")
        wait_for(retriever.trace(QUESTION))  # the number of chunks is read once
        watched = Watched(graph.store.search._connection)
        graph.store.search._connection = watched  # type: ignore[assignment]
        state, trips = retriever.start(QUESTION), {}
        for step in retriever.pipeline.steps:
            watched.asked, watched.meeting = 0, None
            if step.kind in AT_ONCE:
                watched.meeting = threading.Barrier(AT_ONCE[step.kind])
            state = wait_for(step(state, retriever.resources))
            trips[step.kind] = watched.asked
    assert state.evidence
    expected = {"embed": 0, "hybrid": 2, "names": 2, "links": 1, "paths": 1, "read": 1}
    assert {kind: count for kind, count in trips.items() if count or kind == "embed"} == expected


@pytest.mark.neo4j
def test_no_statement_of_retrieval_scans_chunks_or_entities(neo4j_empty: str) -> None:
    with open_store(neo4j_empty) as store:
        store.bind("test", 8)
        store.finish()  # An index that is not online yet is in no plan.
        scans = {
            file.stem: found
            for file in sorted((ROOT / "cypher" / "retrieve").glob("*.cypher"))
            if file.stem not in WHOLE and (found := SCANS.intersection(operators(store, file)))
        }
    assert {name: found for name, found in scans.items() if name not in COMMUNITIES} == {}
    assert scans.keys() == COMMUNITIES, "what scans is still found"


def operators(store: GraphStore, file: Path) -> Iterator[str]:
    """Yield the operators of a statement's plan; its parameters are those that its file gives for Neo4j Browser."""
    given = re.search(r":param (\{.*\})", file.read_text(encoding="utf-8"))
    parameters = store.query(f"RETURN {given[1]} AS given")[0]["given"] if given else {}
    text = statement(f"retrieve/{file.stem}", graph="mention", level=0)
    plans = [store._connection.explain(text, parameters).plan]
    while plans:
        plan = plans.pop()
        assert plan is not None
        yield plan["operatorType"].partition("@")[0]
        plans += plan.get("children", ())
