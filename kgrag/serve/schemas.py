"""What the API takes and gives, beside the types of `kgrag.types`."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from kgrag.serve.desk import MAX_QUESTION_CHARACTERS
from kgrag.text.surrogates import without_surrogates
from kgrag.types import Answer, Chunk, Citation, Document, Evidence

__all__ = [
    "AskReply",
    "AskRequest",
    "Body",
    "BuildProgress",
    "BuildRequest",
    "BuildStep",
    "Completion",
    "DeletedDocuments",
    "DocumentEntry",
    "FailedFile",
    "Feedback",
    "GraphPicture",
    "Passage",
    "PastTurn",
    "PipelineEntry",
    "Problem",
    "Received",
    "RetrieveRequest",
    "Retrieved",
    "Ticket",
    "Turn",
    "UploadedFile",
]

MAX_TURNS = 20
SHORT = 2_000
CONVERSATION = re.compile(r"[\w-]{8,64}")
EXAMPLE = "Which supply voltage does the X-100 need?"


class Body(BaseModel):
    """What a client sends, or is sent: text in it can be kept in files and shown."""

    @model_validator(mode="before")
    @classmethod
    def _without_surrogates(cls, data: Any) -> Any:
        return without_surrogates(data)


class _Body(Body):
    model_config = ConfigDict(extra="forbid")


def _conversation_name(name: str) -> str:
    if not CONVERSATION.fullmatch(name):
        raise ValueError("expected a name of 8 to 64 letters, digits, _ and -")
    return name


ConversationName = Annotated[
    str, AfterValidator(_conversation_name), WithJsonSchema({"type": "string", "pattern": rf"^{CONVERSATION.pattern}$"})
]


class Turn(_Body):
    """A question of the conversation so far, as it was asked (completed)."""

    question: str = Field(max_length=MAX_QUESTION_CHARACTERS)


class AskRequest(_Body):
    """A question."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"question": EXAMPLE},
                {"question": "And the X-1000?", "turns": [{"question": EXAMPLE}], "pipeline": "default"},
            ]
        },
    )
    question: str
    turns: list[Turn] = Field(default=[], max_length=MAX_TURNS)
    """What was asked before, oldest first: a follow-up is completed from it."""
    product: str | None = Field(default=None, max_length=200)
    """What a question is about that names nothing itself."""
    complete: bool = True
    """False asks the question word for word."""
    conversation: ConversationName | None = None
    """A name of the caller's making, under which its turns can be read again."""
    pipeline: str | None = Field(default=None, max_length=200)
    top: int | None = Field(default=None, ge=1, le=100)
    budget: int | None = Field(default=None, ge=1, le=100_000)


class RetrieveRequest(AskRequest):
    """A question whose evidence is wanted, without an answer."""


class Completion(_Body):
    """What a question became, and what was carried over from the turns before."""

    question: str
    completed: str
    carried: list[str] = []
    note: str = ""
    """By which model it was completed, or why not by that."""


class AskReply(_Body):
    """An answer, and the question that it answers."""

    id: str
    """Of this answer: feedback and tickets name it."""
    question: str
    completed: str
    answer: Answer


class PastTurn(BaseModel):
    """A turn of a conversation, as it was answered."""

    model_config = ConfigDict(extra="ignore")

    id: str
    question: str
    completed: str
    answer: str
    abstained: bool
    pipeline: str
    model: str
    notes: list[str] = []
    citations: list[Citation] = []


class Retrieved(_Body):
    """Evidence, best first, and what each step of the pipeline did."""

    question: str
    completed: str
    pipeline: str
    evidence: list[Evidence]
    remarks: list[str] = []


class DocumentEntry(_Body):
    """A document of the store."""

    document: Document
    pages: int | None = None
    """Of a PDF or picture whose file is there."""
    shown_from: Literal["file", "passages"] = "passages"
    """Whether the file is there as it was read, or only what the store has of it."""


class UploadedFile(_Body):
    """A file that was written to the folder of uploads: the next build reads it."""

    path: str
    bytes: int


class BuildRequest(_Body):
    """What is built."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}, {"folder": "manuals/2026"}]})
    folder: str | None = Field(default=None, max_length=1_000)
    """A folder or file of the server, below the desk's root; none builds what was uploaded."""


class BuildStep(_Body):
    """A step of a build."""

    name: str
    count: int
    total: int | None
    unit: str
    done: bool


class FailedFile(_Body):
    """A document that could not be read, or a passage that could not be extracted, and why."""

    subject: str
    reason: str
    uploaded: bool = False
    """Whether it is a file that was uploaded: `DELETE /api/uploads` deletes one of which there is no document."""


class BuildProgress(_Body):
    """The last build of this desk, while it runs and after."""

    id: str
    state: Literal["none", "running", "done", "failed"]
    steps: list[BuildStep] = []
    lines: list[str] = []
    """What the build waits for."""
    problem: str = ""
    """Why it failed as a whole."""
    new_documents: int = 0
    updated_documents: int = 0
    unchanged_files: int = 0
    removed_documents: list[str] = []
    failures: list[FailedFile] = []
    notes: list[str] = []


class DeletedDocuments(_Body):
    """What went: the paths of documents, and whether the file was deleted, too (only one that was uploaded is)."""

    documents: list[str]
    file_deleted: bool


class Rectangle(_Body):
    """A place on a page, in percent of its width and height from the top left."""

    left: float
    top: float
    width: float
    height: float


class PagePlaces(_Body):
    """A page with the boxes of a passage (light) and of what is quoted from it (dark)."""

    page: int
    picture: str
    """Address of the page's picture."""
    width: float
    """In points."""
    height: float
    boxes: list[Rectangle]
    marks: list[Rectangle]


class Passage(_Body):
    """A chunk, its document, and where to see it."""

    chunk: Chunk
    document: Document
    pages: list[PagePlaces] = []
    """Of a PDF or picture whose file is as it was read."""
    view: str
    """Address of the document as plain HTML, scrolled to the passage."""


class Node(_Body):
    """An entity in a picture."""

    key: str
    name: str
    type: str
    mentions: int
    chunks: list[str]
    x: float
    """From 0 to 1."""
    y: float


class Edge(_Body):
    """A relation in a picture."""

    head: str
    tail: str
    type: str
    description: str
    chunks: list[str]


class GraphPicture(_Body):
    """The entities that some chunks mention, placed, with their relations."""

    graph: str
    nodes: list[Node]
    edges: list[Edge]


class PipelineEntry(_Body):
    """A pipeline that can be asked for."""

    name: str
    description: str
    default: bool = False


class Feedback(_Body):
    """What somebody thinks of an answer."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"answer_id": "5f0c", "verdict": "wrong source", "comment": "Rev 2, not Rev 3"}]
        },
    )
    answer_id: str = Field(max_length=64)
    verdict: Literal["right", "wrong", "wrong source"]
    comment: str = Field(default="", max_length=SHORT)


class Ticket(_Body):
    """A question to pass on to somebody who knows."""

    answer_id: str = Field(max_length=64)
    comment: str = Field(default="", max_length=SHORT)


class Received(_Body):
    """That something was written down."""

    id: str


class Problem(_Body):
    """RFC 9457: what went wrong, in the words of the command line."""

    type: str
    title: str
    status: int
    detail: str
