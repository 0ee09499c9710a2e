"""A local server that speaks the OpenAI protocol and does what a script says: for tests, ours and yours, without a key or a network."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, Self

from aiohttp import web

from kgrag.testing import wire
from kgrag.testing.behaviours import Behaviour, Good, refused
from kgrag.testing.requests import Endpoint, ModelRequest

__all__ = ["ModelServer", "Script"]

Script = Callable[[ModelRequest], Behaviour | Good] | Sequence[Behaviour | Good]
"""What to do with each request: a function of it, or behaviours in order. Text and data are good replies."""

REPORT_PATH = "/_kgrag/requests"
"""Where a server in a process of its own tells what it was asked."""
ENDPOINTS: dict[str, Endpoint] = {
    "/chat/completions": "chat",
    "/embeddings": "embeddings",
    "/embed": "embeddings",
    "/rerank": "rerank",
    "/models": "models",
}
_PORTS: set[int] = set()
"""That servers of this process were given: none is given twice, since programs keep what they learnt of a URL, such as whether schemas are
heeded there."""
_PORTS_LOCK = threading.Lock()
MAX_INPUTS = 2048
"""Texts of one embedding request, as at OpenAI."""
MAX_INPUTS_COHERE = 96

Headers = Sequence[tuple[str, str]]


class ModelServer:
    """A scripted endpoint on a loopback port, in a thread of its own. Use it as a context manager, or `start` and `stop` it.

        with ModelServer(lambda request: {"answer": request.last.upper()}) as server:
            model = open_chat_model("openai:any", base_url=server.url)

    `chat` answers chat completions; `embeddings` and `rerank` may fail on purpose, and by default give hashed bags of words and shares of
    common words. `models` are the names that exist (None: all), `api_key` the only key that is let in (None: any), `structured` the kinds
    of `response_format` that are understood (others are refused with status 400), `latency_s` the time before every reply.

    It answers under `/v1` (OpenAI, Ollama, vLLM), `/openai/deployments/NAME` (Azure), `/v1` and `/v2` (Cohere: embed, rerank), `/api/tags`
    and `/api/show` (Ollama); all else is 404, as where a base URL is wrong. `requests` records what came, also across `stop` and `start`.
    """

    def __init__(
        self,
        chat: Script = "ok",
        *,
        embeddings: Script | None = None,
        rerank: Script | None = None,
        models: Sequence[str] | None = None,
        api_key: str | None = None,
        structured: Sequence[Literal["json_schema", "json_object"]] = ("json_schema", "json_object"),
        dimensions: int = 64,
        latency_s: float = 0.0,
        port: int = 0,
        record: bool = True,
    ) -> None:
        self.requests: list[ModelRequest] = []
        self.port = port
        """Fixed by the first start, so that a restarted server is found again."""
        self.latency_s = latency_s
        self.peak_concurrency = 0
        """Most chat, embedding and rerank requests that were open at once."""
        self._scripts: dict[Endpoint, Script | None] = {"chat": chat, "embeddings": embeddings, "rerank": rerank}
        self._taken: Counter[Endpoint] = Counter()
        self._models = models
        self._api_key = api_key
        self._structured = frozenset(structured)
        self._dimensions = dimensions
        self._record = record
        self._count = 0
        self._open = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The base URL for clients: `http://127.0.0.1:PORT/v1`."""
        return f"{self.origin}/v1"

    @property
    def origin(self) -> str:
        """The same without a path, as Azure's and Cohere's clients want it."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Self:
        """Listen; returns when requests can come. Raises `OSError` where the port is taken."""
        started: threading.Event = threading.Event()
        failure: list[OSError] = []
        self._thread = threading.Thread(target=self._run, args=(started, failure), name="ModelServer", daemon=True)
        self._thread.start()
        started.wait()
        if failure:
            raise failure[0]
        return self

    def stop(self) -> None:
        """Close the port and every connection at once, as a killed server does. What was recorded stays."""
        if self._thread is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()
            self._thread = None

    def restart(self) -> None:
        """Listen again on the same port."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def calls(self, endpoint: Endpoint | None = None) -> list[ModelRequest]:
        """Return the requests of one endpoint, or of chat, embeddings and rerank together."""
        wanted = {endpoint} if endpoint else {"chat", "embeddings", "rerank"}
        return [request for request in self.requests if request.endpoint in wanted]

    def completed(self, endpoint: Endpoint | None = None) -> Counter[str]:
        """Count the completed requests by `ModelRequest.key`."""
        return Counter(request.key for request in self.calls(endpoint) if request.state == "completed")

    def repeated(self, endpoint: Endpoint | None = None) -> list[ModelRequest]:
        """Return those requests that came again after an equal one had been completed."""
        seen: set[str] = set()
        again: list[ModelRequest] = []
        for request in self.calls(endpoint):
            if request.key in seen:
                again.append(request)
            elif request.state == "completed":
                seen.add(request.key)
        return again

    def _run(self, started: threading.Event, failure: list[OSError]) -> None:
        with asyncio.Runner() as runner:
            self._loop, self._stopping = runner.get_loop(), asyncio.Event()
            try:
                runner.run(self._serve(started))
            except OSError as error:
                failure.append(error)
            finally:
                started.set()

    async def _serve(self, started: threading.Event) -> None:
        http = web.Server(self._handle, handler_cancellation=True, access_log=None)
        listening = await self._listen(http)
        self.port = _port(listening)
        started.set()
        await self._stopping.wait()
        listening.close()
        for connection in http.connections:
            if connection.transport is not None:
                connection.transport.abort()
        await asyncio.sleep(0)  # lets connections learn that they are lost

    async def _listen(self, http: web.Server) -> asyncio.Server:
        """Listen on the port that is fixed, or on one that no server of this process had."""
        create = partial(asyncio.get_running_loop().create_server, http, "127.0.0.1", reuse_address=True, backlog=1024)
        if self.port:
            return await create(self.port)
        refused_ports: list[asyncio.Server] = []  # open meanwhile: the system gives other ones
        try:
            while True:
                listening = await create(0)
                with _PORTS_LOCK:
                    if (port := _port(listening)) not in _PORTS:
                        _PORTS.add(port)
                        return listening
                refused_ports.append(listening)
        finally:
            for again in refused_ports:
                again.close()

    async def _handle(self, http: web.BaseRequest) -> web.StreamResponse:
        if http.path == REPORT_PATH:
            return _json(200, self.report())
        try:
            body = json.loads(await http.content.read() or "{}")
        except ValueError:
            return _error(refused(400, "invalid_json", "The body is not JSON."))
        if not isinstance(body, dict):
            return _error(refused(400, "invalid_json", "The body is no JSON object."))
        headers = {name.lower(): value for name, value in http.headers.items()}
        request = ModelRequest(
            self._count,
            self._endpoint(http.path),
            http.path,
            headers,
            _with_deployment(body, http.path),
            at=time.monotonic(),
        )
        self._count += 1
        if self._record:
            self.requests.append(request)
        behaviour = self._behaviour(request)
        response = self._response(request, behaviour)
        request.behaviour = behaviour.kind
        self._open += 1
        self.peak_concurrency = max(self.peak_concurrency, self._open)
        state: Literal["completed", "failed", "dropped"] = "dropped"
        try:
            if behaviour.connection == "hang":
                await asyncio.Event().wait()
            await asyncio.sleep(self.latency_s if behaviour.latency_s is None else behaviour.latency_s)
            if behaviour.piece_s is not None and response.content_type == "text/event-stream":
                sent = await _piecewise(http, response, behaviour.piece_s)
                state = "completed"
                return sent
            # Recorded before it is sent: a caller that has its reply finds it so.
            state = "completed" if behaviour.completes else "failed"
        finally:
            request.state, request.ended_at = state, time.monotonic()
            self._open -= 1
        if behaviour.connection in ("close", "close_midway"):
            await _cut(http, response, midway=behaviour.connection == "close_midway")
        return response

    def _endpoint(self, path: str) -> Endpoint:
        if not path.startswith(("/v1/", "/v2/", "/openai/")):
            return "other"
        if "/models/" in path:
            return "models"
        return next((endpoint for suffix, endpoint in ENDPOINTS.items() if path.endswith(suffix)), "other")

    def _behaviour(self, request: ModelRequest) -> Behaviour:
        """Say what happens: first what any endpoint refuses, then what the script says."""
        if request.endpoint == "other" and not request.path.startswith("/api/"):
            return refused(404, "", "Not Found")
        authorization = request.headers.get("authorization", "")
        key = request.headers.get("api-key") or authorization.removeprefix("Bearer ").removeprefix("bearer ")
        if self._api_key is not None and key != self._api_key:
            return refused(401, "invalid_api_key", f"Incorrect API key provided: {key}.")
        if request.endpoint in ("models", "other"):
            return Behaviour()
        if self._models is not None and request.model not in self._models:
            message = f"The model `{request.model}` does not exist or you do not have access to it."
            return refused(404, "model_not_found", message)
        if request.endpoint == "chat":
            wanted = (request.body.get("response_format") or {}).get("type", "text")
            if wanted != "text" and wanted not in self._structured:
                message = f"Invalid parameter: 'response_format' of type '{wanted}' is not supported with this model."
                return refused(400, "unsupported_parameter", message)
        most = MAX_INPUTS_COHERE if request.path.endswith("/embed") else MAX_INPUTS
        if request.endpoint == "embeddings" and not 0 < len(request.texts) <= most:
            return refused(400, "invalid_input", f"Expected 1 to {most} inputs, got {len(request.texts)}.")
        return self._scripted(request)

    def _scripted(self, request: ModelRequest) -> Behaviour:
        script = self._scripts[request.endpoint]
        if script is None:
            return Behaviour()
        if isinstance(script, str):
            return Behaviour(reply=script)
        if callable(script):
            chosen = script(request)
        else:
            turn = self._taken[request.endpoint]
            self._taken[request.endpoint] += 1
            if turn >= len(script):
                message = f"The script has {len(script)} replies and was asked for one more."
                return refused(400, "script_ended", message)
            chosen = script[turn]
        return chosen if isinstance(chosen, Behaviour) else Behaviour(reply=chosen)

    def _response(self, request: ModelRequest, behaviour: Behaviour) -> web.Response:
        if behaviour.body is not None:
            body, content_type = behaviour.body, behaviour.content_type
        elif behaviour.status != 200:
            return _error(behaviour)
        elif request.endpoint == "chat" and request.body.get("stream"):
            body, content_type = wire.chat_stream(request, behaviour), "text/event-stream; charset=utf-8"
        else:
            return _json(200, self._body(request, behaviour), behaviour.headers)
        return _response(behaviour.status, body, content_type, behaviour.headers)

    def _body(self, request: ModelRequest, behaviour: Behaviour) -> Any:
        match request.endpoint:
            case "chat":
                return wire.chat(request, behaviour)
            case "embeddings" | "rerank" if isinstance(behaviour.reply, dict):
                return behaviour.reply
            case "embeddings" if request.path.endswith("/embed"):
                dimensions = request.body.get("output_dimension") or self._dimensions
                return wire.cohere_embeddings(request, wire.hashed_vectors(request.texts, dimensions))
            case "embeddings":
                dimensions = request.body.get("dimensions") or self._dimensions
                return wire.openai_embeddings(request, wire.hashed_vectors(request.texts, dimensions))
            case "rerank":
                return wire.cohere_rerank(request)
            case "models" if "/models/" in request.path:
                return wire.model(request.path.rpartition("/models/")[2])
            case "models":
                return wire.model_list(self._models or ())
        if request.path == "/api/show":
            return {"model_info": {"test.context_length": 8192, "test.embedding_length": self._dimensions}}
        return {"models": [{"name": name, "model": name} for name in self._models or ()]}

    def report(self) -> dict[str, Any]:
        """Say what was asked so far, as JSON: counts by endpoint and state, keys of completed and repeated requests, when they ended."""
        states = Counter(f"{request.endpoint} {request.state}" for request in self.requests)
        repeated = self.repeated()
        ended: dict[str, list[float]] = {request.key: [] for request in repeated}
        for request in self.requests:
            if request.state == "completed" and request.key in ended:
                ended[request.key].append(request.ended_at)
        return {
            "requests": self._count,
            "states": dict(sorted(states.items())),
            "peak_concurrency": self.peak_concurrency,
            "completed": dict(self.completed()),
            "repeated": [request.key for request in repeated],
            "repeated_ended_at": ended,
        }


def _port(listening: asyncio.Server) -> int:
    port: int = listening.sockets[0].getsockname()[1]
    return port


def _with_deployment(body: dict[str, Any], path: str) -> dict[str, Any]:
    """Take the model's name from Azure's path, where the body has none."""
    _, found, rest = path.partition("/openai/deployments/")
    return {"model": rest.partition("/")[0]} | body if found else body


async def _piecewise(http: web.BaseRequest, response: web.Response, piece_s: float) -> web.StreamResponse:
    """Send the events of a stream one by one."""
    streamed = web.StreamResponse(status=response.status, headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await streamed.prepare(http)
    body = response.body if isinstance(response.body, bytes) else b""
    for event in body.split(b"\n\n")[:-1]:
        await streamed.write(event + b"\n\n")
        await asyncio.sleep(piece_s)
    return streamed


async def _cut(http: web.BaseRequest, response: web.Response, *, midway: bool) -> None:
    """Close the connection before the response, or in the middle of it."""
    transport = http.transport
    if midway and isinstance(response.body, bytes):
        started = web.StreamResponse(status=response.status, headers=response.headers)
        started.content_length = len(response.body)
        await started.prepare(http)
        await started.write(response.body[: len(response.body) // 2])
    if transport is not None:
        transport.close() if midway else transport.abort()
    raise ConnectionResetError("cut, as the script says")


def _json(status: int, value: Any, headers: Headers = ()) -> web.Response:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return _response(status, body, "application/json", headers)


def _error(behaviour: Behaviour) -> web.Response:
    return _json(behaviour.status, wire.error(behaviour), behaviour.headers)


def _response(status: int, body: bytes, content_type: str, headers: Headers) -> web.Response:
    return web.Response(status=status, body=body, headers=[("Content-Type", content_type), *headers])
