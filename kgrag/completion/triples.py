"""Triples of a knowledge graph as numbers: which entities and relations there are, what is known, what is held out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Ids", "Known", "LinkPredictor", "Triple", "Triples", "hold_out"]

Triple = tuple[str, str, str]
"""Head, relation, tail."""
Ids = NDArray[np.int64]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Triples:
    """Different triples: row i of `ids`, shape [triples, 3], has the places of head, relation and tail in `entities` and `relations`."""

    entities: tuple[str, ...]
    """Sorted."""
    relations: tuple[str, ...]
    """Sorted."""
    ids: Ids

    @classmethod
    def of(cls, triples: Iterable[Triple]) -> Triples:
        """Number triples; of equal ones one stays. The order in which they come does not matter."""
        rows = sorted(set(triples))
        entities = sorted({end for head, _, tail in rows for end in (head, tail)})
        relations = sorted({relation for _, relation, _ in rows})
        entity, relation = _places(entities), _places(relations)
        ids = np.array([(entity[h], relation[r], entity[t]) for h, r, t in rows], dtype=np.int64).reshape(-1, 3)
        return cls(tuple(entities), tuple(relations), ids)

    def __len__(self) -> int:
        return len(self.ids)

    def named(self, row: Sequence[int]) -> Triple:
        """Return a row's triple by its names."""
        head, relation, tail = row
        return self.entities[head], self.relations[relation], self.entities[tail]

    def ids_of(self, triples: Iterable[Triple]) -> tuple[Ids, int]:
        """Return the rows of triples, [seen, 3], and how many have an entity or relation that is not here."""
        entity, relation = _places(self.entities), _places(self.relations)
        rows, unseen = [], 0
        for head, kind, tail in triples:
            if head in entity and kind in relation and tail in entity:
                rows.append((entity[head], relation[kind], entity[tail]))
            else:
                unseen += 1
        return np.array(rows, dtype=np.int64).reshape(-1, 3), unseen

    @cached_property
    def known(self) -> Known:
        """What is known, by question."""
        return Known(self.ids)


class Known:
    """Which tails (heads) are known for a head (tail) and a relation."""

    def __init__(self, *ids: Ids) -> None:
        """Take in the rows of several arrays of triples, each of shape [triples, 3]."""
        self._tails: dict[tuple[int, int], set[int]] = {}
        self._heads: dict[tuple[int, int], set[int]] = {}
        for head, relation, tail in (row for some in ids for row in some.tolist()):
            self._tails.setdefault((head, relation), set()).add(tail)
            self._heads.setdefault((relation, tail), set()).add(head)

    def tails(self, head: int, relation: int) -> set[int]:
        """Return the known answers of (head, relation, ?)."""
        return self._tails.get((head, relation), set())

    def heads(self, relation: int, tail: int) -> set[int]:
        """Return the known answers of (?, relation, tail)."""
        return self._heads.get((relation, tail), set())


class LinkPredictor(Protocol):
    """Learns from triples and scores what else may hold; the higher the likelier, comparable within one question.

    `fit` comes first. Equal triples and settings give equal scores.
    """

    name: str

    def fit(self, triples: Triples) -> None:
        """Learn from triples, in place of what was learnt before."""

    def score_tails(self, heads: Ids, relations: Ids) -> Array:
        """Score every entity as the tail of (head, relation, ?): [questions, entities], for `heads` and `relations` of [questions]."""

    def score_heads(self, relations: Ids, tails: Ids) -> Array:
        """Score every entity as the head of (?, relation, tail): [questions, entities]."""

    def confidence(self, scores: Array) -> Array:
        """Make scores comparable between questions: [questions, entities]; 0 for what nothing speaks for."""


def hold_out(triples: Iterable[Triple], share: float, seed: int) -> tuple[list[Triple], list[Triple]]:
    """Return what stays and what is held out: a random share of the different triples.

    The greater share of a seed has the smaller in it.
    """
    rows = sorted(set(triples))
    order = np.random.default_rng(seed).permutation(len(rows))
    out = set(order[: round(share * len(rows))].tolist())
    return [row for i, row in enumerate(rows) if i not in out], [row for i, row in enumerate(rows) if i in out]


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}
