"""The Cypher statements: files under `cypher/`, loaded by name, with identifiers put into their places."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kgrag.errors import IdentifierError
from kgrag.store.identifiers import community_label, entity_type, graph_label, quoted, relation_type

__all__ = ["statement"]

_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = (_PACKAGE / "_cypher", _PACKAGE.parent / "cypher")
"""Where an installed package has them, and where the repository has them."""


@cache
def statement(
    name: str,
    *,
    graph: str | None = None,
    entity: str | None = None,
    relation: str | None = None,
    index: str | None = None,
    level: int | None = None,
    label: str | None = None,
) -> str:
    """Load a statement (`retrieve/dense_seeds`) with its identifiers: a graph's name, an entity type, a relation type, an index's name.

    `level` is that of communities of the graph, `label` any other label of ours.

    Raises `IdentifierError` where the statement does not exist, an identifier is not allowed, or one that it needs is not given.
    """
    text = _text(name)
    for placeholder, identifier in (
        ("`GRAPH_LABEL`", None if graph is None else graph_label(graph)),
        ("`ENTITY_TYPE`", None if entity is None else entity_type(entity)),
        ("`RELATION_TYPE`", None if relation is None else relation_type(relation)),
        ("`COMMUNITY_LABEL`", None if graph is None or level is None else community_label(graph, level)),
        ("`INDEX_NAME`", index),
        ("`NODE_LABEL`", label),
    ):
        if placeholder in text:
            if identifier is None:
                raise IdentifierError(f"Statement {name}: {placeholder} has to be given, and is not.")
            text = text.replace(placeholder, quoted(identifier))
    return text


@cache
def _text(name: str) -> str:
    """Read a statement without the comments above it, so that a database's plan cache sees the statement only."""
    for folder in _FOLDERS:
        path = folder / f"{name}.cypher"
        if path.resolve().is_relative_to(folder) and path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            return "\n".join(line for line in lines if not line.startswith("//")).strip()
    raise IdentifierError(f"Statement {name!r}: expected a file under {_FOLDERS[-1]} without its suffix, found none.")
