"""Documents of a group at the desk: whoever is not in it finds nothing of them, by no route; whoever is does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

import kgrag
from kgrag.serve.access import Access, add_user, read_users
from kgrag.store.graph import GraphStore, open_store

from .conftest import EXAMPLES, DeskServer, OpenDesk

QUESTION = "What is the standby current of the X-100 Rev 3?"
HIDDEN = "controllers/X-100/x-100-datasheet.pdf"
SHOWN = "controllers/X-1000/x-1000-user-guide.html"


@pytest.fixture(scope="module")
def grouped_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("groups")
    for name in (HIDDEN, SHOWN):
        file = root / "docs" / name
        file.parent.mkdir(parents=True)
        file.write_bytes((EXAMPLES / name).read_bytes())
    (root / "groups.toml").write_text('["*/x-100-datasheet.pdf"]\ngroups = "service, sales"\n')
    return root


@pytest.fixture(scope="module")
def grouped_store(grouped_root: Path) -> Iterator[GraphStore]:
    """A data sheet for two groups, and a guide for everybody."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(grouped_root)
        with kgrag.open(grouped_root / "groups.kg") as graph:
            graph.build("docs", metadata="groups.toml")
    with open_store(str(grouped_root / "groups.kg")) as store:
        yield store


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    file = tmp_path_factory.mktemp("users") / "users.toml"
    groups: dict[str, list[str]] = {"outside": [], "other": ["lab"], "inside": ["sales"]}
    made = {name: add_user(file, name, "curate", of) for name, of in groups.items()}
    return {**made, "admin": add_user(file, "admin", "admin"), "file": str(file)}


@pytest.fixture(scope="module")
def grouped(open_desk: OpenDesk, grouped_store: GraphStore, grouped_root: Path, tokens: dict[str, str]) -> DeskServer:
    desk = open_desk(store=grouped_store, access=Access(read_users(Path(tokens["file"]))))
    desk.desk.root = grouped_root
    return desk


def client(desk: DeskServer, token: str) -> httpx2.Client:
    return desk.client(headers={"Authorization": f"Bearer {token}"})


@pytest.fixture(scope="module")
def hidden(grouped_store: GraphStore) -> dict[str, str]:
    """The ids of the hidden document and of one of its chunks."""
    document = next(one for one in grouped_store.documents.all() if one.groups)
    return {"document": document.id, "chunk": grouped_store.documents.chunks_of([document.id])[0].id}


def test_who_is_in_the_group_is_answered_from_it_and_who_is_not_sees_nothing_of_it(
    grouped: DeskServer, tokens: dict[str, str], hidden: dict[str, str]
) -> None:
    for name in ("inside", "admin"):
        with client(grouped, tokens[name]) as opened:
            assert "0.5 mA" in opened.post("/api/ask", json={"question": QUESTION}).json()["answer"]["text"]
            assert opened.get(f"/documents/{hidden['document']}/pages/1.png").status_code == 200
            assert len(opened.get("/api/documents").json()) == 2
    for name in ("outside", "other"):
        with client(grouped, tokens[name]) as opened:
            said = []
            for pipeline in [one["name"] for one in opened.get("/api/pipelines").json()]:
                body = {"question": QUESTION, "pipeline": pipeline}
                said += [opened.post("/api/ask", json=body).text, opened.post("/api/retrieve", json=body).text]
            said.append(opened.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": QUESTION}]}).text)  # fmt: skip
            said += [
                opened.get(path).text
                for path in (
                    "/api/documents",
                    "/api/status",
                    f"/api/graph?chunks={hidden['chunk']}",
                    "/api/neighbours?name=X-100",
                )
            ]
            for text in said:
                assert "datasheet.pdf" not in text
                assert hidden["document"] not in text
                assert hidden["chunk"] not in text
            assert json.loads(said[-2])["nodes"] == []
            for path in (
                f"/api/documents/{hidden['document']}",
                f"/api/documents/{hidden['document']}/passages",
                f"/api/passages/{hidden['chunk']}",
                f"/documents/{hidden['document']}/pages/1.png",
                f"/documents/{hidden['document']}/view?chunk={hidden['chunk']}",
            ):
                assert opened.get(path).status_code == 404, path
            assert opened.delete(f"/api/documents/{hidden['document']}").status_code == 404


def test_a_build_that_would_forget_the_groups_is_refused(
    grouped: DeskServer, grouped_root: Path, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(grouped_root)
    with client(grouped, tokens["admin"]) as opened:
        reply = opened.post("/api/build", json={"folder": "docs"})
    assert reply.status_code == 400
    assert "--metadata" in reply.json()["detail"]


def test_the_tools_of_mcp_give_each_user_what_they_may_read(
    grouped: DeskServer, tokens: dict[str, str], hidden: dict[str, str]
) -> None:
    from .test_mcp import serving_http

    def called(address: str, token: str) -> list[str]:
        async def run() -> list[str]:
            headers = {"Authorization": f"Bearer {token}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http,
                Client(streamable_http_client(address, http_client=http)) as opened,
            ):
                calls: list[tuple[str, dict[str, Any]]] = [
                    ("search", {"query": QUESTION}),
                    ("ask", {"question": QUESTION}),
                    ("fetch", {"id": hidden["document"]}),
                    ("fetch", {"id": hidden["chunk"]}),
                    ("neighbours", {"name": "X-100"}),
                    ("list_documents", {}),
                    ("schema", {}),
                    ("cypher", {"statement": "MATCH (d:Document) RETURN d.path, d.id"}),
                ]
                results = [str(await opened.call_tool(name, arguments)) for name, arguments in calls]
                try:
                    results.append(str(await opened.read_resource(f"kgrag://documents/{hidden['document']}")))
                except MCPError as error:
                    results.append(type(error).__name__)
                return results

        return asyncio.run(run())

    with serving_http(grouped.desk, Access(read_users(Path(tokens["file"])))) as address:
        outside, inside = called(address, tokens["outside"]), called(address, tokens["inside"])
    for result in outside:
        assert "datasheet.pdf" not in result
        assert "Rev 3 hardware" not in result
    assert [("datasheet.pdf" in result) for result in inside[:4]] == [True] * 4
    assert "datasheet.pdf" in inside[5]
    assert "datasheet.pdf" in inside[7]
    assert "X-100" in inside[8]
