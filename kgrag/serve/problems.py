"""Errors as problem details (RFC 9457), with the sentence that the command line would say.

Below `/v1` they have the shape that clients of the OpenAI protocol read.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from kgrag.common.journal import NotWrittenDown
from kgrag.errors import (
    DISK_FULL,
    DocumentError,
    InputError,
    KgragError,
    ModelError,
    ModelUnavailable,
    StoreError,
    StoreMismatch,
)

__all__ = [
    "OPENAI",
    "Busy",
    "Crowded",
    "Impatient",
    "NoRoom",
    "NotFound",
    "TooLarge",
    "TooMuch",
    "TooSlow",
    "openai_error",
    "problem_of",
    "problem_response",
    "register",
    "told",
    "wrong_value",
]

OPENAI = "/v1"
"""Below it everything is as the OpenAI protocol has it."""
MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = "10"
"""Of a database that is away, and of a desk with more questions than places."""
_log = logging.getLogger("kgrag.serve")


class NotFound(InputError):
    """What an address names is not in the store."""


class Busy(InputError):
    """Something else is under way that has to end first."""


class TooMuch(InputError):
    """Somebody used all that they may use for now."""


class Impatient(TooMuch):
    """Somebody asks more at once than may wait for an answer."""


class TooSlow(InputError):
    """No answer came in the time that a question may take."""


class TooLarge(InputError):
    """A file is larger than one may be."""


class NoRoom(InputError):
    """The folder of uploads has all that it may have."""


class Crowded(InputError):
    """More is asked than the desk can answer for now."""


def status_of(error: KgragError) -> int:
    """Return the HTTP status of one of our errors."""
    match error:
        case NotFound():
            return 404
        case Busy():
            return 409
        case TooMuch():
            return 429
        case TooLarge():
            return 413
        case NoRoom() | NotWrittenDown():
            return 507
        case Crowded():
            return 503
        case TooSlow():
            return 504
        case DocumentError():
            return 422
        case InputError():
            return 400
        case StoreError() | ModelUnavailable():
            return 503
        case ModelError():
            return 502
    return 500


def problem_of(error: KgragError) -> dict[str, Any]:
    """Describe one of our errors, by the name of it that others know."""
    return {
        "type": f"urn:kgrag:{_known(error).__name__}",
        "title": _kind(error),
        "status": status_of(error),
        "detail": told(error),
    }


def told(error: KgragError) -> str:
    """Say an error to who asks over the network: of what fails on the server its log has the reason, with the places of files and hosts."""
    if isinstance(error, StoreMismatch) or not isinstance(error, StoreError | NotWrittenDown):
        return str(error)
    _log.error("%s", error)
    return f"{_kind(error)}. Nothing is wrong with what was sent: whoever runs this server finds the reason in its log."


def _kind(error: KgragError) -> str:
    """Say what kind of error it is, by the name of it that others know."""
    return (_known(error).__doc__ or "").splitlines()[0].rstrip(".")


def _known(error: KgragError) -> type[KgragError]:
    return next(one for one in type(error).__mro__ if not one.__name__.startswith("_"))


def problem_response(problem: dict[str, Any], headers: Mapping[str, str] | None = None, *, path: str) -> JSONResponse:
    """Answer a request to a path with a problem; one that passes says when to try again."""
    wait = {"Retry-After": RETRY_AFTER_S} if problem["status"] == 503 else {}
    said = {**wait, **(headers or {})}
    if path.startswith(f"{OPENAI}/"):
        return JSONResponse({"error": openai_error(problem)}, status_code=_openai_status(problem), headers=said)
    return JSONResponse(problem, status_code=problem["status"], media_type=MEDIA_TYPE, headers=said)


def openai_error(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Say a problem as the OpenAI protocol does."""
    status = problem["status"]
    kind = "server_error" if status >= 500 else "rate_limit_error" if status == 429 else "invalid_request_error"
    known = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
    code = "model_not_found" if problem["type"] == "urn:kgrag:NotFound" else known.get(status)
    return {"message": problem["detail"], "type": kind, "param": problem.get("parameter"), "code": code}


def _openai_status(problem: Mapping[str, Any]) -> int:
    status: int = problem["status"]
    return 400 if status == 422 else status


def plain_problem(status: int, detail: str) -> dict[str, Any]:
    """Describe what is not one of our errors."""
    return {"type": "about:blank", "title": _TITLES.get(status, "Error"), "status": status, "detail": detail}


_TITLES = {
    400: "Bad request",
    401: "Who are you?",
    403: "Not allowed",
    404: "Not found",
    405: "Not so",
    413: "Too large",
    421: "Misdirected",
    422: "Not understood",
    429: "Too many requests",
    500: "Defect",
}


PARSING_FAILED = "There was an error parsing the body"
"""What FastAPI says of a body that it could not even try to read."""
UNREADABLE = "Expected a JSON object in UTF-8, got a body that cannot be read as one."


def _wrong(error: Mapping[str, Any], content_type: str) -> str:
    """Say what is wrong with a request, by one of pydantic's errors."""
    place = ".".join(map(str, error["loc"][1:]))
    if error["type"] == "json_invalid":
        return f"Expected a JSON object, got what is no JSON from character {place} on."
    if not place and "json" not in content_type:
        return f"Expected a JSON object with Content-Type: application/json, got {content_type or 'no content type'}."
    return f"{place or 'body'}: {wrong_value(error)}"


def wrong_value(error: Mapping[str, Any]) -> str:
    """Say what is wrong with a value, by one of pydantic's errors. What was sent is not shown again: it may be long, or somebody's."""
    match error["type"]:
        case "missing":
            return "expected a value, got none"
        case "extra_forbidden":
            return "there is no such field"
        case "value_error":
            return str(error["msg"]).removeprefix("Value error, ")
        case _:
            said = str(error["msg"])
            return said[:1].lower() + said[1:]


def register(app: FastAPI) -> None:
    """Have an app answer with problems whatever is raised."""

    @app.exception_handler(KgragError)
    async def ours(request: Request, error: KgragError) -> JSONResponse:
        wait = {"Retry-After": RETRY_AFTER_S} if isinstance(error, Impatient) else None
        return problem_response(problem_of(error), wait, path=request.url.path)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        kind = request.headers.get("content-type", "")
        wrong = "; ".join(_wrong(one, kind) for one in error.errors())
        problem = plain_problem(422, wrong)
        if request.url.path.startswith(f"{OPENAI}/"):
            problem["parameter"] = ".".join(map(str, error.errors()[0]["loc"][1:])) or None
        return problem_response(problem, path=request.url.path)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        detail = UNREADABLE if error.detail == PARSING_FAILED else str(error.detail)
        return problem_response(plain_problem(error.status_code, detail), error.headers, path=request.url.path)

    @app.exception_handler(ClientDisconnect)
    async def gone(request: Request, error: ClientDisconnect) -> JSONResponse:
        return problem_response(plain_problem(408, "The rest of the body did not come."), path=request.url.path)

    @app.exception_handler(Exception)
    async def defect(request: Request, error: Exception) -> JSONResponse:
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            return await ours(request, NotWrittenDown(str(error)))
        _log.error("%s %s: %s", request.method, request.url.path, type(error).__name__, exc_info=error)
        said = f"Unexpected {type(error).__name__}. This is a defect of kgrag; its log has the traceback."
        return problem_response(plain_problem(500, said), path=request.url.path)
