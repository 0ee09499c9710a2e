"""Databases for one measurement: fresh, local, and gone afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.apoc import APOC_SETTINGS, put_apoc
from kgrag.neo4j_local import server as neo4j_server

__all__ = ["FreshStore", "empty_neo4j", "fresh_store", "neo4j_login"]

NEO4J_HEAP_MB = 2048
PAGE_CACHE_MB = 512
EMPTY = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"


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
def fresh_store(
    kind: str,
    *,
    apoc: bool = False,
    keep: Path | None = None,
    heap_mb: int = NEO4J_HEAP_MB,
    page_cache_mb: int = PAGE_CACHE_MB,
    load: Callable[[Path], None] = lambda _: None,
) -> Iterator[FreshStore]:
    """Make an empty `embedded` or `neo4j` database. A Neo4j is started for this alone, with `apoc` where peers need it, and stopped.

    `load` is given the folder of a Neo4j that is there for the first time, before it is started. With `keep` it is in that folder and
    stays there; what the folder has from before is what is opened. Sets `KGRAG_STORE`, `NEO4J_USERNAME` and `NEO4J_PASSWORD` of this
    process, as a user's shell does.
    """
    with tempfile.TemporaryDirectory(prefix="kgrag-benchmark-") as name:
        folder = Path(name) if keep is None else keep
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "embedded":
            yield FreshStore(str(folder / "store.kg"), folder, None)
            return
        if not (folder / "neo4j").exists():
            load(folder / "neo4j")
        if apoc:
            put_apoc(folder / "neo4j")
        server = neo4j_server.up(
            folder / "neo4j",
            bolt_port=0,
            engine="maven",
            heap_mb=heap_mb,
            owner_pid=os.getpid(),
            settings={"server.memory.pagecache.size": f"{page_cache_mb}m"} | (APOC_SETTINGS if apoc else {}),
        )
        try:
            os.environ.update(server.environment())
            yield FreshStore(server.url, folder / "neo4j" / "data", _kept_by(server.pid))
        finally:
            neo4j_server.down(folder / "neo4j", delete_data=keep is None)


def _kept_by(pid: int | None) -> int | None:
    """Return the id of the Java process that a local server's own process keeps running; on Linux only."""
    if pid is None:
        return None
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return int(children[0])


def empty_neo4j(target: str) -> None:
    """Take everything out of the database that `fresh_store` started, indexes and constraints too: Community has only one."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(target, auth=neo4j_login()) as driver, driver.session() as session:
        for (name,) in session.run("SHOW CONSTRAINTS YIELD name").values():
            session.run(f"DROP CONSTRAINT `{name}`").consume()
        for (name,) in session.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name").values():
            session.run(f"DROP INDEX `{name}`").consume()
        session.run(EMPTY).consume()


def neo4j_login() -> tuple[str, str]:
    """Return user and password of the Neo4j that `fresh_store` started."""
    return os.environ["NEO4J_USERNAME"], os.environ["NEO4J_PASSWORD"]
