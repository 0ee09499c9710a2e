"""Replies that say by names what is what, though not as JSON: YAML, tables and CSV with a header, `Subject: ...` lines, XML."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator
from typing import Any

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

__all__ = ["TABLE_RULE", "read_fields", "read_table", "read_yaml"]

HEAD, TAIL = frozenset(HEAD_KEYS), frozenset(TAIL_KEYS)
MAX_YAML_CHARACTERS = 50_000
"""PyYAML reads some 100 kB in a second; what is longer is no answer about one chunk."""
ANCHOR = re.compile(r"(?:^|[\s:,\[{-])[&*]\w", re.MULTILINE)
"""Names a part of YAML that may be said again: some lines can stand for any amount of data."""
KEY_LINE = re.compile(rf"^[ \t]*+(?:- )?({'|'.join((*NODE_LISTS, *RELATION_LISTS, *HEAD_KEYS))}):", re.I | re.M)
"""What YAML of a graph has at the beginning of a line."""
KEY = re.compile(r"[{,]\s*+(?P<quote>[\"']?)[A-Za-z_]\w*+(?P=quote)\s*+:\s")
"""A key of an object that may stand without quotation marks."""
COMMENT = re.compile(r"(?:^|(?<=[\s,]))//[^\n\"']*$", re.MULTILINE)
"""Of JavaScript."""
PARTS = frozenset((*HEAD_KEYS, *TAIL_KEYS, *TYPE_KEYS, *HEAD_TYPE_KEYS, *TAIL_TYPE_KEYS))
"""Of a relation."""
FIELD = re.compile(
    r"^[^\w\n]*+(?:\d+[.)][^\w\n]*+)?(?P<line>[A-Za-z][A-Za-z _-]{0,30})[*_`\"]*:[ \t]*(?P<value>[^\n]*\w[^\n]*)$"
    r"|<(?P<element>[A-Za-z][\w-]{0,30})(?: [^<>\n]*)?>(?P<inner>[^<>]+)</(?P=element)>",
    re.MULTILINE,
)
"""`2. **Subject**: X-100` in a line of its own, or `<subject>X-100</subject>`."""
NULL = ("null", "None", "~", "")
"""What stands for nothing where all values are texts."""
HEADER_CELL = re.compile(r"[A-Za-z][A-Za-z _-]{0,30}")
TABLE_RULE = re.compile(r"[ \t]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)++\|?[ \t]*+")
"""The line below the header of a Markdown table."""


def read_yaml(text: str) -> Any:
    """Read YAML of nodes and relations, or JSON as JavaScript has it (keys without quotation marks, comments); None for what is neither.

    All values are texts.
    """
    braced = text.lstrip()[:1] in ("{", "[")
    written = COMMENT.sub("", text) if braced else text
    said = (KEY if braced else KEY_LINE).search(written)
    if said is None or len(written) > MAX_YAML_CHARACTERS or ANCHOR.search(written):
        return None
    read = _parsed(written)
    return None if _has_key_twice(written, read) else read


def _parsed(text: str) -> Any:
    """Parse YAML; None for what is broken, and for a text that is none."""
    import yaml

    try:
        read = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  (makes nothing but texts)
    except (yaml.YAMLError, RecursionError):
        return None
    return _without_null(read) if isinstance(read, dict | list) else None


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
        if of_entity or name not in PARTS:
            continue
        if name in row:
            rows.append(row)
            row = {}
        row[name] = html.unescape(field["value"] or field["inner"]).strip(' \t*_`"').rstrip(",;")
    ends = [one for one in (*rows, row) if not (HEAD.isdisjoint(one) and TAIL.isdisjoint(one))]
    is_whole = any(len(one) > 2 and not (HEAD.isdisjoint(one) or TAIL.isdisjoint(one)) for one in ends)
    return ends if is_whole else []


def read_table(text: str) -> tuple[list[dict[str, str]], int]:
    """Read a table whose first line says which column is a relation's head and which its tail: its rows, and how many have other cells.

    No rows for what is no such table.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    for separator in ("|", "\t", ";", ","):
        place, names = next(_headers(lines, separator), (0, []))
        if names:
            written = [line for line in lines[place + 1 :] if separator in line and not TABLE_RULE.fullmatch(line)]
            rows = [row for line in written if len(row := _cells(line, separator)) == len(names)]
            return [dict(zip(names, row, strict=True)) for row in rows], len(written) - len(rows)
    return [], 0


def _headers(lines: list[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    for place, line in enumerate(lines):
        names = [cell.lower().replace(" ", "_") for cell in _cells(line, separator) if HEADER_CELL.fullmatch(cell)]
        names_all = len(names) > 2 and len(names) == len(_cells(line, separator))
        if names_all and not HEAD.isdisjoint(names) and not TAIL.isdisjoint(names):
            yield place, names


def _cells(line: str, separator: str) -> list[str]:
    if separator == "|":
        return [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])]
    except csv.Error:  # longer than a field may be
        return []


def _has_key_twice(text: str, read: Any) -> bool:
    """Whether one object was read where a key stands at the margin more than once: YAML keeps the last."""
    keys = re.findall(r"^([A-Za-z]\w*):", text, re.MULTILINE)
    return isinstance(read, dict) and len(keys) > len(set(keys))


def _without_null(data: Any) -> Any:
    """Take `null` for nothing."""
    if isinstance(data, dict):
        return {key: _without_null(value) for key, value in data.items()}
    return [_without_null(item) for item in data] if isinstance(data, list) else None if data in NULL else data
