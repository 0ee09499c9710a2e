"""What goes from step to step, what steps may use, and what each of them changed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Protocol

from kgrag.models.base import ChatModel, Embedder, Reranker
from kgrag.retrieve.candidates import Candidate, best_first
from kgrag.store.graph import GraphStore
from kgrag.types import Evidence, Usage

__all__ = ["Change", "Likeness", "NamedEntity", "Part", "Query", "Resources", "State", "Step", "run_step"]


@dataclass(frozen=True, slots=True)
class Part:
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
    parts: tuple[Part, ...] = ()
    vector: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Likeness:
    """A chunk that a statement returned, with its likeness to the question and where it stands."""

    chunk_id: str
    cosine: float
    place: tuple[str, int]


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that the question names."""

    key: str
    name: str
    chunks: tuple[Likeness, ...]
    """The chunks about it (its title or heading stands over them) that are most like the question."""
    family: str = ""
    """Normal form of the family's name, where the question names the family and not this member."""


@dataclass(frozen=True, slots=True)
class State:
    """How far the search for evidence has come. Steps return another one."""

    query: Query
    named: tuple[NamedEntity, ...] = ()
    candidates: Mapping[str, Candidate] = field(default_factory=dict)
    """By their key."""
    score_per_cosine: float = 0.0
    """The scale on which a chunk's similarity to the question becomes a score."""
    evidence: tuple[Evidence, ...] = ()
    """What may be shown, best first, once its text is read."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Where the chunks of the evidence stand in their documents."""
    top: int | None = None
    tokens: int | None = None
    """Limits of what is shown."""
    usage: Usage = field(default_factory=Usage)
    """What models were asked on the way."""
    remarks: tuple[str, ...] = ()
    """What did not go as the pipeline says, and what was done instead."""

    @property
    def vector(self) -> list[float]:
        """The vector of the question, or of what preparation put in its place."""
        return list(self.query.vector)

    def candidate(self, chunk: Likeness) -> Candidate:
        """Return the candidate of that chunk, or score a chunk that no list has by its similarity alone."""
        known = self.candidates.get(chunk.chunk_id)
        return known or Candidate(chunk.chunk_id, max(chunk.cosine, 0.0) * self.score_per_cosine, place=chunk.place)

    def best_chunks(self, count: int) -> list[str]:
        """Return the ids of the best candidates that are chunks."""
        chunks = (candidate for candidate in self.candidates.values() if candidate.is_chunk)
        return [candidate.chunk_id for candidate in best_first(chunks)[:count]]


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
        """How many chunks the store has. Only rarity uses it, so that it may be a little out of date does no harm."""
        return self.store.documents.count_chunks()

    @property
    def token_embedder(self) -> Any:
        """The embedder, where it gives token vectors, else MiniLM."""
        return self.embedder if hasattr(self.embedder, "token_vectors") else self._minilm

    @cached_property
    def _minilm(self) -> Any:
        from kgrag.models.minilm import MiniLM

        return MiniLM()


class Step(Protocol):
    """One step of a pipeline: it takes a state and returns another one."""

    @property
    def name(self) -> str:
        """What it does, in a few words; a pipeline's steps have different names."""
        ...

    async def __call__(self, state: State) -> State:
        """Do it."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """What one step changed for one question."""

    step: str
    changed: int
    """Parts of the query that differ, candidates that came, went or have another score, and places of the evidence with another piece."""
    seconds: float


async def run_step(step: Step, state: State) -> tuple[State, Change]:
    """Run a step and count what it changed."""
    started = time.perf_counter()
    after = await step(state)
    return after, Change(step.name, changed(state, after), time.perf_counter() - started)


def changed(before: State, after: State) -> int:
    """Count what differs between two states."""
    query: int = sum(
        getattr(before.query, one.name) != getattr(after.query, one.name)
        for one in fields(Query)
        if one.name != "boost"
    )
    scores = {key: candidate.score for key, candidate in before.candidates.items()}
    moved = sum(scores.get(key) != candidate.score for key, candidate in after.candidates.items())
    gone = len(scores.keys() - after.candidates.keys())
    return query + moved + gone + _places_changed(before.evidence, after.evidence)


def _places_changed(before: Sequence[Evidence], after: Sequence[Evidence]) -> int:
    same = [(a.chunk_id, a.text) == (b.chunk_id, b.text) for a, b in zip(before, after, strict=False)]
    return max(len(before), len(after)) - sum(same)
