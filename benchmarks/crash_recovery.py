"""Kill builds at random moments and see that the resumed graph equals an uninterrupted one.

    python -m benchmarks.crash_recovery FOLDER [--kills 20] [--store embedded|neo4j] [--seed 1]

Builds FOLDER once without interruption into a fresh store and takes its digest. Then, in another fresh store, starts the same build again
and again, each time killing it (SIGKILL, the whole process) after a random time, until `--kills` builds were killed; the last one runs to
its end. A build that comes to its end before its time has nothing left to interrupt: a fresh store is taken, and it does not count.
Prints one line for each and exits with 1 if a digest differs.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.stores import fresh_store

STARTING_S = 3.0
"""About what a build takes before it reads the first document."""


def kgrag(*arguments: str) -> list[str]:
    """Return the command line of a kgrag command, for this interpreter."""
    return [sys.executable, "-c", "from kgrag.cli import main; main()", *arguments]


def build(folder: Path, store: str, *, kill_after_s: float | None = None) -> bool:
    """Build; say whether it came to its end."""
    process = subprocess.Popen(kgrag("build", str(folder), "--store", store), stdout=subprocess.DEVNULL)
    try:
        code = process.wait(timeout=kill_after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False
    if code not in (0, 1):
        sys.exit(f"the build failed with exit code {code}")
    return True


def digest(store: str) -> str:
    """Return the digest of a store."""
    return subprocess.run(kgrag("digest", "--store", store), capture_output=True, text=True, check=True).stdout.strip()


def counts(store: str) -> str:
    """Say what a store holds."""
    shown = subprocess.run(kgrag("status", "--json", "--store", store), capture_output=True, text=True, check=True)
    status = json.loads(shown.stdout)
    return f"{status['documents']} documents, {status['chunks']} chunks, ledger {status['ledger']}"


def uninterrupted(folder: Path, kind: str) -> tuple[str, float]:
    """Build once without interruption, and once more; return the digest and the seconds of the first."""
    with fresh_store(kind) as store:
        started = time.perf_counter()
        build(folder, store.target)
        seconds = time.perf_counter() - started
        expected = digest(store.target)
        print(f"uninterrupted: {seconds:.1f} s, digest {expected}\n{counts(store.target)}", flush=True)
        started = time.perf_counter()
        build(folder, store.target)
        again_s = time.perf_counter() - started
        print(f"the same build again: {again_s:.1f} s, {verdict(digest(store.target), expected)}", flush=True)
    return expected, seconds


def interrupted(folder: Path, kind: str, *, kills: int, whole_s: float, moments: random.Random) -> tuple[str, int]:
    """Kill up to `kills` builds of one store, then let one come to its end; return the digest and how many were killed."""
    with fresh_store(kind) as store:
        # Earlier kills leave less to do: together they are to last about one and a half uninterrupted builds.
        longest_s = 2 * (STARTING_S + 0.75 * whole_s / kills)
        killed = 0
        while killed < kills and not build(folder, store.target, kill_after_s=moments.uniform(0.3, longest_s)):
            killed += 1
        if killed == kills:
            build(folder, store.target)
        print(counts(store.target), flush=True)
        return digest(store.target), killed


def verdict(found: str, expected: str) -> str:
    """Compare two digests in one word."""
    return "digest EQUAL" if found == expected else f"digest DIFFERENT: {found}"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    expected, whole_s = uninterrupted(options.folder, options.store)
    killed, equal = 0, True
    while killed < options.kills and equal:
        left = options.kills - killed
        found, count = interrupted(options.folder, options.store, kills=left, whole_s=whole_s, moments=moments)
        killed += count
        equal = found == expected
        print(f"resumed after {count} kills ({killed} in all): {verdict(found, expected)}", flush=True)
    sys.exit(0 if equal else 1)


if __name__ == "__main__":
    main()
