"""What an endpoint's failures mean: an error of ours in one clear line that says what to do, and never a key."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from kgrag.common.retry import LONGEST_RETRY_AFTER_S
from kgrag.errors import ModelError, ModelReplyError, ModelUnavailable
from kgrag.models.keys import SHORTEST_KEY, SHOWN_INSTEAD, Key, redacted
from kgrag.models.names import LOCAL_PROVIDERS, ModelName

__all__ = [
    "Connection",
    "ContextOverflow",
    "RequestRefused",
    "error_with_status_200",
    "no_object",
    "redirected",
    "refusal",
    "timed_out",
    "unreachable",
    "unreadable",
]

SHOWN_CHARACTERS = 300
CONTEXT_CODES = frozenset({"context_length_exceeded", "string_above_max_length"})
ABOUT_CONTEXT = re.compile(
    r"context (?:length|window|size)|maximum context|(?:prompt|input|request) (?:\([^)]*\) )?(?:is |was )?too (?:long|large)"
    r"|too many (?:input )?tokens|exceeds? the (?:available )?(?:context|maximum (?:number of )?tokens)",
    re.IGNORECASE,
)
"""As OpenAI, vLLM, llama.cpp, Ollama, Mistral and Azure word it."""
ABOUT_NUMBERS = re.compile(r"unsupported value: [+-]?(?:NaN|Inf)", re.IGNORECASE)
"""A vector with values that JSON has no words for, as Ollama says it."""
ABOUT_MEMORY = re.compile(
    r"requires? more (?:system |gpu |video )?memory|not enough (?:system |gpu |video )?memory", re.IGNORECASE
)
"""A model that is too large for its machine, as Ollama says it: no request would do, however long one waits."""
PAGE = re.compile(r"<!doctype html|<html\b", re.IGNORECASE)
TAGS = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
AT_FAULT = "The server, or a proxy before it, is at fault: its log says more."
OFTEN = "Less is asked at once with requests_per_minute (KGRAG_REQUESTS_PER_MINUTE)."
BUSY_STATUSES = frozenset({408, 409, 425, 429})
"""Besides 5xx: timeout, conflict, too early, too many."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a model is and how to get in."""

    model: ModelName
    base_url: str
    key: Key
    timeout_s: float
    api_version: str = ""
    """Azure's."""
    start: Callable[[], Connection] | None = None
    """Of a server of ours that the first request starts: starts it and says where it is. None where there is nothing to start."""

    @property
    def address(self) -> str:
        """Where it is, the same in every process: a server of ours has another port each time."""
        return self.model.provider if self.model.provider in LOCAL_PROVIDERS else self.base_url

    @property
    def place(self) -> str:
        """Which model where, for messages."""
        return f"{self.model} at {redacted(self.base_url)}"

    def without_key(self, content: bytes) -> bytes:
        """Return a reply without the key, should the endpoint or the model repeat it: replies are cached and kept in ledgers."""
        key = (self.key.value or "").encode()
        return content.replace(key, SHOWN_INSTEAD.encode()) if len(key) >= SHORTEST_KEY else content

    def clean(self, text: str) -> str:
        """Return what an endpoint said as one line that may be shown, of a web page its words."""
        if PAGE.search(text):
            text = TAGS.sub(" ", text)
        text = " ".join(redacted(text, self.key).split())
        return text[:SHOWN_CHARACTERS] + ("..." if len(text) > SHOWN_CHARACTERS else "")


class RequestRefused(ModelReplyError):
    """The endpoint will not answer this request (400, 413, 422, 500 where it says why): it may answer others."""

    def __init__(self, message: str, *, detail: str) -> None:
        super().__init__(message)
        self.detail = detail
        """What the endpoint said."""


class ContextOverflow(RequestRefused):
    """A prompt is longer than the model's window, or prompt and reply together are: a shorter prompt may be answered."""


def refusal(at: Connection, status: int, body: Any, *, path: str, headers: Mapping[str, str]) -> ModelError:
    """Make the error of a reply whose status is not 200; `body` is its JSON, or its text."""
    parsed = body if isinstance(body, Mapping) else {}
    said = _said(parsed) or (body if isinstance(body, str) else "")
    inner = parsed.get("error", parsed)
    codes = {str(inner.get(name)) for name in ("code", "type")} if isinstance(inner, Mapping) else set()
    detail = at.clean(said).rstrip(".") or "no explanation"
    if status in (401, 403, 498):  # 498: Cohere's "invalid token"
        source = f"from {at.key.source}" if at.key.value else f"none was sent; set {at.key.source}"
        return ModelError(
            f"{at.place} refused the key ({source}): {detail}. Check the key, and whether it may use this model."
        )
    if status == 404:
        if _is_about_the_model(said, codes, at.model.model):
            return ModelError(f"{at.place} does not know the model {at.model.model!r}: {detail}.")
        return ModelError(
            f"{at.place}: nothing at {path} (404: {detail}). Check the base URL, which usually ends in /v1: "
            f"{redacted(at.base_url).rstrip('/')}{path} was asked."
        )
    if status == 402 or (status == 429 and "insufficient_quota" in codes):
        return ModelError(f"{at.place}: the account has no credit left: {detail}.")
    if status == 500 and ABOUT_MEMORY.search(said):
        return ModelError(f"{at.place} cannot load the model: {detail}. Choose a smaller one, or free memory there.")
    # Ollama and llama.cpp's server answer 500 where it is the request that cannot be done, however often it is made.
    is_of_request = status == 500 and (ABOUT_CONTEXT.search(said) or ABOUT_NUMBERS.search(said))
    if status in BUSY_STATUSES or (status >= 500 and not is_of_request):
        then = OFTEN if status == 429 else AT_FAULT
        if (later_s := _retry_after_s(headers)) is not None and later_s > LONGEST_RETRY_AFTER_S:
            then = f"It asks to be left alone (Retry-After) for {later_s:.0f} s."
        return ModelUnavailable(f"{at.place} answered {status}: {detail}. {then}", retry_after_s=later_s)
    if status < 400 or status == 405:
        return ModelError(f"{at.place}: {status} at {path}: {detail}. Check the base URL.")
    kind = ContextOverflow if codes & CONTEXT_CODES or ABOUT_CONTEXT.search(said) else RequestRefused
    return kind(f"{at.place} refused the request ({status}): {detail}.", detail=said)


def unreachable(at: Connection, cause: BaseException) -> ModelUnavailable:
    """Make the error of a connection that could not be made or broke."""
    reason = at.clean(str(cause)).rstrip(".") or type(cause).__name__
    return ModelUnavailable(f"{at.place} cannot be reached: {reason}. Is it running, and is the base URL right?")


def unreadable(at: Connection, cause: BaseException) -> ModelUnavailable:
    """Make the error of a reply that broke off, or that is none of HTTP: the endpoint is there."""
    reason = at.clean(str(getattr(cause, "message", "") or cause)).rstrip(".") or type(cause).__name__
    return ModelUnavailable(f"{at.place} took the request, and its reply cannot be read: {reason}. {AT_FAULT}")


def timed_out(at: Connection) -> ModelUnavailable:
    """Make the error of a reply that did not come in time."""
    return ModelUnavailable(f"{at.place}: no reply within {at.timeout_s:g} s (timeout_s).")


def redirected(at: Connection, where: str) -> ModelUnavailable:
    """Make the error of an endpoint that sends requests elsewhere, where they would come without what was asked."""
    return ModelUnavailable(
        f"{at.place}: expected a reply, got a redirect to {at.clean(where)}. Set the base URL to where the endpoint is; a sign-in page "
        "redirects, too."
    )


def no_object(at: Connection, content: bytes, content_type: str) -> ModelUnavailable:
    """Make the error of a reply of status 200 that is no JSON object."""
    shown = at.clean(content.decode("utf-8", "replace"))
    if not content.strip():
        got, why = "an empty reply", AT_FAULT
    elif "json" in content_type:
        got, why = f"{content_type} that is none, or is cut: {shown!r}", AT_FAULT
    else:
        got = f"{content_type or 'no content type'}: {shown!r}"
        why = "Something else answers there: a proxy, a sign-in page, or the base URL is wrong."
    return ModelUnavailable(f"{at.place}: expected a JSON object, got {got}. {why}")


def error_with_status_200(at: Connection, body: Mapping[str, Any]) -> ModelUnavailable:
    """Make the error of a gateway that says 200 and does not mean it."""
    return ModelUnavailable(f"{at.place} answered with an error: {at.clean(_said(body)).rstrip('.')}. {AT_FAULT}")


def _said(body: Mapping[str, Any]) -> str:
    """Return the words of an error body: OpenAI's, vLLM's, FastAPI's, Ollama's."""
    inner = body.get("error", body)
    if isinstance(inner, Mapping):
        inner = inner.get("message") or inner.get("detail") or inner.get("code") or ""
    return inner if isinstance(inner, str) else json.dumps(inner)


def _is_about_the_model(said: str, codes: set[str], model: str) -> bool:
    if codes & {"model_not_found", "DeploymentNotFound"}:
        return True
    words = said.casefold()
    return model.casefold() in words or ("model" in words and ("not found" in words or "not exist" in words))


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After: seconds, or a date; `retry-after-ms` of OpenAI and Azure goes before it.

    A time that is past says nothing: a server under load, or with another clock, would end all attempts within a second.
    """
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            asked = float(milliseconds) / 1000
        elif (value := headers.get("retry-after")) is None:
            return None
        else:
            try:
                asked = float(value)
            except ValueError:
                at = parsedate_to_datetime(value)
                at = at if at.tzinfo else at.replace(tzinfo=UTC)
                asked = (at - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None  # neither: as if it were not there
    return asked if math.isfinite(asked) and asked > 0 else None
