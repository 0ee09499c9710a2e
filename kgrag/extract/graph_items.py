"""One node or one relation of a reply, be it an object, a list or a text: what it states, whatever its keys."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice, product
from typing import Any

from kgrag.extract.reply_keys import (
    ALL_KEYS,
    DESCRIPTION_KEYS,
    ENTITY_TYPE_KEYS,
    HEAD_KEYS,
    HEAD_TYPE_KEYS,
    NAME_KEYS,
    PROPERTY_KEYS,
    TAIL_KEYS,
    TAIL_TYPE_KEYS,
    TYPE_KEYS,
    first_value,
)
from kgrag.extract.statements import Named, Stated, Statement, read_path
from kgrag.extract.triple_lines import triples_of

__all__ = ["Names", "read_item", "read_node", "read_relation", "text_of", "value_of"]

MAX_PAIRS = 1_000
"""Of one relation with lists for its ends: two long lists are millions of statements."""
MAX_NUMBER_BITS = 4_000
"""A number of more than 1,200 digits is no name, and Python does not write every one."""
UNTYPED = "an entity has no type"
NO_TYPE = "related to"
NOT_THERE = "a relation names a node that is not there"
PLACEHOLDER = re.compile(r"<[^<>]{1,60}>")
"""`<head entity>`"""
NO_NAMES = frozenset(("...", "…", '"', "〃"))
"""What stands for whatever may come, or for what is said above."""
BARE_ID = re.compile(r"(?:n|node|e|entity|id)?[-_ ]?\d+", re.IGNORECASE)
"""What an id is where it is not a name."""


class Names(dict[str, Named]):
    """Which entity of a reply is meant, by its name and by its id."""

    has_ids = False
    """Whether one is known by an id that is not its name."""

    def learn(self, key: str, named: Named) -> None:
        """Learn what an entity is called; who was called so first stays."""
        self.has_ids |= key != self.setdefault(key, named).name


def value_of(item: Mapping[str, Any]) -> str:
    """Give the value of an item with its unit, which may stand in a field of its own."""
    value, unit = text_of(item.get("value")), text_of(item.get("unit"))
    return f"{value} {unit}" if value and unit and not value.endswith(unit) else value


def read_item(item: Any, names: Names, stated: Stated, chunk_text: str) -> None:
    """Read an item of a list without a name: a relation, or a node."""
    if isinstance(item, dict) and first_value(item, HEAD_KEYS) is None and first_value(item, TAIL_KEYS) is None:
        if parts := _by_position(item, chunk_text):
            stated.statements.append(Statement(*parts))
        else:
            read_node(item, names, stated, chunk_text)
    elif isinstance(item, str) and not triples_of(item, chunk_text):
        if item.strip() and item.casefold() in chunk_text.casefold():
            read_node(item, names, stated, chunk_text)
        else:
            stated.lost.append("an item is text where an object was expected")
    else:
        read_relation(item, names, stated, chunk_text)


def _by_position(item: Mapping[str, Any], chunk_text: str) -> list[str]:
    """Read an object of three texts under keys that are not known (of another language) in their order, where the chunk has both ends."""
    parts, text = [text_of(value) for value in item.values()], chunk_text.casefold()
    is_triple = len(parts) == 3 and all(parts) and ALL_KEYS.isdisjoint(set(item) - set(TYPE_KEYS))
    return parts if is_triple and [part.casefold() in text for part in parts] == [True, False, True] else []


def read_node(node: Any, names: Names, stated: Stated, chunk_text: str) -> None:
    """Read a node: an object, a name, or a name and its type. `names` learns what it is called, by its name and its id."""
    if isinstance(node, list) and len(node) == 2:
        node = {"name": node[0], "type": node[1]}
    if isinstance(node, dict) and len(node) == 1 and isinstance(kind := next(iter(node.values())), str):
        (key,) = node
        node = (
            {"name": key, "type": kind}
            if key not in ALL_KEYS and str(key).casefold() in chunk_text.casefold()
            else node
        )
    if isinstance(node, str | int | float) and not isinstance(node, bool):
        node = {"name": node}
    if not isinstance(node, dict):
        stated.lost.append("an entity is not an object")
        return
    properties = _properties(node)
    identity = text_of(node.get("id"))
    name = next(
        (text for key in NAME_KEYS[:-1] if (text := text_of(properties.get(key)) or text_of(node.get(key)))), ""
    )
    label = text_of(node.get("label")) if "properties" not in node else ""
    text = chunk_text.casefold()
    is_drawn = bool(label) and label.casefold() in text and identity.casefold() not in text
    if not name and identity and not is_drawn and not ("label" in node and BARE_ID.fullmatch(identity)):
        name = identity  # LangChain's nodes have no other name, be it a year; neo4j-graphrag's have a label and numbers for ids
    if not name and (others := [text for value in properties.values() if (text := text_of(value))]):
        name = others[0]
    kinds = [text for key in ENTITY_TYPE_KEYS if (text := text_of(node.get(key)))]
    if not name and identity and "properties" not in node and "label" in node:
        name, *kinds = kinds or [
            ""
        ]  # the nodes of drawings: `{"id": 1, "label": "X-100"}`, `{"id": "x1", "label": "X-100"}`
    if not name:
        stated.lost.append("an entity has no name")
        return
    kind = kinds[0] if kinds else ""
    if not kind and len(node) > 1:
        stated.mended.append(UNTYPED)
    named = Named(name, kind, _description(node, properties, leave_out={name, identity}))
    stated.named.append(named)
    if identity in names and names[identity].name not in (name, identity, ""):  # a name may be a number
        stated.lost.append("two entities have one id")
        names[identity] = Named("")
    for key in {identity, name}:
        if key:
            names.learn(key, named)
    for kind, value in node.items():
        if kind not in ALL_KEYS:
            ends = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]
            stated.statements.extend(
                Statement(name, kind, end.name, named.type, end.type) for end in _ends(ends, names, stated, by_id=False)
            )


def read_relation(relation: Any, names: Names, stated: Stated, chunk_text: str) -> None:
    """Read a relation: an object, a list of its parts, or a text that is a triple; its ends may be ids in `names`."""
    if isinstance(relation, str) and (triples := triples_of(relation, chunk_text)):
        for parts in triples:
            read_relation(parts, names, stated, chunk_text)
        return
    if isinstance(relation, list | tuple):
        if len(relation) == 3 and isinstance(relation[2], dict) and first_value(relation[2], TYPE_KEYS):
            relation = {"head": relation[0], "tail": relation[1], **relation[2]}
        elif len(relation) == 3 and text_of(relation[1]) and any(_is_node(end, names) for end in relation[::2]):
            relation = dict(zip(("head", "type", "tail"), relation, strict=True))
        else:
            read_path([text_of(part) for part in relation], stated, chunk_text=chunk_text)
            return
    if not isinstance(relation, dict):
        stated.lost.append("a relation is not an object")
        return
    if parts := _by_position(relation, chunk_text):
        stated.statements.append(Statement(*parts))
        return
    properties = _properties(relation)
    by_id = (
        isinstance(first_value(relation, HEAD_KEYS), int)
        or "start_node_id" in relation
        or "end_node_id" in relation
        or names.has_ids
    )
    heads = _ends(first_value(relation, HEAD_KEYS), names, stated, by_id=by_id)
    tails = _ends(first_value(relation, TAIL_KEYS), names, stated, by_id=by_id)
    kinds = [
        one if not isinstance(one, dict) else first_value(one, ("name", *TYPE_KEYS))
        for one in map(relation.get, TYPE_KEYS)
    ]
    said_kind = next(filter(text_of, kinds), "")
    kind = text_of(said_kind)
    if not tails and (value := value_of(relation)):
        tails, kind = [Named(value)], kind or text_of(first_value(relation, ("property", "attribute")))
    if isinstance(said_kind, list):
        kind = " ".join(filter(None, map(text_of, said_kind)))
        stated.mended.append("a relation's type was a list")
    if any(PLACEHOLDER.fullmatch(end.name) and end.name not in chunk_text for end in (*heads, *tails)):
        stated.lost.append("a relation is the form that was asked for, and names nothing")
        return
    if heads and tails:
        if not re.search(r"[^\W\d_]", kind):
            stated.lost.append(f"a relation has no type (kept as {NO_TYPE})")
            kind = NO_TYPE
        description = _description(relation, properties, leave_out=set())
        head_type, tail_type = (
            text_of(first_value(relation, HEAD_TYPE_KEYS)),
            text_of(first_value(relation, TAIL_TYPE_KEYS)),
        )
        quoted = {"condition": text_of(relation.get("condition")), "sentence": text_of(relation.get("sentence"))}
        if (pairs := len(heads) * len(tails)) > MAX_PAIRS:
            stated.lost.append(f"a relation has {pairs:,} pairs of ends, of which {MAX_PAIRS:,} were read")
        said = [
            Statement(head.name, kind, tail.name, head_type or head.type, tail_type or tail.type, description, **quoted)
            for head, tail in islice(product(heads, tails), MAX_PAIRS)
        ]
        if not all(statement.head_type and statement.tail_type for statement in said):
            stated.mended.append(UNTYPED)
        stated.statements.extend(said)
        return
    stated.lost.append(
        f"a relation has no {' and no '.join(part for part, ends in (('head', heads), ('tail', tails)) if not ends)}"
    )
    # What it does say of the one end is kept with that: `is unpolluted`.
    stated.named.extend(
        replace(end, description="; ".join(filter(None, (end.description, kind)))) for end in (*heads, *tails)
    )


def _is_node(end: Any, names: Mapping[str, Named]) -> bool:
    """Whether an end of a triple is an id and no name."""
    named = names.get(text_of(end))
    return named.name != text_of(end) if named else isinstance(end, int) and bool(names)


def _ends(value: Any, names: Names, stated: Stated, *, by_id: bool) -> list[Named]:
    """Resolve one end of a relation: an id or a name, an object with one, or a list of them."""
    if isinstance(value, list):
        return [end for item in value for end in _ends(item, names, stated, by_id=by_id)]
    if isinstance(value, dict):
        name = next((text for key in NAME_KEYS if (text := text_of(value.get(key)))), "")
        kind = next((text for key in ENTITY_TYPE_KEYS if (text := text_of(value.get(key)))), "")
        known = names.get(name)
        return [known or Named(name, kind)] if name else []
    text = text_of(value)
    if text in names and names[text].name:
        return [names[text]]
    if text in names or (by_id and BARE_ID.fullmatch(text)):
        stated.lost.append(NOT_THERE)
        return []
    return [Named(text)] if text and text not in NO_NAMES else []


def _properties(item: Mapping[str, Any]) -> dict[str, Any]:
    """Give the properties of an item: an object, or a list of key and value."""
    properties = first_value(item, PROPERTY_KEYS)
    if isinstance(properties, list):
        pairs = [pair for pair in properties if isinstance(pair, dict)]
        properties = {str(key): pair.get("value") for pair in pairs if (key := first_value(pair, ("key", "name")))}
    return properties if isinstance(properties, dict) else {}


def _description(item: Mapping[str, Any], properties: Mapping[str, Any], *, leave_out: set[str]) -> str:
    """Put the description and all other properties into words, so that none is lost."""
    said = [text for source in (item, properties) for key in DESCRIPTION_KEYS if (text := text_of(source.get(key)))]
    more = {key: value for key, value in item.items() if key not in ALL_KEYS and not isinstance(value, int | float)}
    rest = [
        f"{key}: {text}"
        for key, value in {**properties, **more}.items()
        if key not in DESCRIPTION_KEYS and (text := text_of(value)) and text not in leave_out
    ]
    return "; ".join(dict.fromkeys([*said, *rest]))


def text_of(value: Any) -> str:
    """Write a value as a name: text as it is, numbers in digits; a list joined by commas; nothing for what is no name."""
    match value:
        case str():
            return value.strip()
        case bool() | None:
            return ""
        case int():
            return str(value) if value.bit_length() <= MAX_NUMBER_BITS else ""
        case float():
            return repr(value) if math.isfinite(value) else ""
        case list() | tuple():
            return ", ".join(text for part in value if (text := text_of(part)))
        case _:
            return ""
