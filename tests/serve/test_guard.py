"""Who gets in, and what is refused: each test fails without its guard."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from kgrag.errors import InputError
from kgrag.knowledge_graph import AsyncKnowledgeGraph
from kgrag.serve.access import Access, Attempts, User, add_user, read_access, read_users
from kgrag.serve.desk import Desk
from kgrag.serve.guard import is_loopback
from kgrag.serve.problems import TooMuch
from kgrag.serve.running import Listening, check_listening
from kgrag.serve.spending import EXPECTED_TOKENS, Spending
from kgrag.serve.webhook import Webhook
from kgrag.testing import Behaviour, ModelRequest, ModelServer, answer, hanging

from .conftest import DeskServer, OpenDesk

QUESTION = {"question": "What is the standby current of the X-100?"}
RANKS = {"ask": 0, "curate": 1, "admin": 2}


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    file = tmp_path_factory.mktemp("users") / "users.toml"
    made = {role: add_user(file, f"{role}-user", role) for role in ("ask", "curate", "admin")}  # type: ignore[arg-type]
    return {**made, "file": str(file)}


@pytest.fixture(scope="module")
def closed(open_desk: OpenDesk, tokens: dict[str, str]) -> DeskServer:
    """A desk with users."""
    return open_desk(access=Access(read_users(Path(tokens["file"]))))


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", ""]
)
def test_a_foreign_host_name_is_refused(client: httpx2.Client, host: str) -> None:
    """DNS rebinding: a page of evil.example whose name leads to 127.0.0.1."""
    assert client.get("/api/status", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/status"])
def test_head_is_answered_as_get_without_the_body(client: httpx2.Client, path: str) -> None:
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.headers["content-type"]) == (
        get.status_code,
        get.headers["content-type"],
    ) and get.is_success
    assert head.content == b"" != get.content
    assert int(head.headers["content-length"]) > 0


def test_a_second_host_header_is_refused(desk: DeskServer) -> None:
    """By the guard itself: of the servers that it may run in, not all refuse this before."""

    async def sent() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(desk.app), base_url="http://localhost") as client:
            return await client.get("/healthz", headers=[("Host", "localhost"), ("Host", "evil.example")])

    assert asyncio.run(sent()).status_code == 421


def test_a_websocket_is_refused(client: httpx2.Client) -> None:
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
    assert client.get("/api/ask", headers={"Connection": "Upgrade", "Upgrade": "websocket", **key}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[evil"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_requests_of_other_origins_are_refused(client: httpx2.Client, headers: dict[str, str]) -> None:
    assert client.post("/api/ask", json=QUESTION, headers=headers).status_code == 403


def test_the_desks_own_page_may_ask(desk: DeskServer, client: httpx2.Client) -> None:
    headers = {"Origin": desk.url, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/complete", json=QUESTION, headers=headers).status_code == 200


def test_no_other_site_may_read_an_answer(client: httpx2.Client) -> None:
    preflight = client.options(
        "/api/ask", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    )
    reply = client.get("/api/status", headers={"Origin": "https://evil.example"})
    for one in (preflight, reply):
        assert not [name for name in one.headers if name.startswith("access-control-")]
    assert reply.headers["cross-origin-resource-policy"] == "same-origin"


def test_every_reply_has_the_policy(client: httpx2.Client) -> None:
    for path in ("/", "/static/desk.js", "/api/status", "/nowhere"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert client.get(path).headers["x-content-type-options"] == "nosniff"


def test_the_page_has_no_inline_script_style_or_foreign_address(client: httpx2.Client) -> None:
    page = client.get("/").text
    assert not re.search(r"<style|\sstyle=|\son\w+=|https?://", page)
    assert re.findall(r"<script([^>]*)>", page) == [' type="module" src="/static/desk.js"']


def test_the_pages_scripts_make_no_markup_of_text() -> None:
    """What documents, models and people wrote becomes text nodes: no way from a string to markup is used anywhere."""
    import kgrag.serve

    for file in (Path(kgrag.serve.__file__).parent / "static").glob("*.js"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc|DOMParser",
            file.read_text(),
        ), file.name


def test_a_body_that_is_too_large_is_refused_with_and_without_its_length(client: httpx2.Client) -> None:
    large = b'{"question": "' + b"x" * 300_000 + b'"}'
    assert client.post("/api/ask", content=large, headers={"Content-Type": "application/json"}).status_code == 413

    def pieces() -> object:
        for start in range(0, len(large), 10_000):
            yield large[start : start + 10_000]

    sent = client.post("/api/ask", content=pieces(), headers={"Content-Type": "application/json"})  # type: ignore[arg-type]
    assert sent.status_code == 413


@pytest.mark.parametrize("depth", [100, 800, 100_000])
def test_a_body_that_is_nested_deeply_is_refused(client: httpx2.Client, depth: int) -> None:
    body = b'{"question": ' + b"[" * depth + b"]" * depth + b"}"
    for path in ("/api/ask", "/v1/chat/completions"):
        reply = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert reply.status_code in (400, 422), reply.text


def test_a_body_that_says_it_is_too_large_is_not_waited_for(desk: DeskServer) -> None:
    with socket.create_connection(("127.0.0.1", desk.port), timeout=60) as raw:
        raw.sendall(b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 413")


def test_nothing_but_the_empty_page_is_there_without_a_token(closed: DeskServer) -> None:
    with closed.client() as client:
        for path in ("/", "/static/desk.js", "/healthz"):
            assert client.get(path).status_code == 200
        for path in (
            "/api/documents",
            "/api/openapi.json",
            "/api/me",
            "/readyz",
            "/documents/x/view",
            "/metrics",
            "/nowhere",
        ):
            reply = client.get(path)
            assert reply.status_code == 401, path
            assert reply.headers["www-authenticate"] == "Bearer"
        assert client.post("/api/ask", json=QUESTION).status_code == 401
        assert client.get("/api/me", headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert client.get("/api/me", headers={"Cookie": "kgrag_session=wrong"}).status_code == 401


ROLES_OF_ROUTES = {
    "curate": {
        ("POST", "/api/documents"),
        ("DELETE", "/api/documents/{document_id}"),
        ("DELETE", "/api/uploads"),
        ("POST", "/api/build"),
        ("GET", "/api/build"),
    },
    "admin": {("GET", "/api/tickets"), ("GET", "/metrics")},
}
"""What needs more than the role ask."""
FOR_EVERYBODY = {("GET", "/"), ("GET", "/favicon.ico"), ("GET", "/healthz"), ("POST", "/login"), ("GET", "/static")}


def routes_of(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Every method and path of an app, those of its routers, too."""
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from routes_of(included.routes)
            continue
        methods = getattr(route, "methods", None) or {"GET"}
        yield from ((method, route.path) for method in methods - {"HEAD"})


def test_every_route_needs_its_role_and_no_route_is_forgotten(closed: DeskServer, tokens: dict[str, str]) -> None:
    said = {("GET", "/static"): "/static/desk.js"}
    wrong = []
    routes = set(routes_of(closed.app.routes))
    assert {("POST", "/api/ask"), ("GET", "/metrics"), ("POST", "/v1/chat/completions"), ("GET", "/readyz")} <= routes
    for role in (None, "ask", "curate", "admin"):
        headers = {"Authorization": f"Bearer {tokens[role]}"} if role is not None else {}
        with closed.client(headers=headers) as client:
            for method, path in sorted(routes - {("POST", "/login"), ("POST", "/logout")}):
                needed = next((one for one, among in ROLES_OF_ROUTES.items() if (method, path) in among), "ask")
                allowed = (method, path) in FOR_EVERYBODY or (role is not None and RANKS[role] >= RANKS[needed])
                address = said.get((method, path), re.sub(r"{\w+}", "7", path))
                status = client.request(method, address, content=b"{" if method == "POST" else None).status_code
                expected = status not in (401, 403) if allowed else status == (401 if role is None else 403)
                if not expected:
                    wrong.append((role, method, path, status))
    assert wrong == []


def test_a_role_is_needed(closed: DeskServer, tokens: dict[str, str]) -> None:
    with closed.client() as client:
        for role, expected in (("ask", 403), ("curate", 403), ("admin", 200)):
            reply = client.get("/api/tickets", headers={"Authorization": f"Bearer {tokens[role]}"})
            assert reply.status_code == expected, role


def test_nobody_gives_feedback_on_the_answer_of_another(closed: DeskServer, tokens: dict[str, str]) -> None:
    with closed.client() as client:
        asked = client.post("/api/ask", json=QUESTION, headers={"Authorization": f"Bearer {tokens['ask']}"}).json()
        body = {"answer_id": asked["id"], "verdict": "wrong"}
        other = client.post("/api/feedback", json=body, headers={"Authorization": f"Bearer {tokens['curate']}"})
        own = client.post("/api/feedback", json=body, headers={"Authorization": f"Bearer {tokens['ask']}"})
    assert (other.status_code, own.status_code) == (404, 201)


def test_logging_in_gives_a_cookie_that_scripts_and_other_sites_never_see(
    closed: DeskServer, tokens: dict[str, str]
) -> None:
    with closed.client() as client:
        reply = client.post("/login", json={"secret": tokens["ask"]})
        cookie = reply.headers["set-cookie"]
        assert "secure" not in cookie.casefold()
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert tokens["ask"] not in cookie
        assert client.get("/api/me").json() == {"name": "ask-user", "role": "ask", "login": True}
        forged = client.post("/api/complete", json=QUESTION, headers={"Origin": "https://evil.example"})
        assert forged.status_code == 403  # CSRF: a cookie alone is not enough
        secret = client.cookies["kgrag_session"]
        assert client.post("/logout").status_code == 403  # nor is one that no browser sends along from the desk's page
        assert client.post("/logout", headers={"Origin": closed.url}).status_code == 204
        assert client.get("/api/me", headers={"Cookie": f"kgrag_session={secret}"}).status_code == 401


def test_behind_a_proxy_with_tls_the_cookie_goes_over_tls_only(closed: DeskServer, tokens: dict[str, str]) -> None:
    with closed.client(headers={"Origin": f"https://127.0.0.1:{closed.port}"}) as client:
        assert "Secure" in client.post("/login", json={"secret": tokens["ask"]}).headers["set-cookie"]


def test_wrong_tokens_are_limited_and_even_the_right_one_waits(open_desk: OpenDesk, tokens: dict[str, str]) -> None:
    desk = open_desk(access=Access(read_users(Path(tokens["file"]))))
    with desk.client() as client:
        tries = [client.post("/login", json={"secret": f"guess {n}"}).status_code for n in range(12)]
        assert tries == [401] * 10 + [429] * 2
        assert client.post("/login", json={"secret": tokens["ask"]}).status_code == 429
        assert client.get("/api/me", headers={"Authorization": f"Bearer {tokens['ask']}"}).status_code == 429
    bearer = open_desk(access=Access(read_users(Path(tokens["file"]))))
    with bearer.client() as client:
        tries = [client.get("/api/me", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(12)]
    assert tries == [401] * 10 + [429] * 2


def test_people_log_in_with_name_and_password_and_the_file_keeps_its_argon2_hash(
    open_desk: OpenDesk, tmp_path: Path
) -> None:
    file = tmp_path / "users.toml"
    add_user(file, "anna", "ask", password="correct horse battery")
    add_user(file, "bert", "admin")
    assert "correct horse" not in file.read_text()
    assert "$argon2id$v=19$m=65536,t=3,p=4$" in file.read_text()
    with pytest.raises(InputError, match="10 to 200"):
        add_user(file, "carl", "ask", password="short")
    desk = open_desk(access=read_access(file))
    with desk.client() as client:
        right = {"name": "anna", "secret": "correct horse battery"}
        for wrong in (
            {**right, "secret": "correct horse"},
            {**right, "name": "bert"},
            {**right, "name": "nobody"},
            {**right, "secret": ""},
            {"name": "anna"},
            {"name": ["anna"], "secret": 1},
            {**right, "secret": "x" * 10_000},
        ):
            assert client.post("/login", json=wrong).status_code == 401
        assert client.post("/login", json=right).json() == {"name": "anna", "role": "ask"}


def test_passwords_are_limited_by_name_from_wherever_and_before_anything_is_computed(
    open_desk: OpenDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "users.toml"
    add_user(file, "anna", "ask", password="correct horse battery")
    access = read_access(file)
    for _ in range(10):
        access.wrong.count("name anna")
    computed = []
    monkeypatch.setattr("argon2.PasswordHasher.verify", lambda *_: computed.append(1))
    desk = open_desk(access=access)
    with desk.client() as client:
        assert client.post("/login", json={"name": "anna", "secret": "correct horse battery"}).status_code == 429
        assert client.post("/login", json={"name": "bert", "secret": "x" * 10_000}).status_code == 401
        assert client.post("/login", json={"name": "bert", "secret": "anything at all"}).status_code == 401
    assert len(computed) == 1  # for the name that is not known as well, and not for what is too long to be a password


def test_many_tries_at_once_are_many_tries(open_desk: OpenDesk, tmp_path: Path) -> None:
    file = tmp_path / "users.toml"
    add_user(file, "anna", "ask", password="correct horse battery")
    desk = open_desk(access=read_access(file))

    def guess(number: int) -> int:
        with desk.client() as client:
            return client.post("/login", json={"name": "anna", "secret": f"guess number {number}"}).status_code

    with ThreadPoolExecutor(16) as pool:
        statuses = Counter(pool.map(guess, range(16)))
    assert statuses == {401: 10, 429: 6}


def test_a_login_that_makes_no_sense_is_a_wrong_one(open_desk: OpenDesk, tmp_path: Path) -> None:
    file = tmp_path / "users.toml"
    add_user(file, "anna", "ask", password="correct horse battery")
    bodies = [
        b"[" * 100_000,
        b"9" * 5_000,
        b"\xff",
        b'{"name": "\\ud800", "secret": "\\udfff"}',
        b'{"name": ["anna"], "secret": {}}',
    ]
    with open_desk(access=read_access(file)).client() as client:
        assert [client.post("/login", content=body).status_code for body in bodies] == [401] * len(bodies)


def test_two_passwords_are_computed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes 64 MiB and a processor."""
    file = tmp_path / "users.toml"
    add_user(file, "anna", "ask", password="correct horse battery")
    access = read_access(file)
    under_way, most = [0], [0]

    def verify(*_: object) -> bool:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        time.sleep(0.05)
        under_way[0] -= 1
        return False

    monkeypatch.setattr("argon2.PasswordHasher.verify", verify)

    async def many() -> None:
        await asyncio.gather(*(access.user_of_password("anna", str(number)) for number in range(6)))

    asyncio.run(many())
    assert most == [2]


def test_a_user_has_so_many_tokens_of_a_model_a_day_over_restarts(open_desk: OpenDesk, tmp_path: Path) -> None:
    file, folder = tmp_path / "users.toml", tmp_path / "desk"
    tokens = {name: add_user(file, name, "ask") for name in ("anna", "bert")}
    said = {"quotes": [], "answered": True, "answer": "The standby current is 0.5 mA [1]."}
    with ModelServer(lambda request: answer(said)) as model:
        settings = {"model": "openai:any", "base_url": model.url, "model_cache": "off", "user_tokens": 1}
        first = open_desk(access=read_access(file), folder=folder, **settings)
        again = open_desk(access=read_access(file), folder=folder, **settings)
        again.desk.spending = Spending(1, again.desk.journal.read("audit"))

        def asked(desk: DeskServer, name: str) -> httpx2.Response:
            with desk.client(headers={"Authorization": f"Bearer {tokens[name]}"}) as client:
                return client.post("/api/ask", json=QUESTION)

        assert asked(first, "anna").status_code == 200
        refused = asked(first, "anna")
        assert asked(first, "bert").status_code == 200
        calls = len(model.requests)
        again.desk.spending = Spending(1, again.desk.journal.read("audit"))
        assert asked(again, "anna").status_code == 429
        assert len(model.requests) == calls
    assert refused.status_code == 429
    assert "--user-tokens" in refused.json()["detail"]


def test_tokens_come_back_after_a_day() -> None:
    now = [0.0]
    spending = Spending(10, now=lambda: now[0])
    with spending.question("anna") as bill:
        bill.tokens = 10
    with pytest.raises(TooMuch), spending.question("anna"):
        pass
    now[0] = 25 * 3600.0
    with spending.question("anna"):
        pass


def test_questions_at_once_and_stopped_ones_use_the_model_too(open_desk: OpenDesk, tmp_path: Path) -> None:
    """Nobody asks many at once before the first is counted, nor stops each before it is."""
    file = tmp_path / "users.toml"
    headers = {"Authorization": f"Bearer {add_user(file, 'anna', 'ask')}"}
    said = {"quotes": [], "answered": True, "answer": "The standby current is 0.5 mA [1]."}
    with ModelServer(lambda request: answer(said, latency_s=1.0)) as model:
        settings = {"model": "openai:any", "base_url": model.url, "model_cache": "off"}
        desk = open_desk(access=read_access(file), user_tokens=1, **settings)

        def ask(_: int) -> int:
            with desk.client(headers=headers) as client:
                return client.post("/api/ask", json=QUESTION).status_code

        with ThreadPoolExecutor(8) as pool:
            assert Counter(pool.map(ask, range(8))) == {200: 1, 429: 7}
    came = threading.Event()

    def script(request: ModelRequest) -> Behaviour:
        came.set()
        return hanging()

    with ModelServer(script) as model:
        settings = {"model": "openai:any", "base_url": model.url, "model_cache": "off"}
        desk = open_desk(access=read_access(file), user_tokens=1, folder=tmp_path / "stopped", **settings)
        desk.ask_and_leave(QUESTION["question"], came, **headers)
        with desk.client(headers=headers) as client:
            for _ in range(600):
                stopped = [one for one in desk.desk.journal.read("audit") if one.get("action") == "ask stopped"]
                if stopped:
                    break
                time.sleep(0.05)
            assert stopped[0]["tokens"] == EXPECTED_TOKENS
            assert client.post("/api/ask", json=QUESTION).status_code == 429


class Hook:
    """A server that keeps what is posted to it and answers with a status."""

    def __init__(self, status: int = 200, location: str = "") -> None:
        self.came: list[tuple[str, dict[str, object]]] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.came.append((self.headers["Host"], json.loads(body)))
                self.send_response(status)
                if location:
                    self.send_header("Location", location)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://localhost:{self.server.server_port}/hook"


def test_tickets_are_sent_to_the_webhook_and_written_down_whatever_becomes_of_that(
    open_desk: OpenDesk, tmp_path: Path
) -> None:
    hook = Hook()
    for number, webhook in enumerate((Webhook(hook.url, allows_private=True), Webhook(hook.url))):
        folder = tmp_path / str(number)
        desk = open_desk(folder=folder, webhook=webhook)
        with desk.client() as client:
            asked = client.post("/api/ask", json=QUESTION).json()
            assert client.post("/api/tickets", json={"answer_id": asked["id"]}).status_code == 201
        for _ in range(300):
            told = [entry for entry in desk.desk.journal.read("audit") if entry.get("action") == "webhook"]
            if told:
                break
            time.sleep(0.05)
        assert len(list(desk.desk.journal.read("tickets"))) == 1
        assert (told[0]["said"] == "delivered") is webhook.allows_private
    assert [(host, ticket["question"]) for host, ticket in hook.came] == [
        (hook.url.split("/")[2], QUESTION["question"])
    ]


def test_a_ticket_that_is_not_delivered_when_the_desk_closes_is_written_down_as_that(tmp_path: Path) -> None:
    async def job() -> list[dict[str, Any]]:
        graph = await AsyncKnowledgeGraph.open(tmp_path / "some.kg")
        with ModelServer(lambda request: hanging()) as silent:
            webhook = Webhook(f"{silent.url}/chat/completions", allows_private=True)
            desk = Desk(graph, tmp_path / "desk", tmp_path, webhook=webhook)
            desk.send_ticket({"id": "t1", "user": "anna", "messages": []})
            await desk.close()
        return list(desk.journal.read("audit"))

    (told,) = asyncio.run(job())
    assert (told["ticket"], told["said"]) == ("t1", "not delivered: the desk closed")


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "localhost", "[::1]", "169.254.169.254", "10.0.0.1", "192.168.1.1"),
        *("0.0.0.0", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"),
    ],
)
def test_a_webhook_leads_nowhere_into_the_own_network(address: str) -> None:
    hook = Hook()
    said = asyncio.run(Webhook(f"http://{address}:{hook.server.server_port}/").send({"id": "1"}))
    assert "own network" in said
    assert hook.came == []


def test_a_webhook_follows_no_redirect() -> None:
    inner = Hook()
    outer = Hook(307, inner.url)
    assert asyncio.run(Webhook(outer.url, allows_private=True).send({"id": "1"})) == "answered 307"
    assert len(outer.came) == 1
    assert inner.came == []


def test_a_webhook_goes_to_the_address_that_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads elsewhere when it is looked up again leads nowhere."""
    hook, looked_up = Hook(), []

    async def getaddrinfo(loop: object, host: str, port: int, **_: object) -> list[Any]:
        looked_up.append(host)
        assert len(looked_up) == 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    webhook = Webhook(f"http://hook.example:{hook.server.server_port}/hook", allows_private=True)
    assert asyncio.run(webhook.send({"id": "1"})) == "delivered"
    assert looked_up[0] == "hook.example"
    assert hook.came[0][0].startswith("hook.example:")


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.org/", "http://", "https://user:word@example.org/", "example.org"]
)
def test_a_webhook_is_an_address_of_the_web(url: str) -> None:
    with pytest.raises(InputError, match="--webhook"):
        Webhook(url)


def test_attempts_are_forgotten_after_a_minute() -> None:
    now = [0.0]
    attempts = Attempts(2, now=lambda: now[0])
    attempts.count("a")
    attempts.count("a")
    assert attempts.exceeded("a")
    assert not attempts.exceeded("b")
    now[0] = 61.0
    assert not attempts.exceeded("a")


def test_requests_of_one_user_are_limited(
    open_desk: OpenDesk, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgrag.serve.guard.REQUESTS_PER_MINUTE", 3)
    desk = open_desk(access=Access(read_users(Path(tokens["file"]))))
    with desk.client() as client:
        client.get("/healthz")  # the middleware is made by the first request
        statuses = {
            role: [
                client.post(
                    "/api/complete", json=QUESTION, headers={"Authorization": f"Bearer {tokens[role]}"}
                ).status_code
                for _ in range(4)
            ]
            for role in ("ask", "curate")
        }
    assert statuses == {"ask": [200, 200, 200, 429], "curate": [200, 200, 200, 429]}


@pytest.mark.parametrize("command", [["serve"], ["mcp", "--http"]])
def test_the_commands_do_not_start_on_such_an_address_without_users(command: list[str], tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from kgrag.cli.app import app

    done = CliRunner().invoke(app, [*command, "--store", str(tmp_path / "none.kg"), "--host", "0.0.0.0", "--port", "0"])
    assert done.exit_code != 0
    said = f"{done.output} {done.exception}"
    assert "kgrag users add" in said
    assert not list(tmp_path.iterdir())


def test_an_address_that_others_reach_needs_users(tmp_path: Path, tokens: dict[str, str]) -> None:
    def listening(host: str, users: Path | None = None) -> Listening:
        return Listening(host, 0, users, (), tmp_path, tmp_path)

    for host in ("0.0.0.0", "192.168.1.4", "::", "example.org"):
        with pytest.raises(InputError, match="kgrag users add"):
            check_listening(listening(host))
    assert check_listening(listening("127.0.0.1")).is_open
    assert not check_listening(listening("0.0.0.0", Path(tokens["file"]))).is_open
    empty = tmp_path / "users.toml"
    empty.write_text("")
    with pytest.raises(InputError, match="has no users"):
        check_listening(listening("0.0.0.0", empty))


def test_what_is_the_loopback_is_known() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "localhost", "::1", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "localhost.evil.example", "")))


def test_the_file_of_users_keeps_no_token(tmp_path: Path) -> None:
    file = tmp_path / "users.toml"
    token = add_user(file, "anna", "ask")
    assert token not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert Access(read_users(file)).user_of_token(token) == User("anna", "ask")
    for name in ("anna", 'x"]\nrole', "a" * 65, ""):
        with pytest.raises(InputError):
            add_user(file, name, "ask")


def test_what_is_written_down_is_added_to_and_read_by_its_owner_only(desk: DeskServer, client: httpx2.Client) -> None:
    """The audit log: who asked what, and which chunks they saw, in answers and beside them; nothing over HTTP takes a line back."""
    file = desk.desk.folder / "audit.jsonl"
    reply = client.post("/api/ask", json=QUESTION).json()
    before = file.read_bytes()
    chunk = reply["answer"]["citations"][0]["chunk_id"]
    found = client.get(f"/api/passages/{chunk}").json()
    client.get(found["view"])
    client.get(f"/api/documents/{found['document']['id']}/passages")
    client.post("/api/retrieve", json=QUESTION)
    after = file.read_bytes()
    assert after.startswith(before)
    entries = [json.loads(line) for line in after[len(before) :].splitlines()]
    assert [one["action"] for one in entries] == ["read", "view", "read", "retrieve"]
    assert all(one["user"] == "local" and chunk in one["chunks"] for one in entries)
    assert file.stat().st_mode & 0o077 == 0
    assert desk.desk.folder.stat().st_mode & 0o077 == 0


def test_a_session_ends() -> None:
    clock = 0.0
    access = Access(now=lambda: clock)
    secret = access.open_session(User("anna", "ask"))
    assert access.user_of_session(secret) is not None
    clock = 11 * 3600
    assert access.user_of_session(secret) is not None
    clock = 13 * 3600
    assert access.user_of_session(secret) is None
