"""The scripted model server as a process of its own, so that its work does not share an interpreter with what is measured."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from typing import Any, Self

from kgrag.testing.server import REPORT_PATH

__all__ = ["ModelServerProcess"]


class ModelServerProcess:
    """`python -m kgrag.testing` started and stopped from Python. It ends with the process that started it.

        with ModelServerProcess("tests.scripts:triples", latency_s=1.0) as server:
            ...
            assert server.report()["repeated"] == []

    `script` is `package.module:function`, found as Python finds modules here; None answers "ok".
    """

    def __init__(
        self, script: str | None = None, *, latency_s: float = 0.0, port: int = 0, arguments: Sequence[str] = ()
    ) -> None:
        self.port = port
        self._arguments = ["--latency-s", str(latency_s), *arguments, *(["--script", script] if script else [])]
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> Self:
        """Start the process; returns when requests can come. Raises `RuntimeError` where it does not start; its stderr says why."""
        command = [sys.executable, "-m", "kgrag.testing", "--until-stdin-closes", "--port", str(self.port)]
        # `-m` puts the working directory on the path; what this process found elsewhere must be found there too.
        self._process = subprocess.Popen(
            [*command, *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment_with_path(),
        )
        stdout = self._process.stdout
        line = stdout.readline() if stdout is not None else ""
        if not line:
            raise RuntimeError(f"{' '.join(command)} ended with exit code {self._process.wait()}.")
        self.port = json.loads(line)["port"]
        return self

    def stop(self) -> None:
        """Kill it: the port and every connection close at once. What it recorded is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def report(self) -> dict[str, Any]:
        """Ask it what it was asked: see `ModelServer.report`."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{REPORT_PATH}") as response:
            report: dict[str, Any] = json.load(response)
            return report

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def _environment_with_path() -> dict[str, str]:
    import os

    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
