"""Predicted edges in the database: __PREDICTED__ relationships, which no chunk states.

They are kept apart from relations in all that counts, shows, digests or cites what was extracted. They rest on the relations around their
ends: whoever writes or deletes a relation, or merges an entity, takes the predicted edges of the entities at its ends with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from kgrag.store.connection import Connection, Transaction
from kgrag.store.ledger import WorkRecord, put_work
from kgrag.store.rows import batches_by_size
from kgrag.store.schema import Schema

__all__ = ["COMPLETE", "PredictedEdge", "Predictions", "forget_predictions"]

COMPLETE, SUBJECT = "complete", "completion"
"""Stage and subject of the ledger's entry that a graph (its scope) has predicted edges."""


@dataclass(frozen=True, slots=True)
class PredictedEdge:
    """A relation that may hold between two entities, by their keys."""

    head: str
    type: str
    tail: str
    score: float
    """Share of such predictions that held-out triples confirmed."""
    method: str


class Predictions:
    """The predicted edges of the graphs of an open store."""

    def __init__(self, connection: Connection, schema: Schema) -> None:
        self._connection = connection
        self._schema = schema

    def triples(self, graph: str) -> list[tuple[str, str, str]]:
        """Return the relations of a graph: key of the head, type, key of the tail."""
        self._schema.ensure_graph(graph)
        rows = self._schema.read("completion/triples", graph=graph)
        return sorted((row["head"], row["type"], row["tail"]) for row in rows)

    def of_graph(self, graph: str) -> list[PredictedEdge]:
        """Return the predicted edges of a graph, likeliest first."""
        rows = self._schema.read("completion/predicted", graph=graph)
        return [PredictedEdge(row["head"], row["type"], row["tail"], row["score"], row["method"]) for row in rows]

    def put(self, graph: str, edges: Sequence[PredictedEdge], *, version: str) -> None:
        """Make the predicted edges of a graph these; ledger `complete`, with the fingerprint of what predicted them."""
        self.delete(graph)
        record = WorkRecord(COMPLETE, SUBJECT, scope=graph, version=version)
        self._connection.write(lambda transaction: put_work(transaction, [record]))
        for rows in batches_by_size([asdict(edge) for edge in edges]):
            self._connection.write(partial(Transaction.run, name="completion/put_predicted", rows=rows))

    def delete(self, graph: str) -> int:
        """Take the predicted edges of a graph out; return how many there were."""
        there = len(self.of_graph(graph))
        delete = self._connection.delete_in_parts
        delete("completion/delete_predicted", there, graph=graph)
        if there or graph in self.completed():
            delete("store/delete_work_of_scope", 1, stage=COMPLETE, scope=graph)
        return there

    def completed(self) -> set[str]:
        """Return the graphs that edges were predicted for."""
        return {row["graph"] for row in self._schema.read("completion/any_completed")}


def forget_predictions(transaction: Transaction, keys: Iterable[str]) -> None:
    """Delete the predicted edges at entities whose relations change."""
    wanted = sorted(set(keys))
    if wanted and transaction.run("completion/any_completed"):
        transaction.run_batched("completion/forget_predicted", keys=wanted)
