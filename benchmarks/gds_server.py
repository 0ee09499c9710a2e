"""A Neo4j with the Graph Data Science library, for one measurement: fetched by Maven, started on loopback, gone afterwards."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import neo4j
from neo4j.exceptions import ServiceUnavailable
from platformdirs import user_cache_path

from kgrag.neo4j_local.jars import java_library, neo4j_jars

__all__ = ["gds_server"]

GDS_VERSION = "2.13.9"
"""As in gds/pom.xml."""
START_TIMEOUT_S = 300


@contextmanager
def gds_server(*, heap_mb: int) -> Iterator[tuple[neo4j.Driver, int]]:
    """Start a Neo4j with GDS on an empty database; yield a driver and the server's process id. Raises `SystemExit` without Maven."""
    ours, theirs = neo4j_jars(print), _gds_jars()
    with tempfile.TemporaryDirectory(prefix="kgrag-gds-") as name:
        home, jars = Path(name) / "home", Path(name) / "jars"
        (home / "plugins").mkdir(parents=True)
        jars.mkdir()
        for jar in (*theirs.glob("*.jar"), *ours.glob("*.jar")):
            link = jars / jar.name
            link.unlink(missing_ok=True)
            link.symlink_to(jar)
        # Procedures are looked for in this folder only; their classes come from the class path.
        for jar in theirs.glob(f"*-{GDS_VERSION}.jar"):
            shutil.copy(jar, home / "plugins")
        port = _free_port()
        conf = {
            "server.bolt.enabled": "true",
            "server.bolt.listen_address": f"127.0.0.1:{port}",
            "server.http.enabled": "false",
            "dbms.security.auth_enabled": "false",
            "dbms.security.procedures.unrestricted": "gds.*",
            "dbms.usage_report.enabled": "false",
            "server.memory.pagecache.size": "512m",
        }
        (home / "neo4j.conf").write_text("".join(f"{key}={value}\n" for key, value in conf.items()), encoding="utf-8")
        command = [sys.executable, "-m", "kgrag.neo4j_local.process", *map(str, (home, jars, java_library(), heap_mb))]
        with (home / "server.log").open("wb") as log:
            process = subprocess.Popen([*command, str(os.getpid())], stdout=log, stderr=log)
        try:
            with neo4j.GraphDatabase.driver(f"bolt://127.0.0.1:{port}") as driver:
                _wait(driver, process)
                yield driver, process.pid
        finally:
            process.kill()
            process.wait()


def _gds_jars() -> Path:
    folder = user_cache_path("kgrag", appauthor=False) / "benchmarks" / f"gds-{GDS_VERSION}"
    if not folder.is_dir():
        maven = shutil.which("mvn")
        if maven is None:
            raise SystemExit("GDS comes from Maven, and `mvn` is not on the PATH: leave --gds out.")
        pom = Path(__file__).parent / "gds" / "pom.xml"
        fresh = folder.with_suffix(".part")
        subprocess.run(
            [
                *(maven, "--batch-mode", "--quiet", "--file", str(pom), "dependency:copy-dependencies"),
                f"-DoutputDirectory={fresh}",
            ],
            check=True,
        )
        fresh.rename(folder)
    return folder


def _wait(driver: neo4j.Driver, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            with driver.session() as session:
                session.run("RETURN 1").consume()
            return
        except ServiceUnavailable:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
