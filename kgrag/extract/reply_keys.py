"""What models call the parts of a graph in their replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "DESCRIPTION_KEYS",
    "ENTITY_TYPE_KEYS",
    "HEAD_KEYS",
    "HEAD_TYPE_KEYS",
    "NAME_KEYS",
    "NODE_LISTS",
    "QUANTITY_LIST",
    "RELATION_LISTS",
    "TAIL_KEYS",
    "TAIL_TYPE_KEYS",
    "TYPE_KEYS",
    "first_value",
]

NODE_LISTS = ("nodes", "entities", "named_entities", "vertices")
RELATION_LISTS = ("relationships", "relations", "edges", "triples", "triplets", "paths", "facts")
HEAD_KEYS = ("start_node_id", "source_node_id", "head", "subject", "source", "start", "from", "head_entity", "source_entity")  # fmt: skip
TAIL_KEYS = ("end_node_id", "target_node_id", "tail", "object", "target", "end", "to", "tail_entity", "target_entity")
TYPE_KEYS = ("type", "relation", "predicate", "relationship", "relation_type", "label", "relationship_type", "rel")
HEAD_TYPE_KEYS = ("source_node_type", "head_type", "subject_type", "source_type", "start_node_type")
TAIL_TYPE_KEYS = ("target_node_type", "tail_type", "object_type", "target_type", "end_node_type")
QUANTITY_LIST = "quantities"
"""Of the extractor `llm`: values with what they are of and when they hold."""
NAME_KEYS = ("name", "title", "entity", "entity_name", "text", "id")
ENTITY_TYPE_KEYS = ("label", "type", "entity_type", "category")
DESCRIPTION_KEYS = ("description", "evidence", "explanation")


def first_value(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """Return the value of the first of some keys that an object has; None where it has none."""
    return next((item[key] for key in keys if item.get(key) is not None), None)
