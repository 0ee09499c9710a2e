"""The graph that a random walk goes over: chunks and entities as nodes, read whole and kept until something is built.

Whole, not a neighbourhood of the seeds: a walk that ends at a border drawn around the seeds ranks by where the border is, and reading
two hops around hubs for every question costs more than one walk over all (a sparse product per step, milliseconds at 100,000 chunks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgrag.retrieve.scores import idf
from kgrag.store.graph import GraphStore
from kgrag.text.words import content_terms

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["EdgeWeights", "WalkGraph", "walk", "walk_graph"]

TOLERANCE = 1e-9
"""Of the ranks' sum between two steps, at which a walk has settled."""
MAX_STEPS = 200

Edges = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Nodes at one end, nodes at the other end, weights."""


class EdgeWeights(NamedTuple):
    """What an edge of each kind weighs (`kgrag.retrieve.steps.pagerank.PageRank` says what the kinds are)."""

    title: float
    mention: float
    relation: float
    similar: float
    adjacent: float
    hyperlink: float


@dataclass(frozen=True)
class WalkGraph:
    """Nodes 0 to len(chunks) - 1 are chunks, the others entities."""

    chunks: tuple[str, ...]
    entities: tuple[str, ...]
    mentions: Edges
    """Chunk, entity, 1; `titles` has those that are about it."""
    titles: Edges
    relations: Edges
    """Entity, entity, 1."""
    similar: Edges
    """Entity, entity, similarity."""
    adjacent: Edges
    hyperlinks: Edges
    statements: tuple[str, ...]
    """The relations as texts, in the order of `relations`."""
    _transitions: dict[EdgeWeights, csr_matrix] = field(default_factory=dict, compare=False)

    @cached_property
    def node(self) -> dict[str, int]:
        """The node of each chunk id and entity key."""
        return {key: number for number, key in enumerate((*self.chunks, *self.entities))}

    @cached_property
    def _words(self) -> dict[str, NDArray[np.int64]]:
        """The relations that have each word, as positions in `statements`."""
        having: dict[str, list[int]] = {}
        for position, statement in enumerate(self.statements):
            for word in content_terms(statement):
                having.setdefault(word, []).append(position)
        return {word: np.array(positions, dtype=np.int64) for word, positions in having.items()}

    def transitions(self, settings: EdgeWeights) -> csr_matrix:
        """Return the chance to walk from one node (column) to another (row): [nodes, nodes], columns that sum to 1 or 0. Made once."""
        if settings not in self._transitions:
            self._transitions[settings] = self._made(settings)
        return self._transitions[settings]

    def _made(self, settings: EdgeWeights) -> csr_matrix:
        from scipy.sparse import coo_matrix, diags

        nodes = len(self.chunks) + len(self.entities)
        named = np.bincount(np.concatenate([self.mentions[1], self.titles[1]]), minlength=nodes)
        idfs = np.array([idf(int(count), len(self.chunks)) for count in named])
        parts = []
        for (one, other, weight), share, by_idf in (
            (self.mentions, settings.mention, True),
            (self.titles, settings.title, True),
            (self.relations, settings.relation, False),
            (self.similar, settings.similar, False),
            (self.adjacent, settings.adjacent, False),
            (self.hyperlinks, settings.hyperlink, False),
        ):
            value = weight * share * (idfs[other] if by_idf else 1.0)
            parts.append((one, other, value))
            parts.append((other, one, value))
        rows, columns, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        weights = coo_matrix((values, (rows, columns)), shape=(nodes, nodes)).tocsr()
        sums = np.asarray(weights.sum(axis=0)).ravel()
        shares = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0.0)
        return (weights @ diags(shares)).tocsr()

    def facts(self, question: str, count: int) -> list[tuple[int, float]]:
        """Return the relations that have the question's words, as (position in `relations`, score between 0 and 1), best first.

        A word counts by its idf among relations; the score is the share of what the question's words count together.
        """
        asked = {word: self._words[word] for word in sorted(content_terms(question)) if word in self._words}
        if not asked:
            return []
        scores = np.zeros(len(self.statements))
        for positions in asked.values():
            scores[positions] += np.log1p(len(self.statements) / len(positions))
        total = sum(float(np.log1p(len(self.statements) / len(positions))) for positions in asked.values())
        best = np.lexsort((np.arange(len(scores)), -scores))[:count]
        return [(int(position), float(scores[position] / total)) for position in best if scores[position] > 0.0]


def walk(transitions: csr_matrix, reset: NDArray[np.float64], *, damping: float) -> NDArray[np.float64]:
    """Return how often a walk is at each node that starts again at `reset` (sums to 1) with chance `1 - damping` at every step.

    From a node without edges it starts again too. Power iteration to TOLERANCE.
    """
    rank: NDArray[np.float64] = reset
    for _ in range(MAX_STEPS):
        moved: NDArray[np.float64] = transitions @ rank
        following: NDArray[np.float64] = (1.0 - damping) * reset + damping * (
            moved + (1.0 - float(moved.sum())) * reset
        )
        if float(np.abs(following - rank).sum()) < TOLERANCE:
            return following
        rank = following
    return rank


def walk_graph(store: GraphStore, graph: str) -> WalkGraph:
    """Return the walk graph of a store's graph; it is read once, and again after something was built."""
    return store.kept.get(("walk_graph", graph), lambda: _read(store, graph))


def _read(store: GraphStore, graph: str) -> WalkGraph:
    rows = store.search.walk_chunks(graph=graph)
    relations = store.search.walk_relations(graph=graph)
    links = store.search.walk_links()
    chunks = tuple(row["id"] for row in rows)
    entities = tuple(sorted({key for row in rows for key in row["entities"]}))
    node = {key: number for number, key in enumerate((*chunks, *entities))}
    said: dict[str, list[tuple[int, int, float]]] = {"mention": [], "title": []}
    for row in rows:
        for key, role in zip(row["entities"], row["roles"], strict=True):
            said["title" if role == "title" else "mention"].append((node[row["id"]], node[key], 1.0))
    ends = [row for row in relations if row["head"] in node and row["tail"] in node and row["head"] != row["tail"]]
    related = [row for row in ends if row["type"] != "SIMILAR"]
    similar = [row for row in ends if row["type"] == "SIMILAR"]
    by_place = {(row["document_id"], row["position"]): node[row["id"]] for row in rows}
    following = [
        (number, by_place[document, position + 1], 1.0)
        for (document, position), number in by_place.items()
        if (document, position + 1) in by_place
    ]
    return WalkGraph(
        chunks=chunks,
        entities=entities,
        mentions=_edges(said["mention"]),
        titles=_edges(said["title"]),
        relations=_edges([(node[row["head"]], node[row["tail"]], 1.0) for row in related]),
        similar=_edges([(node[row["head"]], node[row["tail"]], float(row["score"] or 0.0)) for row in similar]),
        adjacent=_edges(following),
        hyperlinks=_edges([(node[row["source"]], node[row["target"]], 1.0) for row in links]),
        statements=tuple(
            f"{row['head_name']} {row['type'].replace('_', ' ')} {row['tail_name']} {row['description'] or ''}"
            for row in related
        ),
    )


def _edges(edges: Sequence[tuple[int, int, float]]) -> Edges:
    return (
        np.array([one for one, _, _ in edges], dtype=np.int64),
        np.array([other for _, other, _ in edges], dtype=np.int64),
        np.array([weight for _, _, weight in edges], dtype=np.float64),
    )
