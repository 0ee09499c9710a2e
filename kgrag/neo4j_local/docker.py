"""Neo4j by `docker compose` on docker/compose.yaml, with a project, hence volumes, of each home's own."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from kgrag.errors import StoreUnavailable
from kgrag.neo4j_local.jars import neo4j_recipes

__all__ = ["compose_down", "compose_runs", "compose_up", "docker_runs"]

ANSWER_TIMEOUT_S = 10.0
COMPOSE_TIMEOUT_S = 900.0
"""The image may have to be pulled."""


def docker_runs() -> bool:
    """Say whether a Docker engine answers and has the compose command."""
    return _answers("compose", "version") and _answers("info")


def compose_up(home: Path, *, password: str, bolt_port: int, browser_port: int | None, heap_mb: int) -> None:
    """Start the server of `home` and wait until it is healthy. Neo4j Browser takes any free port where `browser_port` is None."""
    settings = {
        "NEO4J_PASSWORD": password,
        "NEO4J_BOLT_PORT": str(bolt_port),
        "NEO4J_HTTP_PORT": "" if browser_port is None else str(browser_port),
        "NEO4J_HEAP": f"{heap_mb}m",
    }
    _compose(home, "up", "--detach", "--wait", "neo4j", **settings)


def compose_runs(home: Path) -> bool:
    """Say whether the server of `home` runs."""
    return bool(_compose(home, "ps", "--quiet", "neo4j"))


def compose_down(home: Path, *, delete_data: bool) -> None:
    """Stop the server of `home`, and delete its volumes if `delete_data`."""
    _compose(home, "down", *(["--volumes"] if delete_data else []))


def _project(home: Path) -> str:
    return f"kgrag-{hashlib.sha256(str(home).encode()).hexdigest()[:12]}"


def _compose(home: Path, *arguments: str, **settings: str) -> str:
    compose_file = neo4j_recipes() / "compose.yaml"
    # The file insists on a password, which only `up` uses.
    return _docker(
        "compose", "-p", _project(home), "-f", str(compose_file), *arguments, **{"NEO4J_PASSWORD": "unused", **settings}
    )


def _docker(*arguments: str, **settings: str) -> str:
    """Run docker and return what it says. Raises `StoreUnavailable` where it fails."""
    try:
        result = subprocess.run(
            [shutil.which("docker") or "docker", *arguments],
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMPOSE_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StoreUnavailable(f"`docker {' '.join(arguments)}` could not be run: {error}") from error
    if result.returncode != 0:
        said = "\n".join(result.stderr.strip().splitlines()[-8:])
        raise StoreUnavailable(f"`docker {' '.join(arguments)}` failed (exit code {result.returncode}): {said}")
    return result.stdout.strip()


def _answers(*arguments: str) -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    try:
        result = subprocess.run(
            [docker, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWER_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return result.returncode == 0
