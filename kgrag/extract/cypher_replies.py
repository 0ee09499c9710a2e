"""Replies that are Cypher: the nodes and relationships that its patterns would make. Nothing of it is ever run."""

from __future__ import annotations

import re
from itertools import pairwise

from kgrag.extract.reply_keys import NAME_KEYS
from kgrag.extract.statements import Named, Stated, Statement

__all__ = ["read_cypher"]

WRITES = re.compile(r"^[ \t]*+(?:CREATE|MERGE)\s*\(", re.IGNORECASE | re.MULTILINE)
_TEXT = r"(?:'(?:[^'\\]|\\.){0,500}+'|\"(?:[^\"\\]|\\.){0,500}+\")"
_PROPERTIES = rf"\{{(?P<properties>(?:[^{{}}'\"]|{_TEXT}){{0,400}}+)\}}"
"""Of bounded length, so that hostile text is read in time."""
_LABEL = r"(?:`[^`]{1,100}`|\w++)"
NODE = re.compile(
    rf"\(\s*+(?P<variable>\w*+)\s*+(?::\s*+(?P<label>{_LABEL})\s*+(?::\s*+{_LABEL}\s*+)*+)?+(?:{_PROPERTIES}\s*+)?+\)"
)
RELATIONSHIP = re.compile(
    rf"\s*+(?P<back><)?-\s*+\[\s*+\w*+\s*+:\s*+(?P<type>{_LABEL})\s*+(?:{_PROPERTIES}\s*+)?+\]\s*+-(?P<forth>>)?\s*+"
)
PROPERTY = re.compile(rf"`?(?P<key>\w+)`?\s*:\s*(?P<value>{_TEXT}|[^,]+)")


def read_cypher(text: str) -> Stated | None:
    """Read the patterns of `CREATE` and `MERGE`; None for what has none. What of them has no name is reported as lost."""
    nodes = list(NODE.finditer(text)) if WRITES.search(text) else []
    if not nodes:
        return None
    stated = Stated(form="lines", mended=["the reply was Cypher"])
    named, last = list[Named | None](), dict[str, Named | None]()
    for node in nodes:
        key = node["variable"] or node.group()
        if (own := _named(node)) or node["properties"] or node["label"]:
            last[key] = own  # a statement that follows may bind the variable anew
        named.append(last.get(key))
        if own and own not in stated.named:
            stated.named.append(own)
    for place, (node, following) in enumerate(pairwise(nodes)):
        joins = RELATIONSHIP.fullmatch(text, node.end(), following.start())
        if joins is None:
            continue
        ends = named[place : place + 2]
        head, tail = reversed(ends) if joins["back"] and not joins["forth"] else ends
        if head and tail:
            stated.statements.append(Statement(head.name, joins["type"].strip("`"), tail.name, head.type, tail.type))
        else:
            stated.lost.append("a relationship's node has no name")
    if "(" in text[nodes[-1].end() :]:
        stated.lost.append("the Cypher is cut off or broken: its complete nodes and relationships were kept")
    if not stated.size:
        stated.lost.append("the reply is Cypher without a name")
    return stated


def _named(node: re.Match[str]) -> Named | None:
    """The name, label and other properties of a node that has them."""
    properties = {one["key"].lower(): _value(one["value"]) for one in PROPERTY.finditer(node["properties"] or "")}
    key = next((key for key in NAME_KEYS if properties.get(key)), next(iter(properties), ""))
    if not properties.get(key):
        return None
    said = "; ".join(f"{other}: {value}" for other, value in properties.items() if value and other != key)
    return Named(properties[key], (node["label"] or "").strip("`"), said)


def _value(written: str) -> str:
    """A text without its quotation marks, a number as it is written; an expression (`row.name`, `$name`) is no value."""
    written = written.strip()
    if written[:1] in ("'", '"'):
        return re.sub(r"\\(.)", r"\1", written[1:-1])
    return written if re.fullmatch(r"[+-]?\d[\w.+-]*|true|false", written, re.IGNORECASE) else ""
