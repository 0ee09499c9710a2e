"""Rows of what retrieval, communities and evaluation read: for each statement the fields that it returns."""

from __future__ import annotations

from typing import NotRequired, TypedDict

__all__ = [
    "AmountRow",
    "ChunkEntityRow",
    "ChunkLinksRow",
    "ChunkRow",
    "CommunityChunksRow",
    "CommunityCitationsRow",
    "CommunityRow",
    "ContextRow",
    "DocumentRow",
    "EdgeRow",
    "EntityRow",
    "FamilyRow",
    "HopRow",
    "IdRow",
    "KeyRelationRow",
    "LinkRow",
    "LinkTargetRow",
    "LinkedEntityRow",
    "MentionLinkRow",
    "MentionRow",
    "NamedChunkRow",
    "NamedRow",
    "NeighbourhoodRow",
    "PathRow",
    "PlaceRow",
    "PredictedRow",
    "RelatedRow",
    "RelationRow",
    "SharedRow",
    "ShownRow",
    "SizeRow",
    "SparseRow",
    "StatedRow",
    "StatementRow",
    "ThingRow",
    "VectorRow",
    "WalkChunkRow",
    "WalkLinkRow",
    "WalkRelationRow",
]


class PlaceRow(TypedDict):
    """A chunk, and where it stands."""

    id: str
    document_id: str
    position: int


class ChunkRow(PlaceRow):
    """A chunk that was found."""

    similarity: float | None
    """To the question: (1 + cosine) / 2."""
    said: NotRequired[str]
    """By the row of one of its tables that found it."""


class SparseRow(ChunkRow):
    """A chunk that the full-text index found."""

    score: float
    prompted: str
    """Empty beyond the rows that were to be read."""


class IdRow(TypedDict):
    """A chunk."""

    id: str


class DocumentRow(TypedDict):
    """What a document is called, and which version it is of."""

    id: str
    title: str
    version: str | None
    metadata: str | None
    """JSON."""


class CommunityCitationsRow(TypedDict):
    """What the numbers in what is written about a community stand for."""

    key: str
    citations: str
    """JSON."""


class VectorRow(TypedDict):
    """A chunk's vector."""

    id: str
    embedding: list[float]


class ShownRow(PlaceRow):
    """What may be shown of a chunk, and what a citation needs."""

    source_id: str
    title: str
    section: str
    prompted: str
    tokens: int
    anchors: list[str]
    page_start: int | None
    page_end: int | None
    boxes: str | None
    path: str
    document_title: str
    format: str


class NamedRow(TypedDict):
    """An entity that a question names, with the chunks about it."""

    key: str
    name: str
    normal: str
    aliases: list[str] | None
    chunks: list[ChunkRow]
    as_name: int
    """Times that the nearest of them write a name of one word as it is; 0 of a longer one."""
    as_word: int
    """Times that they write it in small letters."""


class FamilyRow(TypedDict):
    """A member of a family of names, with the chunks about it."""

    family: str
    key: str
    name: str
    normal: str
    chunks: list[ChunkRow]


class LinkedEntityRow(TypedDict):
    """An entity near the question, or of a name in it (then without a similarity)."""

    key: str
    name: str
    aliases: list[str] | None
    normal: str
    mentions: int
    similarity: float | None


class LinkRow(TypedDict):
    """Where a seed leads: to the chunks about an entity that it mentions, or behind a hyperlink."""

    seed: str
    kind: str
    """`mention` or `hyperlink`."""
    name: str
    mentions: int
    about: int
    said: list[str]
    """Of a hyperlink: its texts and what stands around them."""
    chunks: list[ChunkRow]


class SharedRow(ChunkRow):
    """A chunk that mentions entities of a seed or of a community."""

    shared: int


class RelatedRow(SharedRow):
    """A chunk that shares entities with a seed."""

    weight: float


class RelationRow(TypedDict):
    """A relation with the chunk that says it."""

    head: str
    type: str
    tail: str
    description: str
    weight: int
    chunk: str


class HopRow(RelationRow):
    """A relation, and how many hops away it is."""

    hop: int


class NeighbourhoodRow(TypedDict):
    """The graph around a seed."""

    seed: str
    chunks: list[RelatedRow]
    relations: list[HopRow]


class MentionRow(ChunkRow):
    """A chunk that mentions an entity."""

    role: str


class ContextRow(TypedDict):
    """What is known of an entity."""

    key: str
    chunks: list[MentionRow]
    relations: list[RelationRow]


class StatedRow(TypedDict):
    """What a seed states a relation with."""

    key: str
    normal: str
    name: str
    aliases: list[str] | None


class PathRow(ChunkRow):
    """A chunk of another document that names what a seed names."""

    seed: str
    seed_similarity: float | None
    alike: float | None
    name: str
    mentions: int
    stated: list[StatedRow]


class PredictedRow(TypedDict):
    """Where a predicted edge leads from a seed: to chunks that name what it says is related."""

    seed: str
    source: str
    source_type: str
    target: str
    target_type: str
    mentions: int
    relation: str
    score: float
    named: int
    chunks: list[ChunkRow]


class CommunityRow(TypedDict, total=False):
    """A community; `level`, `size`, `seed` and `shared` where the statement returns them."""

    key: str
    label: str
    content: str
    similarity: float | None
    level: int
    size: int
    seed: str
    shared: int


class CommunityChunksRow(TypedDict):
    """The chunks of a community."""

    key: str
    chunks: list[SharedRow]


class WalkChunkRow(PlaceRow):
    """A chunk with the entities that it mentions."""

    entities: list[str]
    roles: list[str]


class WalkRelationRow(TypedDict):
    """A relation of a graph; `score` is that of SIMILAR."""

    head: str
    tail: str
    head_name: str
    tail_name: str
    type: str
    description: str | None
    weight: int | None
    score: float | None


class WalkLinkRow(TypedDict):
    """A hyperlink between two chunks."""

    source: str
    target: str


class EdgeRow(TypedDict):
    """A relation between two entities, by their keys."""

    head: str
    tail: str
    weight: int


class NamedChunkRow(TypedDict):
    """Which chunk mentions an entity."""

    key: str
    chunk_id: str


class SizeRow(PlaceRow):
    """How long a chunk is, and where it stands."""

    tokens: int


class ChunkEntityRow(TypedDict):
    """An entity that some chunks mention."""

    key: str
    name: str
    type: str
    mentions: int
    """In all chunks."""
    chunks: list[str]
    """Of those that were asked about."""


class KeyRelationRow(TypedDict):
    """A relation between entities, by their keys, and the chunks that say it."""

    head: str
    tail: str
    type: str
    description: str
    weight: int
    chunks: list[str]


class EntityRow(TypedDict):
    """An entity of a graph."""

    key: str
    name: str
    type: str
    description: str
    mentions: int


class LinkTargetRow(PlaceRow):
    """A chunk that a link leads to, or comes from, with the link."""

    link: int
    href: str
    anchor: str
    context: str
    embedding: list[float] | None


class ChunkLinksRow(TypedDict):
    """The links of a chunk as its metadata says them."""

    links: str | None
    """A JSON list."""
    path: str
    anchors: list[str] | None


class MentionLinkRow(PlaceRow):
    """A chunk that a mention of a title leads to, or comes from, with the name and the text that it stands in."""

    anchor: str
    text: str
    embedding: list[float] | None


class ThingRow(TypedDict):
    """A document, and what it is about."""

    id: str
    title: str
    product: str | None
    category: str | None


class AmountRow(TypedDict):
    """A quantity of a graph."""

    key: str
    name: str


class ChunkPlaceRow(TypedDict):
    """Where a chunk stands, by all names that gold evidence may have for it."""

    id: str
    source_id: str
    anchors: list[str] | None
    document: str
    """As `Evidence.document`."""
    page_start: int | None
    page_end: int | None


class StatementRow(TypedDict):
    """A relation that a chunk states, by the names of its ends."""

    chunk: str
    head: str
    relation: str
    tail: str
