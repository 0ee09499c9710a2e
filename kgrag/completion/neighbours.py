"""Common neighbours and Adamic-Adar: entities that are near each other are likely to be related, whatever the relation."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kgrag.completion.triples import Array, Ids, Triples

__all__ = ["AdamicAdar", "CommonNeighbours"]


class CommonNeighbours:
    """A `LinkPredictor` by the number of entities that are related to both. It looks neither at relations nor at their direction."""

    name = "common-neighbours"

    def fit(self, triples: Triples) -> None:
        """Read who is related to whom."""
        size = len(triples.entities)
        heads, _, tails = triples.ids.T
        between = heads != tails
        ends = np.concatenate([heads[between], tails[between]]), np.concatenate([tails[between], heads[between]])
        joined = sparse.csr_matrix((np.ones(2 * int(between.sum())), ends), (size, size))
        joined.data[:] = 1.0  # several relations between two entities are one way
        self._joined = joined
        self._weighted = (sparse.diags(self.weights(joined.sum(axis=1).A1)) @ joined).tocsr()

    def weights(self, degrees: Array) -> Array:
        """Say what a common neighbour of so many neighbours counts: [entities]."""
        return np.ones_like(degrees)

    def confidence(self, scores: Array) -> Array:
        """They are comparable as they are."""
        return scores

    def score_tails(self, heads: Ids, relations: Ids) -> Array:
        """Score every entity as tail: [questions, entities]; an entity is not near itself."""
        scores = np.asarray((self._joined[heads] @ self._weighted).todense(), dtype=np.float64)
        scores[np.arange(len(heads)), heads] = 0.0
        return scores

    def score_heads(self, relations: Ids, tails: Ids) -> Array:
        """Score every entity as head: the same, from the tail."""
        return self.score_tails(tails, relations)


class AdamicAdar(CommonNeighbours):
    """The same, where a common neighbour counts 1 / ln of the number of its own (Adamic and Adar, Social Networks 2003)."""

    name = "adamic-adar"

    def weights(self, degrees: Array) -> Array:
        """Whoever has one neighbour has none in common."""
        return np.divide(1.0, np.log(np.maximum(degrees, 2.0)), where=degrees > 1, out=np.zeros_like(degrees))
