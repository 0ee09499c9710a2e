"""Replies that are a drawing, as Mermaid or DOT has it: `A["X-100"] -->|HAS_PART| B["LQ22"]`, `a -> b [label="HAS_PART"];`."""

from __future__ import annotations

import re

from kgrag.extract.statements import Named, Stated, Statement

__all__ = ["read_drawing"]

BEGINS = re.compile(
    r"^[ \t]*(?:(?:graph|flowchart)[ \t]+(?:TD|TB|BT|LR|RL)\b|(?:strict )?(?:di)?graph\b[^\n{]{0,60}\{)", re.I | re.M
)
MAX_STATEMENT_CHARACTERS = 600
_TEXT = r"\"(?:[^\"\\]|\\.){0,300}+\""
_SHAPED = rf"[\[({{>/\\]++\s*+(?:{_TEXT}|[^\[\](){{}}\"|]{{1,300}}+)\s*+[\])}}/\\]++"
NODE = re.compile(rf"(?P<id>{_TEXT}|[^\W\d][\w.]*+(?:-\w++)*+)(?P<shaped>{_SHAPED})?(?P<style>:::\w++)?")
EDGE = re.compile(
    rf"\s*+(?:(?P<back><)?(?:--++|==++|-\.++)(?:\s*+(?P<said>{_TEXT}|[^-=.|>\n]{{1,200}}?)\s*+(?:--++|==++|\.++-))?-*+(?P<forth>[>xo])?"
    rf"(?:\s*+\|(?P<label>[^|]{{0,200}})\|)?|->)\s*+"
)
ATTRIBUTES = re.compile(rf"\s*+\[(?P<attributes>(?:[^\]\"]|{_TEXT})*+)\]")
LABEL = re.compile(rf"\bx?label\s*+=\s*+(?P<label>{_TEXT}|[\w.-]++)")
UNLABELLED = "related to"


def read_drawing(text: str) -> Stated | None:
    """Read nodes and arrows with their labels; None for what is no drawing. An arrow without a label is `related to`."""
    begins = BEGINS.search(text)
    if begins is None:
        return None
    stated, names = Stated(form="lines", mended=["the reply was a drawing"]), dict[str, str]()
    edges: list[tuple[str, str, str]] = []
    for line in re.split(r"[\n;]", text[begins.end() :]):
        line, known = line.strip(), len(edges)
        if len(line) <= MAX_STATEMENT_CHARACTERS and (node := NODE.match(line)):
            _read_statement(line, node, names, edges)
        if re.search(r"--|->|==", line) and len(edges) == known:
            stated.lost.append("an arrow of the drawing was not read")
    stated.statements = [Statement(names[head], kind or UNLABELLED, names[tail]) for head, kind, tail in edges]
    joined = {end for head, _, tail in edges for end in (head, tail)}
    stated.named = [Named(name) for key, name in names.items() if key not in joined]
    return stated if stated.size else None


def _read_statement(line: str, node: re.Match[str], names: dict[str, str], edges: list[tuple[str, str, str]]) -> None:
    """Read one statement: nodes, each joined to the next by an arrow."""
    first, read = node, list[tuple[str, str, str]]()
    while (
        (edge := EDGE.match(line, node.end()))
        and (following := NODE.match(line, edge.end()))
        and not _is_cut(line, following)
    ):
        ends = _key(node, names), _key(following, names)
        head, tail = reversed(ends) if edge["back"] and not edge["forth"] else ends
        read.append((head, _unquoted(edge["said"] or edge["label"] or ""), tail))
        node = following
    said = ATTRIBUTES.match(line, node.end())
    label = _unquoted(found["label"]) if said and (found := LABEL.search(said["attributes"])) else ""
    if not read and label:
        names[_key(first, names)] = label
    elif not read and first["shaped"]:
        _key(first, names)
    edges.extend((head, kind or label, tail) for head, kind, tail in read)


def _is_cut(line: str, node: re.Match[str]) -> bool:
    """Whether a node's shape has no end: `B[LQ2`."""
    return not node["shaped"] and line[node.end() : node.end() + 1] in tuple("[({")


def _key(node: re.Match[str], names: dict[str, str]) -> str:
    """The id of a node, whose name is kept: what its shape says, else the id."""
    key = _unquoted(node["id"])
    if node["shaped"]:
        names[key] = _unquoted(node["shaped"].strip("[](){}>/\\ "))
    names.setdefault(key, key)
    return key


def _unquoted(text: str) -> str:
    text = text.strip()
    return re.sub(r"\\(.)", r"\1", text[1:-1]).strip() if text[:1] == '"' else text
