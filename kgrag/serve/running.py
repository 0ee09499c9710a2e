"""`kgrag serve`: what is checked before the desk opens, and how it runs until it is told to end."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from kgrag.errors import InputError
from kgrag.knowledge_graph import AsyncKnowledgeGraph
from kgrag.serve.access import Access, read_users
from kgrag.serve.app import LOOPBACK_NAMES, create_app
from kgrag.serve.desk import Desk
from kgrag.serve.guard import is_loopback

__all__ = ["Listening", "check_listening", "run"]

DRAIN_S = 10
"""For requests that are under way when the desk ends."""
MAX_CONNECTIONS = 500


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a desk listens, who may come in, and where it writes."""

    host: str
    port: int
    users: Path | None
    allowed_hosts: tuple[str, ...]
    desk: Path
    root: Path


def check_listening(listening: Listening) -> Access:
    """Return who may come in. Raises `InputError` for an address that others reach without users, and for a file of users that is wrong."""
    if listening.users is not None:
        return Access(read_users(listening.users))
    if not is_loopback(listening.host):
        raise InputError(
            f"--host {listening.host}: other machines reach this address, so the desk needs users: "
            "kgrag users add NAME --users users.toml, then kgrag serve --users users.toml. Without users it listens on 127.0.0.1 only."
        )
    return Access()


async def run(
    store: str | Path | None,
    listening: Listening,
    access: Access,
    *,
    settings: Mapping[str, Any],
    say: Callable[[str], None],
) -> None:
    """Open the store, listen, and serve until SIGINT or SIGTERM; what is under way then has `DRAIN_S` to end."""
    graph = await AsyncKnowledgeGraph.open(store, create=False, **settings)
    try:
        await graph.warm()
        bound = _bind(listening.host, listening.port)
    except BaseException:
        await graph.close()
        raise
    port = bound.getsockname()[1]
    hosts = (*LOOPBACK_NAMES, *listening.allowed_hosts)
    if not is_loopback(listening.host) and listening.host not in ("0.0.0.0", "::"):  # noqa: S104
        hosts = (*hosts, listening.host)
    desk = Desk(graph, listening.desk, listening.root)
    config = uvicorn.Config(
        create_app(desk, access=access, hosts=hosts),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_S,
        limit_concurrency=MAX_CONNECTIONS,
        proxy_headers=False,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    shown = "127.0.0.1" if is_loopback(listening.host) else listening.host
    say(f"The desk is open: http://{shown}:{port}/  (Ctrl-C closes it)")
    try:
        await uvicorn.Server(config).serve(sockets=[bound])
    finally:
        bound.close()
        await asyncio.shield(desk.close())


def _bind(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family[0], family[1])
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(family[4])
    except OSError as error:
        raise InputError(
            f"--host {host} --port {port}: cannot listen there ({error.strerror}). Take another --port."
        ) from error
    return bound
