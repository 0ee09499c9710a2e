"""The data that flows through kgrag: frozen, typed, with a JSON round trip.

Every class here is a pydantic model: `x.model_dump_json()` writes it, `T.model_validate_json(s)` reads it back equal.
Vectors do not travel on these types: they go beside them as `numpy` arrays of shape ``[n, dimensions]``, float32, unit length.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Answer",
    "Chunk",
    "Citation",
    "Community",
    "Document",
    "Entity",
    "Evidence",
    "Extraction",
    "Hyperlink",
    "Listing",
    "Nearest",
    "PageBox",
    "Question",
    "Relation",
    "Silence",
    "Table",
    "TableRow",
    "Thing",
    "Usage",
    "canonical_json",
    "content_id",
    "place",
    "with_context",
]

Scalar = str | int | float | bool | None
WorkState = Literal["ok", "empty", "mended", "partial", "failed"]
"""`mended`: the reply was put right and nothing is lost; `partial`: something of it is lost, which the reason names."""


def content_id(*parts: str) -> str:
    """Identify content: the first 32 hex digits of the SHA-256 over `parts`, which are kept apart (a length goes before each)."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:32]


def canonical_json(value: Any) -> str:
    """Write a value as JSON in the one way in which equal values are equal texts: keys sorted, no spaces, letters as they are."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Document(_Value):
    """One document: a file, or the passages of one title in a `.jsonl` file."""

    id: str
    """Derived from `path`, `title` (for passages) and `sha256`: a changed file is another document with the same path."""
    path: str
    """As given by the user, POSIX style: relative to the working directory where the file lies under it, else absolute."""
    title: str
    sha256: str
    """Of the file's bytes, or of the passages for a `.jsonl` file."""
    format: str
    """What it was read as (`kgrag.documents.discovery`): pdf, html, md, docx, man, mail, jsonl, ..."""
    product: str | None = None
    category: str | None = None
    version: str | None = None
    metadata: dict[str, Scalar] = Field(default_factory=dict)

    @property
    def groups(self) -> frozenset[str]:
        """Who alone may read it: the names in `metadata["groups"]`, separated by commas; none: everybody."""
        said = str(self.metadata.get("groups", ""))
        return frozenset(name for part in said.split(",") if (name := part.strip()))


class Hyperlink(_Value):
    """A link that the authors set, in the chunk that has it."""

    href: str
    """A target inside the corpus as `path#fragment` (path as in `Document.path`), else the URL as written."""
    anchor: str
    """The text of the link."""
    context: str
    """The sentence or list item around it."""
    position: int
    """Which link of its chunk it is, from 0."""


class PageBox(_Value):
    """A rectangle on a page, in points (1/72 inch) from the page's top left corner."""

    page: int
    """From 1."""
    left: float
    top: float
    right: float
    bottom: float


class Chunk(_Value):
    """A piece of a document: the unit that is embedded, searched, shown and cited.

    `embedded_text` and `prompted_text` say what an embedder reads and what a model is shown; the fields that they take are named in
    `embedded_fields` and `prompted_fields`, so that a change of either is a change of this schema.
    """

    schema_name: ClassVar[str] = "kgrag.Chunk"
    schema_version: ClassVar[int] = 1
    embedded_fields: ClassVar[tuple[str, ...]] = ("title", "headings", "text")
    prompted_fields: ClassVar[tuple[str, ...]] = ("title", "headings", "text")

    id: str
    """content_id(document id, position, text)."""
    document_id: str
    source_id: str
    """The passage's own id for ready passages, else the document's id."""
    position: int
    """From 0, in reading order."""
    title: str = ""
    """The document's title."""
    headings: tuple[str, ...] = ()
    """Path of headings, outermost first."""
    text: str
    """The chunk's own words, as written; a table is Markdown with its header row."""
    page_start: int | None = None
    page_end: int | None = None
    """1-based, inclusive; None where the format has no pages."""
    tokens: int
    """Of `prompted_text`, counted by the embedder's tokenizer without special tokens."""
    anchors: tuple[str, ...] = ()
    """Ids of the HTML elements whose content is in the chunk, the enclosing ones included."""
    links: tuple[Hyperlink, ...] = ()
    boxes: tuple[PageBox, ...] = ()
    """Where its content stands on the pages of a PDF: a box for each paragraph, heading or list item, and one for a table's rows."""

    @property
    def section(self) -> str:
        """The path of headings: `Sensors > Pressure`."""
        return " > ".join(self.headings)

    @property
    def embedded_text(self) -> str:
        """What an embedder reads: title, headings and text, each said once."""
        return with_context(self.text, title=self.title, headings=self.headings)

    @property
    def prompted_text(self) -> str:
        """What a model is shown: the same context line, then the text."""
        return with_context(self.text, title=self.title, headings=self.headings)


def with_context(text: str, *, title: str = "", headings: Sequence[str] = ()) -> str:
    """Put a line of context, `title > heading > heading`, before a text.

    A title that the text's first 200 characters have already is left out, and so is a heading that the text begins with: what is said
    twice costs tokens and pulls vectors.
    """
    opening = text[:200].casefold()
    parts = [] if title.strip().casefold() in opening else [title.strip()]
    for heading in (heading.strip() for heading in headings):
        folded = heading.casefold()
        if folded and folded != title.strip().casefold() and not opening.startswith(folded):
            parts.append(heading)
    return f"{' > '.join(parts)}\n{text}" if parts else text


class Usage(_Value):
    """What a model call cost; the counts of several calls add up."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    """US dollars."""
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=self.cost + other.cost,
            seconds=self.seconds + other.seconds,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls - other.calls,
            prompt_tokens=self.prompt_tokens - other.prompt_tokens,
            completion_tokens=self.completion_tokens - other.completion_tokens,
            cost=self.cost - other.cost,
            seconds=self.seconds - other.seconds,
        )


class Entity(_Value):
    """A thing that a chunk names. Two entities of one graph are one node when `type` and `normal` are equal."""

    name: str
    """As written in the chunk."""
    type: str
    """Becomes the node's second label: Product, Part, Identifier, Quantity, ..."""
    normal: str
    """The comparison key (`kgrag.text.names.normal_form`): case and spelling folded, numbers, units and signs kept."""
    description: str = ""
    role: Literal["title", "mention"] = "mention"
    """`title`: the chunk is about it (it stands in its title or heading); `mention`: the chunk's text names it."""


class Relation(_Value):
    """A typed statement between two entities, as one chunk says it."""

    head: Entity
    type: str
    """Relationship type, UPPER_SNAKE_CASE: HAS_PART, IS_A, HAS_VALUE, ..."""
    tail: Entity
    description: str = ""
    """The sentence or table row that says it."""
    grounded: bool = True
    """False where head or tail could not be found in the chunk."""
    reason: str = ""
    """Why it is not grounded."""


class Extraction(_Value):
    """What one extractor made of one chunk."""

    chunk_id: str
    entities: tuple[Entity, ...] = ()
    """Every entity that the chunk mentions, heads and tails of `relations` included, each once."""
    relations: tuple[Relation, ...] = ()
    state: WorkState = "ok"
    reason: str = ""
    """Why it is `failed`, `partial` or `mended`; empty otherwise."""
    remarks: dict[str, int] = Field(default_factory=dict)
    """What was noticed about what the model said, with counts: `relations not grounded`, `numbers that the chunk does not have`, ..."""
    usage: Usage = Usage()

    @property
    def digest(self) -> str:
        """Of entities and relations: equal extractions have equal digests, whatever they cost and whatever chunk they are of."""
        # Not model_dump_json: it refuses half of a surrogate pair, which a broken PDF can have.
        return content_id(*(json.dumps(x.model_dump()) for x in (*self.entities, *self.relations)))


class Question(_Value):
    """A question; the keys of a question file that kgrag does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str | int
    question: str
    form: str = ""
    """What the answer has to begin with: `yes/no`, `number`, or as a person would say it."""
    explanation: str = ""
    """What is meant by the question, for whoever answers it."""
    hidden: tuple[str, ...] = ()
    """Ids of chunks that retrieval does without: those that a made question was taken from word for word."""


class Evidence(_Value):
    """A piece of what is shown to a model (or taken by the extractive answer), best first in a list."""

    chunk_id: str | None
    source_id: str
    document: str
    """Path of the document, or its title for ready passages."""
    document_id: str = ""
    title: str = ""
    section: str = ""
    anchors: tuple[str, ...] = ()
    page_start: int | None = None
    page_end: int | None = None
    boxes: tuple[PageBox, ...] = ()
    """As `Chunk.boxes`."""
    sources: tuple[Citation, ...] = ()
    """Of what is written about a community: the passages that the numbers in it stand for, with their pages."""
    text: str
    """Exactly what a model is shown."""
    tokens: int
    score: float
    why: tuple[str, ...] = ()
    """How it was found: `dense 0.61`, `link: title mention of X-100`."""


class Citation(_Value):
    """Where a numbered claim of an answer comes from."""

    number: int
    """As it stands in the answer: [1], [2], ..."""
    chunk_id: str | None
    document: str
    section: str = ""
    page_start: int | None = None
    page_end: int | None = None
    boxes: tuple[PageBox, ...] = ()
    """As `Chunk.boxes`."""
    sources: tuple[Citation, ...] = ()
    """As `Evidence.sources`."""
    quote: str = ""

    @classmethod
    def of(cls, piece: Evidence, *, number: int, quote: str) -> Self:
        """Cite a piece of evidence."""
        return cls(
            number=number,
            chunk_id=piece.chunk_id,
            document=piece.document,
            section=piece.section,
            page_start=piece.page_start,
            page_end=piece.page_end,
            boxes=piece.boxes,
            sources=piece.sources,
            quote=quote,
        )


def place(of: Citation | Evidence) -> str:
    """Say where: `docs/a.pdf, page 3, Electrical > Supply`; of what is written about a community also where that is from."""
    parts = [of.document]
    if of.page_start is not None:
        one = of.page_end in (None, of.page_start)
        parts.append(f"page {of.page_start}" if one else f"pages {of.page_start}-{of.page_end}")
    if of.section:
        parts.append(of.section)
    where = ", ".join(parts)
    return f"{where} (from {'; '.join(map(place, of.sources))})" if of.sources else where


class Community(_Value):
    """Entities that belong together, and what they are about."""

    key: str
    """content_id of graph, level and members: another member makes another community."""
    graph: str
    level: int
    """0 is the coarsest; the communities of a level lie inside those of the level before."""
    size: int
    """How many entities are in it."""
    parent: str | None = None
    """Key of the community that it is a part of."""
    label: str
    """What it holds, in a few words: what a reader sees in the tree."""
    summary: str = ""
    """With numbered citations; empty where it is smaller than the size floor of summaries."""
    key_terms: tuple[str, ...] = ()
    full_content: str
    """Label, summary and key terms as one text: what is embedded, searched by words, and shown to a model that answers. Never the input."""
    citations: tuple[Citation, ...] = ()
    """What the numbers in the summary stand for."""


class Thing(_Value):
    """Something that documents are about, which a question can count."""

    name: str
    group: str = ""
    """Its family or category."""
    documents: tuple[str, ...] = ()
    """Ids of its own documents."""


class Listing(_Value):
    """What the store says about every thing of a sort: what the answer to a question that counts or lists is read from."""

    things: tuple[Thing, ...] = ()
    """Those that are asked about."""
    others: tuple[str, ...] = ()
    """Names of the other things, to tell what is said of them."""
    evidence: tuple[Evidence, ...] = ()
    """Every chunk that may say it, in reading order; of very many some of each document."""
    unread: int = 0
    """How many more chunks may say it."""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    """Where a statement of Cypher that a model wrote gave the answer itself: its rows, as text."""
    row_chunks: tuple[tuple[str, ...], ...] = ()
    """Ids of the chunks that say each of these rows."""
    more: bool = False
    """Whether there were more rows than these."""
    cypher: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class TableRow(_Value):
    """A row of an answer's table."""

    cells: tuple[str, ...]
    citations: tuple[int, ...] = ()
    """Numbers of what says it."""
    answers: bool = True
    """Whether it is part of the answer: of `the largest` every row is shown, and only the first answers."""


class Table(_Value):
    """The whole result of a question that counts or lists, and the statement that it was read from."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    asked: int
    """How many things there are of the sort."""
    stated: int
    """Of how many the documents state the property at all."""
    cypher: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class Silence(_Value):
    """What no document of a store mentions: why there is no answer, other than that what is mentioned does not answer."""

    terms: tuple[str, ...]
    """Names and words of the question, as it has them."""
    documents: tuple[str, ...]
    """The documents that were searched: paths, or titles of ready passages, the first hundred of them."""
    count: int
    """How many documents were searched."""


class Nearest(_Value):
    """What a document says that comes nearest to a question which was not answered."""

    text: str
    """A statement with what heads it, as an answer without a model would give it."""
    citation: Citation


NEAREST_HEAD = "Nearest in the documents, which may not answer it:"


class Answer(_Value):
    """The answer to a question with its citations, and how it was made."""

    question: str
    text: str
    """With numbered citations; for an abstention, what was looked for and not found."""
    citations: tuple[Citation, ...] = ()
    abstained: bool = False
    model: str
    """`rules` is model-free: the answer is made of sentences and table rows of the documents."""
    pipeline: str
    evidence: tuple[Evidence, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
    table: Table | None = None
    """The whole result, of a question that counts or lists."""
    silence: Silence | None = None
    """Of an abstention: what of the question no document mentions at all; None where each word of it is mentioned somewhere."""
    nearest: tuple[Nearest, ...] = ()
    """Of an abstention: what comes nearest, best first, and is not held to answer; empty where nothing is near."""
    notes: tuple[str, ...] = ()
    """What a reader must know: citations of a model that meant no passage, an answer without any."""
    reasoning: str = ""
    """What the model thought before it answered, where its instructions ask for that: neither checked nor cited."""

    @property
    def told(self) -> str:
        """The text, and below that of an abstention what is nearest: what a reader is shown."""
        if not self.nearest:
            return self.text
        return "\n".join([self.text, NEAREST_HEAD, *(f"- {one.text} [{one.citation.number}]" for one in self.nearest)])

    @property
    def sources(self) -> tuple[Citation, ...]:
        """What the numbers in `told` stand for: the citations, or those of what is nearest."""
        if self.citations:
            return self.citations
        quotes: dict[int, list[str]] = {}
        for one in self.nearest:
            quotes.setdefault(one.citation.number, []).append(one.citation.quote)
        first = {one.citation.number: one.citation for one in reversed(self.nearest)}
        return tuple(first[n].model_copy(update={"quote": " … ".join(said)}) for n, said in quotes.items())
