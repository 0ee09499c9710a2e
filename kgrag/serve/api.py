"""`/api`: the routes. Each checks its input, asks the desk, and says what came."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from typing import Annotated, Any
from urllib.parse import quote as quoted

from fastapi import APIRouter, Depends, Query, Request

from kgrag.errors import KgragError
from kgrag.serve.access import Role, User
from kgrag.serve.asking import Asked, Asking
from kgrag.serve.desk import Desk
from kgrag.serve.page_process import PAGES_OF
from kgrag.serve.problems import plain_problem, problem_of
from kgrag.serve.schemas import (
    AskReply,
    AskRequest,
    Completion,
    DocumentEntry,
    Edge,
    Feedback,
    GraphPicture,
    Node,
    PagePlaces,
    Passage,
    PastTurn,
    PipelineEntry,
    Problem,
    Received,
    Rectangle,
    Retrieved,
    RetrieveRequest,
    Ticket,
)
from kgrag.serve.streams import EventProgress, Events, EventStream, while_connected
from kgrag.text.follow_ups import Completed
from kgrag.text.sentences import sentences
from kgrag.types import Chunk, PageBox

__all__ = [
    "MAX_QUOTE_CHARACTERS",
    "PROBLEMS",
    "Asker",
    "AskingHere",
    "DeskHere",
    "asking_of",
    "desk_of",
    "in_sentences",
    "needs",
    "router",
]

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "content": {"application/problem+json": {}}}
    for status in (400, 401, 403, 404, 409, 413, 422, 429, 502, 503)
}
MAX_GRAPH_CHUNKS = 40
MAX_QUOTE_CHARACTERS = 4_000

router = APIRouter(prefix="/api", responses=PROBLEMS)


def desk_of(request: Request) -> Desk:
    """Return the desk of the app."""
    desk: Desk = request.app.state.desk
    return desk


def asking_of(request: Request) -> Asking:
    """Return what asks, of the app."""
    asking: Asking = request.app.state.asking
    return asking


def needs(role: Role) -> Callable[[Request], User]:
    """Make a dependency that gives the user, and refuses one without a role."""

    def check(request: Request) -> User:
        from starlette.exceptions import HTTPException

        user: User = request.state.user
        if not user.may(role):
            raise HTTPException(403, f"This needs the role {role}; {user.name} has {user.role}.")
        return user

    return check


DeskHere = Annotated[Desk, Depends(desk_of)]
AskingHere = Annotated[Asking, Depends(asking_of)]
Asker = Annotated[User, Depends(needs("ask"))]


@router.post(
    "/ask",
    response_model=AskReply,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    summary="Ask a question",
)
async def ask(request: Request, body: AskRequest, desk: DeskHere, asking: AskingHere, user: Asker) -> Any:
    """Answer a question with citations, or abstain.

    With `Accept: text/event-stream` it comes as events: `completed`, `step` (begun and done), `text` (the answer's sentences, or what a
    model writes before it is checked; `restart` takes that back), then `answer`, which is what counts, or `problem`. Whoever goes away
    ends the work, and the call of a model with it.
    """
    desk.check_pipeline(body.pipeline)
    completed = await while_connected(request, _completed(asking, body, user))

    async def answered(progress: EventProgress | None = None) -> Asked:
        return await asking.ask(
            completed,
            question=body.question,
            user=user,
            pipeline=body.pipeline,
            top=body.top,
            budget=body.budget,
            progress=progress,
            conversation=body.conversation,
        )

    if "text/event-stream" not in request.headers.get("accept", ""):
        return _reply(await while_connected(request, answered()))

    async def stream(events: Events) -> None:
        events.tell("completed", _completion(body.question, completed).model_dump())
        progress = EventProgress(events)
        try:
            asked = await answered(progress)
        except KgragError as error:
            events.tell("problem", problem_of(error))
            return
        except Exception as error:
            events.tell("problem", plain_problem(500, f"Unexpected {type(error).__name__}. This is a defect of kgrag."))
            raise
        for piece in in_sentences(asked.answer.text) if not progress.wrote else ():
            events.tell("text", {"text": piece})
        events.tell("answer", _reply(asked).model_dump(mode="json"))

    return EventStream(stream)


@router.post("/complete", summary="Complete a follow-up")
async def complete(request: Request, body: AskRequest, asking: AskingHere, user: Asker) -> Completion:
    """Say what a question would be asked as, after these turns."""
    return _completion(body.question, await while_connected(request, _completed(asking, body, user)))


@router.get("/conversations/{conversation}", summary="The turns of a conversation")
async def conversation(conversation: str, asking: AskingHere, user: Asker) -> list[PastTurn]:
    """Return what this user asked in a conversation and was answered, oldest first; without its evidence."""
    return [PastTurn.model_validate(turn) for turn in asking.conversation(conversation, user)]


@router.post("/retrieve", summary="Find evidence")
async def retrieve(request: Request, body: RetrieveRequest, asking: AskingHere, user: Asker) -> Retrieved:
    """Find evidence for a question, best first, without an answer."""
    completed = await while_connected(request, _completed(asking, body, user))
    job = asking.retrieve(completed, user=user, pipeline=body.pipeline, top=body.top, budget=body.budget)
    found = await while_connected(request, job)
    return Retrieved(
        question=body.question,
        completed=completed.text,
        pipeline=found.pipeline,
        evidence=found.evidence,
        remarks=list(found.remarks),
    )


@router.get("/documents", summary="List the documents")
async def documents(desk: DeskHere, user: Asker) -> list[DocumentEntry]:
    """Return every document of the store, by path."""
    return [DocumentEntry(document=one) for one in await desk.documents(user)]


@router.get("/documents/{document_id}", summary="One document")
async def document(document_id: str, desk: DeskHere, user: Asker) -> DocumentEntry:
    """Return a document, and whether its file is there as it was read."""
    found = await desk.document(document_id, user)
    file = await desk.file(found)
    pages = len(await desk.pages.sizes(file, found)) if file is not None and found.format in PAGES_OF else None
    return DocumentEntry(document=found, pages=pages, shown_from="file" if file is not None else "passages")


@router.get("/documents/{document_id}/passages", summary="The passages of a document")
async def passages(document_id: str, desk: DeskHere, user: Asker) -> list[Chunk]:
    """Return the chunks of a document in reading order."""
    chunks = await desk.chunks_of(await desk.document(document_id, user), user)
    await desk.note_shown(user, "read", chunks)
    return chunks


@router.get("/passages/{chunk_id}", summary="A passage, and where it stands")
async def passage(
    chunk_id: str,
    desk: DeskHere,
    user: Asker,
    quote: Annotated[str, Query(max_length=MAX_QUOTE_CHARACTERS)] = "",
) -> Passage:
    """Return a chunk with its document; of a PDF or picture the pages with the passage's boxes, and those of a quotation from it."""
    chunk = await desk.chunk(chunk_id, user)
    found = await desk.document(chunk.document_id, user)
    await desk.note_shown(user, "read", [chunk])
    view = f"/documents/{found.id}/view?chunk={chunk.id}&quote={quoted(quote)}#kgrag-mark"
    places: list[PagePlaces] = []
    file = await desk.file(found)
    if file is not None and found.format in PAGES_OF and chunk.boxes:
        sizes = await desk.pages.sizes(file, found)
        marks = await desk.pages.places(file, found, quote, chunk.boxes) if quote else []
        for number in sorted({box.page for box in chunk.boxes if box.page <= len(sizes)}):
            width, height = sizes[number - 1]
            places.append(
                PagePlaces(
                    page=number,
                    picture=f"/documents/{found.id}/pages/{number}.png",
                    width=width,
                    height=height,
                    boxes=[_rectangle(box, width, height) for box in chunk.boxes if box.page == number],
                    marks=[_rectangle(box, width, height) for box in marks if box.page == number],
                )
            )
    return Passage(chunk=chunk, document=found, pages=places, view=view)


@router.get("/graph", summary="The entities of some chunks")
async def graph(
    desk: DeskHere,
    user: Asker,
    chunks: Annotated[str, Query(description="Ids, separated by commas.", max_length=40 * MAX_GRAPH_CHUNKS)],
    name: Annotated[str | None, Query(alias="graph", max_length=200)] = None,
) -> GraphPicture:
    """Return the entities that chunks mention and the relations between them, placed for drawing."""
    from kgrag.serve.picture import positions

    ids = list(dict.fromkeys(filter(None, chunks.split(","))))[:MAX_GRAPH_CHUNKS]
    found = await (await desk.seen_by(user)).graph_of_chunks(ids, graph=name)
    placed = await asyncio.to_thread(positions, found)
    return GraphPicture(
        graph=found.graph,
        nodes=[
            Node(
                key=node.key,
                name=node.name,
                type=node.type,
                mentions=node.mentions,
                chunks=list(node.chunks),
                x=placed[node.key][0],
                y=placed[node.key][1],
            )
            for node in found.nodes
        ],
        edges=[
            Edge(head=e.head, tail=e.tail, type=e.type, description=e.description, chunks=list(e.chunks))
            for e in found.edges
        ],
    )


@router.get("/neighbours", summary="What the graph knows of an entity")
async def neighbours(
    desk: DeskHere,
    user: Asker,
    name: Annotated[str, Query(min_length=1, max_length=300)],
    graph: Annotated[str | None, Query(max_length=200)] = None,
) -> list[dict[str, Any]]:
    """Return the relations of the entities of a name, best supported first, and chunks that mention them."""
    from dataclasses import asdict

    seen = await desk.seen_by(user)
    return [asdict(one) for one in await seen.neighbours(name, graph=graph)]


@router.get("/pipelines", summary="The pipelines")
async def pipelines(desk: DeskHere, user: Asker) -> list[PipelineEntry]:
    """Return the pipelines that a question can be asked through."""
    from kgrag.retrieve import load_pipeline, pipeline_names

    used = desk.graph.settings.pipeline
    names = pipeline_names()
    names = names if used in names else [used, *names]
    return [
        PipelineEntry(name=name, description=load_pipeline(name).description, default=name == used) for name in names
    ]


@router.get("/status", summary="What the store holds")
async def status(desk: DeskHere, user: Asker) -> dict[str, Any]:
    """Return what `kgrag status --json` prints; where some documents may be hidden, only how many there are to be seen."""
    if await desk.sees_all(user):
        return await desk.graph.status()
    seen = await desk.seen_by(user)
    chunks = await asyncio.to_thread(seen.store.documents.count_chunks)
    return {"documents": len(await desk.documents(user)), "chunks": chunks}


@router.post("/feedback", status_code=201, summary="Say what an answer is worth")
async def feedback(body: Feedback, desk: DeskHere, asking: AskingHere, user: Asker) -> Received:
    """Write down whether an answer is right, wrong, or rests on a wrong source."""
    asked = asking.answered(body.answer_id, user)
    entry = {"id": secrets.token_hex(8), "user": user.name, **body.model_dump(), **asked}
    await asyncio.to_thread(desk.journal.write, "feedback", entry)
    return Received(id=entry["id"])


@router.post("/tickets", status_code=201, summary="Pass a question on")
async def ticket(body: Ticket, desk: DeskHere, asking: AskingHere, user: Asker) -> Received:
    """Write down a question for somebody who knows, with what was looked for and found."""
    asked = asking.answered(body.answer_id, user)
    entry = {"id": secrets.token_hex(8), "user": user.name, **body.model_dump(), **asked}
    await asyncio.to_thread(desk.journal.write, "tickets", entry)
    desk.send_ticket(entry)
    return Received(id=entry["id"])


@router.get("/tickets", summary="What was passed on")
async def tickets(desk: DeskHere, user: Annotated[User, Depends(needs("admin"))]) -> list[dict[str, Any]]:
    """Return every ticket, oldest first."""
    return await asyncio.to_thread(lambda: list(desk.journal.read("tickets")))


def in_sentences(text: str) -> list[str]:
    """Cut an answer after its sentences: pieces that make the text when they are joined."""
    # The number of a citation belongs to the sentence before it.
    starts = [one.start for one in sentences(text)[1:] if text[one.start] != "["]
    return [text[start:end] for start, end in zip([0, *starts], [*starts, len(text)], strict=True) if text[start:end]]


def _reply(asked: Asked) -> AskReply:
    return AskReply(id=asked.id, question=asked.question, completed=asked.completed.text, answer=asked.answer)


def _completed(asking: Asking, body: AskRequest, user: User) -> Coroutine[Any, Any, Completed]:
    turns = [turn.question for turn in body.turns]
    return asking.completed(body.question, user=user, turns=turns, product=body.product, complete=body.complete)


def _completion(question: str, completed: Completed) -> Completion:
    return Completion(question=question, completed=completed.text, carried=list(completed.carried), note=completed.note)


def _rectangle(box: PageBox, width: float, height: float) -> Rectangle:
    return Rectangle(
        left=round(100 * box.left / width, 3),
        top=round(100 * box.top / height, 3),
        width=round(100 * (box.right - box.left) / width, 3),
        height=round(100 * (box.bottom - box.top) / height, 3),
    )
