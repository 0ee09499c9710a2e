"""Processes that benchmarks measure, or are measured in: processor time and memory of one, and a measurement in one of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["cpu_seconds", "measured_apart", "peak_memory_mb"]


def cpu_seconds(pid: int | None) -> float:
    """Return the processor seconds of another process until now, on Linux; 0 where there is none."""
    if pid is None:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory_mb(pid: int | None = None) -> float:
    """Peak resident memory of this process, or of another on Linux."""
    if pid is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    peak_kb = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return peak_kb / 1024


def measured_apart(command: Sequence[str]) -> Any:
    """Run a measurement in a process of its own, so that memory and start are its own; return the JSON that it printed last."""
    done = subprocess.run([*command], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])
