"""A desk over a small store of the sample documents, on a real socket; the store is built once."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import httpx2
import pytest
import uvicorn
from playwright.sync_api import Browser, sync_playwright

import kgrag
from kgrag.knowledge_graph import AsyncKnowledgeGraph
from kgrag.serve.access import Access
from kgrag.serve.app import LOOPBACK_NAMES, create_app
from kgrag.serve.desk import QUESTION_S, Desk
from kgrag.serve.uploads import UPLOADS_MB
from kgrag.serve.webhook import Webhook
from kgrag.settings import load_settings
from kgrag.store.graph import GraphStore, open_store

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "documents"
SAMPLES = (
    "controllers/X-100/x-100-datasheet.pdf",
    "controllers/X-100/x-100-user-guide.html",
    "controllers/X-1000/x-1000-user-guide.html",
    "sensors/TPR-40/tpr-40-datasheet.md",
    "sensors/TPR-400/tpr-400-datasheet.docx",
)
HOSTILE = """<html><head><title>&lt;img src=x onerror=alert(1)&gt; Fan F-9</title><script>document.title = "owned"</script></head>
<body onload="alert(1)"><h1 id="kgrag-mark">Fan F-9 &lt;script&gt;alert(2)&lt;/script&gt;</h1>
<p id="speed" onclick="alert(3)" style="position:fixed;inset:0">
The fan F-9 turns at <b>4200 rpm</b> and takes <a href="javascript:alert(4)">90 mA</a>.</p>
<iframe src="https://example.org/"></iframe><svg onload="alert(5)"></svg><img src="https://example.org/spy.png" alt="spy">
<form action="https://example.org/"><input name="token"></form><base href="https://example.org/"><style>body{display:none}</style>
<p>The fan F-9 &lt;img src=x onerror=alert(6)&gt; is mounted with two screws M3.</p></body></html>"""
HOSTILE_NAME = 'fan "><img src=x onerror=alert(7)>.html'


@pytest.fixture(scope="session")
def sample_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that paths of the sample documents are relative to."""
    root = tmp_path_factory.mktemp("desk-root")
    for name in SAMPLES:
        file = root / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes((EXAMPLES / name).read_bytes())
    (root / "docs" / HOSTILE_NAME).write_text(HOSTILE)
    return root


@pytest.fixture(scope="session")
def sample_target(tmp_path_factory: pytest.TempPathFactory, sample_root: Path) -> str:
    """A store with those documents."""
    target = str(tmp_path_factory.mktemp("desk-store") / "samples.kg")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(sample_root)
        with kgrag.open(target) as graph:
            graph.build("docs")
    shutil.copytree(target, f"{target[:-3]}-copy.kg")
    return target


@pytest.fixture(scope="session")
def sample_copy(sample_target: str) -> str:
    """Another store with the same content, for a process of its own."""
    return f"{sample_target[:-3]}-copy.kg"


@pytest.fixture(scope="session")
def sample_store(sample_target: str) -> Iterator[GraphStore]:
    """The same, open."""
    with open_store(sample_target) as store:
        yield store


class DeskServer:
    """A desk that listens on a free port, in a thread with an event loop of its own."""

    def __init__(self, desk: Desk, access: Access | None, hosts: tuple[str, ...]) -> None:
        self.desk = desk
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.app = create_app(desk, access=access, hosts=hosts)
        self._server = uvicorn.Server(uvicorn.Config(self.app, log_config=None, timeout_graceful_shutdown=5))
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self.desk.pages.close()

    def client(self, **options: Any) -> httpx2.Client:
        """A client of this desk."""
        return httpx2.Client(base_url=self.url, timeout=60, verify=False, **options)

    def ask_and_leave(self, question: str, came: threading.Event, **headers: str) -> None:
        """Ask, and close the connection once the question has come as far as `came` says."""
        body = json.dumps({"question": question}).encode()
        sent = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        with socket.create_connection(("127.0.0.1", self.port)) as raw:
            raw.sendall(f"POST /api/ask HTTP/1.1\r\n{lines}\r\n".encode() + body)
            assert came.wait(60)


OpenDesk = Callable[..., DeskServer]


@pytest.fixture(scope="module")
def open_desk(
    sample_store: GraphStore, sample_root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenDesk]:
    """Opens desks over the sample store: with `access`, `hosts`, `folder`, and settings by name."""
    with ExitStack() as opened:

        def open_one(
            *,
            store: GraphStore = sample_store,
            access: Access | None = None,
            hosts: tuple[str, ...] = LOOPBACK_NAMES,
            folder: Path | None = None,
            uploads: Path = Path("kgrag-uploads"),
            webhook: Webhook | None = None,
            user_tokens: int | None = None,
            uploads_mb: int = UPLOADS_MB,
            at_once: int | None = None,
            question_s: float = QUESTION_S,
            **settings: Any,
        ) -> DeskServer:
            graph = AsyncKnowledgeGraph(store, load_settings(**settings))
            desk = Desk(
                graph,
                folder or tmp_path_factory.mktemp("desk"),
                sample_root,
                uploads=uploads,
                webhook=webhook,
                user_tokens=user_tokens,
                uploads_mb=uploads_mb,
                at_once=at_once,
                question_s=question_s,
            )
            return opened.enter_context(DeskServer(desk, access, hosts))

        yield open_one


@pytest.fixture(scope="module")
def desk(open_desk: OpenDesk) -> DeskServer:
    """A desk without users."""
    return open_desk()


@pytest.fixture
def client(desk: DeskServer) -> Iterator[httpx2.Client]:
    """A client of it."""
    with desk.client() as opened:
        yield opened


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
