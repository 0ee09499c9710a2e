"""Kill builds at random moments and see that the resumed graph equals an uninterrupted one.

    python -m benchmarks.crash_recovery FOLDER [--kills 20] [--store embedded|neo4j] [--seed 1] [--extractor simple_kg --latency-s 2]

Builds FOLDER once without interruption into a fresh store and takes its digest. Then, in another fresh store, starts the same build again
and again, each time killing it (SIGKILL, the whole process) after a random time, until `--kills` builds were killed; the last one runs to
its end. A build that comes to its end before its time has nothing left to interrupt: a fresh store is taken, and it does not count.
Prints one line for each and exits with 1 if a digest differs.

With an extractor that asks a model, a slow scripted one answers from a process of its own and records what it was asked. No call that it
had completed may come again; what it had answered in the last moment before a kill may still have been on its way to the reply cache, and
is counted apart. Exits with 1 if any other call came again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.replies import REPLIES_VARIABLE, extracted, write_replies
from benchmarks.stores import fresh_store
from kgrag import cli
from kgrag.testing import ModelServerProcess

LAST_MOMENT_S = 0.1
"""From the server's sending of a reply until it is in the cache."""
CONCURRENCY = 8


def kgrag(*arguments: str) -> list[str]:
    """Return the command line of a kgrag command, for this interpreter."""
    return [sys.executable, "-c", "from kgrag.cli import main; main()", *arguments]


def build(command: Sequence[str], store: str, *, kill_after_s: float | None = None) -> bool:
    """Build in a process of its own; say whether it came to its end.

    The process is forked from this one, which has imported what builds need: kills are to hit builds, not imports.
    """
    process = get_context("fork").Process(target=_build, args=(["build", *command, "--store", store],))
    process.start()
    process.join(kill_after_s)
    if process.exitcode is None:
        process.kill()
        killed_at.append(time.monotonic())
        process.join()
        return False
    if process.exitcode not in (0, 1):
        sys.exit(f"the build failed with exit code {process.exitcode}")
    return True


def _build(arguments: list[str]) -> None:
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        code = cli.run(arguments)
    os._exit(code)


def digest(store: str) -> str:
    """Return the digest of a store."""
    return subprocess.run(kgrag("digest", "--store", store), capture_output=True, text=True, check=True).stdout.strip()


def counts(store: str) -> str:
    """Say what a store holds."""
    shown = subprocess.run(kgrag("status", "--json", "--store", store), capture_output=True, text=True, check=True)
    status = json.loads(shown.stdout)
    return f"{status['documents']} documents, {status['chunks']} chunks, ledger {status['ledger']}"


def uninterrupted(command: Sequence[str], kind: str) -> tuple[str, float, float]:
    """Build once without interruption, and once more; return the digest and the seconds of both."""
    with fresh_store(kind) as store:
        started = time.perf_counter()
        build(command, store.target)
        seconds = time.perf_counter() - started
        expected = digest(store.target)
        print(f"uninterrupted: {seconds:.1f} s, digest {expected}\n{counts(store.target)}", flush=True)
        started = time.perf_counter()
        build(command, store.target)
        again_s = time.perf_counter() - started
        print(f"the same build again: {again_s:.1f} s, {verdict(digest(store.target), expected)}", flush=True)
    return expected, seconds, again_s


def interrupted(
    command: Sequence[str], kind: str, *, kills: int, longest_s: float, moments: random.Random
) -> tuple[str, int]:
    """Kill up to `kills` builds of one store, then let one come to its end; return the digest and how many were killed."""
    with fresh_store(kind) as store:
        killed = 0
        while killed < kills and not build(command, store.target, kill_after_s=moments.uniform(0.3, longest_s)):
            killed += 1
        if killed == kills:
            build(command, store.target)
        print(counts(store.target), flush=True)
        return digest(store.target), killed


def verdict(found: str, expected: str) -> str:
    """Compare two digests in one word."""
    return "digest EQUAL" if found == expected else f"digest DIFFERENT: {found}"


def repeated_calls(report: dict[str, Any]) -> tuple[int, int]:
    """Count the calls that came again after they had been completed: those long before a kill, and those in its last moment."""
    early = late = 0
    for ended_at in report["repeated_ended_at"].values():
        kill = min((at for at in killed_at if at >= ended_at[0]), default=float("inf"))
        if kill - ended_at[0] <= LAST_MOMENT_S:
            late += 1
        else:
            early += 1
    return early, late


killed_at: list[float] = []
"""When builds were killed, on the clock that processes share."""


def import_what_builds_need(extractor: str) -> None:
    """Import it here, so that it is there in every process forked from this one. Nothing here starts a thread or a Java machine."""
    for name in (
        "kgrag.cli.app",
        "kgrag.jobs.build",
        "kgrag.knowledge_graph",
        "kgrag.models.check",
        "kgrag.models.minilm",
        "neo4j",
        "jpype",
    ):
        import_module(name)
    if extractor != "mention":
        import_module(f"kgrag.extract.{extractor}")
        import_module("kgrag.models.openai_chat")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--store", choices=("embedded", "neo4j"), default="embedded")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--extractor", default="mention")
    parser.add_argument(
        "--longest-s", type=float, help="kill after at most so many seconds; default: by what a build takes"
    )
    parser.add_argument("--latency-s", type=float, default=2.0, help="of the scripted model")
    options = parser.parse_args()
    import_what_builds_need(options.extractor)
    with tempfile.TemporaryDirectory(prefix="kgrag-benchmark-") as name:
        if options.extractor != "mention":
            os.environ |= {REPLIES_VARIABLE: f"{name}/replies.json", "OPENAI_API_KEY": "none"}
            # In another process, because reading documents starts threads.
            writing = get_context("spawn").Process(
                target=_write_replies, args=(Path(name) / "replies.json", options.folder)
            )
            writing.start()
            writing.join()
        sys.exit(0 if run(options) else 1)


def _write_replies(file: Path, folder: Path) -> None:
    write_replies(file, extracted([folder]))


def run(options: argparse.Namespace) -> bool:
    """Build whole, then with interruptions until there were enough; say whether all is as it should be."""
    moments = random.Random(options.seed)
    with asking(options) as (command, _):
        expected, whole_s, starting_s = uninterrupted(command, options.store)
    killed, good = 0, True
    while killed < options.kills and good:
        with asking(options) as (command, model):
            left = options.kills - killed
            # Earlier kills leave less to do: together they are to last about one and a half uninterrupted builds.
            longest_s = options.longest_s or 2 * (starting_s + 0.75 * whole_s / left)
            found, count = interrupted(command, options.store, kills=left, longest_s=longest_s, moments=moments)
            killed += count
            good = found == expected
            print(f"resumed after {count} kills ({killed} in all): {verdict(found, expected)}", flush=True)
            if model is not None:
                report = model.report()
                early, late = repeated_calls(report)
                good = good and not early
                print(
                    f"{sum(report['completed'].values())} calls completed; {early} came again after they had been; {late} more "
                    f"had been answered within the last {LAST_MOMENT_S * 1000:.0f} ms before a kill",
                    flush=True,
                )
    return good


@contextmanager
def asking(options: argparse.Namespace) -> Iterator[tuple[list[str], ModelServerProcess | None]]:
    """Give the arguments of a build, with a scripted model and a reply cache of their own where its extractor asks one."""
    if options.extractor == "mention":
        yield [str(options.folder)], None
        return
    with (
        tempfile.TemporaryDirectory(prefix="kgrag-benchmark-") as name,
        ModelServerProcess("benchmarks.replies:answer", latency_s=options.latency_s) as model,
    ):
        command = [str(options.folder), "--extractor", options.extractor, "--model", "openai:scripted"]
        command += ["--base-url", model.url, "--concurrency", str(CONCURRENCY)]
        yield [*command, "--model-cache", f"{name}/replies.sqlite"], model


if __name__ == "__main__":
    main()
