"""The process that a Neo4j from Maven artefacts lives in: `python -m kgrag.neo4j_local.process HOME JARS LIBJVM HEAP_MB [OWNER_PID]`.

Neo4j's jars have no main class. This starts a Java virtual machine in a process of its own, builds the database service from
HOME/neo4j.conf and shuts it down in order on SIGTERM or SIGINT, or when the process OWNER_PID is gone. A statement that
wants more memory than the heap has ends that process, as what it holds in memory is not to be trusted then; another process, whose id
`kgrag db` says, keeps it running: it starts it again, as Docker does with a container. HOME/lock is held for as long as either
lives, however it ends: whoever can take that lock knows that no server runs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from kgrag.errors import StoreLocked
from kgrag.neo4j_local.jars import vector_options
from kgrag.store.folder_lock import FolderLock
from kgrag.store.jvm import garbage_apart

__all__ = ["keep_serving"]

ONCE = "--once"
"""Before the arguments of the process that is the server itself."""
STOP_SIGNALS = signal.SIGTERM, signal.SIGINT, signal.SIGHUP
OWNER_CHECK_S = 2.0
OUT_OF_MEMORY = {
    3: "its Java heap of {heap_mb} MB did not suffice",
    -signal.SIGKILL: "the system ended it, as it does for want of memory",
}
"""Why a server ended, by its exit code, where it is worth another start."""
SHORT_LIFE_S = 60.0
SHORT_LIVES = 5
"""In a row, after which a server is left: its heap does not suffice for its start."""
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


def keep_serving(home: Path, jars: Path, libjvm: str, heap_mb: int, owner_pid: int | None = None) -> int:
    """Run the server until it is told to stop, again where it ran out of memory; return the exit code of the last one.

    Returns 1 at once where another server has `home`.
    """
    try:
        lock = FolderLock(home)
    except StoreLocked:
        sys.stderr.write(f"A server runs on {home} already: end it, or take another home.\n")
        return 1
    arguments = (home, jars, libjvm, heap_mb, *(() if owner_pid is None else (owner_pid,)))
    command = [sys.executable, "-m", "kgrag.neo4j_local.process", ONCE, *map(str, arguments)]
    stopping, server = threading.Event(), None

    def stop(*_: object) -> None:
        stopping.set()
        if server is not None:
            server.terminate()

    for number in STOP_SIGNALS:
        signal.signal(number, stop)
    short_lives = 0
    while True:
        started = time.monotonic()
        server = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[lock.fileno()])
        if stopping.is_set():
            server.terminate()
        code = server.wait()
        short_lives = short_lives + 1 if time.monotonic() - started < SHORT_LIFE_S else 0
        if code not in OUT_OF_MEMORY or stopping.is_set() or short_lives == SHORT_LIVES:
            return code
        sys.stderr.write(f"Neo4j is started again: {OUT_OF_MEMORY[code].format(heap_mb=heap_mb)}.\n")
        sys.stderr.flush()


def _serve(home: Path, jars: Path, libjvm: str, heap_mb: int, owner_pid: int | None = None) -> int:
    """Run the server until it is told to stop; return the exit code."""
    import jpype

    stopping = threading.Event()
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: stopping.set())
    threading.Thread(target=_end_with_keeper, daemon=True, name="kgrag-keeper").start()
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
    return 0


def _end_with_keeper() -> None:
    """End this process at once when the one that keeps it running is gone, however that ended: its end of the pipe closes."""
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGKILL)


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
    once = sys.argv[1] == ONCE
    folder, lib, library, heap, *owner = sys.argv[1 + once :]
    serve = _serve if once else keep_serving
    code = serve(Path(folder), Path(lib), library, int(heap), int(owner[0]) if owner else None)
    sys.stderr.flush()
    # The service is down and its files are closed; threads of the virtual machine must not keep the process.
    os._exit(code)
