"""Neo4j's own command line, `neo4j-admin`, for a Neo4j from Maven artefacts: its jars have the program, and no script that starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from kgrag.errors import StoreUnavailable
from kgrag.neo4j_local.jars import java_library, neo4j_jars

__all__ = ["run_admin"]

HEAP_MB = 512
SHOWN_CHARACTERS = 2000


def run_admin(
    home: Path, arguments: Sequence[str], *, heap_mb: int = HEAP_MB, on_step: Callable[[str], None] = lambda _: None
) -> str:
    """Run `neo4j-admin` with arguments on the server's folder `home`, in a process of its own; return what it printed.

    `database import` needs a server that is stopped. Raises `StoreUnavailable` where it ends with an error.
    """
    jars, library = neo4j_jars(on_step), java_library()
    home.mkdir(parents=True, exist_ok=True)
    (home / "neo4j.conf").touch()
    done = subprocess.run(
        [sys.executable, "-m", "kgrag.neo4j_local.admin", library, jars, str(heap_mb), *arguments],
        env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise StoreUnavailable(
            f"neo4j-admin ended with code {done.returncode}: {done.stdout.strip()[-SHOWN_CHARACTERS:]}"
        )
    return done.stdout


def _main(library: str, jars: str, heap_mb: str, *arguments: str) -> None:
    """Become the program: it ends the process with its own code."""
    import jpype

    jpype.startJVM(library, f"-Xmx{heap_mb}m", "-XX:+UseParallelGC", classpath=[f"{jars}/*"])
    jpype.JClass("org.neo4j.cli.AdminTool").main(list(arguments))


if __name__ == "__main__":
    _main(*sys.argv[1:])
