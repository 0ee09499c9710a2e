"""The process that a Neo4j from Maven artefacts lives in: `python -m kgrag.neo4j_local.process HOME JARS LIBJVM HEAP_MB [OWNER_PID]`.

Neo4j's jars have no main class. This starts a Java virtual machine in a process of its own, builds the database service from
HOME/neo4j.conf and shuts it down in order on SIGTERM or SIGINT, or when the process OWNER_PID is gone. HOME/lock is held for as
long as the process lives, however it ends: whoever can take that lock knows that no server runs.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from kgrag.errors import StoreLocked
from kgrag.neo4j_local.jars import vector_options
from kgrag.store.folder_lock import FolderLock
from kgrag.store.jvm import garbage_apart

__all__ = ["serve"]

OWNER_CHECK_S = 2.0
JVM_OPTIONS = (
    "-Xrs",  # signals stay with Python, which shuts the service down
    "-XX:+UseG1GC",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dfile.encoding=UTF-8",
    # What Neo4j's own start script opens:
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "-Dlog4j2.disable.jmx=true",
)


def serve(home: Path, jars: Path, libjvm: str, heap_mb: int, owner_pid: int | None = None) -> int:
    """Run the server until it is told to stop; return the exit code. Returns 1 at once where another server has `home`."""
    import jpype

    try:
        lock = FolderLock(home)
    except StoreLocked:
        sys.stderr.write(f"A server runs on {home} already: end it, or take another home.\n")
        return 1
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stopping.set())
    with garbage_apart():
        jpype.startJVM(
            libjvm,
            f"-Xmx{heap_mb}m",
            *JVM_OPTIONS,
            *vector_options(Path(libjvm)),
            # As Neo4j's own start script has it: what a user puts into `plugins` is found.
            classpath=[str(jars / "*"), str(home / "plugins" / "*")],
            convertStrings=True,
            interrupt=False,
        )
    path = jpype.JClass("java.nio.file.Path")
    builder = jpype.JClass("org.neo4j.dbms.api.DatabaseManagementServiceBuilder")
    try:
        service = builder(path.of(str(home))).loadPropertiesFromFile(path.of(str(home / "neo4j.conf"))).build()
    except jpype.JException as error:
        sys.stderr.write(f"{_first_cause(error)}\n")
        return 1
    while not stopping.wait(OWNER_CHECK_S):
        if owner_pid is not None and not _alive(owner_pid):
            break
    service.shutdown()
    lock.release()
    return 0


def _first_cause(error: Any) -> str:
    """Say what an exception of Java's began with: what it was wrapped in says only that Neo4j did not start."""
    while (cause := error.getCause()) is not None:
        error = cause
    return str(error.toString())


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    folder, lib, library, heap, *owner = sys.argv[1:]
    code = serve(Path(folder), Path(lib), library, int(heap), int(owner[0]) if owner else None)
    sys.stderr.flush()
    # The service is down and its files are closed; threads of the virtual machine must not keep the process.
    os._exit(code)
