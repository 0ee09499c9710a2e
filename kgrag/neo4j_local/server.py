"""The life of a local Neo4j Community server: `up`, `status`, `down`.

By Docker where an engine runs, else from Maven artefacts in a process of its own. Either way its folder (`home`) keeps `password`
(readable by its owner only) and `server.json` (what runs); from Maven also the data, `server.log` and `logs/`. It listens on the
loopback interface only, with authentication on.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path

from kgrag.errors import InputError, StoreLocked, StoreUnavailable
from kgrag.neo4j_local.docker import compose_down, compose_runs, compose_up, docker_runs
from kgrag.neo4j_local.jars import exclusive, jars_missing, java_library, neo4j_jars
from kgrag.store.folder_lock import FolderLock

__all__ = ["BOLT_PORT", "Engine", "Neo4jServer", "default_home", "down", "engine_missing", "status", "up"]

Engine = Literal["auto", "docker", "maven"]

BOLT_PORT = 7687
"""Neo4j's own default, as is the next."""
BROWSER_PORT = 7474
PORTS_NOT_GIVEN_OUT = range(20_000, 32_768)
"""Systems give programs that ask for any port a higher one."""
PORTS_TRIED = 100
HEAP_MB = 2048
SETTINGS = {
    "dbms.usage_report.enabled": "false",
    "server.memory.pagecache.size": "512m",
    "internal.dbms.index.vector.population_ram_buffer_size": "96",
}
"""Of every Neo4j that is started here, in a process or by `docker/compose.yaml`.

The last, which Neo4j calls internal, says how many MB a segment of a vector index becomes while it is filled from all nodes (16 as it
comes): a question is put to each. 117,239 chunks of manuals are 4 segments, asked in half of the processor time of 35 (docs/scale.md)."""
USERNAME = "neo4j"
FIRST_PASSWORD = "neo4j"  # noqa: S105 - what every new Neo4j starts with, and what it insists on having changed
START_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 60.0
POLL_S = 0.2


@dataclass(frozen=True, kw_only=True)
class Neo4jServer:
    """A server that runs: where it is and how to log in."""

    url: str
    username: str
    password: str
    home: Path
    engine: str
    """`docker` or `maven`."""
    bolt_port: int
    pid: int | None
    """Of the process that keeps the server running (`kgrag.neo4j_local.process`); None under Docker, whose engine does."""
    heap_mb: int = HEAP_MB

    def environment(self) -> dict[str, str]:
        """Return the variables that make every kgrag command take this server."""
        return {"KGRAG_STORE": self.url, "NEO4J_USERNAME": self.username, "NEO4J_PASSWORD": self.password}


def default_home() -> Path:
    """Return `$XDG_DATA_HOME/kgrag/neo4j` (`~/.local/share/kgrag/neo4j`)."""
    return user_data_path("kgrag", appauthor=False) / "neo4j"


def engine_missing() -> str | None:
    """Say why Neo4j cannot be started here, or return None where it can."""
    if docker_runs():
        return None
    reason = jars_missing()
    return reason and f"Neo4j cannot be started here: no Docker engine runs, and {reason}."


def up(
    home: Path | None = None,
    *,
    password: str | None = None,
    bolt_port: int | None = None,
    engine: Engine = "auto",
    heap_mb: int | None = None,
    owner_pid: int | None = None,
    settings: Mapping[str, str] | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Neo4jServer:
    """Start a server on `home`, or return the one that runs there, once it answers with its password.

    `password`: of a new server, at least 8 characters; without one it is generated. An existing home keeps its own. `bolt_port` and
    `heap_mb`: without them a home has those of its last server (a new one `BOLT_PORT` and `HEAP_MB`); port 0 takes a free one where that of
    the last is taken, or there was none. `owner_pid`: the server stops by itself when that process is gone; `settings`: more lines of its
    neo4j.conf (both from Maven only). `on_step` is told of long steps, and of a port or heap that a running server does not have. Raises
    `InputError` for a password that does not fit the home, `StoreUnavailable` where it cannot be started.
    """
    home = (home or default_home()).resolve()
    home.mkdir(parents=True, exist_ok=True)
    with exclusive(home / "up.lock"):
        running = status(home)
        kept = running.password if running else _keep_password(home, password)
        if password is not None and password != kept:
            raise InputError(
                f"{home} has another password (in {home / 'password'}): leave the password out, or take another home."
            )
        if running:
            if (bolt_port or running.bolt_port, heap_mb or running.heap_mb) != (running.bolt_port, running.heap_mb):
                on_step(
                    f"It runs already, on port {running.bolt_port} with a heap of {running.heap_mb} MB. For another: kgrag db down, then "
                    "the same command."
                )
            return running
        last = _last_server(home)
        heap_mb = heap_mb or (last.heap_mb if last else HEAP_MB)
        port = bolt_port
        if port is None:
            port = last.bolt_port if last else BOLT_PORT
        elif port == 0:
            port = last.bolt_port if last and _port_is_free(last.bolt_port) else _free_port()
        if not _port_is_free(port):
            raise StoreUnavailable(f"Port {port} on 127.0.0.1 is taken by another program: choose another with --port.")
        chosen = _choose_engine(home, engine)
        on_step(f"Starting Neo4j ({chosen}) on port {port}, home {home}")
        process = None
        if chosen == "docker":
            browser_port = BROWSER_PORT if port == BOLT_PORT else None
            compose_up(home, password=kept, bolt_port=port, browser_port=browser_port, heap_mb=heap_mb)
        else:
            process = _start_process(
                home, port=port, heap_mb=heap_mb, owner_pid=owner_pid, settings=settings or {}, on_step=on_step
            )
        server = Neo4jServer(
            url=f"neo4j://127.0.0.1:{port}",
            username=USERNAME,
            password=kept,
            home=home,
            engine=chosen,
            bolt_port=port,
            pid=process.pid if process else None,
            heap_mb=heap_mb,
        )
        state = {name: value for name, value in asdict(server).items() if name not in {"password", "home"}}
        (home / "server.json").write_text(json.dumps(state, indent=1), encoding="utf-8")
        try:
            _wait_for_login(server, process)
        except BaseException:  # an interrupt as well: nothing half-started stays behind
            if process is None:
                compose_down(home, delete_data=False)
            else:
                process.terminate()
                process.wait(STOP_TIMEOUT_S)
            raise
        return server


def status(home: Path | None = None) -> Neo4jServer | None:
    """Return the server that runs on `home`, or None."""
    home = (home or default_home()).resolve()
    last = _last_server(home)
    if last is None:
        return None
    runs = compose_runs(home) if last.engine == "docker" else _process_runs(home)
    return last if runs else None


def down(home: Path | None = None, *, delete_data: bool = False) -> bool:
    """Stop the server on `home` in order and say whether one ran. `delete_data` removes the database and the home as well.

    Raises `StoreUnavailable` where it does not stop, `InputError` where `home` is a folder of another kind.
    """
    home = (home or default_home()).resolve()
    last, running = _last_server(home), status(home)
    if running is not None and running.pid is not None:
        # What is deleted next need not be closed in order.
        _stop_process(home, running.pid, signal.SIGKILL if delete_data else signal.SIGTERM)
    elif running is not None or (delete_data and last is not None and last.engine == "docker"):
        compose_down(home, delete_data=delete_data)
    if delete_data and home.is_dir():
        _remove_home(home)
    return running is not None


def _last_server(home: Path) -> Neo4jServer | None:
    file = home / "server.json"
    if not file.is_file():
        return None
    return Neo4jServer(**json.loads(file.read_text(encoding="utf-8")), home=home, password=_password(home))


def _choose_engine(home: Path, wanted: Engine) -> str:
    """Take the engine that has the home's data, for a new home the one that is wanted."""
    last = _last_server(home)
    if last is not None and wanted not in {"auto", last.engine}:
        raise InputError(
            f"The data of {home} are with {last.engine}, not with {wanted}: take that engine or another home."
        )
    if last is not None:
        return last.engine
    return ("docker" if docker_runs() else "maven") if wanted == "auto" else wanted


def _remove_home(home: Path) -> None:
    if not (home / "password").is_file():
        raise InputError(f"{home} is not a home of `kgrag db up` (it has no file `password`): nothing was removed.")
    shutil.rmtree(home)


def _keep_password(home: Path, password: str | None) -> str:
    file = home / "password"
    if file.is_file():
        return _password(home)
    kept = password or secrets.token_urlsafe(18)
    if len(kept) < 8:
        raise InputError("Neo4j expects a password of at least 8 characters.")
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        out.write(kept + "\n")
    return kept


def _password(home: Path) -> str:
    return (home / "password").read_text(encoding="utf-8").strip()


def _free_port() -> int:
    """Return a free port of those that systems do not give out by themselves: nobody takes it in the seconds until the server has it."""
    for port in secrets.SystemRandom().sample(PORTS_NOT_GIVEN_OUT, PORTS_TRIED):
        if _port_is_free(port):
            return port
    raise StoreUnavailable(f"No port was free on 127.0.0.1, of {PORTS_TRIED} tried. Name one with --port.")


def _port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _start_process(
    home: Path,
    *,
    port: int,
    heap_mb: int,
    owner_pid: int | None,
    settings: Mapping[str, str],
    on_step: Callable[[str], None],
) -> subprocess.Popen[bytes]:
    jars, library = neo4j_jars(on_step), java_library()
    conf = {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"127.0.0.1:{port}",
        "server.bolt.advertised_address": f"127.0.0.1:{port}",
        "dbms.security.auth_enabled": "true",
        **SETTINGS,
        **settings,
    }
    (home / "neo4j.conf").write_text("".join(f"{name}={value}\n" for name, value in conf.items()), encoding="utf-8")
    owner = [] if owner_pid is None else [str(owner_pid)]
    with (home / "server.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "kgrag.neo4j_local.process", home, jars, library, str(heap_mb), *owner],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _process_runs(home: Path) -> bool:
    """Say whether the lock that the server holds for life is taken: unlike a process id it is never somebody else's."""
    try:
        FolderLock(home).release()
    except StoreLocked:
        return True
    return False


def _stop_process(home: Path, pid: int, how: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, how)
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while _process_runs(home):
        if time.monotonic() > deadline:
            raise StoreUnavailable(
                f"Neo4j (process {pid}) did not stop in {STOP_TIMEOUT_S:.0f} s: see {home / 'logs'}."
            )
        time.sleep(POLL_S)


def _wait_for_login(server: Neo4jServer, process: subprocess.Popen[bytes] | None) -> None:
    """Return once the server answers queries with its own password, which a new server is given here."""
    from neo4j.exceptions import AuthError, ServiceUnavailable, SessionExpired, TransientError

    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            return _log_in(server)
        except AuthError as error:
            raise StoreUnavailable(
                f"Neo4j in {server.home} accepts neither the password in {server.home / 'password'} nor a new server's: "
                "write the right one into that file."
            ) from error
        except (ServiceUnavailable, SessionExpired, TransientError) as error:
            if process is not None and process.poll() is not None:
                log = server.home / "server.log"
                said = "\n".join(log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-8:])
                raise StoreUnavailable(f"Neo4j did not start (see {log} and {server.home / 'logs'}): {said}") from error
            if time.monotonic() > deadline:
                raise StoreUnavailable(
                    f"Neo4j did not answer at {server.url} in {START_TIMEOUT_S:.0f} s: {error}"
                ) from error
            time.sleep(POLL_S)


def _log_in(server: Neo4jServer) -> None:
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError

    bolt = f"bolt://127.0.0.1:{server.bolt_port}"

    def ask(password: str, cypher: str, database: str, **parameters: Any) -> None:
        # A session's own `run` does not retry: the caller does, without the driver's warnings.
        with (
            GraphDatabase.driver(bolt, auth=(server.username, password)) as driver,
            driver.session(database=database) as session,
        ):
            session.run(cypher, **parameters).consume()

    try:
        ask(server.password, "RETURN 1", "neo4j")
    except AuthError:
        change = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
        ask(FIRST_PASSWORD, change, "system", old=FIRST_PASSWORD, new=server.password)
        ask(server.password, "RETURN 1", "neo4j")
