"""`kgrag serve`: what is checked before the desk opens, and how it runs until it is told to end."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import uvicorn

from kgrag.common.journal import Journal
from kgrag.errors import InputError
from kgrag.knowledge_graph import AsyncKnowledgeGraph
from kgrag.serve.access import Access, User, read_access
from kgrag.serve.app import LOOPBACK_NAMES, create_app
from kgrag.serve.connection import HeadInTime
from kgrag.serve.desk import QUESTION_S, Desk
from kgrag.serve.guard import Guard, is_loopback
from kgrag.serve.places import DRAIN_S
from kgrag.serve.telemetry import Telemetry, log_to
from kgrag.serve.uploads import UPLOADS_MB
from kgrag.serve.webhook import Webhook

__all__ = ["Listening", "Webhook", "check_listening", "log_to", "run", "run_mcp", "server_config"]

TOLD_S = 0.5
"""In which those whose questions are ended are told so."""
MAX_CONNECTIONS = 500
BACKLOG = 512
KEEP_ALIVE_S = 60
"""Longer than clients keep a connection that nothing goes over: one that is closed as a request leaves is an error for them."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a desk listens, who may come in, and where it writes."""

    host: str
    port: int
    users: Path | None
    allowed_hosts: tuple[str, ...]
    desk: Path
    root: Path
    uploads: Path = Path("kgrag-uploads")
    uploads_mb: int = UPLOADS_MB
    metadata: Path | None = None
    webhook: Webhook | None = None
    user_tokens: int | None = None
    at_once: int | None = None
    question_s: float = QUESTION_S
    drain_s: float = DRAIN_S
    logs_questions: bool = False


def check_listening(listening: Listening) -> Access:
    """Return who may come in. Raises `InputError` for an address that others reach without users, and for a file of users that is wrong."""
    if listening.users is not None:
        return read_access(listening.users)
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
    """Open the store, listen, and serve until SIGINT or SIGTERM; what is worked on then has `drain_s` to end."""
    async with _opened(store, listening, settings) as desk:
        with _bind(listening.host, listening.port) as bound:
            app = create_app(desk, access=access, hosts=_hosts(listening))
            say(f"The desk is open: {_address(listening, bound)}/  (Ctrl-C closes it)")

            def closing() -> None:
                app.state.curating.stop()
                app.state.asking.places.close(drain_s=listening.drain_s)

            await _serve(app, bound, drain_s=listening.drain_s, closing=closing)


async def run_mcp(
    store: str | Path | None,
    listening: Listening,
    access: Access | None,
    *,
    settings: Mapping[str, Any],
    allow_cypher: bool,
    say: Callable[[str], None],
) -> None:
    """Open the store and serve the Model Context Protocol: over HTTP to those whom `access` lets in, or without one over stdio.

    Nothing is written to the store: of one that another process has open a copy is served.
    """
    from mcp.server.transport_security import TransportSecuritySettings

    from kgrag.serve.mcp_server import create_mcp

    async with _opened(store, listening, settings, reads_only=True) as desk:
        if desk.graph.store.remark:
            say(f"note: {desk.graph.store.remark}")
        server = create_mcp(desk, allow_cypher=allow_cypher, user=User("mcp", "ask", None))
        if access is None:
            await server.run_stdio_async()
            return
        # The guard checks host, origin, size and token, as it does for the desk.
        inner = server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        with _bind(listening.host, listening.port) as bound:
            say(f"The tools are at {_address(listening, bound)}/mcp  (Ctrl-C ends it)")
            await _serve(
                Guard(inner, access=access, hosts=_hosts(listening), public=frozenset()),
                bound,
                drain_s=listening.drain_s,
            )


@asynccontextmanager
async def _opened(
    store: str | Path | None, listening: Listening, settings: Mapping[str, Any], *, reads_only: bool = False
) -> AsyncIterator[Desk]:
    Journal(listening.desk).check()
    graph = await AsyncKnowledgeGraph.open(store, create=False, reads_only=reads_only, **settings)
    desk = Desk(
        graph,
        listening.desk,
        listening.root,
        uploads=listening.uploads,
        uploads_mb=listening.uploads_mb,
        metadata=listening.metadata,
        webhook=listening.webhook,
        user_tokens=listening.user_tokens,
        at_once=listening.at_once,
        question_s=listening.question_s,
        telemetry=Telemetry(logs_questions=listening.logs_questions),
    )
    try:
        await graph.warm()
        yield desk
    finally:
        await asyncio.shield(desk.close())


def server_config(app: Any, *, drain_s: float = DRAIN_S) -> uvicorn.Config:
    """Return how the server listens: of anybody who connects it waits for nothing without end."""
    return uvicorn.Config(
        app,
        http=HeadInTime,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=ceil(drain_s + TOLD_S),
        timeout_keep_alive=KEEP_ALIVE_S,
        limit_concurrency=MAX_CONNECTIONS,
        proxy_headers=False,
    )


async def _serve(app: Any, bound: socket.socket, *, drain_s: float, closing: Callable[[], None] = lambda: None) -> None:
    config = server_config(app, drain_s=drain_s)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    await _Server(config, closing).serve(sockets=[bound])


class _Server(uvicorn.Server):
    """Says when it begins to close, before it waits for what is under way."""

    def __init__(self, config: uvicorn.Config, closing: Callable[[], None]) -> None:
        super().__init__(config)
        self._closing = closing

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close."""
        self._closing()
        await super().shutdown(sockets)


def _hosts(listening: Listening) -> tuple[str, ...]:
    """Return the names by which a desk may be called: an address that stands for all interfaces is none."""
    own = () if listening.host in ("0.0.0.0", "::") else (listening.host,)  # noqa: S104
    return (*LOOPBACK_NAMES, *listening.allowed_hosts, *own)


def _address(listening: Listening, bound: socket.socket) -> str:
    host = "127.0.0.1" if is_loopback(listening.host) else listening.host
    return f"http://{host}:{bound.getsockname()[1]}"


def _bind(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family[0], family[1])
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(family[4])
        bound.listen(BACKLOG)  # whoever reads that the desk is open is let in, however long the rest takes
    except OSError as error:
        raise InputError(
            f"--host {host} --port {port}: cannot listen there ({error.strerror}). Take another --port."
        ) from error
    return bound
