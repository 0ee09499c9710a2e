"""From a model's raw reply to what it states, whatever form the reply came in, with an account of all that could not be used.

Read are: JSON of nodes and relationships (neo4j-graphrag's, LangChain's, OpenIE's and similar keys), JSON lists of triples, one triple a
line (`triple_lines`), YAML and tables with a header (`named_rows`), Cypher (`cypher_replies`), and the delimited records of GraphRAG and
LightRAG; inside fences, with prose around, or cut off. Of broken JSON the complete items are kept and never a half of one: guessing the
end of a name would make up a name.
"""

from __future__ import annotations

import ast
import html
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from typing import Any

from kgrag.extract.cypher_replies import read_cypher
from kgrag.extract.named_rows import read_table, read_yaml
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
)
from kgrag.extract.statements import Named, Stated, Statement, read_path
from kgrag.extract.triple_lines import read_records, read_triple_lines

__all__ = ["read_data", "read_reply"]

MAX_READ_CHARACTERS = 200_000
"""Of a reply; what comes after is reported as lost."""
MAX_OPEN_OBJECTS = 4
MAX_CUT_KEYS = 6
"""How far back the complete part of a cut object is looked for."""
MAX_BROKEN_STARTS = 300
"""Places where JSON may begin and does not that are tried before the rest is given up."""
MAX_PAIRS = 1_000
"""Of one relation with lists for its ends: two long lists are millions of statements."""
MAX_NUMBER_BITS = 4_000
"""A number of more than 1,200 digits is no name, and Python does not write every one."""
FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
FULL_WIDTH = str.maketrans("｛｝［］：，", "{}[]:,")
"""What a model that writes Chinese or Japanese may put for the signs of JSON."""
FULL_WIDTH_QUOTES = str.maketrans(dict.fromkeys("＂“”„", '"'))
STRING = re.compile(r'("(?:[^"\\]|\\.)*")', re.DOTALL)
BEGINS_JSON = re.compile(r"[{\[]\s*(?:[\"'{\[]|-?\d|\w+\s*:|$)")
"""A bracket in prose (a smiley, an interval) is no JSON that was broken."""
JSON_KEY = re.compile(r"""[{,]\s*\\*["'“”‘’]?\w+\\*["'“”‘’]\s*:""")
"""A key of an object, however it is quoted: a reply with one is JSON, and if it cannot be read as that, it is no list of triples either."""
TOO_DEEP = "the reply is brackets in brackets in brackets"
UNTYPED = "an entity has no type"
NO_TYPE = "related to"
BARE_ID = re.compile(r"(?:n|node|e|entity|id)?[-_ ]?\d+", re.IGNORECASE)
"""What an id is where it is not a name."""


def read_reply(reply: str, *, chunk_text: str = "") -> Stated:
    """Read a raw reply; `chunk_text` settles where a triple without quotation marks is divided."""
    try:
        stated = _read_text(reply, chunk_text)
        if stated.size:
            return stated
        for said, written in _other_signs(reply[:MAX_READ_CHARACTERS]):
            again = _read_text(written, chunk_text)
            if again.size and again.form == "json":
                again.mended.append(said)
                return again
        return stated
    except RecursionError:
        return Stated(lost=[TOO_DEEP])


def _other_signs(reply: str) -> Iterator[tuple[str, str]]:
    """What may be JSON in other signs than its own, with what they are: full-width ones, typographic quotation marks."""
    if any(chr(sign) in reply for sign in FULL_WIDTH):
        yield "the JSON had full-width punctuation", _half_width(reply)
    elif '"' not in reply and any(chr(sign) in reply for sign in FULL_WIDTH_QUOTES):
        yield "the JSON had typographic quotation marks", _half_width(reply)


def _half_width(reply: str) -> str:
    """Write the signs of JSON as JSON has them; those within strings stay."""
    text = reply if '"' in reply else reply.translate(FULL_WIDTH_QUOTES)
    return "".join(part if part[:1] == '"' else part.translate(FULL_WIDTH) for part in STRING.split(text))


def read_data(data: Any) -> Stated:
    """Read JSON data."""
    try:
        return _read(data, Stated())
    except RecursionError:
        return Stated(lost=[TOO_DEEP])


def _read_text(reply: str, chunk_text: str) -> Stated:
    text = reply.strip().removeprefix("\ufeff")
    stated = Stated()
    twice = _Twice(stated)
    if len(text) > MAX_READ_CHARACTERS:
        stated.lost.append(f"the reply has {len(text):,} characters, of which {MAX_READ_CHARACTERS:,} were read")
        text = text[:MAX_READ_CHARACTERS]
    if not text:
        stated.lost.append("the reply is empty")
        return stated
    for written, said in _as_json(text):
        data, whole = _json(written, twice)
        if whole:
            stated.mended += [said] if said else []
            return _read(data, stated)
    if "&quot;" in text and '"' not in text:
        text = html.unescape(text)
    if "<|>" in text or "<|#|>" in text:
        return read_records(text, stated)
    if not JSON_KEY.search(text) and (cypher := read_cypher(text)):
        return _with_notes(cypher, stated)
    if "{" in text or "[" in text:
        in_text = _inside(text, twice)
        if in_text.form is not None:
            return _with_notes(in_text, stated)
        if JSON_KEY.search(text):
            stated.lost.extend(in_text.lost or ["the JSON is broken: no complete item is in it"])
            return stated
    if (named := _named(text)).size:
        return _with_notes(named, stated)
    return read_triple_lines(text, stated, chunk_text=chunk_text)


def _as_json(text: str) -> Iterator[tuple[str, str]]:
    """What of a text may be JSON as a whole, and what had to be taken off it."""
    yield text, ""
    if (written := _unquoted(text)) is not None:
        yield written, "the JSON was written as a string of JSON"
    if "&quot;" in text and '"' not in text:
        yield html.unescape(text), "the JSON was written as HTML"
    if "<|" not in text and "```" in text and (fenced := "\n".join(FENCE.findall(text)).strip()):
        yield fenced, "the JSON stood in a code fence"


def _with_notes(read: Stated, before: Stated) -> Stated:
    """Put before the notes of what was read those that were made before it was."""
    read.lost[:0], read.mended[:0] = before.lost, before.mended
    return read


def _named(text: str) -> Stated:
    """Read YAML, or a table with a header: what stands in a fence, else all of the text."""
    written = "\n\n".join(FENCE.findall(text)) or text
    rows, odd = read_table(written)
    lost = ["a row of the table has other cells than its header"] * odd
    for kind, data, notes in (("a table", rows, lost), ("YAML", read_yaml(written), [])):
        stated = _read(data, Stated(lost=notes)) if data else Stated()
        if stated.statements or (stated.named and isinstance(data, dict)):
            stated.mended.append(f"the reply was {kind}")
            return stated
    return Stated()


def _json(text: str, twice: _Twice | None = None) -> tuple[Any, bool]:
    """Parse JSON, or what is a literal of Python (single quotation marks): the data, and whether the text is that."""
    if text[0] not in "{[":
        return None, False
    try:
        return json.loads(text, strict=False, object_pairs_hook=twice), True
    except (ValueError, RecursionError):
        pass
    try:
        data = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # `{{...}}` is a set of objects
        return None, False
    return data, isinstance(data, dict | list)


def _unquoted(text: str) -> str | None:
    r"""Read a text that is a string of JSON, with or without the quotation marks around it (`{\"head\": ...`); None for another."""
    if text[0] == '"' or '\\"' in text.partition(":")[0]:
        try:
            written = json.loads(text if text[0] == '"' else f'"{text}"', strict=False)
        except ValueError:
            return None
        return written.strip() or None if isinstance(written, str) else None
    return None


class _Twice:
    """Makes objects of JSON's pairs of key and value; a key that comes twice loses nothing silently."""

    def __init__(self, stated: Stated) -> None:
        self._stated = stated

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Put lists of one key together, and take two ends of a relation for both; of other values the first counts."""
        made: dict[str, Any] = {}
        for key, value in pairs:
            if key not in made or made[key] in (None, "", [], {}):
                made[key] = value
            elif isinstance(made[key], list) and isinstance(value, list):
                made[key] = [*made[key], *value]
                self._note(f"the key {key!r} came twice in one object: both lists were read", self._stated.mended)
            elif made[key] != value and value not in (None, "", [], {}):
                if key in (*HEAD_KEYS, *TAIL_KEYS):
                    made[key] = [*(made[key] if isinstance(made[key], list) else [made[key]]), value]
                    self._note(f"the key {key!r} came twice in one object: both were read", self._stated.mended)
                else:
                    self._note(f"the key {key!r} came twice in one object: the first was kept", self._stated.lost)
        return made

    def _note(self, note: str, notes: list[str]) -> None:
        if note not in notes:  # parts of a text may be parsed more than once
            notes.append(note)


def _inside(text: str, twice: _Twice) -> Stated:
    """Read the JSON values that stand somewhere in a text; where one is broken, the complete ones inside it."""
    found, broken, prose = _values(text, twice)
    best = Stated()
    items: list[Any] = []
    for value in found:
        items.extend(_items(value))
    if not items and not found:
        return best
    stated = _read(found[0] if len(found) == 1 and not broken else items, best)
    if stated.form is None:
        return stated
    if broken:
        stated.lost.insert(0, f"the JSON is cut off or broken: its {len(items)} complete items were kept")
    elif prose:
        stated.mended.append("words stood around the JSON")
    elif len(found) > 1:
        stated.mended.append("the JSON came in several pieces")
    return stated


def _values(text: str, twice: _Twice) -> tuple[list[Any], bool, bool]:
    """Find the outermost complete values of a text: the values, whether one of them was broken, whether there was other text."""
    decoder, found = json.JSONDecoder(strict=False, object_pairs_hook=twice), list[Any]()
    position, broken_starts, broken, rest = 0, 0, False, []
    open_objects: list[int] = []
    for start in re.finditer(r"[{\[]", text):
        if start.start() < position or broken_starts > MAX_BROKEN_STARTS:
            continue
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            broken_starts += 1
            if BEGINS_JSON.match(text, start.start()):
                broken = True
                open_objects.append(start.start())
            continue
        open_objects.clear()
        rest.append(text[position : start.start()])
        found.append(value)
        position = end
    found.extend(_complete_part(text, open_objects))
    rest.append(text[position:])
    left = "".join(rest)
    prose = bool(re.search(r"\w", left.replace("```json", "").replace("```", "")))
    return found, broken, prose


def _complete_part(text: str, starts: list[int]) -> list[Any]:
    """Read the last object of a text that was cut off inside it: the keys whose values are complete."""
    for start in (start for start in starts[-MAX_OPEN_OBJECTS:] if text[start] == "{"):
        end = len(text)
        for _ in range(MAX_CUT_KEYS):
            end = text.rfind(",", start, end)
            if end < 0:
                break
            try:
                return [json.loads(f"{text[start:end]}}}", strict=False)]
            except (ValueError, RecursionError):
                continue
    return []


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict) and any(
        isinstance(value.get(key), list) for key in (*NODE_LISTS, *RELATION_LISTS, QUANTITY_LIST)
    ):
        return [value]
    if isinstance(value, list) and not _is_triple(value):
        return value
    return [value]


def _read(data: Any, stated: Stated) -> Stated:
    """Read parsed JSON into `stated`."""
    nodes, relations, others = _lists(data)
    names: dict[str, Named] = {}
    for node in nodes:
        _read_node(node, names, stated)
    for relation in _relation_between(relations, names):
        _read_relation(relation, names, stated)
    for item in others:
        _read_item(item, names, stated)
    if nodes or relations or stated.size or (isinstance(data, list) and not data) or _is_empty_graph(data):
        stated.form = "json"
    elif stated.form is None and not stated.lost:
        stated.lost.append("the reply is JSON without entities or relations")
    return stated


def _relation_between(relations: list[Any], names: Mapping[str, Named]) -> list[Any]:
    """Put the relation of triples between their ends, where all of a reply's name two known entities before it (`["A", "B", "HAS"]`)."""
    ends_first = relations and all(
        isinstance(one, list) and _is_triple(one) and one[0] in names and one[1] in names and one[2] not in names
        for one in relations
    )
    return [[head, kind, tail] for head, tail, kind in relations] if ends_first else relations


def _is_empty_graph(data: Any) -> bool:
    return isinstance(data, dict) and any(key in data for key in (*NODE_LISTS, *RELATION_LISTS, QUANTITY_LIST))


def _lists(data: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Divide data into nodes, relations, and items that may be either."""
    if isinstance(data, list):
        if _is_triple(data):
            return [], [data], []
        nodes, relations, others = list[Any](), list[Any](), list[Any]()
        for item in data:
            if not _is_empty_graph(item):
                others.append(item)
                continue
            more_nodes, more_relations, _ = _lists(item)
            nodes.extend(more_nodes)
            relations.extend(more_relations)
        return nodes, relations, others
    if not isinstance(data, dict):
        return [], [], []
    if not _is_empty_graph(data):
        if first_value(data, HEAD_KEYS) is not None or first_value(data, TAIL_KEYS) is not None:
            return [], [data], []
        inner = [value for value in map(_unpacked, data.values()) if isinstance(value, dict | list)]
        return _lists(inner[0]) if len(inner) == 1 else ([], [], [])
    lists = []
    for keys in (NODE_LISTS, RELATION_LISTS):
        items: list[Any] = []
        for key in keys:
            items.extend(_as_list(data.get(key)))
        lists.append(items)
    lists[1].extend(map(_quantity, _as_list(data.get(QUANTITY_LIST))))
    return lists[0], lists[1], []


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
        value = _json(value.strip())[0] if value.strip() else None
    if isinstance(value, list):
        return [value] if _is_triple(value) else value
    return [] if value is None else [value]


def _unpacked(value: Any) -> Any:
    """Parse what a tool call gives as a string of JSON; any other value stays."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        return _json(value.strip())[0]
    return value


def _is_triple(value: list[Any]) -> bool:
    return len(value) == 3 and all(isinstance(part, str) for part in value)


def _read_item(item: Any, names: dict[str, Named], stated: Stated) -> None:
    """Read an item of a list without a name: a relation, or a node."""
    if isinstance(item, dict) and first_value(item, HEAD_KEYS) is None and first_value(item, TAIL_KEYS) is None:
        _read_node(item, names, stated)
    elif isinstance(item, str):
        stated.lost.append("an item is text where an object was expected")
    else:
        _read_relation(item, names, stated)


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
    if not name:
        stated.lost.append("an entity has no name")
        return
    kind = next((text for key in ENTITY_TYPE_KEYS if (text := _text(node.get(key)))), "")
    if not kind and len(node) > 1:
        stated.mended.append(UNTYPED)
    named = Named(name, kind, _description(node, properties, leave_out={name}))
    stated.named.append(named)
    for key in {identity, name}:
        if key:
            names.setdefault(key, named)


def _read_relation(relation: Any, names: dict[str, Named], stated: Stated) -> None:
    if isinstance(relation, list | tuple):
        read_path([_text(part) for part in relation], stated)
        return
    if not isinstance(relation, dict):
        stated.lost.append("a relation is not an object")
        return
    properties = _properties(relation)
    by_id = "start_node_id" in relation or "end_node_id" in relation
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
