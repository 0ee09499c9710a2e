"""What the graph knows around an answer or an entity: small enough to be looked at."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.errors import InputError
from kgrag.models.base import Embedder
from kgrag.store.graph import GraphStore
from kgrag.text.names import normal_form

__all__ = ["AnswerGraph", "GraphEdge", "GraphNode", "Neighbours", "Statement", "graph_of_chunks", "neighbours"]

NEAR, CANDIDATES = 5, 25
"""Names that are suggested, and how many the vector index is asked for."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity, and which of the chunks asked about mention it."""

    key: str
    name: str
    type: str
    mentions: int
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A relation between two entities by their keys, with the chunks that say it."""

    head: str
    tail: str
    type: str
    description: str
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerGraph:
    """The entities that some chunks mention, with the relations between them."""

    graph: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """A relation by the names of its ends, and a chunk that says it."""

    head: str
    type: str
    tail: str
    description: str
    chunk_id: str


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What is known of an entity: its relations, best supported first, and chunks that mention it, nearest to what was asked first."""

    key: str
    name: str
    relations: tuple[Statement, ...]
    chunks: tuple[str, ...]


async def graph_of_chunks(
    store: GraphStore, graph: str, chunks: Sequence[str], *, entities: int, relations: int
) -> AnswerGraph:
    """Return the entities of chunks (those of most chunks first, of these the rarer ones) and their relations; both at most so many."""

    def read() -> AnswerGraph:
        found = store.search.entities_of_chunks(graph=graph, chunks=chunks, limit=entities)
        edges = store.search.relations_of_keys(keys=[row["key"] for row in found], limit=relations)
        return AnswerGraph(
            graph,
            tuple(
                GraphNode(row["key"], row["name"], row["type"], row["mentions"], tuple(row["chunks"])) for row in found
            ),
            tuple(
                GraphEdge(row["head"], row["tail"], row["type"], row["description"] or "", tuple(row["chunks"] or ()))
                for row in edges
            ),
        )

    return await asyncio.to_thread(read)


async def neighbours(
    store: GraphStore, embedder: Embedder, graph: str, name: str, *, relations: int, chunks: int
) -> list[Neighbours]:
    """Return what is known of the entities of a name; several where things of different types share it. Raises `InputError` if none."""
    vector = (await embedder.embed_queries([name]))[0].tolist()

    def read() -> list[Neighbours]:
        rows = store.search.linked_entities(
            graph=graph,
            vector=vector,
            limit=NEAR,
            candidates=CANDIDATES,
            normals=[normal_form(name)],
        )
        names = {row["key"]: row["name"] for row in rows if row["similarity"] is None}
        if not names:
            near = ", ".join(dict.fromkeys(row["name"] for row in rows))
            raise InputError(
                f"The graph {graph} has no entity of the name {name[:80]!r}. Near it: {near or 'nothing'}."
            )
        context = store.search.entity_context(
            graph=graph, keys=list(names), vector=vector, chunks=chunks, relations=relations, common=sys.maxsize
        )
        return [
            Neighbours(
                row["key"],
                names[row["key"]],
                tuple(
                    Statement(one["head"], one["type"], one["tail"], one["description"] or "", one["chunk"])
                    for one in row["relations"]
                ),
                tuple(one["id"] for one in row["chunks"]),
            )
            for row in context
        ]

    return await asyncio.to_thread(read)
