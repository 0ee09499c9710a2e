"""Replies that say by names what is what, though not as JSON: YAML, tables and CSV with a header, blocks of `Subject: ...` lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Any

from kgrag.extract.reply_keys import HEAD_KEYS, NODE_LISTS, RELATION_LISTS, TAIL_KEYS

__all__ = ["TABLE_RULE", "read_table", "read_yaml"]

HEAD, TAIL = frozenset(HEAD_KEYS), frozenset(TAIL_KEYS)
MAX_YAML_CHARACTERS = 50_000
"""PyYAML reads some 100 kB in a second; what is longer is no answer about one chunk."""
ANCHOR = re.compile(r"(?:^|[\s:,\[{-])[&*]\w", re.MULTILINE)
"""Names a part of YAML that may be said again: some lines can stand for any amount of data."""
KEY_LINE = re.compile(rf"^[ \t]*+(?:- )?({'|'.join((*NODE_LISTS, *RELATION_LISTS, *HEAD_KEYS))}):", re.I | re.M)
HEADER_CELL = re.compile(r"[A-Za-z][A-Za-z _-]{0,30}")
TABLE_RULE = re.compile(r"[ \t]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)++\|?[ \t]*+")
"""The line below the header of a Markdown table."""


def read_yaml(text: str) -> Any:
    """Read YAML of nodes and relations, or blocks of lines each of which is a relation; None for what is neither. All values are texts."""
    if KEY_LINE.search(text) is None or len(text) > MAX_YAML_CHARACTERS or ANCHOR.search(text):
        return None
    whole = _parsed(text)
    if whole is not None and not _has_key_twice(text, whole):
        return whole
    return [block for block in map(_parsed, re.split(r"\n\s*\n", text)) if block is not None] or None


def _parsed(text: str) -> Any:
    """Parse YAML, keys in small letters; None for what is broken, and for a text that is none."""
    import yaml

    try:
        read = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  (makes nothing but texts)
    except yaml.YAMLError:
        return None
    return _lower(read) if isinstance(read, dict | list) else None


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


def _lower(data: Any) -> Any:
    """Write the keys of all objects small."""
    if isinstance(data, dict):
        return {str(key).lower().replace(" ", "_"): _lower(value) for key, value in data.items()}
    return [_lower(item) for item in data] if isinstance(data, list) else data
