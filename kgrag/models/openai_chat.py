"""A chat model behind any endpoint of the OpenAI protocol: one request, one reply; all else is put around it (`models/stack.py`)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgrag.errors import ModelReplyError
from kgrag.models.base import Message, Reply
from kgrag.models.endpoint import Endpoint, used
from kgrag.models.endpoint_errors import ContextOverflow, RequestRefused
from kgrag.models.names import LOCAL_PROVIDERS
from kgrag.models.streaming import listener
from kgrag.models.structured import StructuredOutputUnsupported
from kgrag.models.thoughts import without_thoughts
from kgrag.models.tokens import estimate_tokens
from kgrag.text.surrogates import without_controls, without_surrogates
from kgrag.types import Usage

__all__ = ["ChatOptions", "OpenAIChatModel"]

PATH = "/chat/completions"
ABOUT_SCHEMAS = re.compile(r"response_format|json_schema|json schema|structured output|guided|grammar", re.IGNORECASE)
SCHEMA_NAME = "reply"
LARGEST_WHOLE_NUMBER = 9999
"""That a model served here may write where the schema has no bound: replies number passages, facts, sentences."""
THOUGHTS = ("reasoning_content", "reasoning")
"""Where endpoints that part a model's thoughts from its reply put them."""
LENGTHS = ("max_completion_tokens", "max_tokens")


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What is sent with every request; None leaves it to the endpoint."""

    temperature: float | None = 0.0
    max_completion_tokens: int | None = None
    seed: int | None = None

    def body(self, provider: str) -> dict[str, Any]:
        """Return those that are set, as the endpoint names them."""
        # Ollama knows the older name only, and would say nothing.
        longest = "max_tokens" if provider == "ollama" else "max_completion_tokens"
        options = {"temperature": self.temperature, longest: self.max_completion_tokens, "seed": self.seed}
        return {name: value for name, value in options.items() if value is not None}


class OpenAIChatModel:
    """A `ChatModel` that makes one request for each reply and validates nothing.

    With a schema the endpoint is asked for output by it, and `StructuredOutputUnsupported` is raised where it refuses. A reply that was
    cut at the token limit, refused, filtered or empty is a `ModelReplyError`. An option that the model does not take (reasoning models
    take no temperature) is left out from then on; where prompt and longest reply do not fit the window together, the length of the reply is
    left out of that call alone, and `ContextOverflow` is raised where the prompt alone does not.
    """

    def __init__(self, endpoint: Endpoint, *, options: ChatOptions) -> None:
        self._endpoint = endpoint
        self._options = options.body(endpoint.connection.model.provider)
        self._is_local = endpoint.connection.model.provider in LOCAL_PROVIDERS
        self._refused: set[str] = set()
        self._streams_not = False
        self.name = str(endpoint.connection.model)
        self.identity = json.dumps([self.name, endpoint.connection.address, self._options], sort_keys=True)
        """Its name, where it is and with which options: what a cache must tell apart. The key is not in it."""

    async def reply(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> Reply:
        """Answer by one request; see the class."""
        body: dict[str, Any] = {
            "model": self._endpoint.connection.model.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
        }
        if schema is not None:
            sent = _with_whole_numbers_bounded(schema) if self._is_local else dict(schema)
            wanted = {"name": SCHEMA_NAME, "schema": sent, "strict": _is_strict(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        left_out: set[str] = set()
        while True:
            options = {n: value for n, value in self._options.items() if n not in self._refused | left_out}
            try:
                return self._read(await self._answered(body | options), messages)
            except ContextOverflow as error:
                # Of the options only the length of the reply can be what is too much, and only of this call.
                too_long = {name for name in LENGTHS if name in options and name in error.detail}
                if not too_long:
                    raise
                left_out |= too_long
            except RequestRefused as error:
                refused = {name for name in options if name in error.detail}
                if refused:
                    self._refused |= refused
                elif schema is not None and ABOUT_SCHEMAS.search(error.detail):
                    raise StructuredOutputUnsupported(str(error)) from None
                else:
                    raise

    async def _answered(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the reply; whoever listens hears it as it is written, where the endpoint streams."""
        told = listener()
        if told is None or self._streams_not:
            return await self._endpoint.post(PATH, body)
        told(None)
        try:
            return await self._endpoint.stream(PATH, body, told)
        except RequestRefused as error:
            if "stream" not in error.detail:
                raise
            self._streams_not = True
            return await self._endpoint.post(PATH, body)

    def _read(self, data: Mapping[str, Any], messages: Sequence[Message]) -> Reply:
        try:
            choice = data["choices"][0]
            message = choice["message"]
            content, reason = message.get("content"), choice.get("finish_reason")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise ModelReplyError(
                f"{self.name}: expected a chat completion with choices[0].message, got an object with "
                f"{_keys(data)}. Check that the base URL is of an endpoint that speaks the OpenAI protocol.",
                reply=json.dumps(data, ensure_ascii=False),
                usage=_usage(data, messages, ""),
            ) from None
        if isinstance(content, list):  # some endpoints answer in parts
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
        elif isinstance(content, Mapping):  # some give what they parsed
            content = json.dumps(content, ensure_ascii=False)
        content = without_surrogates(content) if isinstance(content, str) else ""
        if not content.strip():  # some endpoints answer by a call of a tool where they were asked for a schema
            content = _arguments(message.get("tool_calls") or [{"function": message.get("function_call")}])
        usage = _usage(data, messages, content)
        text = without_controls(without_thoughts(content))
        only_thought = not text.strip() and any((content.strip(), *map(message.get, THOUGHTS)))
        problem = None
        if reason == "length":
            when = ", while the model was thinking" if only_thought else ""
            problem = (
                f"the reply was cut off at the token limit (finish_reason length; max_completion_tokens sets it){when}"
            )
        elif reason == "content_filter":
            problem = "the endpoint's content filter took the reply away"
        elif refusal := message.get("refusal"):
            problem, text = "the model refused", without_surrogates(str(refusal))
        elif only_thought:
            problem = "the model thought and gave no reply"
        elif not text.strip():
            problem = "the reply is empty"
        if problem is not None:
            raise ModelReplyError(f"{self.name}: {problem}.", reply=text, usage=usage)
        return Reply(text=text, usage=usage)


def _keys(data: Mapping[str, Any]) -> str:
    """Name the first keys of an object."""
    return ", ".join(map(repr, list(data)[:4])) or "nothing in it"


def _arguments(calls: Any) -> str:
    """Return the arguments of the calls of tools, one below the other; empty where there is none."""
    given = []
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        arguments = function.get("arguments") if isinstance(function, Mapping) else None
        if arguments is not None:
            given.append(arguments if isinstance(arguments, str) else json.dumps(arguments))
    return str(without_surrogates("\n".join(given)))


def _usage(data: Mapping[str, Any], messages: Sequence[Message], written: str) -> Usage:
    """Return what the endpoint says was used, and the estimate where it says nothing."""
    prompt, completion = used(data, "prompt_tokens"), used(data, "completion_tokens")
    if not prompt:
        prompt = sum(estimate_tokens(message.content) for message in messages)
    if completion is None or (not completion and written):
        completion = estimate_tokens(written)
    return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion)


def _with_whole_numbers_bounded(schema: Any) -> Any:
    """Return a schema whose whole numbers have at most four digits: a small model writes one of sixteen, and loses its thread."""
    if isinstance(schema, list):
        return [_with_whole_numbers_bounded(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    bounds = {"minimum": 0, "maximum": LARGEST_WHOLE_NUMBER} if schema.get("type") == "integer" else {}
    return bounds | {name: _with_whole_numbers_bounded(value) for name, value in schema.items()}


def _is_strict(schema: Any) -> bool:
    """Whether OpenAI's strict mode takes a schema: every object closed, and all of its properties required."""
    if isinstance(schema, list):
        return all(map(_is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(properties):
            return False
    return all(_is_strict(value) for value in schema.values())
