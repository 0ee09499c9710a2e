"""What an endpoint does with one request: answer well, answer badly, fail, or fall silent.

A script for `ModelServer` returns one of these for each request. `TROUBLES` has every way in which a reply of status 200 can be wrong, by
name, each made from the good reply; `FAULTS` has every way in which there is no reply.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = [
    "FAULTS",
    "TROUBLES",
    "Behaviour",
    "answer",
    "closed",
    "empty",
    "fenced",
    "hanging",
    "in_prose",
    "rate_limited",
    "refused",
    "server_error",
    "slowly",
    "tool_call",
    "truncated",
    "wrong_arity",
    "wrong_content_type",
    "wrong_types",
]

Good = str | Mapping[str, Any] | list[Any]
"""A good reply: text, or data that is sent as JSON."""
TRIPLE_LINE = re.compile(r"\(([^()\n]*)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """What an endpoint does with one request. `reply=None` with status 200 is the endpoint's own good reply (vectors, scores)."""

    kind: str = "good"
    """Its name in the server's records."""
    reply: Good | None = None
    finish_reason: Literal["stop", "length", "content_filter", "tool_calls"] = "stop"
    tool: str | None = None
    """Answer by a call of this tool."""
    status: int = 200
    error_code: str = ""
    error_message: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json"
    body: bytes | None = None
    """The body as it is sent, instead of one made from `reply`."""
    latency_s: float | None = None
    """Before the reply; None is the server's own latency."""
    piece_s: float | None = None
    """Of a streamed reply: seconds after each event; None sends it at once."""
    connection: Literal["keep", "hang", "close", "close_midway"] = "keep"
    """`hang`: never answer. `close`: close without a byte. `close_midway`: close after half of the reply."""
    usage: tuple[int, int] | None = field(default=None)
    """Prompt and completion tokens; None is an estimate by length."""

    @property
    def completes(self) -> bool:
        """Whether the caller gets a whole reply of status 200, good or bad."""
        return self.status == 200 and self.connection == "keep"

    def after(self, latency_s: float) -> Behaviour:
        """Do the same, after so many seconds."""
        return replace(self, latency_s=latency_s)


def answer(reply: Good, *, latency_s: float | None = None) -> Behaviour:
    """Answer well. Data is sent as JSON, or as arguments of the tool where the request has tools."""
    return Behaviour(reply=reply, latency_s=latency_s)


def slowly(reply: Good, *, piece_s: float) -> Behaviour:
    """Answer well; where the reply is streamed, wait after each piece."""
    return Behaviour(kind="slowly", reply=reply, piece_s=piece_s)


def tool_call(name: str, arguments: Good) -> Behaviour:
    """Answer by a call of a tool."""
    return Behaviour(reply=arguments, tool=name)


def fenced(reply: Good) -> Behaviour:
    """Put the reply into a Markdown fence, as many models do when they are asked for JSON."""
    return Behaviour(kind="fenced", reply=f"```json\n{as_text(reply)}\n```")


def in_prose(reply: Good) -> Behaviour:
    """Put friendly words around the reply."""
    return Behaviour(
        kind="in_prose", reply=f"Sure! Here is what I found:\n\n{as_text(reply)}\n\nLet me know if you need more."
    )


def truncated(reply: Good, *, share: float = 0.6) -> Behaviour:
    """Stop after a share of the reply, as at the limit of completion tokens."""
    text = as_text(reply)
    return Behaviour(kind="truncated", reply=text[: int(len(text) * share)], finish_reason="length")


def wrong_arity(reply: Good) -> Behaviour:
    """Leave out the last part of every second triple, or the last key of every second object that is in a list."""
    return Behaviour(kind="wrong_arity", reply=_reshaped(reply, _shorten, shorten_line=True))


def wrong_types(reply: Good) -> Behaviour:
    """Give a number, a list or null where there was text."""
    return Behaviour(kind="wrong_types", reply=_reshaped(reply, _retype, shorten_line=False))


def empty(reply: Good = "") -> Behaviour:
    """Answer with no text at all, whatever would have been said."""
    return Behaviour(kind="empty", reply="")


def wrong_content_type(reply: Good = "") -> Behaviour:
    """Answer with a web page, as a captive portal or a proxy does."""
    page = b"<!doctype html><html><body><h1>Please sign in</h1></body></html>"
    return Behaviour(kind="wrong_content_type", content_type="text/html; charset=utf-8", body=page)


def rate_limited(retry_after_s: float | None = 1.0) -> Behaviour:
    """Answer 429, with Retry-After unless it is None."""
    headers = () if retry_after_s is None else (("Retry-After", f"{retry_after_s:g}"),)
    return Behaviour(
        kind="rate_limited",
        status=429,
        error_code="rate_limit_exceeded",
        error_message="Rate limit reached. Please try again later.",
        headers=headers,
    )


def server_error(status: int = 500) -> Behaviour:
    """Answer with a status of the server's own failing."""
    return Behaviour(
        kind="server_error", status=status, error_code="server_error", error_message="The server had an error."
    )


def refused(status: int, code: str, message: str) -> Behaviour:
    """Answer with an error of the caller's: 400, 401, 404, ..."""
    return Behaviour(kind="refused", status=status, error_code=code, error_message=message)


def hanging() -> Behaviour:
    """Take the request and never answer."""
    return Behaviour(kind="hanging", connection="hang")


def closed(*, midway: bool = False) -> Behaviour:
    """Close the connection: before the reply, or in the middle of it."""
    return Behaviour(kind="closed", connection="close_midway" if midway else "close", reply="unfinished" * 20)


TROUBLES: Mapping[str, Callable[[Good], Behaviour]] = {
    "fenced": fenced,
    "in_prose": in_prose,
    "truncated": truncated,
    "wrong_arity": wrong_arity,
    "wrong_types": wrong_types,
    "empty": empty,
}
"""Replies of status 200 that are wrong, made from the good reply."""

FAULTS: Mapping[str, Callable[[], Behaviour]] = {
    "rate_limited": lambda: rate_limited(0.05),
    "server_error": server_error,
    "hanging": hanging,
    "closed": closed,
    "closed_midway": lambda: closed(midway=True),
    "wrong_content_type": wrong_content_type,
}
"""Requests that get no reply."""


def as_text(reply: Good) -> str:
    """Return what a chat model would write: text as it is, data as JSON."""
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


def _reshaped(reply: Good, change: Callable[[Any], Any], *, shorten_line: bool) -> str:
    """Change the data of a reply, or the `(head, relation, tail)` lines of one that is no JSON."""
    try:
        data = json.loads(as_text(reply))
    except json.JSONDecodeError:
        turns = itertools.count()

        def line(found: re.Match[str]) -> str:
            parts = found[1].split(",")
            if next(turns) % 2:
                return found[0]
            return f"({','.join(parts[:-1])})" if shorten_line else f"({json.dumps([parts[0].strip()])}, 7, null)"

        return TRIPLE_LINE.sub(line, as_text(reply))
    return json.dumps(change(data), ensure_ascii=False)


def _shorten(value: Any) -> Any:
    """Take the last item of every second list or object that lies in a list; of the outermost where none does."""
    shortened = 0

    def walk(value: Any, in_list: bool) -> Any:
        nonlocal shortened
        match value:
            case dict():
                items = [(key, walk(item, False)) for key, item in value.items()]
            case list() if in_list or not any(isinstance(item, dict | list) for item in value):
                items = [walk(item, True) for item in value]
            case list():
                return [walk(item, True) for item in value]
            case _:
                return value
        if in_list and items:
            shortened += 1
            items = items[:-1] if shortened % 2 else items
        return dict(items) if isinstance(value, dict) else items

    result = walk(value, False)
    if not shortened and isinstance(result, dict | list) and result:
        return dict(list(result.items())[:-1]) if isinstance(result, dict) else result[:-1]
    return result


def _retype(value: Any) -> Any:
    """Put something else in the place of every text, reproducibly."""
    choice = random.Random(json.dumps(value, sort_keys=True))  # noqa: S311  a test script, no secret

    def walk(value: Any) -> Any:
        match value:
            case dict():
                return {key: walk(item) for key, item in value.items()}
            case list():
                return [walk(item) for item in value]
            case str():
                return choice.choice([7, 3.3, None, [value], {"value": value}])
            case _:
                return str(value)

    return walk(value)
