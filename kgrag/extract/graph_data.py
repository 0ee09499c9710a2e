"""From parsed JSON (or YAML, or rows of a table) to what it states: nodes and relations under the keys that models and frameworks use."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from typing import Any

from kgrag.extract.json_values import parse_json
from kgrag.extract.reply_keys import (
    DESCRIPTION_KEYS,
    ENTITY_TYPE_KEYS,
    HEAD_KEYS,
    HEAD_TYPE_KEYS,
    NAME_KEYS,
    NODE_LISTS,
    QUANTITY_LIST,
    RELATION_LISTS,
    TAIL_KEYS,
    TAIL_TYPE_KEYS,
    TYPE_KEYS,
    first_value,
    known_keys,
)
from kgrag.extract.statements import Named, Stated, Statement, read_path

__all__ = ["TOO_DEEP", "items_of", "read_data", "read_into"]

MAX_PAIRS = 1_000
"""Of one relation with lists for its ends: two long lists are millions of statements."""
MAX_NUMBER_BITS = 4_000
"""A number of more than 1,200 digits is no name, and Python does not write every one."""
TOO_DEEP = "the reply is brackets in brackets in brackets"
OWN_NAMES = ("name", "entity", "entity_name")
"""Of an entity that has its relations with it."""
UNTYPED = "an entity has no type"
NO_TYPE = "related to"
BARE_ID = re.compile(r"(?:n|node|e|entity|id)?[-_ ]?\d+", re.IGNORECASE)
"""What an id is where it is not a name."""


def read_data(data: Any) -> Stated:
    """Read JSON data."""
    try:
        return read_into(data, Stated())
    except RecursionError:
        return Stated(lost=[TOO_DEEP])


def read_into(data: Any, stated: Stated, *, chunk_text: str = "") -> Stated:
    """Read parsed JSON into `stated`; `chunk_text` settles what is a name where no key says so."""
    data = _with_known_keys(data)
    stated.statements.extend(_by_head(data, chunk_text.casefold()))
    nodes, relations, others = _lists(data) if not stated.statements else ([], [], [])
    names: dict[str, Named] = {}
    for node in nodes:
        _read_node(node, names, stated)
    for relation in _relation_between(relations, names):
        _read_relation(relation, names, stated, chunk_text)
    for item in others:
        _read_item(item, names, stated, chunk_text)
    if nodes or relations or stated.size or (isinstance(data, list) and not data) or _has_lists(data):
        stated.form = "json"
    elif stated.form is None and not stated.lost:
        stated.lost.append("the reply is JSON without entities or relations")
    return stated


def items_of(value: Any) -> list[Any]:
    """What a value that stood in a text adds to what is read: a list its items, a graph or a triple itself."""
    if isinstance(value, dict) and any(
        isinstance(value.get(key), list) for key in (*NODE_LISTS, *RELATION_LISTS, QUANTITY_LIST)
    ):
        return [value]
    if isinstance(value, list) and not _is_triple(value):
        return value
    return [value]


def _relation_between(relations: list[Any], names: Mapping[str, Named]) -> list[Any]:
    """Put the relation of triples between their ends, where all of a reply's name two known entities before it (`["A", "B", "HAS"]`)."""
    ends_first = relations and all(
        isinstance(one, list) and _is_triple(one) and one[0] in names and one[1] in names and one[2] not in names
        for one in relations
    )
    return [[head, kind, tail] for head, tail, kind in relations] if ends_first else relations


def _has_lists(data: Any) -> bool:
    return isinstance(data, dict) and any(key in data for key in (*NODE_LISTS, *RELATION_LISTS, QUANTITY_LIST))


def _lists(data: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Divide data into nodes, relations, and items that may be either."""
    if isinstance(data, list):
        if _is_triple(data):
            return [], [data], []
        nodes, relations, others = list[Any](), list[Any](), list[Any]()
        for item in data:
            if not _has_lists(item):
                others.append(item)
                continue
            more_nodes, more_relations, _ = _lists(item)
            nodes.extend(more_nodes)
            relations.extend(more_relations)
        return nodes, relations, others
    if not isinstance(data, dict):
        return [], [], []
    if not _has_lists(data):
        if first_value(data, HEAD_KEYS) is not None or first_value(data, TAIL_KEYS) is not None:
            return [], [data], []
        inner = [value for value in map(_unpacked, data.values()) if isinstance(value, dict | list)]
        return _lists(inner[0]) if len(inner) == 1 else ([], [], [])
    if (own := next((key for key in OWN_NAMES if _text(data.get(key))), None)) and not any(map(data.get, NODE_LISTS)):
        node = {key: value for key, value in data.items() if key not in RELATION_LISTS}
        return [node], [_of_head(data[own], one) for key in RELATION_LISTS for one in _as_list(data.get(key))], []
    lists = []
    for keys in (NODE_LISTS, RELATION_LISTS):
        items: list[Any] = []
        for key in keys:
            items.extend(_as_list(data.get(key)))
        lists.append(items)
    lists[1].extend(map(_quantity, _as_list(data.get(QUANTITY_LIST))))
    return lists[0], lists[1], []


def _of_head(head: Any, relation: Any) -> Any:
    """Give a relation that stands with an entity that entity for its head, where it says no other."""
    return (
        {"head": head, **relation}
        if isinstance(relation, dict) and first_value(relation, HEAD_KEYS) is None
        else relation
    )


def _by_head(data: Any, chunk_text: str) -> Iterator[Statement]:
    """Read relations by head and type, `{"X-100": {"HAS_PART": ["LQ22"]}}`, of each head that the chunk has with one of its tails."""
    for head, said in data.items() if isinstance(data, dict) else ():
        is_relation = isinstance(said, dict) and first_value(said, HEAD_KEYS) is not None
        if isinstance(said, dict) and not is_relation and head and head.casefold() in chunk_text:
            pairs = [(kind, value if isinstance(value, list) else [value]) for kind, value in said.items()]
            ends = [(kind, tail) for kind, values in pairs for value in values if (tail := _text(value))]
            if any(tail.casefold() in chunk_text for _, tail in ends):
                yield from (Statement(head, kind, tail) for kind, tail in ends)


def _with_known_keys(data: Any) -> Any:
    """Write the keys of all objects as `reply_keys` has them, but for those of properties."""
    if isinstance(data, list):
        return [_with_known_keys(item) for item in data]
    if not isinstance(data, dict):
        return data
    return {key: value if key == "properties" else _with_known_keys(value) for key, value in known_keys(data).items()}


def _quantity(item: Any) -> Any:
    """Read a quantity as a relation to its value."""
    if not isinstance(item, dict):
        return item
    value = {"name": item.get("value"), "type": "Quantity"}
    said = {key: item.get(key) for key in ("subject", "condition", "sentence")}
    return said | {"relation": "HAS_VALUE", "object": value, "description": item.get("property")}


def _as_list(value: Any) -> list[Any]:
    """Take a list as it is, one given as a string of JSON (some tool calls), and one item for a list of one."""
    if isinstance(value, str):
        value = parse_json(value.strip())[0] if value.strip() else None
    if isinstance(value, list):
        return [value] if _is_triple(value) else value
    return [] if value is None else [value]


def _unpacked(value: Any) -> Any:
    """Parse what a tool call gives as a string of JSON; any other value stays."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        return parse_json(value.strip())[0]
    return value


def _is_triple(value: list[Any]) -> bool:
    return len(value) == 3 and all(isinstance(part, str) for part in value)


def _read_item(item: Any, names: dict[str, Named], stated: Stated, chunk_text: str) -> None:
    """Read an item of a list without a name: a relation, or a node."""
    if isinstance(item, dict) and first_value(item, HEAD_KEYS) is None and first_value(item, TAIL_KEYS) is None:
        _read_node(item, names, stated)
    elif isinstance(item, str):
        stated.lost.append("an item is text where an object was expected")
    else:
        _read_relation(item, names, stated, chunk_text)


def _read_node(node: Any, names: dict[str, Named], stated: Stated) -> None:
    if isinstance(node, list) and len(node) == 2:
        node = {"name": node[0], "type": node[1]}
    if isinstance(node, str | int | float) and not isinstance(node, bool):
        node = {"name": node}
    if not isinstance(node, dict):
        stated.lost.append("an entity is not an object")
        return
    properties = _properties(node)
    identity = _text(node.get("id"))
    name = next((text for key in NAME_KEYS[:-1] if (text := _text(properties.get(key)) or _text(node.get(key)))), "")
    if not name and identity and not ("label" in node and BARE_ID.fullmatch(identity)):
        name = identity  # LangChain's nodes have no other name, be it a year; neo4j-graphrag's have a label and numbers for ids
    if not name and (others := [text for value in properties.values() if (text := _text(value))]):
        name = others[0]
    kinds = [text for key in ENTITY_TYPE_KEYS if (text := _text(node.get(key)))]
    if not name and identity and "properties" not in node and "label" in node:
        name, *kinds = kinds or [""]  # the nodes of drawings: `{"id": 1, "label": "X-100"}`
    if not name:
        stated.lost.append("an entity has no name")
        return
    kind = kinds[0] if kinds else ""
    if not kind and len(node) > 1:
        stated.mended.append(UNTYPED)
    named = Named(name, kind, _description(node, properties, leave_out={name}))
    stated.named.append(named)
    for key in {identity, name}:
        if key:
            names.setdefault(key, named)


def _read_relation(relation: Any, names: dict[str, Named], stated: Stated, chunk_text: str) -> None:
    if isinstance(relation, list | tuple):
        read_path([_text(part) for part in relation], stated, chunk_text=chunk_text)
        return
    if not isinstance(relation, dict):
        stated.lost.append("a relation is not an object")
        return
    properties = _properties(relation)
    by_id = (
        "start_node_id" in relation or "end_node_id" in relation or any(key != one.name for key, one in names.items())
    )
    heads = _ends(first_value(relation, HEAD_KEYS), names, stated, by_id=by_id)
    tails = _ends(first_value(relation, TAIL_KEYS), names, stated, by_id=by_id)
    said_kind = next((relation[key] for key in TYPE_KEYS if _text(relation.get(key))), "")
    kind = _text(said_kind)
    if isinstance(said_kind, list):
        kind = " ".join(filter(None, map(_text, said_kind)))
        stated.mended.append("a relation's type was a list")
    if heads and tails:
        if not re.search(r"[^\W\d_]", kind):
            stated.lost.append(f"a relation has no type (kept as {NO_TYPE})")
            kind = NO_TYPE
        description = _description(relation, properties, leave_out=set())
        head_type, tail_type = (
            _text(first_value(relation, HEAD_TYPE_KEYS)),
            _text(first_value(relation, TAIL_TYPE_KEYS)),
        )
        quoted = {"condition": _text(relation.get("condition")), "sentence": _text(relation.get("sentence"))}
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


def _ends(value: Any, names: Mapping[str, Named], stated: Stated, *, by_id: bool) -> list[Named]:
    """Resolve one end of a relation: an id or a name, an object with one, or a list of them."""
    if isinstance(value, list):
        return [end for item in value for end in _ends(item, names, stated, by_id=by_id)]
    if isinstance(value, dict):
        name = next((text for key in NAME_KEYS if (text := _text(value.get(key)))), "")
        kind = next((text for key in ENTITY_TYPE_KEYS if (text := _text(value.get(key)))), "")
        known = names.get(name)
        return [known or Named(name, kind)] if name else []
    text = _text(value)
    if text in names:
        return [names[text]]
    if by_id and BARE_ID.fullmatch(text):
        stated.lost.append("a relation names a node that is not there")
        return []
    return [Named(text)] if text else []


def _properties(item: Mapping[str, Any]) -> dict[str, Any]:
    """Give the properties of an item: an object, or a list of key and value."""
    properties = item.get("properties")
    if isinstance(properties, list):
        pairs = [pair for pair in properties if isinstance(pair, dict)]
        properties = {str(pair.get("key")): pair.get("value") for pair in pairs if pair.get("key") is not None}
    return properties if isinstance(properties, dict) else {}


def _description(item: Mapping[str, Any], properties: Mapping[str, Any], *, leave_out: set[str]) -> str:
    """Put the description and all other properties into words, so that none is lost."""
    said = [text for source in (item, properties) for key in DESCRIPTION_KEYS if (text := _text(source.get(key)))]
    rest = [
        f"{key}: {text}"
        for key, value in properties.items()
        if key not in DESCRIPTION_KEYS and (text := _text(value)) and text not in leave_out
    ]
    return "; ".join(dict.fromkeys([*said, *rest]))


def _text(value: Any) -> str:
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
            return ", ".join(text for part in value if (text := _text(part)))
        case _:
            return ""
