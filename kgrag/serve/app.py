"""The desk as one ASGI app: routes, guard, page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from kgrag.errors import KgragError
from kgrag.serve import api, curating_routes, openai_routes
from kgrag.serve.access import Access, User
from kgrag.serve.asking import Asking
from kgrag.serve.curating import Curating
from kgrag.serve.desk import Desk
from kgrag.serve.guard import COOKIE, Guard
from kgrag.serve.html_view import document_html
from kgrag.serve.page_process import PAGES_OF
from kgrag.serve.places import MAX_WAITING_OF_ONE
from kgrag.serve.problems import NotFound, plain_problem, problem_response, register, told
from kgrag.serve.streams import ClientGone
from kgrag.serve.telemetry import METRICS_TYPE, TelemetryMiddleware
from kgrag.text.surrogates import without_surrogates

__all__ = ["LOOPBACK_NAMES", "create_app"]

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
PICTURE_WIDTHS = (600, 900, 1200, 1800)
"""Pixels that a page may be drawn wide: others are rounded up, so that few pictures are kept."""
VIEW_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
"""Of a document as HTML: nothing runs, nothing is loaded."""
MAX_SECRET_CHARACTERS = 200


def create_app(desk: Desk, *, access: Access | None = None, hosts: Sequence[str] = LOOPBACK_NAMES) -> FastAPI:
    """Make the app of an open desk, which whoever opened it closes. `hosts` are the names by which it may be called."""
    access = access or Access()

    curating = Curating(desk)

    @asynccontextmanager
    async def closing_builds(_: FastAPI) -> AsyncIterator[None]:
        yield
        await curating.close()

    app = FastAPI(
        title="kgrag",
        version=version("kgrag"),
        description="Cited answers from technical documents. Errors are problem details (RFC 9457).",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        generate_unique_id_function=_operation,
        lifespan=closing_builds,
    )
    app.state.desk = desk
    app.state.asking = Asking(desk, of_one=None if access.is_open else MAX_WAITING_OF_ONE)
    app.state.access = access
    app.state.curating = curating
    app.add_middleware(Guard, access=access, hosts=hosts, upload_bytes=curating.max_bytes)
    app.add_middleware(TelemetryMiddleware, telemetry=desk.telemetry)
    register(app)

    @app.exception_handler(ClientGone)
    async def gone(request: Request, error: ClientGone) -> Response:
        return Response(status_code=499)

    app.include_router(api.router)
    app.include_router(curating_routes.router)
    app.include_router(openai_routes.router)
    _add_documents(app, desk)
    _add_page(app, access)
    _add_health(app, desk)
    return app


def _add_documents(app: FastAPI, desk: Desk) -> None:
    @app.get("/documents/{document_id}/pages/{number}.png", include_in_schema=False)
    async def picture(
        document_id: str,
        number: int,
        request: Request,
        user: api.Asker,
        width: Annotated[int, Query(ge=100, le=1800)] = 1200,
    ) -> Response:
        found = await desk.document(document_id, user)
        file = await desk.file(found)
        if file is None or found.format not in PAGES_OF:
            raise NotFound(f"{found.path}: has no pages to show, or its file is no longer the one that was read.")
        wide = next(one for one in PICTURE_WIDTHS if one >= width)
        etag = f'"{found.sha256[:32]}-{number}-{wide}"'
        headers = {"ETag": etag, "Cache-Control": "private, max-age=86400"}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        data = await desk.pages.picture(file, found, number, width=wide)
        await desk.note_shown(user, "view", [], document=found.id, page=number)
        return Response(data, media_type="image/png", headers=headers)

    @app.get("/documents/{document_id}/view", include_in_schema=False)
    async def view(
        document_id: str,
        user: api.Asker,
        chunk: Annotated[str, Query(max_length=64)] = "",
        quote: Annotated[str, Query(max_length=api.MAX_QUOTE_CHARACTERS)] = "",
    ) -> HTMLResponse:
        found = await desk.document(document_id, user)
        chunks = await desk.chunks_of(found, user)
        cited = next((one for one in chunks if one.id == chunk), None)
        file = await desk.file(found)
        await desk.note_shown(user, "view", chunks)
        page = await asyncio.to_thread(document_html, found, chunks, file=file, chunk=cited, quote=quote)
        return HTMLResponse(page, headers={"Content-Security-Policy": VIEW_POLICY, "Cache-Control": "no-store"})


def _add_page(app: FastAPI, access: Access) -> None:
    static = files("kgrag.serve") / "static"
    app.mount("/static", StaticFiles(packages=[("kgrag.serve", "static")]), name="static")

    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse((static / "index.html").read_text(encoding="utf-8"), headers={"Cache-Control": "no-cache"})

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return Response(status_code=204)

    @app.post("/login", include_in_schema=False)
    async def login(request: Request) -> Response:
        try:
            said = await request.json()
        except (ValueError, RecursionError):
            said = None
        said = said if isinstance(said, dict) else {}
        given = (without_surrogates(said.get(key)) for key in ("name", "secret"))
        name, secret = (one if isinstance(one, str) else "" for one in given)
        tried = [request.state.address, *([f"name {name}"] if name else [])]
        if any(map(access.wrong.exceeded, tried)):  # before anything is computed
            wrong = plain_problem(429, "Too many wrong tokens or passwords. Wait a minute.")
            return problem_response(wrong, {"Retry-After": "60"}, path=request.url.path)
        user = None
        if len(secret) <= MAX_SECRET_CHARACTERS and len(name) <= MAX_SECRET_CHARACTERS:
            # Counted before it is computed: many at once are many tries.
            for key in tried:
                access.wrong.count(key)
            user = await access.user_of_password(name, secret) if name else access.user_of_token(secret)
        if user is None:
            unknown = plain_problem(401, "This name and password, or this token, is not known.")
            return problem_response(unknown, path=request.url.path)
        for key in tried:
            access.wrong.forgive(key)
        response = JSONResponse({"name": user.name, "role": user.role})
        response.set_cookie(
            COOKIE,
            access.open_session(user),
            httponly=True,
            samesite="strict",
            secure=said_over_tls(request),
        )
        return response

    @app.post("/logout", include_in_schema=False)
    async def logout(request: Request) -> Response:
        access.end_session(request.cookies.get(COOKIE, ""))
        response = Response(status_code=204)
        response.delete_cookie(COOKIE)
        return response

    @app.get("/api/me", summary="Who am I?", tags=[])
    async def me(request: Request) -> dict[str, Any]:
        """Return the name and the role of whoever asks, and whether the desk has users."""
        user = request.state.user
        return {"name": user.name, "role": user.role, "login": not access.is_open}


def _add_health(app: FastAPI, desk: Desk) -> None:
    @app.get("/metrics", include_in_schema=False)
    async def metrics(user: Annotated[User, Depends(api.needs("admin"))]) -> Response:
        return Response(desk.telemetry.text(), media_type=METRICS_TYPE)

    @app.get("/healthz", include_in_schema=False)
    async def alive() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", include_in_schema=False)
    async def ready(request: Request) -> Response:
        try:
            chunks = await asyncio.to_thread(desk.graph.store.documents.count_chunks)
        except KgragError as error:
            return problem_response(plain_problem(503, told(error)), path=request.url.path)
        return JSONResponse({"status": "ok", "chunks": chunks})


def said_over_tls(request: Request) -> bool:
    """Whether the page came over TLS: a proxy ends it, so what the browser says of its page counts, too."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")


def _operation(route: APIRoute) -> str:
    """Name an operation of the API as its function is named: what a generated client calls it."""
    return route.name
