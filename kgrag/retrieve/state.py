"""What goes from step to step, and what steps may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from kgrag.models.base import ChatModel, Embedder, Reranker
from kgrag.retrieve.scores import cosine
from kgrag.store.graph import GraphStore
from kgrag.types import Evidence, Listing, Usage

__all__ = [
    "Candidate",
    "Hit",
    "NamedEntity",
    "Query",
    "Resources",
    "Seeds",
    "State",
    "SubQuery",
    "best_first",
    "hit_of",
]


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A further text that is looked for: a sub-question or a more general question."""

    text: str
    weight: float
    """Of what it finds, beside the question's 1."""
    vector: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: the question as asked, and what preparation made of it for each list."""

    question: str
    dense: str
    """The text that is embedded."""
    sparse: str
    """The text whose words are searched for."""
    keywords: tuple[str, ...] = ()
    """Searched for besides, each as a phrase."""
    boost: float = 1.0
    """Of the keywords against the words."""
    parts: tuple[SubQuery, ...] = ()
    vector: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk, a relation that a chunk states, or what is written about a community, with its score so far and how it was found."""

    chunk_id: str
    """The chunk, or the one that states the relation; empty for what is written about a community."""
    score: float
    """Between 0 and about 1."""
    why: tuple[str, ...] = ()
    place: tuple[str, int] | None = None
    """The chunk's document and its position there, where they were read."""
    statement: str = ""
    """The text, where not the chunk itself but a relation that it states or a community would be shown."""
    source: str = ""
    """The key of the community."""
    title: str = ""
    """The community's label."""
    cosine: float = 0.0
    """Of the chunk with the question."""
    words: float = 0.0
    """Score of the full-text index; 0 for what its list does not have."""
    gains: tuple[tuple[str, float], ...] = ()
    """What steps after the seeds added to the score, by their kind."""

    @property
    def gained(self) -> dict[str, float]:
        """What each of these steps added."""
        total: dict[str, float] = {}
        for step, gain in self.gains:
            total[step] = total.get(step, 0.0) + gain
        return total

    @property
    def key(self) -> str:
        """What tells it from others: a chunk's id, or that with the statement."""
        return self.chunk_id if self.is_chunk else f"{self.chunk_id}{self.source} {self.statement}"

    @property
    def is_chunk(self) -> bool:
        """Whether the chunk itself would be shown."""
        return not self.statement

    def scored(self, score: float, *why: str, by: str = "") -> Candidate:
        """Return it with another score and more reasons; `by` is the kind of the step that added to it."""
        gains = (*self.gains, (by, score - self.score)) if by else self.gains
        return replace(self, score=score, why=(*self.why, *why), gains=gains)


def best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Order candidates by score; equal scores by id and statement, so that the order never depends on chance."""
    return sorted(candidates, key=lambda one: (-one.score, one.chunk_id, one.source, one.statement))


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a statement returned, with its similarity to the question and where it stands."""

    chunk_id: str
    cosine: float
    place: tuple[str, int]


def hit_of(row: Mapping[str, Any]) -> Hit:
    """Read a chunk's id, similarity, document and position from a row."""
    return Hit(row["id"], cosine(row["similarity"]), (row["document_id"], row["position"]))


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that the question names."""

    key: str
    """Of the entity; of what only its title names, the title."""
    name: str
    chunks: tuple[Hit, ...]
    """The chunks about it (its title or heading stands over them) that are most similar to the question."""
    family: str = ""
    """Normal form of the family's name, where the question names the family and not this member."""
    documents: frozenset[str] = frozenset()
    """Ids of documents whose title begins with its name: all that they say is about it, whatever stands in a heading."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """What one step found for the question by itself."""

    candidates: Mapping[str, Candidate]
    """By their key."""
    score_per_cosine: float = 0.0
    """The scale on which another chunk's similarity to the question becomes a score."""
    weight: float = 1.0
    """Beside the seeds of other steps."""
    usage: Usage = field(default_factory=Usage)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """How far the search for evidence has come. Steps return another one."""

    query: Query
    seeds: tuple[Seeds, ...] = ()
    """What each step that looks for seeds found."""
    named: tuple[NamedEntity, ...] = ()
    candidates: Mapping[str, Candidate] = field(default_factory=dict)
    """By their key."""
    score_per_cosine: float = 0.0
    """The scale on which a chunk's similarity to the question becomes a score."""
    evidence: tuple[Evidence, ...] = ()
    """What may be shown, best first, once its text is read."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Where the chunks of the evidence stand in their documents."""
    listing: Listing | None = None
    """What every thing of a sort is said to be, where the question counts or lists."""
    top: int | None = None
    tokens: int | None = None
    """Limits of what is shown."""
    usage: Usage = field(default_factory=Usage)
    """What models were asked on the way."""
    remarks: tuple[str, ...] = ()
    """What did not go as the pipeline says, and what was done instead."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What the step that made this state counted."""
    hidden: frozenset[str] = frozenset()
    """Ids of chunks that are as good as absent: those that a question was taken from word for word (`kgrag questions make`)."""

    @property
    def vector(self) -> Sequence[float]:
        """The vector of the question, or of what preparation put in its place."""
        return self.query.vector

    def candidate(self, chunk: Hit) -> Candidate:
        """Return the candidate of that chunk, or score a chunk that no list has by its similarity alone."""
        known = self.candidates.get(chunk.chunk_id)
        own = max(chunk.cosine, 0.0) * self.score_per_cosine
        return known or Candidate(chunk.chunk_id, own, place=chunk.place, cosine=chunk.cosine)

    def best_chunks(self, count: int) -> list[str]:
        """Return the ids of the best candidates that are chunks."""
        chunks = (candidate for candidate in self.candidates.values() if candidate.is_chunk)
        return [candidate.chunk_id for candidate in best_first(chunks)[:count]]

    def visible(self) -> State:
        """Return it without what is hidden: neither shown nor a place from which links and names lead on."""
        if not self.hidden:
            return self

        def kept(some: Mapping[str, Candidate]) -> dict[str, Candidate]:
            return {key: one for key, one in some.items() if one.chunk_id not in self.hidden}

        return replace(
            self,
            seeds=tuple(replace(one, candidates=kept(one.candidates)) for one in self.seeds),
            named=tuple(
                replace(one, chunks=tuple(hit for hit in one.chunks if hit.chunk_id not in self.hidden))
                for one in self.named
            ),
            candidates=kept(self.candidates),
            evidence=tuple(piece for piece in self.evidence if piece.chunk_id not in self.hidden),
            listing=self.listing
            and self.listing.model_copy(
                update={"evidence": tuple(one for one in self.listing.evidence if one.chunk_id not in self.hidden)}
            ),
        )

    def remarked(self, remark: str) -> State:
        """Return it with one more remark."""
        return replace(self, remarks=(*self.remarks, remark))


@dataclass(frozen=True)
class Resources:
    """What steps may use. Safe to share between questions that run at once."""

    store: GraphStore
    embedder: Embedder
    graph: str
    has_graph: bool = True
    """Whether the store has that graph: an index over its entities is there only then."""
    chat: ChatModel | None = None
    reranker: Reranker | None = None

    @cached_property
    def chunks(self) -> int:
        """How many chunks the store has. Only idf uses it, so that it may be a little out of date does no harm."""
        return self.store.documents.count_chunks()

    @property
    def token_embedder(self) -> Any:
        """The embedder, where it gives token vectors, else MiniLM."""
        return self.embedder if hasattr(self.embedder, "token_vectors") else self._minilm

    @cached_property
    def _minilm(self) -> Any:
        from kgrag.models.minilm import MiniLM

        return MiniLM()
