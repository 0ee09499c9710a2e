"""Take the model away for a minute in the middle of a build, then the database: `python -m benchmarks.outages [--engine ray]`.

A build by `simple_kg` on a Neo4j of its own around a slow scripted model. The first build is left alone, in the second the model's server
stops in the middle, in the third Neo4j is shut down in the middle (`--signal KILL` kills it), each for `--away-s` seconds. With `--engine
ray` the second and third are built by a Ray cluster of this machine, and the first here all the same. Prints what the builds said while
they waited, and exits with 1 if a digest differs from that of the first, or a completed call came again.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.crash_recovery import digest, kgrag, verdict
from benchmarks.replies import REPLIES_VARIABLE, answer, extracted, write_replies
from benchmarks.stores import NEO4J_HEAP_MB
from benchmarks.synthetic import passages, write_passages
from kgrag.neo4j_local import server as neo4j_server
from kgrag.testing import ModelServer

CALLS_BEFORE = 60
"""Completed calls after which something goes away."""
PASSAGES = 240
LATENCY_S = 1.0
CONCURRENCY = 8


def build(
    file: Path, home: Path, cache: Path, *, outage: Callable[[ModelServer], None] | None, engine: str = "local"
) -> tuple[str, bool]:
    """Build into an emptied Neo4j; return the digest, and whether the server saw no completed call again."""
    server = neo4j_server.up(home, bolt_port=0, engine="maven", heap_mb=NEO4J_HEAP_MB, owner_pid=os.getpid())
    os.environ |= server.environment()
    with ModelServer(answer, latency_s=LATENCY_S) as model:
        command = ["build", str(file), "--store", server.url, "--extractor", "simple_kg", "--model", "openai:scripted"]
        command += ["--base-url", model.url, "--concurrency", str(CONCURRENCY), "--model-cache", str(cache)]
        command += ["--engine", engine]
        started = time.perf_counter()
        process = subprocess.Popen(kgrag(*command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if outage is not None:
            while sum(model.completed("chat").values()) < CALLS_BEFORE and process.poll() is None:
                time.sleep(0.1)
            interrupter = threading.Thread(target=outage, args=(model,))
            interrupter.start()
        said = process.communicate()[1]
        if outage is not None:
            interrupter.join()
        completed, repeated = sum(model.completed("chat").values()), len(model.repeated("chat"))
    found = digest(server.url)
    neo4j_server.down(home, delete_data=True)
    print(
        f"exit code {process.returncode} after {time.perf_counter() - started:.0f} s; {completed} calls completed, "
        f"{repeated} came again\n{said.strip()}",
        flush=True,
    )
    return found, process.returncode == 0 and not repeated


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--away-s", type=float, default=60.0)
    parser.add_argument("--signal", choices=("TERM", "KILL"), default="TERM", help="how Neo4j is ended")
    parser.add_argument("--engine", choices=("local", "ray"), default="local", help="of the builds with an outage")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kgrag-benchmark-") as name:
        folder = Path(name)
        file, home = folder / "passages.jsonl", folder / "neo4j"
        write_passages(file, list(passages(PASSAGES)))
        write_replies(folder / "replies.json", extracted([file]))
        os.environ |= {REPLIES_VARIABLE: str(folder / "replies.json"), "OPENAI_API_KEY": "none"}

        def model_away(model: ModelServer) -> None:
            model.stop()
            time.sleep(options.away_s)
            model.start()

        def database_away(model: ModelServer) -> None:
            running = neo4j_server.status(home)
            if running is None or running.pid is None:
                raise SystemExit("Neo4j does not run as a process of ours.")
            if options.signal == "KILL":
                os.kill(running.pid, signal.SIGKILL)
            neo4j_server.down(home)
            time.sleep(options.away_s)
            neo4j_server.up(
                home, bolt_port=running.bolt_port, engine="maven", heap_mb=NEO4J_HEAP_MB, owner_pid=os.getpid()
            )

        expected, good = build(file, home, folder / "0.sqlite", outage=None)
        print(f"left alone: digest {expected}\n", flush=True)
        for number, outage in enumerate((model_away, database_away), start=1):
            found, kept = build(file, home, folder / f"{number}.sqlite", outage=outage, engine=options.engine)
            print(
                f"{outage.__name__.replace('_', ' ')} for {options.away_s:.0f} s: {verdict(found, expected)}\n",
                flush=True,
            )
            good = good and kept and found == expected
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
