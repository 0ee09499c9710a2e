"""What retrieval asks the database for."""

from __future__ import annotations

from typing import Any

from kgrag.store.connection import Connection
from kgrag.store.statements import statement

__all__ = ["Search"]


class Search:
    """Finds chunks, entities, relations and communities in an open store; it never writes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a reading statement of `cypher/` by name (`retrieve/dense_seeds`).

        A parameter `graph` also puts that graph's label in the place of `` `GRAPH_LABEL` ``.
        """
        return self._connection.read(statement(name, graph=parameters.get("graph")), parameters)
