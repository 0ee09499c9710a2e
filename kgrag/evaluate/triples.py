"""Precision, recall and F1 of extracted triples against gold ones, from letter by letter to meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from kgrag.models.base import Embedder, Vectors
from kgrag.text.names import normal_form

__all__ = ["EMBEDDING_THRESHOLD", "GoldTriple", "Triple", "TripleScore", "score_triples"]

EMBEDDING_THRESHOLD = 0.8
"""Cosine from which two triples, written as sentences, count as the same statement."""

Key = Callable[["Triple"], Hashable]


@dataclass(frozen=True, slots=True)
class Triple:
    """A statement of a chunk, as somebody or something wrote it down; `source` says who, where a file has several."""

    head: str
    relation: str
    tail: str
    chunk: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class GoldTriple(Triple):
    """A triple that is right, with the sentence that says so."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class TripleScore:
    """How many distinct triples of each side there are by one way of comparing, and how many match one to one."""

    compared: str
    gold: int
    predicted: int
    matched: int

    @property
    def precision(self) -> float:
        """Share of the predicted that are gold; 0 where nothing was predicted."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold that were predicted; 0 where there is no gold."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.matched / (self.gold + self.predicted) if self.matched else 0.0

    def as_json(self) -> dict[str, str | int | float]:
        """Return counts and rates, rounded to four places."""
        return {
            "compared": self.compared,
            "gold": self.gold,
            "predicted": self.predicted,
            "matched": self.matched,
            "precision": round(self.precision, 4),
            "recall": round(self.recall, 4),
            "f1": round(self.f1, 4),
        }


async def score_triples(
    gold: Sequence[Triple],
    predicted: Sequence[Triple],
    *,
    embedder: Embedder | None = None,
    threshold: float = EMBEDDING_THRESHOLD,
) -> list[TripleScore]:
    """Compare in up to four ways; a triple counts once for its chunk, and only with triples of the same chunk.

    `exact`: head, relation and tail, lower case and trimmed (as the thesis counts). `normalised`: names by `kgrag.text.names.normal_form`,
    words of the relation. `names`: heads and tails alone, in either direction. `embeddings` (with an embedder): triples as sentences, one
    to one, the nearest first, down to a cosine of `threshold`. Raises `ModelError` from the embedder.
    """
    scores = [
        _by_key(name, gold, predicted, key)
        for name, key in (("exact", _exact), ("normalised", _normalised), ("names", _names))
    ]
    if embedder is not None:
        scores.append(await _by_embedding(gold, predicted, embedder, threshold))
    return scores


def _exact(triple: Triple) -> Hashable:
    return triple.chunk, *(part.strip().lower() for part in (triple.head, triple.relation, triple.tail))


def _normalised(triple: Triple) -> Hashable:
    return triple.chunk, normal_form(triple.head), _words(triple.relation), normal_form(triple.tail)


def _names(triple: Triple) -> Hashable:
    return triple.chunk, frozenset((normal_form(triple.head), normal_form(triple.tail)))


def _words(relation: str) -> str:
    """Write a relation as words: `HAS_PART`, `has part` and `hasPart` are the same."""
    divided = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", relation)
    return " ".join(re.findall(r"[^\W_]+", divided.casefold()))


def _by_key(name: str, gold: Sequence[Triple], predicted: Sequence[Triple], key: Key) -> TripleScore:
    right, said = {key(triple) for triple in gold}, {key(triple) for triple in predicted}
    return TripleScore(name, len(right), len(said), len(right & said))


async def _by_embedding(
    gold: Sequence[Triple], predicted: Sequence[Triple], embedder: Embedder, threshold: float
) -> TripleScore:
    right, said = ({_normalised(t): t for t in triples} for triples in (gold, predicted))
    of_gold, of_said = list(right.values()), list(said.values())
    name = "embeddings"
    if not of_gold or not of_said:
        return TripleScore(name, len(of_gold), len(of_said), 0)
    vectors: Vectors = await embedder.embed_documents([_sentence(triple) for triple in (*of_gold, *of_said)])
    cosines = vectors[: len(of_gold)] @ vectors[len(of_gold) :].T
    same_chunk = np.array([[a.chunk == b.chunk for b in of_said] for a in of_gold])
    pairs = np.argwhere((cosines >= threshold) & same_chunk)
    nearest = sorted(map(tuple, pairs.tolist()), key=lambda pair: (-float(cosines[pair]), pair))
    taken_gold: set[int] = set()
    taken_said: set[int] = set()
    for i, j in nearest:
        if i not in taken_gold and j not in taken_said:
            taken_gold.add(i)
            taken_said.add(j)
    return TripleScore(name, len(of_gold), len(of_said), len(taken_gold))


def _sentence(triple: Triple) -> str:
    return f"{triple.head} {_words(triple.relation)} {triple.tail}"
