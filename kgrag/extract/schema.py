"""Which types of entities and relations a model may use: from a file, or induced from samples."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from kgrag.errors import InputError
from kgrag.extract.grounding import entity_label
from kgrag.extract.statements import Stated
from kgrag.store.identifiers import relation_type
from kgrag.types import content_id

__all__ = ["ExtractionSchema", "read_schema", "schema_from_data"]


@dataclass(frozen=True)
class ExtractionSchema:
    """Types with descriptions, and patterns (type of head, type of relation, type of tail) where the file has some."""

    entity_types: tuple[tuple[str, str], ...]
    relation_types: tuple[tuple[str, str], ...]
    patterns: tuple[tuple[str, str, str], ...] = ()

    @property
    def digest(self) -> str:
        """Of all of it."""
        return content_id(self.to_json())

    def to_json(self) -> str:
        """Write it as a schema file."""
        return json.dumps(
            {
                "entities": [_item(label, text) for label, text in self.entity_types],
                "relations": [_item(label, text) for label, text in self.relation_types],
                "patterns": [list(pattern) for pattern in self.patterns],
            },
            ensure_ascii=False,
            indent=2,
        )

    def entity_label(self, written: str) -> str:
        """Name a type of entity as the schema does, however the model writes it, or as the store will."""
        label = entity_label(written)
        return self._entity_labels.get(label.casefold(), label)

    def relation_label(self, written: str) -> str:
        """Name a type of relation as the schema does, or as the store will."""
        label = relation_type(written)
        return self._relation_labels.get(label, label)

    def only(self, stated: Stated) -> Stated:
        """Leave out what is outside the schema, and name the types of the rest as the schema does."""
        entities, relations = set(self._entity_labels.values()), set(self._relation_labels.values())
        named = [replace(n, type=self.entity_label(n.type)) for n in stated.named]
        statements = [
            replace(
                s,
                head_type=self.entity_label(s.head_type),
                type=self.relation_label(s.type),
                tail_type=self.entity_label(s.tail_type),
            )
            for s in stated.statements
        ]
        return replace(
            stated,
            named=[n for n in named if n.type in entities],
            statements=[
                s
                for s in statements
                if entities >= {s.head_type, s.tail_type}
                and (not relations or s.type in relations)
                and (not self.patterns or (s.head_type, s.type, s.tail_type) in self.patterns)
            ],
        )

    @cached_property
    def _entity_labels(self) -> dict[str, str]:
        return {entity_label(label).casefold(): label for label, _ in self.entity_types}

    @cached_property
    def _relation_labels(self) -> dict[str, str]:
        return {relation_type(label): label for label, _ in self.relation_types}

    def in_words(self) -> str:
        """Say it in a prompt."""
        lines = [
            "Types of entities: " + "; ".join(_said(*item) for item in self.entity_types),
            "Types of relations: " + "; ".join(_said(*item) for item in self.relation_types),
        ]
        if self.patterns:
            lines.append("Only these combinations: " + "; ".join(f"({h}, {r}, {t})" for h, r, t in self.patterns))
        return "\n".join(lines)


def read_schema(file: Path | str) -> ExtractionSchema:
    """Read a JSON or TOML file. Raises `InputError` that says what is wrong with it.

    `entities` (or neo4j-graphrag's `node_types`) and `relations` (or `relationship_types`) are lists of types, each a string or an object
    with `label` and `description`; `patterns` is a list of (type of head, type of relation, type of tail).
    """
    path = Path(file)
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = tomllib.loads(text) if path.suffix.casefold() == ".toml" else json.loads(text)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputError(
            f"Schema file {path}: expected JSON or TOML in UTF-8, cannot read it: {error}. Check --schema (none, induced, or a file)."
        ) from error
    return schema_from_data(data, source=f"Schema file {path}")


def schema_from_data(data: Any, *, source: str) -> ExtractionSchema:
    """Make a schema of parsed data. Raises `InputError` that names `source` and what is wrong."""
    if not isinstance(data, Mapping):
        raise InputError(f"{source}: expected an object with `entities` and `relations`, got {type(data).__name__}.")
    entities = _types(data.get("entities", data.get("node_types")), "entities", source)
    relations = _types(data.get("relations", data.get("relationship_types", [])), "relations", source)
    if not entities:
        raise InputError(f"{source}: expected at least one type under `entities`.")
    patterns = [_pattern(item, source) for item in data.get("patterns") or ()]
    known = {label for label, _ in entities}, {label for label, _ in relations}
    for head, kind, tail in patterns:
        for label, labels, where in (
            (head, known[0], "entities"),
            (kind, known[1], "relations"),
            (tail, known[0], "entities"),
        ):
            if label not in labels:
                raise InputError(
                    f"{source}: the pattern ({head}, {kind}, {tail}) has the type {label!r}, which is not among `{where}`."
                )
    return ExtractionSchema(tuple(entities), tuple(relations), tuple(patterns))


def _types(items: Any, name: str, source: str) -> list[tuple[str, str]]:
    if not isinstance(items, Sequence) or isinstance(items, str):
        raise InputError(f"{source}: expected a list of types under `{name}`, got {items!r}.")
    types: dict[str, str] = {}
    for item in items:
        label = item.get("label") if isinstance(item, Mapping) else item
        if not isinstance(label, str) or not label.strip():
            raise InputError(f"{source}: expected a string or an object with `label` under `{name}`, got {item!r}.")
        types.setdefault(label.strip(), str(item.get("description") or "") if isinstance(item, Mapping) else "")
    return list(types.items())


def _pattern(item: Any, source: str) -> tuple[str, str, str]:
    if isinstance(item, Mapping):
        item = [item.get(key) for key in ("source", "relationship", "target")]
    if isinstance(item, Sequence) and len(item) == 3 and all(isinstance(part, str) for part in item):
        return item[0], item[1], item[2]
    raise InputError(f"{source}: expected a pattern of three types, got {item!r}.")


def _item(label: str, description: str) -> Any:
    return {"label": label, "description": description} if description else label


def _said(label: str, description: str) -> str:
    return f"{label} ({description})" if description else label
