"""Vectors in the database: who waits for one, writing them, and reading all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kgrag.errors import InputError
from kgrag.models.base import Vectors
from kgrag.store.connection import Transaction
from kgrag.store.rows import batches_by_size
from kgrag.store.schema import Schema

__all__ = ["WaitingForVectors", "put_vectors", "sorted_vectors", "vector_rows"]

FLOAT_CHARACTERS = 9
"""What a number of a vector takes in a message."""
IN_MEMORY_BYTES = 64 * 2**20
"""Of vectors that are wanted all at once: 43,690 of 384 dimensions. More are in a file, of which the system holds in memory what it can."""
AT_ONCE = 10_000
"""Vectors that are put in order together."""


class WaitingForVectors:
    """Who waits for a vector, as long as nothing else was written: a search in all chunks for each batch takes too long."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._chunks: dict[str, None] = {}
        self._entities: dict[str, dict[str, None]] = {}

    def chunks(self) -> list[str]:
        """Return the ids of the chunks without a vector, sorted."""
        if not self._chunks:
            rows = self._schema.read("store/chunks_without_embedding")
            self._chunks = dict.fromkeys(sorted(row["id"] for row in rows))
        return list(self._chunks)

    def entities(self, graph: str) -> list[str]:
        """Return the keys of a graph's entities without a vector, sorted; the graph's index has to exist."""
        if not self._entities.get(graph):
            rows = self._schema.read("store/entities_without_embedding", graph=graph)
            self._entities[graph] = dict.fromkeys(sorted(row["key"] for row in rows))
        return list(self._entities[graph])

    def forget_chunks(self, ids: Iterable[str]) -> None:
        """Take out chunks that have their vectors now."""
        for one in ids:
            self._chunks.pop(one, None)

    def forget_entities(self, graph: str, keys: Iterable[str]) -> None:
        """Take out entities that have their vectors now."""
        for key in keys:
            self._entities.get(graph, {}).pop(key, None)

    def forget_graph(self, graph: str) -> None:
        """Ask again which entities of a graph wait: it was written to."""
        self._entities.pop(graph, None)

    def forget(self) -> None:
        """Ask again who waits: documents were written or deleted."""
        self._chunks.clear()
        self._entities.clear()


def vector_rows(ids: Sequence[str], vectors: Vectors, dimensions: int) -> list[dict[str, Any]]:
    """Return a row of id and embedding for each. Raises `InputError` where the shape is not [len(ids), dimensions]."""
    if vectors.shape != (len(ids), dimensions):
        raise InputError(f"Vectors: expected shape ({len(ids)}, {dimensions}), got {vectors.shape}.")
    return [{"id": one, "embedding": vector} for one, vector in zip(ids, vectors.tolist(), strict=True)]


def put_vectors(transaction: Transaction, name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write the rows of `vector_rows` by the statement of this name, in messages that are not too large."""
    for some in batches_by_size(rows, characters=len(rows[0]["embedding"]) * FLOAT_CHARACTERS if rows else None):
        transaction.run(name, rows=some)


def sorted_vectors(rows: Iterable[tuple[str, Any]], dimensions: int) -> tuple[list[str], Vectors]:
    """Take rows of key and vector as they come; return the keys, sorted, and the vectors: [len(keys), dimensions].

    No more than one row is held beside what is returned, and of many vectors not these either: they are in a file without a name.
    """
    came: list[str] = []
    with tempfile.TemporaryFile(prefix="kgrag-vectors-") as file:
        for key, vector in rows:
            came.append(key)
            file.write(np.asarray(vector, dtype=np.float32).reshape(dimensions).tobytes())
        file.flush()
        shape = (len(came), dimensions)
        order = sorted(range(len(came)), key=came.__getitem__)
        if not came:
            return [], np.empty(shape, dtype=np.float32)
        unsorted = np.memmap(file, dtype=np.float32, mode="r", shape=shape)
        vectors: Vectors = np.empty(shape, dtype=np.float32)  # Takes memory where it is written to.
        if unsorted.nbytes > IN_MEMORY_BYTES:
            with tempfile.TemporaryFile(prefix="kgrag-vectors-") as other:
                vectors = np.memmap(other, dtype=np.float32, mode="w+", shape=shape)
        for start in range(0, len(came), AT_ONCE):
            vectors[start : start + AT_ONCE] = unsorted[order[start : start + AT_ONCE]]
    return [came[place] for place in order], vectors
