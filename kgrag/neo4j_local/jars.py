"""Neo4j Community from Maven: its jars, fetched once into the user's cache, and a Java runtime that runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path

from kgrag.errors import StoreUnavailable

__all__ = [
    "NEO4J_VERSION",
    "exclusive",
    "jars_missing",
    "java_library",
    "neo4j_jars",
    "neo4j_recipes",
    "vector_options",
]

NEO4J_VERSION = "5.26.21"
"""As in docker/neo4j/pom.xml."""
JAR_COUNT = 213
"""What that pom resolves to."""
SUPPORTED_JAVA = (17, 21)
"""The Java versions that Neo4j 5.26 is published for."""
VECTOR_MODULE = "jdk.incubator.vector"
VECTOR_JAVA = range(20, 23)
"""The Java versions on which Lucene 9.11, which is what Neo4j 5.26 has, takes the processor's vector instructions from that module."""
FETCH_TIMEOUT_S = 1200
INSTALL_MAVEN = (
    "install Maven (Debian, Ubuntu: `apt-get install maven`; macOS: `brew install maven`) or start a Docker engine"
)


def neo4j_recipes() -> Path:
    """Return the folder `docker/` of the project, or its copy inside the installed package."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_docker"
    return installed if installed.is_dir() else package.parent / "docker"


def neo4j_jars(on_step: Callable[[str], None]) -> Path:
    """Return the folder with Neo4j's jars, fetching them on first use (116 MB).

    The folder carries a list of its files and sizes, written last: a folder that differs from its list is fetched again. Raises
    `StoreUnavailable` where Maven is missing or fails.
    """
    folder = _cache() / "lib"
    if _complete(folder):
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise StoreUnavailable(
            f"Neo4j {NEO4J_VERSION} is not in {folder} and `mvn` is not on the PATH: {INSTALL_MAVEN}."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(folder.parent / "fetch.lock"):
        if not _complete(folder):  # else another process fetched it while we waited
            on_step(f"Fetching Neo4j {NEO4J_VERSION} with Maven ({JAR_COUNT} jars, 116 MB) into {folder}")
            _fetch(maven, folder)
    return folder


def jars_missing() -> str | None:
    """Say why Neo4j's jars can neither be found nor fetched, or return None where they can."""
    if _complete(_cache() / "lib") or shutil.which("mvn"):
        return None
    return f"its jars are not in {_cache() / 'lib'} and Maven is not installed: {INSTALL_MAVEN}"


def java_library() -> Path:
    """Return the library of a Java virtual machine.

    `KGRAG_JAVA_HOME`, `JAVA_HOME` and the `java` on the PATH are taken in that order if their version is one that Neo4j is published
    for; else the embedded database's own runtime, which runs it too. Raises `StoreUnavailable` where there is none.
    """
    homes = [Path(value) for name in ("KGRAG_JAVA_HOME", "JAVA_HOME") if (value := os.environ.get(name))]
    commands = [home / "bin" / "java" for home in homes] + [Path(found) for found in [shutil.which("java")] if found]
    for command in commands:
        if command.is_file() and (library := _supported_library(command)) is not None:
            return library
    import importlib.util

    package = importlib.util.find_spec("arcadedb_embedded")
    for location in (package and package.submodule_search_locations) or ():
        if (library := _library(Path(location) / "jre")) is not None:
            return library
    raise StoreUnavailable(
        f"Neo4j needs a Java runtime: expected version {SUPPORTED_JAVA[0]} to {SUPPORTED_JAVA[1]} at KGRAG_JAVA_HOME, JAVA_HOME or on "
        "the PATH, or the one inside the package arcadedb-embedded, and found none. Install a JRE "
        "(Debian, Ubuntu: `apt-get install openjdk-17-jre-headless`)."
    )


def vector_options(library: Path) -> list[str]:
    """Return the options by which the Java virtual machine of a library compares vectors with the processor's own instructions.

    None where its Java is another than Lucene does that on, or was made without the module, which would keep it from starting.
    """
    release = library.parents[2] / "release"
    if not release.is_file():
        return []
    said = dict(re.findall(r'^(\w+)="(.*)"$', release.read_text(encoding="utf-8", errors="replace"), re.MULTILINE))
    version = said.get("JAVA_VERSION", "").partition(".")[0]
    fits = version.isdigit() and int(version) in VECTOR_JAVA and VECTOR_MODULE in said.get("MODULES", "").split()
    return [f"--add-modules={VECTOR_MODULE}"] if fits else []


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock file while the block runs; other processes wait for it."""
    import fcntl

    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _cache() -> Path:
    return user_cache_path("kgrag", appauthor=False) / "neo4j" / NEO4J_VERSION


def _complete(folder: Path) -> bool:
    listing = folder / "complete.json"
    return listing.is_file() and json.loads(listing.read_text(encoding="utf-8")) == _sizes(folder)


def _sizes(folder: Path) -> dict[str, int]:
    return {jar.name: jar.stat().st_size for jar in sorted(folder.glob("*.jar"))}


def _fetch(maven: str, folder: Path) -> None:
    pom = neo4j_recipes() / "neo4j" / "pom.xml"
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        fresh = Path(scratch) / "lib"
        command = [maven, "--batch-mode", "--quiet", "--file", str(pom), "dependency:copy-dependencies"]
        try:
            result = subprocess.run(
                [*command, "-DincludeScope=runtime", f"-DoutputDirectory={fresh}"],
                cwd=scratch,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=FETCH_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise StoreUnavailable(
                f"Maven did not finish fetching Neo4j in {FETCH_TIMEOUT_S} s: check the network."
            ) from error
        if result.returncode != 0:
            said = "\n".join((result.stdout + result.stderr).strip().splitlines()[-8:])
            raise StoreUnavailable(f"Maven could not fetch Neo4j (exit code {result.returncode}): {said}")
        sizes = _sizes(fresh)
        if len(sizes) != JAR_COUNT:
            raise StoreUnavailable(
                f"Expected {JAR_COUNT} jars of Neo4j {NEO4J_VERSION} from Maven, got {len(sizes)} ({pom})."
            )
        (fresh / "complete.json").write_text(json.dumps(sizes, indent=0), encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        fresh.rename(folder)


def _supported_library(command: Path) -> Path | None:
    result = subprocess.run(
        [str(command), "-XshowSettings:properties", "-version"], capture_output=True, text=True, timeout=60, check=False
    )
    settings = dict(
        re.findall(r"^\s*(java\.home|java\.specification\.version) = (.+?)\s*$", result.stderr, re.MULTILINE)
    )
    version = settings.get("java.specification.version", "")
    if not version.isdigit() or not SUPPORTED_JAVA[0] <= int(version) <= SUPPORTED_JAVA[1]:
        return None
    return _library(Path(settings["java.home"]))


def _library(java_home: Path) -> Path | None:
    name = "libjvm.dylib" if sys.platform == "darwin" else "libjvm.so"
    library = java_home / "lib" / "server" / name
    return library if library.is_file() else None
