"""One endpoint of the OpenAI protocol, reached by the `openai` client: JSON there and back, failures as errors of ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import aiohttp
import httpx2
import openai

from kgrag.models.endpoint_errors import (
    Connection,
    error_with_status_200,
    not_json,
    refusal,
    timed_out,
    unreachable,
)
from kgrag.models.per_loop import PerLoop

__all__ = ["MAX_COUNTED_TOKENS", "Endpoint", "used"]


MAX_COUNTED_TOKENS = 100_000_000
"""Of one call: an endpoint that counts more counts wrongly, and the estimate is taken."""
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
        if self.connection.start is not None:
            self.connection = await asyncio.to_thread(self.connection.start)
        client = await self._client.get()
        try:
            # Not `client.chat.completions.create`: bodies are plain data, and walking through their types takes longer than sending.
            response = await client.post(path, body=dict(body), cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            # Without its cause, which would show what was taken out of the message.
            said = error.body if isinstance(error.body, Mapping) else error.response.text
            raise refusal(self.connection, error.status_code, said, path=path, headers=error.response.headers) from None
        except openai.APITimeoutError as error:
            # What aiohttp calls a failed connection comes as the time-out of one.
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                raise unreachable(self.connection, error.__cause__) from None
            raise timed_out(self.connection) from None
        except openai.APIConnectionError as error:
            raise unreachable(self.connection, error.__cause__ or error) from None
        except aiohttp.ClientError as error:  # those that the client does not translate
            raise unreachable(self.connection, error) from None
        return self._object(response.content, response.headers.get("content-type", ""))

    def _open_client(self) -> openai.AsyncOpenAI:
        at = self.connection
        options: dict[str, Any] = {
            "api_key": at.key.value or "none",  # the client insists on one; endpoints without keys ignore it
            "max_retries": 0,
            # aiohttp sends a request in half the processor time of the client's own transport.
            "http_client": openai.DefaultAioHttpClient(
                timeout=httpx2.Timeout(at.timeout_s, connect=min(at.timeout_s, CONNECT_TIMEOUT_S))
            ),
        }
        if at.model.provider == "azure":
            return openai.AsyncAzureOpenAI(azure_endpoint=at.base_url, api_version=at.api_version, **options)
        return openai.AsyncOpenAI(base_url=at.base_url, **options)

    def _object(self, content: bytes, content_type: str) -> dict[str, Any]:
        content = self.connection.without_key(content)
        try:
            data = json.loads(content)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise not_json(self.connection, content, content_type)
        if data.get("error"):
            raise error_with_status_200(self.connection, data)
        return data


def used(data: Mapping[str, Any], unit: str) -> int | None:
    """Return what a reply's `usage` says of `prompt_tokens` or `completion_tokens`; None where it says no number that can be one."""
    usage = data.get("usage")
    count = usage.get(unit) if isinstance(usage, Mapping) else None
    if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count <= MAX_COUNTED_TOKENS:
        return None
    return int(count)
