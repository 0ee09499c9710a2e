"""The desk as a process: it says where it is, finishes what is under way when it is told to end, and ends well."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kgrag.testing import ModelRequest, ModelServer, answer, hanging

SLOW_S = 600
"""For what only a busy machine can make long."""
QUESTION = {"question": "What is the standby current of the X-100 Rev 3?"}
ANSWER = {"quotes": [], "answered": True, "answer": "The standby current is 0.5 mA [1]."}


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM")
def test_sigterm_lets_a_question_under_way_be_answered_and_written_down(
    sample_copy: str, sample_root: Path, tmp_path: Path
) -> None:
    came, told = threading.Event(), threading.Event()

    def script(request: ModelRequest) -> Any:
        came.set()
        told.wait(60)
        return answer(ANSWER, latency_s=6.0)  # longer than a command that is no server lives after SIGTERM

    with ModelServer(script) as model:
        settings = (*asking_model(model), "--drain-s", str(SLOW_S))
        with started(sample_copy, sample_root, tmp_path, *settings) as (process, address), ThreadPoolExecutor() as pool:
            reply = pool.submit(httpx2.post, f"{address}/api/ask", json=QUESTION, timeout=SLOW_S)
            assert came.wait(SLOW_S)
            process.send_signal(signal.SIGTERM)
            told.set()
            out, err = process.communicate(timeout=SLOW_S)
    assert reply.result().json()["answer"]["text"].startswith("The standby current is 0.5 mA")
    assert (process.returncode, out, err) == (0, "The desk is closed.\n", "")
    written = json.loads((tmp_path / "audit.jsonl").read_text())
    assert written["id"] == reply.result().json()["id"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM")
def test_sigterm_ends_a_question_that_hangs_and_says_so(sample_copy: str, sample_root: Path, tmp_path: Path) -> None:
    came = threading.Semaphore(0)

    def script(request: ModelRequest) -> Any:
        came.release()
        return hanging()

    with (
        ModelServer(script) as model,
        started(sample_copy, sample_root, tmp_path, *asking_model(model)) as (process, address),
        ThreadPoolExecutor() as pool,
    ):
        events = {"Accept": "text/event-stream"}
        replies = [
            pool.submit(httpx2.post, f"{address}/api/ask", json=QUESTION, headers=headers, timeout=SLOW_S)
            for headers in ({}, events)
        ]
        assert all(came.acquire(timeout=SLOW_S) for _ in replies)
        process.send_signal(signal.SIGTERM)
        whole, streamed = (one.result() for one in replies)
        out, err = process.communicate(timeout=SLOW_S)
    assert (whole.status_code, whole.headers["Retry-After"]) == (503, "10")
    assert "closing" in whole.json()["detail"]
    assert re.search("event: problem\ndata: .*closing", streamed.text)
    assert (process.returncode, out, err) == (0, "The desk is closed.\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_desk_has_lost_no_conversation_feedback_or_ticket(
    sample_copy: str, sample_root: Path, tmp_path: Path
) -> None:
    questions = ["What is the standby current of the X-100 Rev 3?", "Who won the football match on Mars?"]
    with (
        started(sample_copy, sample_root, tmp_path) as (process, address),
        httpx2.Client(base_url=address, timeout=SLOW_S) as client,
    ):
        replies = [
            client.post("/api/ask", json={"question": one, "conversation": "tab-12345"}).json() for one in questions
        ]
        first = {"answer_id": replies[0]["id"], "verdict": "right"}
        assert client.post("/api/feedback", json=first).status_code == 201
        assert client.post("/api/tickets", json={"answer_id": replies[1]["id"]}).status_code == 201
        process.kill()  # whatever was confirmed is on the disk
    with (
        started(sample_copy, sample_root, tmp_path) as (process, address),
        httpx2.Client(base_url=address, timeout=SLOW_S) as client,
    ):
        turns = client.get("/api/conversations/tab-12345").json()
        assert [turn["question"] for turn in turns] == questions
        assert turns[0]["answer"] == replies[0]["answer"]["text"]
        assert client.get("/api/conversations/tab-54321").json() == []
        assert [ticket["question"] for ticket in client.get("/api/tickets").json()] == questions[1:]
        # What was answered before can still be judged.
        assert client.post("/api/feedback", json={**first, "verdict": "wrong"}).status_code == 201
        process.terminate()
    verdicts = [json.loads(line)["verdict"] for line in (tmp_path / "feedback.jsonl").read_text().splitlines()]
    assert verdicts == ["right", "wrong"]


def asking_model(model: ModelServer) -> tuple[str, ...]:
    """Options by which a desk asks a model."""
    return ("--model", "openai:any", "--base-url", model.url, "--model-cache", "off")


@contextmanager
def started(store: str, root: Path, desk: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A desk in a process of its own, and its address."""
    arguments = ["serve", "--store", store, "--port", "0", "--desk", str(desk), "--root", str(root), *more]
    with subprocess.Popen(
        [sys.executable, "-m", "kgrag", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert address, line
        try:
            yield process, address[0]
            if process.returncode is None:
                process.communicate(timeout=SLOW_S)
        finally:
            process.kill()
