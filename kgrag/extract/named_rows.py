"""Replies that say by names what is what, though not as JSON: YAML, tables and CSV with a header, `Subject: ...` lines, XML."""

from __future__ import annotations

import csv
import html
import re
import tomllib
from itertools import pairwise
from typing import Any

from kgrag.extract.json_values import Twice
from kgrag.extract.reply_keys import (
    HEAD_KEYS,
    HEAD_TYPE_KEYS,
    NAME_KEYS,
    NODE_LISTS,
    RELATION_LISTS,
    TAIL_KEYS,
    TAIL_TYPE_KEYS,
    TYPE_KEYS,
    known_keys,
)

__all__ = ["KEY_LINE", "TABLE_RULE", "read_fields", "read_tables", "read_toml", "read_yaml"]

HEAD, TAIL = frozenset(HEAD_KEYS), frozenset(TAIL_KEYS)
MAX_YAML_CHARACTERS = 50_000
"""PyYAML reads some 100 kB in a second; what is longer is no answer about one chunk."""
MAX_YAML_NODES = 20_000
"""Parts that have a name may be said again: some lines of YAML can stand for any amount of data."""
ALIAS = re.compile(r"[&*]\w[\w-]*")
"""The name of a part of YAML, which is no name of a thing."""
TOML = re.compile(r"^[ \t]*(?:\[\[[\w.-]+\]\]|[\w.-]+[ \t]*=[ \t]*[\[{\"'])", re.MULTILINE)
KEY_LINE = re.compile(rf"^[ \t]*+(?:- )?({'|'.join((*NODE_LISTS, *RELATION_LISTS, *HEAD_KEYS))}):", re.I | re.M)
"""What YAML of a graph has at the beginning of a line."""
KEY = re.compile(r"[{,]\s*+(?P<quote>[\"']?)[A-Za-z_]\w*+(?P=quote)\s*+:\s")
"""A key of an object that may stand without quotation marks."""
COMMENT = re.compile(r"(?:^|(?<=[\s,]))(?://[^\n\"']*$|/\*[^\"'*]*\*/)", re.MULTILINE)
"""Of JavaScript."""
PARTS = frozenset((*HEAD_KEYS, *TAIL_KEYS, *TYPE_KEYS, *HEAD_TYPE_KEYS, *TAIL_TYPE_KEYS))
"""Of a relation."""
FIELD = re.compile(
    r"^[^\w\n]*+(?:\d+[.)][^\w\n]*+)?(?P<line>[A-Za-z][A-Za-z _-]{0,30}[12]?)[*_`\"]*[ \t]?[:=][ \t]*(?P<value>[^\n]*\w[^\n]*)$"
    r"|<(?P<element>[A-Za-z][\w-]{0,30})(?: [^<>\n]*)?>(?P<inner>[^<>]+)</(?P=element)>",
    re.MULTILINE,
)
"""`2. **Subject**: X-100` in a line of its own, or `<subject>X-100</subject>`."""
NULL = ("null", "None", "~", "")
"""What stands for nothing where all values are texts."""
HEADER_CELL = re.compile(r"[A-Za-z][A-Za-z _-]{0,30}[12]?")
TABLE_RULE = re.compile(r"[ \t]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)++\|?[ \t]*+")
"""The line below the header of a Markdown table."""


def read_yaml(text: str, twice: Twice) -> Any:
    """Read YAML of nodes and relations, or JSON as JavaScript has it (keys without quotation marks, comments); None for what is neither.

    All values are texts.
    """
    braced = text.lstrip()[:1] in ("{", "[")
    written = COMMENT.sub("", text) if braced else text
    said = (KEY if braced else KEY_LINE).search(written)
    if said is None or len(written) > MAX_YAML_CHARACTERS:
        return None
    import yaml

    left = MAX_YAML_NODES

    def pairs_of(node: yaml.MappingNode) -> list[tuple[str, Any]]:
        pairs = list[tuple[str, Any]]()
        for key, value in node.value:
            if key.value == "<<" and isinstance(
                value, yaml.MappingNode
            ):  # what it says itself goes before what is merged
                own = {said.value for said, _ in node.value}
                pairs += [pair for pair in pairs_of(value) if pair[0] not in own]
            else:
                pairs.append((str(data_of(key)), data_of(value)))
        return pairs

    def data_of(node: yaml.Node) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise RecursionError
        if isinstance(node, yaml.MappingNode):
            return twice(pairs_of(node))
        return [data_of(item) for item in node.value] if isinstance(node, yaml.SequenceNode) else _scalar(node.value)

    try:
        root = yaml.compose(written, Loader=yaml.BaseLoader)
        return data_of(root) if isinstance(root, yaml.CollectionNode) else None
    except (yaml.YAMLError, RecursionError):
        return None


def read_toml(text: str) -> Any:
    """Read TOML; None for what is none."""
    if not TOML.search(text):
        return None
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _scalar(text: str) -> str | None:
    return None if text in NULL else text


def read_fields(text: str) -> list[dict[str, str]]:
    """Read relations of which each part has its name before it, in lines (`**Subject:** X-100`) or elements of XML, in any order.

    A part that comes again begins another relation. What is the type of an entity, behind its name, is none of a relation's. None where no
    relation is whole; beside a whole one those are returned, too, that lack a part.
    """
    rows, row = list[dict[str, str]](), dict[str, str]()
    of_entity = False
    for field in FIELD.finditer(text):
        name = next(key for key in known_keys({field["line"] or field["element"]: ""}))
        of_entity = name in NAME_KEYS or (of_entity and name in (*NAME_KEYS, *TYPE_KEYS))
        if of_entity or name not in PARTS or ALIAS.fullmatch((field["value"] or "").strip()):
            continue
        if name in row:
            rows.append(row)
            row = {}
        row[name] = html.unescape(field["value"] or field["inner"]).strip(' \t*_`"').rstrip(",;")
    ends = [one for one in (*rows, row) if not (HEAD.isdisjoint(one) and TAIL.isdisjoint(one))]
    is_whole = any(len(one) > 2 and not (HEAD.isdisjoint(one) or TAIL.isdisjoint(one)) for one in ends)
    return ends if is_whole else []


def read_tables(text: str) -> tuple[list[dict[str, str]], int]:
    """Read the tables whose first line says which column is a relation's head and which its tail, or an entity's name and its type.

    Returns their rows, and how many rows have other cells than their header. No rows where no table is of relations.
    """
    lines = text.splitlines()
    for separator in ("|", "\t", ";", ","):
        rows, odd, names, has_relations = list[dict[str, str]](), 0, list[str](), False
        for line, below in pairwise([*lines, ""]):
            cells = _cells(line, separator) if separator in line else []
            header = _header(cells) if cells else []
            of_relations = not HEAD.isdisjoint(header) and not TAIL.isdisjoint(header)
            if of_relations or (TABLE_RULE.fullmatch(below) and not {"name", "type"} - set(header)):
                names, has_relations = header, has_relations or of_relations
            elif not cells and line.strip():
                names = []
            elif names and cells and not TABLE_RULE.fullmatch(line):
                if len(cells) == len(names):
                    rows.append({name: cell for name, cell in zip(names, cells, strict=True) if name})
                else:
                    odd += 1
        if has_relations:
            return rows, odd
    return [], 0


def _header(cells: list[str]) -> list[str]:
    """Give the keys that a header's cells are; what is none (`#`) is empty. Nothing where fewer than two are cells of a header."""
    keys = [cell.lower().replace(" ", "_") if HEADER_CELL.fullmatch(cell) else "" for cell in cells]
    keys = [next(iter(known_keys({key: ""}))) for key in keys]
    named = [{"entity": "name", "entity_name": "name", "entity_type": "type"}.get(key, key) for key in keys]
    return named if sum(map(bool, named)) > 1 else []


def _cells(line: str, separator: str) -> list[str]:
    if separator == "|":
        return [cell.strip(" *`") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])]
    except csv.Error:  # longer than a field may be
        return []
