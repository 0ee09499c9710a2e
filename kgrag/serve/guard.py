"""What every request passes before a route sees it: the host it was sent to, where it comes from, how large it is, who sends it."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgrag.serve.access import ANYBODY, Access, Attempts, User
from kgrag.serve.problems import plain_problem, problem_response

__all__ = ["COOKIE", "Guard", "is_loopback"]

COOKIE = "kgrag_session"
BODY_BYTES = 256_000
"""Of a request, but an upload."""
STALLED_S = 30.0
"""How long nothing of a body that is not whole may come: connections are few (`running.MAX_CONNECTIONS`)."""
SLOWEST_BYTES_S = 1000
"""Bytes a second in which a body has to come after that: one byte now and then holds a connection, too."""
UPLOADS = ("POST", "/api/documents")
"""Where the body is a document: as large as a build reads, from those who may curate."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
PUBLIC = frozenset({"/", "/healthz", "/login", "/favicon.ico"})
"""What nobody has to log in for: the empty page, and whether the process lives."""
REQUESTS_PER_MINUTE = 300
"""Of one user that cost something: questions, searches, reports."""
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class _TooLarge(Exception):
    pass


class Guard:
    """ASGI middleware around the whole desk.

    `hosts` are the names by which it may be called, `public` what needs no user, `upload_bytes` how large an upload may be.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        access: Access,
        hosts: Sequence[str],
        public: frozenset[str] = PUBLIC,
        upload_bytes: int = BODY_BYTES,
    ) -> None:
        self._app = app
        self._access = access
        self._hosts = frozenset(host.casefold() for host in hosts)
        self._public = public
        self._upload_bytes = upload_bytes
        self._requests = Attempts(REQUESTS_PER_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with the user in the scope's state."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            else:  # a websocket, of which the desk has none: 403 for its request
                await send({"type": "websocket.close"})
            return
        headers = Headers(scope=scope)
        head = scope["method"] == "HEAD"
        if head:  # answered as GET is, without the body: probes ask so
            scope = {**scope, "method": "GET"}

        async def guarded_send(message: Message) -> None:
            if head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    own.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            status, why = refusal
            wait = {"WWW-Authenticate": "Bearer"} if status == 401 else {"Retry-After": "60"} if status == 429 else None
            await problem_response(plain_problem(status, why), wait, path=scope["path"])(scope, receive, guarded_send)
            return
        await self._limited(scope, receive, guarded_send, self._body_limit(scope))

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Return the status and the reason why a request is refused; put its user into the scope."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or _host_name(hosts[0]) not in self._hosts:
            return 421, f"This desk is not called {', '.join(hosts)[:100]!r}. Name it with kgrag serve --allowed-host."
        if scope["method"] not in SAFE_METHODS:
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "Requests of other sites are refused."
            origin = headers.get("origin")
            if origin is not None and origin.partition("://")[2].casefold() != hosts[0].casefold():
                return 403, f"Requests of another origin ({origin[:100]}) are refused."
        refusal = self._admitted(scope, headers)
        length, limit = headers.get("content-length", "0"), self._body_limit(scope)
        if refusal is None and (not length.isdecimal() or int(length) > limit):
            return 413, f"Expected a body of at most {limit:,} bytes, got {length[:20]}."
        return refusal

    def _body_limit(self, scope: Scope) -> int:
        """Return how many bytes the body of an admitted request may have."""
        user: User | None = scope["state"].get("user")
        uploads = (scope["method"], scope["path"]) == UPLOADS and user is not None and user.may("curate")
        return self._upload_bytes if uploads else BODY_BYTES

    def _admitted(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        address = (scope.get("client") or ("?", 0))[0]
        state = scope.setdefault("state", {})
        state["address"] = address
        path = scope["path"]
        user: User | None = ANYBODY if self._access.is_open else None
        if not self._access.is_open:
            kind, _, token = headers.get("authorization", "").partition(" ")
            if token and kind.casefold() == "bearer":
                # Whoever guesses is stopped before anything is computed.
                if self._access.wrong.exceeded(address):
                    return 429, "Too many wrong tokens from this address. Wait a minute."
                user = self._access.user_of_token(token.strip())
                if user is None:
                    self._access.wrong.count(address)
            elif secret := _cookie(headers.get("cookie", "")):
                user = self._access.user_of_session(secret)
                said_by_browser = "origin" in headers or "sec-fetch-site" in headers
                if user is not None and scope["method"] not in SAFE_METHODS and not said_by_browser:
                    return (
                        403,
                        "A session changes things from the desk's page only; programs send Authorization: Bearer TOKEN.",
                    )
        public = path in self._public or ("/" in self._public and path.startswith("/static/"))
        if user is None and not public:
            return (
                401,
                "Expected a token: Authorization: Bearer TOKEN, or log in on the page. kgrag users add makes one.",
            )
        state["user"] = user
        if user is not None and scope["method"] == "POST" and not self._access.is_open:
            if self._requests.exceeded(user.name):
                return 429, f"More than {REQUESTS_PER_MINUTE} requests in a minute. Wait a little."
            self._requests.count(user.name)
        return None

    async def _limited(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        """Pass on, but read no more of the body than the limit: a length may be missing. Who sends next to nothing for long is gone."""
        read = 0
        waited_s = 0.0
        begun = whole = False

        async def limited_receive() -> Message:
            nonlocal read, waited_s, whole
            left_s = min(STALLED_S, STALLED_S + read / SLOWEST_BYTES_S - waited_s)
            began = time.monotonic()
            try:
                async with asyncio.timeout(None if whole else left_s):
                    message = await receive()
            except TimeoutError:
                return {"type": "http.disconnect"}
            waited_s += time.monotonic() - began
            if message["type"] == "http.request":
                whole = not message.get("more_body", False)
                read += len(message.get("body", b""))
                if read > limit:
                    raise _TooLarge
            return message

        async def limited_send(message: Message) -> None:
            nonlocal begun
            if read > limit and not begun:
                return  # what the app makes of a body that it could not read
            begun = True
            await send(message)

        try:
            await self._app(scope, limited_receive, limited_send)
        except _TooLarge:
            if begun:
                raise
        except asyncio.CancelledError:  # the desk ends, and this took too long: the request's task ends with it
            if begun:
                raise
            closing = plain_problem(503, "The desk is closing. Ask again in a moment.")
            await problem_response(closing, path=scope["path"])(scope, receive, send)
            return
        if read > limit and not begun:
            large = plain_problem(413, f"Expected a body of at most {limit:,} bytes.")
            await problem_response(large, path=scope["path"])(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address to listen on."""
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str:
    """Return the name in a Host header, without its port."""
    name = host.casefold()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.rpartition(":")[0] if ":" in name else name


def _cookie(header: str) -> str:
    try:
        morsel = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel is not None else ""
