"""What a desk tells those who run it: `/metrics` for Prometheus, and a log of JSON lines without texts of questions unless asked for."""

from __future__ import annotations

import json
import logging
import secrets
import time
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["METRICS_TYPE", "Telemetry", "TelemetryMiddleware", "log_to"]

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
NO_ROUTE = "none"
"""Of requests that no route took: an address is no label, as anybody may make them up."""
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
LOGGER = logging.getLogger("kgrag.serve.events")


class Telemetry:
    """The counts of one desk. `logs_questions` puts what was asked into the log."""

    def __init__(self, *, logs_questions: bool = False) -> None:
        self._logs_questions = logs_questions
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "kgrag_http_requests", "Requests.", ("route", "method", "status"), registry=self._registry
        )
        self.seconds = Histogram(
            "kgrag_http_request_seconds", "Until the last byte.", ("route",), buckets=SECONDS, registry=self._registry
        )
        self.open = Gauge("kgrag_http_requests_open", "Requests under way.", registry=self._registry)
        self.questions = Counter("kgrag_questions", "Questions.", ("outcome",), registry=self._registry)
        self.tokens = Counter("kgrag_model_tokens", "Tokens of models for questions.", registry=self._registry)
        self.builds = Counter("kgrag_builds", "Builds that ended.", ("outcome",), registry=self._registry)
        for outcome in ("answered", "abstained", "failed"):
            self.questions.labels(outcome)

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)

    def asked(self, outcome: str, *, tokens: int = 0, question: str, **more: Any) -> None:
        """Count a question, and log it."""
        self.questions.labels(outcome).inc()
        self.tokens.inc(tokens)
        said = {"question": question} if self._logs_questions else {}
        log("question", outcome=outcome, tokens=tokens, **more, **said)

    def built(self, outcome: str) -> None:
        """Count a build that ended, and log it."""
        self.builds.labels(outcome).inc()
        log("build", outcome=outcome)


class TelemetryMiddleware:
    """ASGI middleware around everything: counts and logs each request by its route, never by its address."""

    def __init__(self, app: ASGIApp, *, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, then count."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started, request_id = 0, time.perf_counter(), secrets.token_hex(6)

        async def counted_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (b"x-request-id", request_id.encode())]}
            await send(message)

        self._telemetry.open.inc()
        try:
            await self._app(scope, receive, counted_send)
        finally:
            self._telemetry.open.dec()
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", NO_ROUTE)
            method = scope["method"] if scope["method"] in ("GET", "POST", "DELETE", "HEAD", "OPTIONS") else "other"
            self._telemetry.requests.labels(route, method, status).inc()
            self._telemetry.seconds.labels(route).observe(seconds)
            user = scope.get("state", {}).get("user")
            log(
                "request",
                id=request_id,
                route=route,
                method=method,
                status=status,
                seconds=round(seconds, 4),
                user=user.name if user is not None else None,
            )


def log(event: str, **more: Any) -> None:
    """Log an event; what is logged is data, never a sentence with data in it."""
    LOGGER.info(event, extra={"data": {"event": event, **more}})


def log_to(file: Path | None) -> None:
    """Have events and warnings of the desk written as JSON lines: to a file, which is made anew where it was moved away, or to stderr."""
    handler = logging.StreamHandler() if file is None else WatchedFileHandler(file, encoding="utf-8")
    handler.setFormatter(_JsonLines())
    logger = logging.getLogger("kgrag.serve")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        data = getattr(record, "data", None) or {"event": "note", "said": record.getMessage()}
        entry = {"at": at, "level": record.levelname.lower(), **data}
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)
