"""ComplEx and TransE: entities and relations as vectors, learnt by sampled softmax with gradients in closed form and Adagrad.

Both answer a question (head, relation, ?) by a vector of the same space as the entities: ComplEx by the product of the two complex vectors,
with the dot product as score (Trouillon et al., ICML 2016), TransE by their sum, with the negative Euclidean distance as score (Bordes et
al., NeurIPS 2013). A question (?, relation, tail) is answered by the conjugate, and by the difference. So one loop learns both: every
question of a batch is to prefer its answer to the same sampled entities (the loss of Lacroix et al., ICML 2018, over a sample).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kgrag.completion.triples import Array, Ids, Triples

__all__ = ["ComplEx", "EmbeddingSettings", "Embeddings", "TransE"]

TINY = 1e-12


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """How vectors are learnt. Common values of the literature; none was chosen on the sets of docs/results.md."""

    dimensions: int = 100
    """Numbers of a vector: a complex number takes two."""
    epochs: int = 60
    batch: int = 512
    negatives: int = 256
    """Entities that all questions of a batch are compared with."""
    rate: float = 0.1
    """Learning rate of Adagrad."""
    penalty: float = 1e-3
    """Weight of the squared length of the vectors of a batch's triples, for ComplEx."""
    seed: int = 7


class Embeddings(ABC):
    """A `LinkPredictor` by vectors. `entities` is [entities, dimensions], `relations` [relations, dimensions] after `fit`."""

    name: str
    penalised: bool

    def __init__(self, settings: EmbeddingSettings | None = None) -> None:
        self.settings = settings or EmbeddingSettings()
        if self.settings.dimensions < 2 or self.settings.dimensions % 2:
            raise ValueError(f"Expected an even number of dimensions, got {self.settings.dimensions}.")
        self.entities: Array = np.zeros((0, self.settings.dimensions))
        self.relations: Array = np.zeros((0, self.settings.dimensions))

    def fit(self, triples: Triples) -> None:
        """Learn vectors from random ones of the seed."""
        settings, random = self.settings, np.random.default_rng(self.settings.seed)
        scale = 1.0 / np.sqrt(settings.dimensions)
        self.entities = random.normal(0.0, scale, (len(triples.entities), settings.dimensions))
        self.relations = random.normal(0.0, scale, (len(triples.relations), settings.dimensions))
        summed = np.zeros_like(self.entities), np.zeros_like(self.relations)
        for _ in range(settings.epochs):
            order = random.permutation(len(triples))
            for start in range(0, len(order), settings.batch):
                batch = triples.ids[order[start : start + settings.batch]]
                sampled = random.integers(0, len(triples.entities), settings.negatives)
                _, entities, relations = self.loss(batch, sampled)
                _descend(self.entities, summed[0], *entities, settings.rate)
                _descend(self.relations, summed[1], *relations, settings.rate)

    def score_tails(self, heads: Ids, relations: Ids) -> Array:
        """Score every entity as tail: [questions, entities]."""
        return self.match(self.tail_query(self.entities[heads], self.relations[relations]), self.entities)

    def score_heads(self, relations: Ids, tails: Ids) -> Array:
        """Score every entity as head: [questions, entities]."""
        return self.match(self.head_query(self.relations[relations], self.entities[tails]), self.entities)

    def confidence(self, scores: Array) -> Array:
        """Softmax over all entities: what the loss takes a score for."""
        mass = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: Array = mass / mass.sum(axis=1, keepdims=True)
        return shares

    def loss(self, batch: Ids, sampled: Ids) -> tuple[float, tuple[Ids, Array], tuple[Ids, Array]]:
        """Return the mean loss of a batch [triples, 3] against sampled entities, and its gradients.

        A gradient is the places in `entities` (`relations`), which may repeat, and a row for each.
        """
        heads, kinds, tails = batch.T
        h, r, t, others = self.entities[heads], self.relations[kinds], self.entities[tails], self.entities[sampled]
        share = 1.0 / (2 * len(batch))
        of_tails = _Side(self, self.tail_query(h, r), t, others, sampled[None, :] == tails[:, None], share)
        of_heads = _Side(self, self.head_query(r, t), h, others, sampled[None, :] == heads[:, None], share)
        by_head, by_relation = self.tail_query_gradient(h, r, of_tails.query)
        by_relation_too, by_tail = self.head_query_gradient(r, t, of_heads.query)
        loss = of_tails.loss + of_heads.loss
        dh, dr, dt = by_head + of_heads.answer, by_relation + by_relation_too, by_tail + of_tails.answer
        if self.penalised:
            weight = self.settings.penalty / len(batch)
            loss += weight * float((h**2).sum() + (r**2).sum() + (t**2).sum())
            dh, dr, dt = dh + 2 * weight * h, dr + 2 * weight * r, dt + 2 * weight * t
        entities = np.concatenate([heads, tails, sampled]), np.concatenate([dh, dt, of_tails.others + of_heads.others])
        return loss, entities, (kinds, dr)

    @abstractmethod
    def tail_query(self, heads: Array, relations: Array) -> Array:
        """Return the vectors that answer (head, relation, ?): [questions, dimensions]."""

    @abstractmethod
    def head_query(self, relations: Array, tails: Array) -> Array:
        """Return the vectors that answer (?, relation, tail)."""

    @abstractmethod
    def tail_query_gradient(self, heads: Array, relations: Array, by_query: Array) -> tuple[Array, Array]:
        """Return the gradients by heads and by relations from that by what `tail_query` returns."""

    @abstractmethod
    def head_query_gradient(self, relations: Array, tails: Array, by_query: Array) -> tuple[Array, Array]:
        """Return the gradients by relations and by tails."""

    @abstractmethod
    def match(self, queries: Array, entities: Array) -> Array:
        """Score each entity for each query: [queries, entities]."""

    @abstractmethod
    def match_gradient(self, queries: Array, entities: Array, by_score: Array) -> tuple[Array, Array]:
        """Return the gradients by queries and by entities from that by scores, [queries, entities]."""

    @abstractmethod
    def match_pairs(self, queries: Array, entities: Array) -> Array:
        """Score the entity of the same row for each query: [queries]."""

    @abstractmethod
    def match_pairs_gradient(self, queries: Array, entities: Array, by_score: Array) -> tuple[Array, Array]:
        """Return the gradients by queries and by entities from that by scores, [queries]."""


class _Side:
    """Softmax cross-entropy of questions on one side: the answer against the sample, with its gradients."""

    def __init__(
        self, model: Embeddings, queries: Array, answers: Array, others: Array, same: np.ndarray, share: float
    ) -> None:
        right = model.match_pairs(queries, answers)
        wrong = np.where(same, -np.inf, model.match(queries, others))  # the answer itself is no wrong one
        top = np.maximum(right, wrong.max(axis=1))
        right_mass, wrong_mass = np.exp(right - top), np.exp(wrong - top[:, None])
        whole = right_mass + wrong_mass.sum(axis=1)
        self.loss = float((np.log(whole) - (right - top)).sum() * share)
        by_right = (right_mass / whole - 1.0) * share
        query, self.answer = model.match_pairs_gradient(queries, answers, by_right)
        query_too, self.others = model.match_gradient(queries, others, wrong_mass / whole[:, None] * share)
        self.query = query + query_too


class ComplEx(Embeddings):
    """Complex vectors (real parts first, then imaginary ones): the score is Re(sum of head * relation * conjugate tail)."""

    name = "complex"
    penalised = True

    def tail_query(self, heads: Array, relations: Array) -> Array:
        """Multiply them."""
        return _product(heads, relations)

    def head_query(self, relations: Array, tails: Array) -> Array:
        """Multiply tails by the conjugate."""
        return _product(tails, _conjugate(relations))

    def tail_query_gradient(self, heads: Array, relations: Array, by_query: Array) -> tuple[Array, Array]:
        """Multiply by the conjugate of the other factor."""
        return _product(by_query, _conjugate(relations)), _product(by_query, _conjugate(heads))

    def head_query_gradient(self, relations: Array, tails: Array, by_query: Array) -> tuple[Array, Array]:
        """The same, conjugated where the relation was."""
        return _conjugate(_product(by_query, _conjugate(tails))), _product(by_query, relations)

    def match(self, queries: Array, entities: Array) -> Array:
        """Dot products: the real part of the Hermitian product."""
        return queries @ entities.T

    def match_gradient(self, queries: Array, entities: Array, by_score: Array) -> tuple[Array, Array]:
        """Weigh the other side's vectors."""
        return by_score @ entities, by_score.T @ queries

    def match_pairs(self, queries: Array, entities: Array) -> Array:
        """Dot products of rows."""
        products: Array = np.einsum("ij,ij->i", queries, entities)
        return products

    def match_pairs_gradient(self, queries: Array, entities: Array, by_score: Array) -> tuple[Array, Array]:
        """Weigh the other row."""
        return by_score[:, None] * entities, by_score[:, None] * queries


class TransE(Embeddings):
    """Real vectors: the score is the negative Euclidean distance of head + relation and tail."""

    name = "transe"
    penalised = False

    def tail_query(self, heads: Array, relations: Array) -> Array:
        """Add them."""
        return heads + relations

    def head_query(self, relations: Array, tails: Array) -> Array:
        """Subtract the relation."""
        return tails - relations

    def tail_query_gradient(self, heads: Array, relations: Array, by_query: Array) -> tuple[Array, Array]:
        """Both as they are."""
        return by_query, by_query

    def head_query_gradient(self, relations: Array, tails: Array, by_query: Array) -> tuple[Array, Array]:
        """The relation's is negative."""
        return -by_query, by_query

    def match(self, queries: Array, entities: Array) -> Array:
        """Negative distances."""
        squares = (queries**2).sum(axis=1)[:, None] + (entities**2).sum(axis=1)[None, :] - 2.0 * queries @ entities.T
        distances: Array = np.sqrt(np.maximum(squares, TINY))
        return -distances

    def match_gradient(self, queries: Array, entities: Array, by_score: Array) -> tuple[Array, Array]:
        """Along the unit vectors between them."""
        weights = by_score / -self.match(queries, entities)
        return (
            weights @ entities - weights.sum(axis=1)[:, None] * queries,
            weights.T @ queries - weights.sum(axis=0)[:, None] * entities,
        )

    def match_pairs(self, queries: Array, entities: Array) -> Array:
        """Negative distances of rows."""
        distances: Array = np.sqrt(np.maximum(((queries - entities) ** 2).sum(axis=1), TINY))
        return -distances

    def match_pairs_gradient(self, queries: Array, entities: Array, by_score: Array) -> tuple[Array, Array]:
        """Along the unit vector between them."""
        along = (by_score / -self.match_pairs(queries, entities))[:, None] * (entities - queries)
        return along, -along


def _product(one: Array, other: Array) -> Array:
    """Multiply complex vectors, row by row."""
    a, b = np.split(one, 2, axis=1)
    c, d = np.split(other, 2, axis=1)
    return np.concatenate([a * c - b * d, a * d + b * c], axis=1)


def _conjugate(one: Array) -> Array:
    real, imaginary = np.split(one, 2, axis=1)
    return np.concatenate([real, -imaginary], axis=1)


def _descend(vectors: Array, summed: Array, places: Ids, gradients: Array, rate: float) -> None:
    """Take one step of Adagrad (Duchi, Hazan and Singer, JMLR 2011) in the rows that have a gradient."""
    rows, row_of = np.unique(places, return_inverse=True)
    adding = sparse.csr_matrix((np.ones(len(places)), (row_of, np.arange(len(places)))), (len(rows), len(places)))
    gradient = adding @ gradients
    summed[rows] += gradient**2
    vectors[rows] -= rate * gradient / (np.sqrt(summed[rows]) + 1e-10)
