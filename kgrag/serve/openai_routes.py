"""`/v1`: the OpenAI protocol, a pipeline being a model, so that chat front ends and clients of others ask the documents.

The last message is the question, earlier ones of the user are the turns before it. Sources are numbered links under the text and
`annotations` of the message; an abstention is an ordinary answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from pydantic import ConfigDict, Field

from kgrag.errors import InputError, KgragError
from kgrag.serve.api import Asker, AskingHere, DeskHere, in_sentences
from kgrag.serve.asking import Asked
from kgrag.serve.problems import OPENAI, NotFound, openai_error, problem_of
from kgrag.serve.schemas import Body
from kgrag.serve.streams import Events, EventStream, while_connected
from kgrag.types import Answer

__all__ = ["router"]

DEFAULT_MODEL = "kgrag"
"""The pipeline of the settings."""
MAX_MESSAGES = 100
"""The last ones are read: front ends send a conversation from its beginning."""

router = APIRouter(prefix=OPENAI, include_in_schema=False)


class _Lenient(Body):
    model_config = ConfigDict(extra="ignore")


class Part(_Lenient):
    """A part of a message."""

    type: str = "text"
    text: str = ""


class ChatMessage(_Lenient):
    """A turn of the conversation."""

    role: str
    content: str | list[Part] | None = None

    @property
    def said(self) -> str:
        """The text of the message."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(_Lenient):
    """What a stream tells besides."""

    include_usage: bool = False


class ChatRequest(_Lenient):
    """A conversation whose last question is to be answered; settings of sampling are taken and mean nothing here."""

    model: str = DEFAULT_MODEL
    messages: list[ChatMessage] = Field(min_length=1)
    stream: bool = False
    stream_options: StreamOptions | None = None


@router.get("/models")
async def models(desk: DeskHere, user: Asker) -> dict[str, Any]:
    """List the pipelines as models."""
    from kgrag.retrieve import pipeline_names

    return {
        "object": "list",
        "data": [
            {"id": name, "object": "model", "created": 0, "owned_by": "kgrag"}
            for name in (DEFAULT_MODEL, *pipeline_names())
        ],
    }


@router.post("/chat/completions")
async def completions(request: Request, body: ChatRequest, desk: DeskHere, asking: AskingHere, user: Asker) -> Any:
    """Answer the last message from the documents."""
    created = int(time.time())
    messages = body.messages[-MAX_MESSAGES:]
    asked_of = [message.said for message in messages if message.role == "user"]
    if messages[-1].role != "user":
        raise InputError("Expected the last message to be the user's question.")
    if body.model != DEFAULT_MODEL:
        try:
            desk.check_pipeline(body.model)
        except InputError as error:
            raise NotFound(str(error)) from error
    turns = _completed_turns(asked_of[:-1])
    completed = await while_connected(request, asking.completed(asked_of[-1], user=user, turns=turns))
    answered = partial(
        asking.ask,
        completed,
        question=asked_of[-1],
        user=user,
        pipeline=None if body.model == DEFAULT_MODEL else body.model,
    )
    base = str(request.base_url).rstrip("/")
    if not body.stream:
        asked = await while_connected(request, answered())
        links = _links(asked.answer, base)
        text = asked.answer.told + _footer(links)
        message = {"role": "assistant", "content": text, "refusal": None, "annotations": _annotations(text, links)}
        return {
            "id": f"chatcmpl-{asked.id}",
            "object": "chat.completion",
            "created": created,
            "model": body.model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "usage": _usage(asked),
        }

    async def stream(events: Events) -> None:
        def chunk(delta: dict[str, Any], *, id_: str = "kgrag", reason: str | None = None) -> dict[str, Any]:
            return {
                "id": f"chatcmpl-{id_}",
                "object": "chat.completion.chunk",
                "created": created,
                "model": body.model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}],
            }

        events.tell("", chunk({"role": "assistant", "content": ""}))
        try:
            asked = await answered()
        except KgragError as error:
            events.tell("", {"error": openai_error(problem_of(error))})
            return
        links = _links(asked.answer, base)
        footer = _footer(links)
        for piece in [*in_sentences(asked.answer.told), *([footer] if footer else [])]:
            events.tell("", chunk({"content": piece}, id_=asked.id))
        noted = _annotations(asked.answer.told + footer, links)
        events.tell("", chunk({"annotations": noted} if noted else {}, id_=asked.id, reason="stop"))
        if body.stream_options is not None and body.stream_options.include_usage:
            events.tell("", {**chunk({}, id_=asked.id), "choices": [], "usage": _usage(asked)})
        events.tell("", None)

    return EventStream(stream, frame=_frame)


def _frame(_: str, data: Any) -> bytes:
    said = "[DONE]" if data is None else json.dumps(data, ensure_ascii=False)
    return f"data: {said}\n\n".encode("utf-8", "replace")


def _completed_turns(questions: Sequence[str]) -> list[str]:
    """Complete each earlier question from those before it: names are carried over from turn to turn."""
    from kgrag.text.follow_ups import complete_question

    turns: list[str] = []
    for question in questions:
        turns.append(complete_question(question, turns).text)
    return turns


def _links(answer: Answer, base: str) -> list[tuple[int, str, str]]:
    """Return number, title and address of each citation."""
    documents = {piece.chunk_id: piece.document_id for piece in answer.evidence}
    links = []
    for one in answer.sources:
        document = documents.get(one.chunk_id)
        page = one.boxes[0].page if one.boxes else None
        place = [
            one.document,
            *([f"page {one.page_start}"] if one.page_start else []),
            *([one.section] if one.section else []),
        ]
        if document and page is not None:
            address = f"{base}/documents/{document}/pages/{page}.png"
        elif document:
            address = f"{base}/documents/{document}/view?chunk={one.chunk_id}#kgrag-mark"
        else:
            address = base
        links.append((one.number, ", ".join(place), address))
    return links


def _footer(links: Sequence[tuple[int, str, str]]) -> str:
    if not links:
        return ""
    return "\n\nSources:\n" + "\n".join(f"[{number}] [{_plain(title)}]({address})" for number, title, address in links)


def _plain(title: str) -> str:
    """Take what would end a link's text out of a title: names of documents are of anybody."""
    return "".join(" " if c in "[]()<>\n\r`" else c for c in title)


def _annotations(text: str, links: Sequence[tuple[int, str, str]]) -> list[dict[str, Any]]:
    found = []
    for number, title, address in links:
        start = text.find(f"[{number}]")
        cited = {"start_index": start, "end_index": start + len(f"[{number}]"), "title": title, "url": address}
        found.append({"type": "url_citation", "url_citation": cited})
    return found


def _usage(asked: Asked) -> dict[str, int]:
    used = asked.answer.usage
    return {
        "prompt_tokens": used.prompt_tokens,
        "completion_tokens": used.completion_tokens,
        "total_tokens": used.prompt_tokens + used.completion_tokens,
    }
