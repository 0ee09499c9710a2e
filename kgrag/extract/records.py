"""Replies that are records with marks: `("relationship"<|>"A"<|>"B"<|>...)##` of GraphRAG, LightRAG's lines, the tags of REBEL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgrag.extract.statements import Named, Stated, Statement

__all__ = ["is_records", "read_records"]

RECORD = re.compile(r"\(\s*[\"“]?(?P<kind>entity|relationship)[\"”]?\s*<\|>", re.IGNORECASE)
RECORD_END = re.compile(r"\)[\s*]*(?:##|<\|COMPLETE\|>|\n|```|$)", re.IGNORECASE)
TRIPLET = "<triplet>"
TAG = re.compile(r"<(\w{1,20})>")
AROUND = re.compile(r"</?s>|<pad>|\b\w\w_XX\b|```\w*")
"""What a tokenizer leaves around the tags."""


def is_records(text: str) -> bool:
    """Whether a text has the marks of such records."""
    return "<|>" in text or "<|#|>" in text or TRIPLET in text


def read_records(text: str, stated: Stated) -> Stated:
    """Read the records of GraphRAG, `("entity"<|>name<|>type<|>description)` and `("relationship"<|>head<|>tail<|>description<|>strength)`.

    LightRAG's stand in a line each, `relation<|#|>head<|#|>tail<|#|>keywords<|#|>description`. A relationship has no type of its own there:
    it is `related to`, and the description says how. REBEL's are `<triplet> head <subj> tail <obj> relation`, where `<subj>` may come
    again for the same head; mREBEL has the types of the ends for these tags.
    """
    stated.form = "records"
    if TRIPLET in text:
        _read_triplets(text, stated)
        return stated
    types: dict[str, str] = {}
    relations: list[tuple[str, str, str]] = []
    for kind, fields in (*_records_in_brackets(text, stated), *_records_in_lines(text)):
        if kind.startswith("relation"):
            if len(fields) >= 3 and fields[0] and fields[1]:
                relations.append((fields[0], fields[1], fields[2]))
            else:
                stated.lost.append(f"a relationship record has {len(fields) + 1} fields of five")
        elif fields and fields[0]:
            of, description = (*fields[1:3], "", "")[:2]
            types.setdefault(fields[0], of)
            stated.named.append(Named(fields[0], of, description))
            if len(fields) < 3:
                stated.mended.append(f"an entity record has {len(fields) + 1} fields of four")
        else:
            stated.lost.append("an entity record has no name")
    stated.statements.extend(
        Statement(head, "related to", tail, types.get(head, ""), types.get(tail, ""), description)
        for head, tail, description in relations
    )
    return stated


def _read_triplets(text: str, stated: Stated) -> None:
    for triplet in AROUND.sub(" ", text).split(TRIPLET)[1:]:
        head, *parts = (part.strip() for part in TAG.split(triplet))
        # head, then tag, tail, tag, relation, again and again
        for i in range(0, len(parts), 4):
            if len(parts) < i + 4 or not (head and parts[i + 1] and parts[i + 3]):
                stated.lost.append("a triplet is cut off, or lacks a part")
                continue
            head_type, tail, tail_type, kind = parts[i : i + 4]
            types = ("", "") if (head_type, tail_type) == ("subj", "obj") else (head_type, tail_type)
            stated.statements.append(Statement(head, " ".join(kind.split()), tail, *types))
        if not parts:
            stated.lost.append("a triplet is cut off, or lacks a part")


def _records_in_brackets(text: str, stated: Stated) -> Iterator[tuple[str, list[str]]]:
    """Records of GraphRAG: `entity` or `relationship`, and the fields that follow."""
    position = 0
    for start in RECORD.finditer(text):
        if start.start() < position:
            continue
        end = RECORD_END.search(text, start.end())
        if end is None:
            stated.lost.append("a record is cut off")
            continue
        position = end.start()
        fields = re.split(r"<\|>|\"\|>", text[start.end() : position])
        yield start["kind"].casefold(), [field.strip().strip('"“”').strip() for field in fields]


def _records_in_lines(text: str) -> Iterator[tuple[str, list[str]]]:
    """Records of LightRAG; of a relation keywords and description as one field."""
    for line in text.splitlines():
        kind, *fields = (field.strip(' "()') for field in line.split("<|#|>"))
        kind = kind.casefold()
        if kind in ("relation", "relationship") and len(fields) > 3:
            yield kind, [*fields[:2], "; ".join(dict.fromkeys(filter(None, (fields[3], fields[2]))))]
        elif kind in ("entity", "relation", "relationship"):
            yield kind, fields
