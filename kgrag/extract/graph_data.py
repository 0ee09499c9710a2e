"""From parsed JSON (or YAML, or rows of a table) to what it states: nodes and relations under the keys that models and frameworks use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kgrag.extract.graph_items import Names, read_item, read_node, read_relation, text_of, value_of
from kgrag.extract.json_values import parse_json
from kgrag.extract.reply_keys import (
    ALL_KEYS,
    HEAD_KEYS,
    NODE_LISTS,
    PROPERTY_KEYS,
    QUANTITY_LIST,
    RELATION_LISTS,
    TAIL_KEYS,
    TYPE_KEYS,
    first_value,
    known_keys,
)
from kgrag.extract.statements import Named, Stated, Statement, typed

__all__ = ["TOO_DEEP", "items_of", "read_data", "read_into"]

TOO_DEEP = "the reply is brackets in brackets in brackets"
OWN_NAMES = ("name", "entity", "entity_name")
"""Of an entity that has its relations with it."""


def read_data(data: Any) -> Stated:
    """Read JSON data."""
    try:
        return typed(read_into(data, Stated()))
    except RecursionError:
        return Stated(lost=[TOO_DEEP])


def read_into(data: Any, stated: Stated, *, chunk_text: str = "") -> Stated:
    """Read parsed JSON into `stated`; `chunk_text` settles what is a name where no key says so."""
    data = _with_known_keys(data)
    stated.statements.extend(_by_head(data, chunk_text.casefold()))
    nodes, relations, others = _lists(data) if not stated.statements else ([], [], [])
    names = Names()
    for node in nodes:
        read_node(node, names, stated, chunk_text)
    for relation in _relation_between(relations, names):
        read_relation(relation, names, stated, chunk_text)
    for item in others:
        read_item(item, names, stated, chunk_text)
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
        if graphs := _graphs_in(data):
            return _lists(graphs)
        inner = [
            value
            for value in map(_unpacked, data.values())
            if isinstance(value, dict) or (isinstance(value, list) and not all(isinstance(one, str) for one in value))
        ]
        lists = [item for value in inner if isinstance(value, list) for item in value]
        return _lists(inner[0] if len(inner) == 1 else lists)
    if (own := next((key for key in OWN_NAMES if text_of(data.get(key))), None)) and not any(map(data.get, NODE_LISTS)):
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
    if isinstance(value, list) and value and all(map(_has_ends, value)):
        return [{"relations": value}]
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
            ends = [(kind, tail) for kind, values in pairs for value in values if (tail := text_of(value))]
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
    value = {"name": value_of(item), "type": "Quantity"}
    said = {key: item.get(key) for key in ("subject", "condition", "sentence")}
    return said | {"relation": "HAS_VALUE", "object": value, "description": item.get("property")}


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
    """Take objects out of lists in a list, and out of one with one key, their name or of no meaning (`{"data": {...}}`)."""
    flat = list[Any]()
    for item in items:
        inner = next(iter(item.values())) if isinstance(item, dict) and len(item) == 1 else None
        if isinstance(inner, dict) and not _has_lists(item):
            flat.append({"id": next(iter(item)), **inner} if inner.get("type") else inner)
        elif isinstance(item, list) and item and all(isinstance(one, dict) for one in item):
            flat.extend(item)
        else:
            flat.append(item)
    return flat


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
