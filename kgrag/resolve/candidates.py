"""Which entities are compared: those that share a blocking key, neighbours in sorted order, neighbours among vectors. Linear in names.

All have the same facts (signature), because entities with different facts are never one. Names are sorted once from their beginning
and once from their end: of two that differ in one place, one half is the same, so they stand beside each other in one of the two orders.
Each entity meets at most a fixed number of others in each way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from kgrag.models.base import Vectors
from kgrag.resolve.keys import GENERIC_WORDS, strict_key, tokens_key, transcription_key
from kgrag.resolve.reading import NameReading

__all__ = ["blocked_pairs", "neighbouring_pairs", "vector_pairs"]

WINDOW = 3
"""Neighbours in sorted order that a name is compared with."""
MIN_SIMILARITY = 0.85
"""Of the letters of two names (1 - edit distance / length) from which they are candidates."""
MAX_NEAREST = 5
MIN_COSINE = 0.85
MAX_BLOCK = 20
"""In a larger block each is compared with the next so many only."""
ROWS_AT_ONCE = 1024

Pair = tuple[int, int]


def blocked_pairs(readings: Sequence[NameReading], generic: Set[str] = GENERIC_WORDS) -> Iterator[Pair]:
    """Yield the pairs that share the strict key, the tokens key or the one with umlauts in two letters."""
    yield from _sharing(strict_key(reading) for reading in readings)
    yield from _sharing(map(transcription_key, readings))
    keys = ((reading, tokens_key(reading, generic)) for reading in readings)
    yield from _sharing(f"{reading.signature}\n{key}" if key else "" for reading, key in keys)


def _sharing(keys: Iterable[str]) -> Iterator[Pair]:
    """Yield the pairs of indexes whose keys are equal and not empty."""
    first: dict[str, int] = {}
    blocks: dict[int, list[int]] = {}
    for index, key in enumerate(keys):
        # Most keys are there once: only the others get a list.
        if key and (known := first.setdefault(key, index)) != index:
            blocks.setdefault(known, [known]).append(index)
    for block in blocks.values():
        for position, one in enumerate(block):
            yield from ((one, other) for other in block[position + 1 : position + MAX_BLOCK])


def neighbouring_pairs(readings: Sequence[NameReading]) -> Iterator[Pair]:
    """Yield the pairs of names whose letters are similar and that stand close in sorted order, forwards or backwards."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import cpdist

    forms = [reading.form for reading in readings]
    for keys in (
        [f"{reading.signature}\n{reading.form}" for reading in readings],
        [f"{reading.signature}\n{reading.form[::-1]}" for reading in readings],
    ):
        order = sorted(range(len(forms)), key=keys.__getitem__)
        ordered = [forms[i] for i in order]
        for distance in range(1, WINDOW + 1):
            scores = cpdist(
                ordered[:-distance],
                ordered[distance:],
                scorer=OSA.normalized_similarity,
                score_cutoff=MIN_SIMILARITY,
                dtype=np.float32,
            )
            for at in np.flatnonzero(scores).tolist():
                one, other = order[at], order[at + distance]
                if readings[one].signature == readings[other].signature:
                    yield (one, other) if one < other else (other, one)


def vector_pairs(vectors: Vectors, groups: Iterable[Sequence[int]]) -> Iterator[Pair]:
    """Yield for each entity its nearest `MAX_NEAREST` among those of its group, by cosine; exact, in blocks of rows."""
    for group in groups:
        if len(group) < 2:
            continue
        rows: NDArray[np.intp] = np.asarray(group)
        own = vectors[rows]
        for start in range(0, len(rows), ROWS_AT_ONCE):
            cosines = own[start : start + ROWS_AT_ONCE] @ own.T
            np.put_along_axis(cosines, np.arange(start, start + len(cosines))[:, None], -1.0, axis=1)
            count = min(MAX_NEAREST, len(rows) - 1)
            nearest = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
            for row, others in enumerate(nearest):
                for other in others:
                    if cosines[row, other] >= MIN_COSINE:
                        one, two = int(rows[start + row]), int(rows[other])
                        yield (one, two) if one < two else (two, one)
