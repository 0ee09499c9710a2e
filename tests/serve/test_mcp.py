"""The MCP server with the official SDK's client: in memory, over stdio, over HTTP."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from kgrag.knowledge_graph import AsyncKnowledgeGraph
from kgrag.serve.access import ANYBODY, Access, User
from kgrag.serve.desk import Desk
from kgrag.serve.guard import Guard
from kgrag.serve.mcp_server import TOKEN_LIMIT, create_mcp
from kgrag.settings import load_settings
from kgrag.store.graph import GraphStore

QUESTION = "What is the standby current of the X-100 Rev 3?"
TOOLS = ["ask", "fetch", "list_documents", "neighbours", "schema", "search"]


@pytest.fixture(scope="module")
def desk_here(sample_store: GraphStore, sample_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(AsyncKnowledgeGraph(sample_store, load_settings()), tmp_path_factory.mktemp("mcp"), sample_root)


@pytest.fixture
def server(desk_here: Desk) -> MCPServer[Any]:
    return create_mcp(desk_here, user=User("mcp", "ask", None))


def with_client(connect: Any, use: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(connect) as client:
            return await use(client)

    return asyncio.run(run())


def call(connect: Any, name: str, /, **arguments: Any) -> dict[str, Any]:
    result = with_client(connect, lambda client: client.call_tool(name, arguments))
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


def refusal(connect: Any, name: str, /, **arguments: Any) -> str:
    result = with_client(connect, lambda client: client.call_tool(name, arguments))
    assert result.is_error
    return str(result.content[0].text)


def test_the_tools_are_there_typed_and_only_read(server: MCPServer[Any]) -> None:
    tools = with_client(server, lambda client: client.list_tools()).tools
    assert sorted(tool.name for tool in tools) == TOOLS
    assert all(tool.annotations.read_only_hint and tool.output_schema and tool.description for tool in tools)


def test_an_answer_leads_to_passages_that_can_be_fetched(server: MCPServer[Any]) -> None:
    answer = call(server, "ask", question=QUESTION)
    assert "0.5 mA" in answer["answer"]
    passage = call(server, "fetch", id=answer["sources"][0]["id"])["passages"][0]
    assert passage["document"] == answer["sources"][0]["document"]
    assert call(server, "ask", question="Who won the match on Mars?")["abstained"]


def test_a_result_stays_below_the_limit_and_its_cursor_goes_on(server: MCPServer[Any], desk_here: Desk) -> None:
    count = desk_here.graph.embedder.count_tokens
    document = next(
        one for one in call(server, "list_documents")["documents"] if one["path"].endswith("x-100-datasheet.pdf")
    )
    whole = len(desk_here.graph.store.documents.chunks_of([document["id"]]))
    ids: list[str] = []
    cursor, pages = "", 0
    while True:
        page = call(server, "fetch", id=document["id"], cursor=cursor)
        assert sum(count(one["text"]) for one in page["passages"]) <= TOKEN_LIMIT
        ids += [one["id"] for one in page["passages"]]
        pages, cursor = pages + 1, page["next_cursor"]
        if not cursor:
            break
    assert pages > 1
    assert len(ids) == len(set(ids)) == whole
    first = call(server, "search", query="X-100 supply voltage")
    second = call(server, "search", query="X-100 supply voltage", cursor=first["next_cursor"])
    assert not {one["id"] for one in first["passages"]} & {one["id"] for one in second["passages"]}


def test_the_graph_and_its_schema_can_be_asked(server: MCPServer[Any]) -> None:
    known = call(server, "neighbours", name="X-100")
    assert any(one["head"] == "X-100" or one["tail"] == "X-100" for one in known["statements"])
    schema = call(server, "schema")
    assert schema["documents"] == 6
    assert schema["graphs"]["mention"]["entities"]
    assert schema["graphs"]["mention"]["relations"]


def test_what_is_wrong_is_said_in_a_sentence(server: MCPServer[Any]) -> None:
    assert "No document has the id" in refusal(server, "fetch", id="nothing")
    assert refusal(server, "ask", question=" ") == "Expected a question, got an empty text."
    assert "Near it" in refusal(server, "neighbours", name="Q-77")
    assert "name of a pipeline" in refusal(server, "search", query="x", pipeline="/etc/hostname")
    assert "next_cursor" in refusal(server, "search", query="X-100", cursor="-1")
    assert refusal(server, "search") == "query: expected a value, got none"
    assert refusal(server, "fetch", id=["a"]) == "id: input should be a valid string"
    assert refusal(server, "neighbours", name="") == "name: string should have at least 1 character"


def test_cypher_is_a_tool_only_where_it_is_allowed_and_never_writes(desk_here: Desk, server: MCPServer[Any]) -> None:
    statement = "MATCH (d:Document) RETURN d.path AS path ORDER BY path"
    assert "Unknown tool" in refusal(server, "cypher", statement=statement)
    allowed = create_mcp(desk_here, allow_cypher=True, user=ANYBODY)
    assert len(call(allowed, "cypher", statement=statement)["rows"]) == 6
    assert "only reads" in refusal(allowed, "cypher", statement="MATCH (d:Document) DETACH DELETE d")
    assert len(call(allowed, "cypher", statement=statement)["rows"]) == 6


def test_the_rows_of_cypher_are_limited(desk_here: Desk) -> None:
    allowed = create_mcp(desk_here, allow_cypher=True, user=ANYBODY)
    rows, cursor = 0, ""
    while True:
        page = call(allowed, "cypher", statement="UNWIND range(1, 3000) AS n RETURN n", cursor=cursor)
        rows, cursor = rows + len(page["rows"]), page["next_cursor"]
        if not cursor:
            break
    assert rows == 1_000


def test_the_documents_are_listed_as_resources_that_can_be_read(server: MCPServer[Any]) -> None:
    listed = with_client(server, lambda client: client.list_resources())
    documents = call(server, "list_documents")["documents"]
    assert [one.name for one in listed.resources] == [one["path"] for one in documents]
    assert listed.next_cursor is None
    read = with_client(server, lambda client: client.read_resource(listed.resources[0].uri))
    assert read.contents[0].text
    after = with_client(server, lambda client: client.list_resources(cursor="4"))
    assert [one.name for one in after.resources] == [one["path"] for one in documents[4:]]

    async def from_nowhere(client: Client) -> str:
        with pytest.raises(MCPError) as told:
            await client.list_resources(cursor="nothing")
        return str(told.value)

    assert "next_cursor of a result" in with_client(server, from_nowhere)


def test_a_document_is_a_resource(server: MCPServer[Any]) -> None:
    document = call(server, "list_documents")["documents"][0]
    read = with_client(server, lambda client: client.read_resource(f"kgrag://documents/{document['id']}"))
    assert read.contents[0].text
    templates = with_client(server, lambda client: client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == ["kgrag://documents/{document_id}"]


def test_it_serves_over_stdio(sample_copy: str, tmp_path: Path) -> None:
    arguments = ["-m", "kgrag", "mcp", "--store", sample_copy, "--desk", str(tmp_path)]

    async def use(client: Client) -> Any:
        tools = await client.list_tools()
        answer = await client.call_tool("ask", {"question": QUESTION})
        return tools.tools, answer.structured_content

    # Of the environment the client would hand on only what is on a list: not what makes a Java machine of a short life cheap.
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    tools, answer = with_client(stdio_client(server), use)
    assert sorted(tool.name for tool in tools) == TOOLS
    assert "0.5 mA" in answer["answer"]


def test_several_serve_one_store_and_the_later_ones_say_that_they_read_a_copy(sample_copy: str, tmp_path: Path) -> None:
    arguments = ["-m", "kgrag", "mcp", "--store", sample_copy, "--desk", str(tmp_path)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))

    async def run() -> Any:
        with (tmp_path / "said").open("w") as said:
            async with Client(stdio_client(server)), Client(stdio_client(server, errlog=said)) as second:
                found = await second.call_tool("list_documents", {})
        return found.structured_content

    assert len(asyncio.run(run())["documents"]) == 6
    assert "copy" in (tmp_path / "said").read_text()


@contextmanager
def serving_http(desk: Desk, access: Access) -> Iterator[str]:
    """The tools of a desk over HTTP, behind the guard, in a thread; yields their address."""
    inner = create_mcp(desk, user=User("mcp", "ask", frozenset()), allow_cypher=True).streamable_http_app(
        stateless_http=True,
        json_response=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app = Guard(inner, access=access, hosts=("127.0.0.1",), public=frozenset())
    bound = socket.create_server(("127.0.0.1", 0))
    http = uvicorn.Server(uvicorn.Config(app, log_config=None))
    thread = threading.Thread(target=lambda: asyncio.run(http.serve(sockets=[bound])), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
    http.should_exit = True
    thread.join()
    bound.close()


@pytest.fixture
def over_http(desk_here: Desk) -> Iterator[Callable[[Access], str]]:
    with ExitStack() as running:
        yield lambda access: running.enter_context(serving_http(desk_here, access))


def test_it_serves_over_http(over_http: Callable[[Access], str]) -> None:
    address = over_http(Access())
    assert "0.5 mA" in call(address, "ask", question=QUESTION)["answer"]
    initialise = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert httpx2.post(address, json=initialise, headers={"Host": "evil.example"}).status_code == 421
    assert httpx2.post(address, json=initialise, headers={"Origin": "https://evil.example"}).status_code == 403


def test_over_http_users_need_their_token(over_http: Callable[[Access], str]) -> None:
    address = over_http(Access({"0" * 64: User("anna", "ask")}))
    assert httpx2.post(address, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}).status_code == 401
