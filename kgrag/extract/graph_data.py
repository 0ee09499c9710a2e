"""From parsed JSON (or YAML, or rows of a table) to what it states: nodes and relations under the keys that models and frameworks use."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from typing import Any

from kgrag.extract.json_values import parse_json
from kgrag.extract.reply_keys import (
    ALL_KEYS,
    DESCRIPTION_KEYS,
    ENTITY_TYPE_KEYS,
    HEAD_KEYS,
    HEAD_TYPE_KEYS,
    NAME_KEYS,
    NODE_LISTS,
    PROPERTY_KEYS,
    QUANTITY_LIST,
    RELATION_LISTS,
    TAIL_KEYS,
    TAIL_TYPE_KEYS,
    TYPE_KEYS,
    first_value,
    known_keys,
)
from kgrag.extract.statements import Named, Stated, Statement, read_path
from kgrag.extract.triple_lines import triples_of

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
NOT_THERE = "a relation names a node that is not there"
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
        _read_node(node, names, stated, chunk_text)
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


def _has_ends(item: Any) -> bool:
    return isinstance(item, dict) and None not in (first_value(item, HEAD_KEYS), first_value(item, TAIL_KEYS))


def _has_lists(data: Any) -> bool:
    return isinstance(data, dict) and any(key in data for key in (*NODE_LISTS, *RELATION_LISTS, QUANTITY_LIST))


def _lists(data: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Divide data into nodes, relations, and items that may be either."""
    if isinstance(data, list):
        if _is_triple(data):
            return [], [data], []
        data = _flat(data)
        nodes, relations, others = list[Any](), list[Any](), list[Any]()
        for item in data:
            graphs = _graphs_in(item) if isinstance(item, dict) else []
            others.extend([] if graphs else [item])
            for graph in graphs:
                for found, more in zip((nodes, relations, others), _lists(graph), strict=True):
                    found.extend(more)
        return nodes, relations, others
    if not isinstance(data, dict):
        return [], [], []
    if not _has_lists(data):
        if first_value(data, HEAD_KEYS) is not None or first_value(data, TAIL_KEYS) is not None:
            return [], [data], []
        inner = [value for value in map(_unpacked, data.values()) if isinstance(value, dict | list)]
        if graphs := _graphs_in(data):
            return _lists(graphs)
        inner = [value for value in inner if isinstance(value, dict) or not all(isinstance(one, str) for one in value)]
        lists = [item for value in inner if isinstance(value, list) for item in value]
        return _lists(inner[0] if len(inner) == 1 else lists)
    if (own := next((key for key in OWN_NAMES if _text(data.get(key))), None)) and not any(map(data.get, NODE_LISTS)):
        node = {key: value for key, value in data.items() if key not in RELATION_LISTS}
        return [node], [_of_head(data[own], one) for key in RELATION_LISTS for one in _as_list(data.get(key))], []
    others = [item for key, value in data.items() if key not in ALL_KEYS for item in _as_list(value) if _has_ends(item)]
    nodes = [item for key in NODE_LISTS for item in _as_list(data.get(key), keyed=_keyed_nodes)]
    relations = [item for key in RELATION_LISTS for item in _as_list(data.get(key), keyed=_keyed_relations)]
    return nodes, [*relations, *map(_quantity, _as_list(data.get(QUANTITY_LIST)))], others


def _graphs_in(value: Any) -> list[dict[str, Any]]:
    """Find the graphs in what stands around them: `{"tool_calls": [{"function": {"arguments": "{...}"}}]}`."""
    value = _unpacked(value)
    if _has_lists(value):
        return [value]
    if isinstance(value, dict):
        if first_value(value, HEAD_KEYS) is not None or first_value(value, TAIL_KEYS) is not None:
            return []
        value = list(value.values())
    return [graph for one in value for graph in _graphs_in(one)] if isinstance(value, list) else []


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
    return {key: value if key in PROPERTY_KEYS else _with_known_keys(value) for key, value in known_keys(data).items()}


def _quantity(item: Any) -> Any:
    """Read a quantity as a relation to its value."""
    if not isinstance(item, dict):
        return item
    value = {"name": _value(item), "type": "Quantity"}
    said = {key: item.get(key) for key in ("subject", "condition", "sentence")}
    return said | {"relation": "HAS_VALUE", "object": value, "description": item.get("property")}


def _value(item: Mapping[str, Any]) -> str:
    """Give the value of an item with its unit, which may stand in a field of its own."""
    value, unit = _text(item.get("value")), _text(item.get("unit"))
    return f"{value} {unit}" if value and unit and not value.endswith(unit) else value


def _as_list(value: Any, *, keyed: Callable[[str, Any], list[Any]] | None = None) -> list[Any]:
    """Take a list as it is, one given as a string of JSON (some tool calls), and one item for a list of one.

    `keyed` makes items of an object that has them under keys of their own, be it ids, names or types.
    """
    if isinstance(value, str):
        value = parse_json(value.strip())[0] if value.strip() else None
    if isinstance(value, list):
        return [value] if _is_triple(value) and keyed is not _keyed_nodes else _flat(value)
    if keyed and isinstance(value, dict) and ALL_KEYS.isdisjoint(value):
        return [item for key, inner in value.items() for item in keyed(key, inner)]
    return [] if value is None else [value]


def _flat(items: list[Any]) -> list[Any]:
    """Take the objects out of lists in a list, and out of an object with one key of no meaning (`{"data": {...}}`)."""
    items = [
        one
        if not isinstance(one, dict)
        or len(one) != 1
        or not isinstance(inner := next(iter(one.values())), dict)
        or _has_lists(one)
        else inner
        for one in items
    ]
    return [
        one
        for item in items
        for one in (
            item if isinstance(item, list) and item and isinstance(item[0], dict) and len(item) != 3 else [item]
        )
    ]


def _keyed_nodes(key: str, value: Any) -> list[Any]:
    """Read `"X-100": {"type": "Product"}` and `"X-100": "Product"`, and `"Product": ["X-100"]`."""
    if isinstance(value, list):
        return [{"type": key, **(one if isinstance(one, dict) else {"name": one})} for one in value]
    return [{"id": key, **(value if isinstance(value, dict) else {"type": value})}]


def _keyed_relations(key: str, value: Any) -> list[Any]:
    """Read `"r1": {"head": ...}`, and `"HAS_PART": [["X-100", "LQ22"]]` or `"HAS_PART": {"head": ..., "tail": ...}`."""
    is_list = isinstance(value, list) and not (len(value) == 2 and all(isinstance(end, str) for end in value))
    return [_of_type(key, one) for one in (value if is_list else [value])]


def _of_type(kind: str, relation: Any) -> Any:
    if isinstance(relation, list) and len(relation) == 2:
        return [relation[0], kind, relation[1]]
    is_untyped = isinstance(relation, dict) and first_value(relation, TYPE_KEYS) is None
    return {"type": kind, **relation} if is_untyped else relation


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
        if parts := _by_position(item, chunk_text):
            stated.statements.append(Statement(*parts))
        else:
            _read_node(item, names, stated, chunk_text)
    elif isinstance(item, str) and not triples_of(item, chunk_text):
        if item.strip() and item.casefold() in chunk_text.casefold():
            _read_node(item, names, stated, chunk_text)
        else:
            stated.lost.append("an item is text where an object was expected")
    else:
        _read_relation(item, names, stated, chunk_text)


def _by_position(item: Mapping[str, Any], chunk_text: str) -> list[str]:
    """Read an object of three texts under keys that are not known (of another language) in their order, where the chunk has both ends."""
    parts, text = [_text(value) for value in item.values()], chunk_text.casefold()
    is_triple = len(parts) == 3 and all(parts) and ALL_KEYS.isdisjoint(set(item) - set(TYPE_KEYS))
    return parts if is_triple and [part.casefold() in text for part in parts] == [True, False, True] else []


def _read_node(node: Any, names: dict[str, Named], stated: Stated, chunk_text: str) -> None:
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
    identity = _text(node.get("id"))
    name = next((text for key in NAME_KEYS[:-1] if (text := _text(properties.get(key)) or _text(node.get(key)))), "")
    label = _text(node.get("label")) if "properties" not in node else ""
    text = chunk_text.casefold()
    is_drawn = bool(label) and label.casefold() in text and identity.casefold() not in text
    if not name and identity and not is_drawn and not ("label" in node and BARE_ID.fullmatch(identity)):
        name = identity  # LangChain's nodes have no other name, be it a year; neo4j-graphrag's have a label and numbers for ids
    if not name and (others := [text for value in properties.values() if (text := _text(value))]):
        name = others[0]
    kinds = [text for key in ENTITY_TYPE_KEYS if (text := _text(node.get(key)))]
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
    if identity in names and names[identity].name not in (name, ""):
        stated.lost.append("two entities have one id")
        names[identity] = Named("")
    for key in {identity, name}:
        if key:
            names.setdefault(key, named)
    for kind, value in node.items():
        if kind not in ALL_KEYS and isinstance(value, dict | list):
            stated.statements.extend(
                Statement(name, kind, end.name, named.type, end.type)
                for end in _ends([one for one in _as_list(value) if isinstance(one, dict)], names, stated, by_id=False)
            )


def _read_relation(relation: Any, names: dict[str, Named], stated: Stated, chunk_text: str) -> None:
    if isinstance(relation, str) and (triples := triples_of(relation, chunk_text)):
        for parts in triples:
            _read_relation(parts, names, stated, chunk_text)
        return
    if isinstance(relation, list | tuple):
        if len(relation) == 3 and isinstance(relation[2], dict) and first_value(relation[2], TYPE_KEYS):
            relation = {"head": relation[0], "tail": relation[1], **relation[2]}
        elif len(relation) == 3 and _text(relation[1]) and any(_is_node(end, names) for end in relation[::2]):
            relation = dict(zip(("head", "type", "tail"), relation, strict=True))
        else:
            read_path([_text(part) for part in relation], stated, chunk_text=chunk_text)
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
        or any(key != one.name for key, one in names.items())
    )
    heads = _ends(first_value(relation, HEAD_KEYS), names, stated, by_id=by_id)
    tails = _ends(first_value(relation, TAIL_KEYS), names, stated, by_id=by_id)
    kinds = [
        one if not isinstance(one, dict) else first_value(one, ("name", *TYPE_KEYS))
        for one in map(relation.get, TYPE_KEYS)
    ]
    said_kind = next(filter(_text, kinds), "")
    kind = _text(said_kind)
    if not tails and (value := _value(relation)):
        tails, kind = [Named(value)], kind or _text(first_value(relation, ("property", "attribute")))
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


def _is_node(end: Any, names: Mapping[str, Named]) -> bool:
    """Whether an end of a triple is an id and no name."""
    named = names.get(_text(end))
    return named.name != _text(end) if named else isinstance(end, int) and bool(names)


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
    if text in names and names[text].name:
        return [names[text]]
    if text in names or (by_id and BARE_ID.fullmatch(text)):
        stated.lost.append(NOT_THERE)
        return []
    return [Named(text)] if text else []


def _properties(item: Mapping[str, Any]) -> dict[str, Any]:
    """Give the properties of an item: an object, or a list of key and value."""
    properties = first_value(item, PROPERTY_KEYS)
    if isinstance(properties, list):
        pairs = [pair for pair in properties if isinstance(pair, dict)]
        properties = {str(key): pair.get("value") for pair in pairs if (key := first_value(pair, ("key", "name")))}
    return properties if isinstance(properties, dict) else {}


def _description(item: Mapping[str, Any], properties: Mapping[str, Any], *, leave_out: set[str]) -> str:
    """Put the description and all other properties into words, so that none is lost."""
    said = [text for source in (item, properties) for key in DESCRIPTION_KEYS if (text := _text(source.get(key)))]
    more = {key: value for key, value in item.items() if key not in ALL_KEYS and not isinstance(value, int | float)}
    rest = [
        f"{key}: {text}"
        for key, value in {**properties, **more}.items()
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
