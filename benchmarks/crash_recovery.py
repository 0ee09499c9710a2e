"""Kill builds at random moments and see that the resumed graph equals an uninterrupted one.

    python benchmarks/crash_recovery.py FOLDER [--kills 20] [--store neo4j://localhost:7687] [--seed 1]

Builds FOLDER once without interruption and takes its digest. Then, from an empty store, starts the same build again and again, each time
killing it (SIGKILL, the whole process) after a random share of the uninterrupted build's time, until `--kills` builds were killed; the last
one runs to its end. A killed build that was done already does not count: the store is emptied and filled anew. Prints one line a kill and
exits with 1 if the digests differ. With `--store neo4j://...` the database is EMPTIED first.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def kgrag(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from kgrag.cli import main; main()", *arguments]


def empty(store: str) -> None:
    """Make a store hold nothing."""
    if "://" not in store:
        shutil.rmtree(store, ignore_errors=True)
        return
    from kgrag.store.graph import open_store

    with open_store(store) as opened:
        opened.clear()


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
    return subprocess.run(kgrag("digest", "--store", store), capture_output=True, text=True, check=True).stdout.strip()


def counts(store: str) -> str:
    shown = subprocess.run(
        kgrag("status", "--json", "--store", store), capture_output=True, text=True, check=True
    ).stdout
    status = json.loads(shown)
    return f"{status['documents']} documents, {status['chunks']} chunks, ledger {status['ledger']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--store", default="")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as temporary:
        store = options.store or str(Path(temporary) / "crash.kg")
        empty(store)
        started = time.perf_counter()
        build(options.folder, store)
        whole_s = time.perf_counter() - started
        expected = digest(store)
        print(f"uninterrupted: {whole_s:.1f} s, digest {expected}\n{counts(store)}", flush=True)
        started = time.perf_counter()
        build(options.folder, store)
        print(
            f"the same build again: {time.perf_counter() - started:.1f} s, digest {'equal' if digest(store) == expected else 'DIFFERENT'}"
        )
        empty(store)
        killed = 0
        while killed < options.kills:
            # The earlier kills leave less to do: aim at what is left of one build, spread over all of them.
            after_s = moments.uniform(0.3, 3.0 + 2 * whole_s / options.kills)
            if build(options.folder, store, kill_after_s=after_s):
                print(
                    f"came to its end within {after_s:.1f} s, digest {'equal' if digest(store) == expected else 'DIFFERENT'}; emptied"
                )
                empty(store)
                continue
            killed += 1
            print(f"kill {killed} after {after_s:.1f} s", flush=True)
        build(options.folder, store)
        resumed = digest(store)
        print(f"resumed: digest {resumed}\n{counts(store)}")
        print("EQUAL" if resumed == expected else "DIFFERENT")
        sys.exit(0 if resumed == expected else 1)


if __name__ == "__main__":
    main()
