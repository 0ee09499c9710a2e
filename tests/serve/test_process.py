"""The desk as a process: it says where it is, finishes what is under way when it is told to end, and ends well."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kgrag.testing import ModelRequest, ModelServer, answer

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
        arguments = [
            "serve",
            "--store",
            sample_copy,
            "--port",
            "0",
            "--desk",
            str(tmp_path),
            "--root",
            str(sample_root),
        ]
        hosted = ["--model", "openai:any", "--base-url", model.url, "--model-cache", "off"]
        with subprocess.Popen(
            [sys.executable, "-m", "kgrag", *arguments, *hosted],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+", line)
            assert address, line
            replies: list[httpx2.Response] = []

            def ask() -> None:
                body = {"question": "What is the standby current of the X-100 Rev 3?"}
                replies.append(httpx2.post(f"{address[0]}/api/ask", json=body, timeout=120))

            asking = threading.Thread(target=ask)
            asking.start()
            assert came.wait(120)
            process.send_signal(signal.SIGTERM)
            told.set()
            asking.join()
            out, err = process.communicate(timeout=120)
    assert replies[0].json()["answer"]["text"].startswith("The standby current is 0.5 mA")
    assert (process.returncode, out, err) == (0, "The desk is closed.\n", "")
    written = json.loads((tmp_path / "audit.jsonl").read_text())
    assert written["id"] == replies[0].json()["id"]
