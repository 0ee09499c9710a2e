"""How often retrieval goes to the database: counts, not times."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import kgrag
from kgrag.common.waiting import wait_for
from kgrag.models.minilm import MiniLM

DIMENSIONS = MiniLM.dimensions
ROOT = Path(__file__).resolve().parents[2]
QUESTION = "Which X-100 boards and TPR transmitters have an output of 4 to 20 mA, and which of them measure pressure?"
AT_ONCE = {"hybrid": 2, "names": 3}
"""Steps that ask for several lists: all questions are under way before any is answered."""
MEETING_S = 30.0


class Watched:
    """A connection that counts what goes over it, and has statements wait until so many have begun."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.asked = 0
        self.meeting: threading.Barrier | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def read_plain(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Count, wait and pass on."""
        self.asked += 1
        if self.meeting is not None:
            self.meeting.wait(MEETING_S)
        rows: list[dict[str, Any]] = self._connection.read_plain(name, **parameters)
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
    expected = {"embed": 0, "hybrid": 2, "names": 3, "links": 1, "paths": 1, "read": 1}
    assert {kind: count for kind, count in trips.items() if count or kind == "embed"} == expected
