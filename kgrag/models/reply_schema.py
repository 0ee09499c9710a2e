"""JSON schemas of what models are to reply: objects of which every property is there, and no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["NUMBER", "TEXT", "list_of", "object_of", "texts"]

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}


def object_of(**properties: Schema) -> dict[str, Any]:
    """Make the schema of an object that has all of these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(items: Schema) -> dict[str, Any]:
    """Make the schema of a list."""
    return {"type": "array", "items": items}


def texts(most: int) -> dict[str, Any]:
    """Make the schema of a list of up to `most` texts, and at least one."""
    return {**list_of(TEXT), "minItems": 1, "maxItems": most}
