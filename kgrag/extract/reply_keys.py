"""What models call the parts of a graph in their replies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = [
    "ALL_KEYS",
    "DESCRIPTION_KEYS",
    "ENTITY_TYPE_KEYS",
    "HEAD_KEYS",
    "HEAD_TYPE_KEYS",
    "NAME_KEYS",
    "NODE_LISTS",
    "PROPERTY_KEYS",
    "QUANTITY_LIST",
    "RELATION_LISTS",
    "TAIL_KEYS",
    "TAIL_TYPE_KEYS",
    "TYPE_KEYS",
    "first_value",
    "known_keys",
]

NODE_LISTS = ("nodes", "entities", "named_entities", "vertices")
RELATION_LISTS = ("relationships", "relations", "edges", "triples", "triplets", "paths", "facts", "links", "statements")
HEAD_KEYS = (
    "start_node_id", "source_node_id", "source_id", "head", "subject", "source", "start", "from", "head_entity", "source_entity",
    "start_node", "source_node", "from_node", "entity1", "node1", "arg1", "subj",
)  # fmt: skip
TAIL_KEYS = (
    "end_node_id", "target_node_id", "target_id", "tail", "object", "target", "end", "to", "tail_entity", "target_entity",
    "end_node", "target_node", "to_node", "entity2", "node2", "arg2", "obj",
)  # fmt: skip
TYPE_KEYS = (
    "type", "relation", "predicate", "relationship", "relation_type", "label", "relationship_type", "relation_name", "rel", "pred",
)  # fmt: skip
HEAD_TYPE_KEYS = ("source_node_type", "head_type", "subject_type", "source_type", "start_node_type", "entity1_type")
TAIL_TYPE_KEYS = ("target_node_type", "tail_type", "object_type", "target_type", "end_node_type", "entity2_type")
QUANTITY_LIST = "quantities"
"""Of the extractor `llm`: values with what they are of and when they hold."""
NAME_KEYS = ("name", "title", "entity", "entity_name", "text", "id")
ENTITY_TYPE_KEYS = ("label", "type", "entity_type", "category")
PROPERTY_KEYS = ("properties", "attributes", "props")
DESCRIPTION_KEYS = ("description", "evidence", "explanation", "relationship_description", "entity_description")


def first_value(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """Return the value of the first of some keys that an object has; None where it has none."""
    return next((item[key] for key in keys if item.get(key) is not None), None)


_BY_LETTERS = {
    re.sub(r"[^a-z0-9]", "", key): key
    for keys in (
        NODE_LISTS, RELATION_LISTS, HEAD_KEYS, TAIL_KEYS, TYPE_KEYS, HEAD_TYPE_KEYS, TAIL_TYPE_KEYS, (QUANTITY_LIST,), NAME_KEYS,
        ENTITY_TYPE_KEYS, DESCRIPTION_KEYS,
    )
    for key in keys
} | {f"{key}s": key for key in ("head", "subject", "source", "tail", "object", "target")}  # fmt: skip


ALL_KEYS = frozenset((*_BY_LETTERS.values(), *PROPERTY_KEYS, "condition", "sentence"))
"""Every key whose value is read."""
_BY_LETTER = ({"s": "subject", "p": "predicate", "o": "object"}, {"h": "head", "r": "relation", "t": "tail"})


def known_keys(item: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return an object with its keys written as this module has them, however their words are joined (`startNode`, `Head Entity`).

    A key stays where it is no known one, or where the object has the known one already.
    """
    letters = next((one for one in _BY_LETTER if all(map(item.__contains__, one))), {})
    renamed = dict[Any, Any]()
    for key, value in item.items():
        known = letters.get(key) or _BY_LETTERS.get(re.sub(r"[^a-z0-9]", "", str(key).lower()), key)
        renamed[key if known in item or known in renamed else known] = value
    return renamed
