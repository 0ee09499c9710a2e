"""`python -m kgrag.testing`: the scripted model server as a process. It prints one line of JSON when it listens, and ends with Ctrl-C."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from importlib import import_module

from kgrag.testing.server import ModelServer, Script

__all__ = ["main"]


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m kgrag.testing", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--script", help="package.module:function from a ModelRequest to a Behaviour, text or data")
    parser.add_argument("--reply", default="ok", help="what to answer where there is no script")
    parser.add_argument("--latency-s", type=float, default=0.0, help="seconds before every reply")
    parser.add_argument("--models", help="the models that exist, separated by commas; default: every name")
    parser.add_argument("--dimensions", type=int, default=64, help="of embeddings")
    parser.add_argument("--api-key", help="the only key that is let in; default: any")
    parser.add_argument("--no-record", action="store_true", help="keep no requests: for long measurements")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the process that started this one")
    options = parser.parse_args()
    try:
        script = _load(options.script) if options.script else options.reply
    except (ImportError, AttributeError, ValueError) as error:
        parser.error(
            f"--script {options.script}: expected package.module:function that Python finds from here: {error}"
        )
    server = ModelServer(
        script,
        models=options.models.split(",") if options.models else None,
        api_key=options.api_key,
        dimensions=options.dimensions,
        latency_s=options.latency_s,
        port=options.port,
        record=not options.no_record,
    )
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    signal.signal(signal.SIGINT, lambda *_: stopped.set())
    with server:
        sys.stdout.write(json.dumps({"url": server.url, "port": server.port}) + "\n")
        sys.stdout.flush()
        if options.until_stdin_closes:
            sys.stdin.read()
        else:
            stopped.wait()


def _load(reference: str) -> Script:
    module, _, name = reference.partition(":")
    script: Script = getattr(import_module(module), name)
    return script


if __name__ == "__main__":
    main()
