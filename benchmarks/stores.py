"""Databases for one measurement: fresh, local, and gone afterwards."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kgrag.store import neo4j_server

__all__ = ["FreshStore", "fresh_store", "peak_memory_mb"]

NEO4J_HEAP_MB = 2048


@dataclass(frozen=True, slots=True)
class FreshStore:
    """Where to open a store, and what to measure of it."""

    target: str
    folder: Path
    server_pid: int | None

    def disk_mb(self) -> float:
        """Size of the database's files."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file()) / 1e6


@contextmanager
def fresh_store(kind: str) -> Iterator[FreshStore]:
    """Make an empty `embedded` or `neo4j` database. A Neo4j is started for this alone, and stopped.

    Sets `KGRAG_STORE`, `NEO4J_USERNAME` and `NEO4J_PASSWORD` of this process, as a user's shell does.
    """
    with tempfile.TemporaryDirectory(prefix="kgrag-benchmark-") as name:
        folder = Path(name)
        if kind == "embedded":
            yield FreshStore(str(folder / "store.kg"), folder, None)
            return
        server = neo4j_server.up(
            folder / "neo4j", bolt_port=0, engine="maven", heap_mb=NEO4J_HEAP_MB, owner_pid=os.getpid()
        )
        try:
            os.environ.update(server.environment())
            yield FreshStore(server.url, folder / "neo4j" / "data", server.pid)
        finally:
            neo4j_server.down(folder / "neo4j", delete_data=True)


def peak_memory_mb(pid: int | None = None) -> float:
    """Peak resident memory of this process, or of another on Linux."""
    if pid is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    peak_kb = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return peak_kb / 1024
