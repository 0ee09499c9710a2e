"""What a desk tells those who run it: counts by route, and a log without texts of questions."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgrag.serve.access import Access, User
from kgrag.serve.telemetry import Telemetry, log_to

from .conftest import OpenDesk

QUESTION = "What is the standby current of the X-100 Rev 3?"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "desk.log"
    log_to(file)
    yield file
    logger = logging.getLogger("kgrag.serve")
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


@pytest.mark.parametrize("logs_questions", [False, True])
def test_the_log_has_each_request_and_the_questions_only_where_that_is_asked_for(
    open_desk: OpenDesk, log: Path, logs_questions: bool
) -> None:
    desk = open_desk()
    desk.desk.telemetry = Telemetry(logs_questions=logs_questions)
    with desk.client() as client:
        reply = client.post("/api/ask", json={"question": QUESTION})
        client.get("/api/neighbours", params={"name": "standby secret"})
        client.get("/etc/secret")
    text = log.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert ("standby current" in text) is logs_questions
    assert "secret" not in text
    question = next(line for line in lines if line["event"] == "question")
    assert question["outcome"] == "answered"
    assert question["id"] == reply.json()["id"]
    requests = [(line["route"], line["status"]) for line in lines if line["event"] == "request"]
    assert requests == [("/api/ask", 200), ("/api/neighbours", 400), ("none", 404)]
    assert {line["id"] for line in lines if line["event"] == "request"} >= {reply.headers["x-request-id"]}


def test_a_log_that_was_moved_away_is_made_anew(open_desk: OpenDesk, log: Path) -> None:
    with open_desk().client() as client:
        client.get("/healthz")
        _wait_for("/healthz", log)
        moved = log.rename(log.with_suffix(".1"))
        client.get("/readyz")
        _wait_for("/readyz", log)
    assert "/healthz" in moved.read_text() and "/readyz" not in moved.read_text()
    assert "/readyz" in log.read_text()


def _wait_for(said: str, log: Path) -> None:
    """Wait until a log has it: a request is logged after its reply was sent."""
    for _ in range(600):
        if log.exists() and said in log.read_text():
            return
        time.sleep(0.1)
    raise AssertionError(f"{said} is not in {log.read_text()!r}")


def test_metrics_count_by_route_and_outcome_and_are_for_admins(open_desk: OpenDesk) -> None:
    desk = open_desk()
    with desk.client() as client:
        client.post("/api/ask", json={"question": QUESTION})
        client.post("/api/ask", json={"question": "Who won the football match on Mars?"})
        for number in range(5):
            client.get(f"/made-up-{number}")
        text = client.get("/metrics").text
    assert 'kgrag_questions_total{outcome="answered"} 1.0' in text
    assert 'kgrag_questions_total{outcome="abstained"} 1.0' in text
    assert 'kgrag_http_requests_total{method="POST",route="/api/ask",status="200"} 2.0' in text
    assert 'kgrag_http_requests_total{method="GET",route="none",status="404"} 5.0' in text
    assert "made-up" not in text
    closed = open_desk(access=Access({"0" * 64: User("anna", "ask")}))
    with closed.client() as client:
        assert client.get("/metrics").status_code == 401
