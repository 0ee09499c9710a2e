"""Asking other programs at a size where some of what they ask never ends."""

from __future__ import annotations

from typing import Any

import neo4j as neo4j_driver
import pytest

from benchmarks.peer_retrievers import Peer
from benchmarks.scale_peers import LEAST, Patience, ask
from benchmarks.stores import neo4j_login
from benchmarks.synthetic import PLANTED_FORMS, Planted

ENDLESS = "UNWIND range(1, 100000000000) AS i WITH i WHERE i < 0 RETURN count(i) AS count"


@pytest.mark.neo4j
def test_a_question_that_takes_too_long_is_ended_and_counted_as_one_without_an_answer(neo4j_target: str) -> None:
    questions = [Planted(kind, kind, frozenset({"a"})) for kind in PLANTED_FORMS for _ in range(LEAST)]
    endless = next(iter(PLANTED_FORMS))

    with neo4j_driver.GraphDatabase.driver(neo4j_target, auth=neo4j_login()) as driver:

        def find(question: str) -> Any:
            return driver.execute_query(ENDLESS if question == endless else "RETURN 1 AS one").records

        asked = ask(Peer("test", find, lambda found: []), questions, None, Patience(driver, 0.2))

    assert {one.planted.kind: "Terminated" in one.failed for one in asked} == {
        kind: kind == endless for kind in PLANTED_FORMS
    }
