"""One endpoint of the OpenAI protocol, reached by the `openai` client: JSON there and back, failures as errors of ours."""

from __future__ import annotations

import asyncio
import codecs
import json
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import aiohttp
import httpx2
import openai

from kgrag.errors import ModelUnavailable
from kgrag.models.endpoint_errors import (
    Connection,
    error_with_status_200,
    no_object,
    redirected,
    refusal,
    timed_out,
    unreachable,
    unreadable,
)
from kgrag.models.per_loop import PerLoop
from kgrag.text.surrogates import without_controls, without_surrogates

__all__ = ["MAX_COUNTED_TOKENS", "Endpoint", "used"]


MAX_COUNTED_TOKENS = 100_000_000
"""Of one call: an endpoint that counts more counts wrongly, and the estimate is taken."""
REPLY_UNREADABLE = (
    *(httpx2.ReadError, httpx2.RemoteProtocolError, httpx2.DecodingError),
    *(aiohttp.ClientPayloadError, aiohttp.ClientResponseError),
)
"""What the client raises once the endpoint has taken the connection."""
MAX_REPLY_BYTES = 64_000_000
"""Of one reply, unpacked: a batch of long vectors has 10 MB, and what never ends would take all memory."""
UTF_8 = codecs.getincrementaldecoder("utf-8")
PIECE_BYTES = 1_000_000
"""That are unpacked at once."""
PACKINGS = frozenset({"gzip", "x-gzip", "deflate", "br", "zstd"})
"""Of which gzip is asked for; what has another name is as it is."""
LOSES_ITS_BODY = frozenset({301, 302, 303})
"""Redirects after which the client would ask by GET, without what was asked; after 307 and 308 it asks the same elsewhere."""
CONNECT_TIMEOUT_S = 10.0
"""A host that takes no connection for so long is not there, however slow its model may be."""


class Endpoint:
    """Sends requests about one model. The `openai` client's own retries are off: ours (`common/retry.py`) are the only ones."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._client: PerLoop[openai.AsyncOpenAI] = PerLoop(self._open_client, lambda client: client.close())

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return the reply's JSON object.

        Raises `RequestRefused` where this one request is wrong, `ModelUnavailable` where the endpoint is away, busy or not itself, and
        another `ModelError` where no request would do: a bad key, an unknown model, a wrong base URL.
        """
        client = await self._started()
        with self._errors(path):
            # Not `client.chat.completions.create`: bodies are plain data, and walking through their types takes longer than sending.
            response = await client.post(path, body=dict(body), cast_to=httpx2.Response)
        return self._object(response.content, response.headers.get("content-type", ""))

    async def stream(self, path: str, body: Mapping[str, Any], told: Callable[[str], None]) -> dict[str, Any]:
        """Send a request for a chat completion, tell its text as it comes, and return what `post` would; raises the same.

        An endpoint that does not stream answers with the whole object. Whoever cancels ends the request.
        """
        client = await self._started()
        asked = {**body, "stream": True, "stream_options": {"include_usage": True}}
        with self._errors(path):
            stream = await client.post(
                path, body=asked, cast_to=object, stream=True, stream_cls=openai.AsyncStream[object]
            )
            async with stream:
                kind = stream.response.headers.get("content-type", "")
                if "event-stream" not in kind:
                    return self._object(await stream.response.aread(), kind)
                made = StreamedReply(told, self.connection)
                async for event in self._events(stream):
                    made.add(event)
        if made.reason is None:
            raise unreadable(self.connection, ConnectionResetError("it broke off"))
        return made.object

    async def _events(self, stream: openai.AsyncStream[object]) -> AsyncIterator[object]:
        """Give the events of a stream. Raises `ModelUnavailable` at one that is no JSON, or no text."""
        events = aiter(stream)
        while True:
            try:
                event = await anext(events)
            except StopAsyncIteration:
                return
            except (ValueError, RecursionError) as error:
                raise unreadable(self.connection, error) from None
            yield event

    async def _started(self) -> openai.AsyncOpenAI:
        if self.connection.start is not None:
            self.connection = await asyncio.to_thread(self.connection.start)
        return await self._client.get()

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        """Turn the client's errors into ours."""
        try:
            yield
        except openai.APIStatusError as error:
            # Without its cause, which would show what was taken out of the message.
            said = error.body if isinstance(error.body, Mapping) else error.response.text
            raise refusal(self.connection, error.status_code, said, path=path, headers=error.response.headers) from None
        except openai.APITimeoutError as error:
            # What aiohttp calls a failed connection comes as the time-out of one.
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                raise self._without_reply(error.__cause__) from None
            raise timed_out(self.connection) from None
        except openai.APIConnectionError as error:
            raise self._without_reply(error.__cause__ or error) from None
        except openai.APIError as error:  # an error in the middle of a stream
            raise error_with_status_200(self.connection, {"error": error.body or error.message}) from None
        except httpx2.TimeoutException:
            raise timed_out(self.connection) from None
        except (aiohttp.ClientError, httpx2.HTTPError) as error:  # those that the client does not translate
            raise self._without_reply(error) from None

    def _without_reply(self, error: BaseException) -> ModelUnavailable:
        """Tell an endpoint that is not there from one whose reply broke off, is none of HTTP, or leads elsewhere."""
        if isinstance(error, httpx2.TooManyRedirects):
            where = str(error) if isinstance(error, _LedElsewhere) else "a place that leads on, and on"
            return redirected(self.connection, where)
        answered = isinstance(error, REPLY_UNREADABLE) or isinstance(error.__cause__, aiohttp.ServerDisconnectedError)
        return (unreadable if answered else unreachable)(self.connection, error)

    def _open_client(self) -> openai.AsyncOpenAI:
        at = self.connection
        options: dict[str, Any] = {
            "api_key": at.key.value or "none",  # the client insists on one; endpoints without keys ignore it
            "max_retries": 0,
            "default_headers": {"Accept-Encoding": "gzip"},
            # aiohttp sends a request in half the processor time of the client's own transport.
            "http_client": openai.DefaultAioHttpClient(
                timeout=httpx2.Timeout(at.timeout_s, connect=min(at.timeout_s, CONNECT_TIMEOUT_S)),
                verify=_trusted(),
                event_hooks={"response": [_limit]},
            ),
        }
        if at.model.provider == "azure":
            return openai.AsyncAzureOpenAI(azure_endpoint=at.base_url, api_version=at.api_version, **options)
        return openai.AsyncOpenAI(base_url=at.base_url, **options)

    def _object(self, content: bytes, content_type: str) -> dict[str, Any]:
        content = self.connection.without_key(content)
        try:
            # A half of a character, which a server that cuts its model's tokens writes, costs no more than that character.
            data = json.loads(content.decode(json.detect_encoding(content), "replace"))
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise no_object(self.connection, content, content_type)
        if data.get("error"):
            raise error_with_status_200(self.connection, data)
        return data


class _Limited(httpx2.AsyncByteStream):
    """A reply's bytes up to `MAX_REPLY_BYTES`, unpacked where it is packed by gzip: the client would unpack all that comes.

    Of events, which the client reads as UTF-8, a half of a character costs no more than that character.
    """

    def __init__(self, stream: httpx2.AsyncByteStream, *, packed: bool, events: bool) -> None:
        self._stream = stream
        self._reading = UTF_8("replace") if events else None
        self._unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16) if packed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for part in self._stream:
            for piece in self._unpacked(part):
                taken += len(piece)
                if taken > MAX_REPLY_BYTES:
                    raise httpx2.DecodingError(f"it has more than {MAX_REPLY_BYTES // 1_000_000} MB")
                yield piece if self._reading is None else self._reading.decode(piece).encode()
        if self._unpacking is not None and taken and not self._unpacking.eof:
            raise httpx2.DecodingError("it broke off")

    def _unpacked(self, part: bytes) -> Iterator[bytes]:
        if self._unpacking is None:
            yield part
            return
        try:
            while part:
                yield self._unpacking.decompress(part, PIECE_BYTES)
                part = self._unpacking.unconsumed_tail
        except zlib.error as error:
            raise httpx2.DecodingError(f"it is no gzip: {error}") from None

    async def aclose(self) -> None:
        await self._stream.aclose()


class _LedElsewhere(httpx2.TooManyRedirects):
    """A redirect that is not followed; its text is where to."""


async def _limit(response: httpx2.Response) -> None:
    if response.status_code in LOSES_ITS_BODY and response.has_redirect_location:
        raise _LedElsewhere(response.headers["location"], request=response.request)
    if not isinstance(response.stream, httpx2.AsyncByteStream):
        return
    packing = response.headers.get("content-encoding", "").strip().lower()
    if packing in PACKINGS - {"gzip", "x-gzip"}:
        raise httpx2.DecodingError(f"it is packed by {packing}, which was not asked for", request=response.request)
    if packing in PACKINGS:
        del response.headers["content-encoding"]
    events = "event-stream" in response.headers.get("content-type", "")
    response.stream = _Limited(response.stream, packed=packing in PACKINGS, events=events)


@cache
def _trusted() -> ssl.SSLContext:
    """Read the certificates that every connection is checked with, once a process: they take longer than opening a client."""
    return httpx2.create_ssl_context()


class StreamedReply:
    """Puts the events of a streamed chat completion together."""

    def __init__(self, told: Callable[[str], None], at: Connection) -> None:
        self._told = told
        self._at = at
        self._parts: dict[str, list[str]] = {"content": [], "refusal": [], "arguments": []}
        self._usage: Any = None
        self.reason: str | None = None
        """Why it ended; None where it has not."""

    def add(self, event: Any) -> None:
        """Take an event; those that are none are passed over."""
        if not isinstance(event, Mapping):
            return
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return
        delta = choice.get("delta")
        self.reason = choice.get("finish_reason") or self.reason
        if not isinstance(delta, Mapping):
            return
        for name in ("content", "refusal"):
            if isinstance(piece := delta.get(name), str) and piece:
                self._parts[name].append(piece)
                if name == "content":
                    self._tell(piece)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            called = call.get("function") if isinstance(call, Mapping) and not call.get("index") else None
            if isinstance(called, Mapping) and isinstance(piece := called.get("arguments"), str):
                self._parts["arguments"].append(piece)
                self._tell(piece)

    def _tell(self, piece: str) -> None:
        self._told(without_controls(without_surrogates(self._without_key(piece))))

    def _without_key(self, text: str) -> str:
        return self._at.without_key(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    @property
    def object(self) -> dict[str, Any]:
        """The reply as one that was not streamed."""
        said = {name: self._without_key("".join(parts)) for name, parts in self._parts.items()}
        message: dict[str, Any] = {"role": "assistant", "content": said["content"], "refusal": said["refusal"] or None}
        if said["arguments"]:
            message["tool_calls"] = [{"function": {"arguments": said["arguments"]}}]
        return {"choices": [{"index": 0, "message": message, "finish_reason": self.reason}], "usage": self._usage}


def used(data: Mapping[str, Any], unit: str) -> int | None:
    """Return what a reply's `usage` says of `prompt_tokens` or `completion_tokens`; None where it says no number that can be one."""
    usage = data.get("usage")
    count = usage.get(unit) if isinstance(usage, Mapping) else None
    if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count <= MAX_COUNTED_TOKENS:
        return None
    return int(count)
