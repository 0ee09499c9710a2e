"""Neo4j's own command line, `neo4j-admin`, for a Neo4j from Maven artefacts: its jars have the program, and no script that starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from kgrag.errors import InputError, StoreError
from kgrag.neo4j_local import server as neo4j_server
from kgrag.neo4j_local.jars import java_library, neo4j_jars

__all__ = ["run_admin"]

HEAP_MB = 512
SHOWN_CHARACTERS = 1000
STACK_FRAME = "\tat ", "\t..."
"""How lines of Java begin that say where an error was raised, and not why: they are often all that the last characters hold."""


def run_admin(
    home: Path, arguments: Sequence[str], *, heap_mb: int = HEAP_MB, on_line: Callable[[str], None] = lambda _: None
) -> str:
    """Run `neo4j-admin` with arguments on the server's folder `home`, in a process of its own; return what it printed.

    `on_line` is told each line as it comes. Raises `InputError` where a server runs on `home`, whose files such programs must not touch,
    and `StoreError` where the program ends with an error.
    """
    home = home.resolve()
    if neo4j_server.status(home) is not None:
        raise InputError(f"A server runs on {home}: stop it first (kgrag db down), as neo4j-admin works on its files.")
    jars, library = neo4j_jars(on_line), java_library()
    home.mkdir(parents=True, exist_ok=True)
    (home / "neo4j.conf").touch()
    lines: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-m", "kgrag.neo4j_local.admin", library, jars, str(heap_mb), *arguments],
        env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as program:
        for line in program.stdout or ():
            lines.append(line)
            on_line(line.rstrip("\n"))
    said = "".join(lines)
    if program.returncode:
        reasons = "".join(line for line in lines if not line.startswith(STACK_FRAME)).strip()
        raise StoreError(f"neo4j-admin ended with code {program.returncode}: {reasons[-SHOWN_CHARACTERS:]}")
    return said


def _main(library: str, jars: str, heap_mb: str, *arguments: str) -> None:
    """Become the program: it ends the process with its own code."""
    import jpype

    jpype.startJVM(library, f"-Xmx{heap_mb}m", classpath=[f"{jars}/*"])
    jpype.JClass("org.neo4j.cli.AdminTool").main(list(arguments))


if __name__ == "__main__":
    _main(*sys.argv[1:])
