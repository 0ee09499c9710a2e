"""Replies that are text: one triple a line, `(head, relation, tail)`, and records, `("relationship"<|>"A"<|>"B"<|>...)##`."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from typing import Any

from kgrag.extract.named_rows import TABLE_RULE
from kgrag.extract.statements import Named, Stated, Statement, has_types, read_path

__all__ = ["NOTHING_TO_SAY", "read_records", "read_triple_lines"]

NOTHING_TO_SAY = re.compile(
    r"\W*(?:none|no (?:triples?|triplets?|relations?|paths?)(?: found| to extract)?|n/a|\[\s*\]|\(\s*\))\W*",
    re.IGNORECASE,
)
HEADING = re.compile(r"\W*(?:triples?|triplets?|paths?|output|answer|relations?)\W*", re.IGNORECASE)
LEADING = re.compile(r"^\s*(?:[-*•]\s+|\d+[.)]\s+)?")
TABLE_HEADER = re.compile(rf"^.*\|.*\n{TABLE_RULE.pattern}$", re.MULTILINE)
"""What the columns of a Markdown table are called, and the line below."""
ARROW = re.compile(
    r"(?P<head>[^<>{}]+?) ?(?:--? ?\[ ?:?(?P<kind>[^\[\]]+)\] ?--?>|--+ ?(?P<word>[^<>{}-]+?) ?--+>) ?(?P<tail>[^<>{}]+)"
)
"""`X-100 -[MADE_BY]-> Acme`, `(X-100)-[:MADE_BY]->(Acme)`, `X-100 --made by--> Acme`."""
MAX_JOINED_CHARACTERS = 600
BOLD_ENDS = re.compile(r"\*\*(?P<head>[^*]+)\*\*:? (?P<kind>[^*]+?) \*\*(?P<tail>[^*]+)\*\*\.?")
"""`**X-100** is made by **Acme**`"""
CALL = re.compile(r"(?P<kind>[A-Za-z_]\w*)\((?P<ends>.+)\)[.;]?")
"""`HAS_PART(X-100, LQ22)`, a fact of Prolog"""
BETWEEN_DASHES = re.compile(r"(?P<head>.+?) [-–—] (?P<kind>.+?) [-–—] (?P<tail>.+)")
SEPARATORS = ("|", ";", " -> ", " → ", "\t")
QUOTES = "\"'“”‘’`"
COMMA = r"(?<!\d),|,(?!\d{3}(?!\d))"
"""Not the comma of `20,000`."""
MAX_PARTS = 24
"""Of a line without quotation marks: a line with more commas is prose."""
RECORD = re.compile(r"\(\s*[\"“]?(?P<kind>entity|relationship)[\"”]?\s*<\|>", re.IGNORECASE)
RECORD_END = re.compile(r"\)[\s*]*(?:##|<\|COMPLETE\|>|\n|```|$)", re.IGNORECASE)


def read_triple_lines(text: str, stated: Stated, *, chunk_text: str = "") -> Stated:
    """Read one triple a line into `stated`; other lines are prose, which is reported and not read."""
    prose = fences = 0
    folded = " ".join(chunk_text.casefold().split())
    for line in TABLE_HEADER.sub("", text).splitlines():
        line = LEADING.sub("", line).strip()
        if not line:
            continue
        if line.startswith("```"):
            fences += 1
            continue
        if parts := _joined(line, folded):
            read_path(parts, stated, chunk_text=folded)
            continue
        groups, cut_off = _bracketed(line)
        triples = [parts for group in groups if len(parts := _parts(group, folded)) > 1]
        if not triples and not groups and (parts := _separated(line, folded)):
            triples = [parts]
        for parts in triples:
            read_path(parts, stated, chunk_text=folded)
        if cut_off:
            stated.lost.append("a line ends inside a triple")
        elif not triples and NOTHING_TO_SAY.fullmatch(line):
            stated.form = stated.form or "lines"
        elif not triples and not HEADING.fullmatch(line):
            prose += 1
    if stated.size or (stated.form is None and stated.lost and "a line ends inside a triple" in stated.lost):
        stated.form = "lines"
    if stated.form is None:
        stated.lost.append("the reply has no triples")
    elif prose and stated.size:
        stated.mended.append("words stood around the triples")
    elif fences:
        stated.mended.append("the triples stood in a code fence")
    return stated


def _joined(line: str, chunk_text: str) -> list[str]:
    """Divide a line whose ends are joined by an arrow with the relation on it, are bold, or stand in brackets behind the relation.

    Or are joined by dashes, where the chunk has both ends.
    """
    line = " ".join(line.split())
    if len(line) > MAX_JOINED_CHARACTERS:
        return []
    if match := ARROW.fullmatch(line):
        head, tail = (_bare(match[end].removeprefix("(").removesuffix(")")) for end in ("head", "tail"))
        return [head, _bare(match["kind"] or match["word"]), tail]
    if match := BOLD_ENDS.fullmatch(line):
        return [match["head"], match["kind"], match["tail"]]
    if (match := CALL.fullmatch(line)) and len(ends := _parts(match["ends"], chunk_text)) == 2:
        return [ends[0], match["kind"], ends[1]]
    match = BETWEEN_DASHES.fullmatch(line)
    parts = [_bare(part.strip("*")) for part in match.groups()] if match else []
    return parts if parts and all(end.casefold() in chunk_text for end in (parts[0], parts[2])) else []


def _bracketed(line: str) -> tuple[list[str], bool]:
    """Find the groups in round or square brackets of a line, brackets inside them kept: the groups, and whether the last is open."""
    groups, depth, start, quote = [], 0, 0, ""
    for i, character in enumerate(line):
        if quote:
            quote = "" if character == quote and line[i - 1] != "\\" else quote
        elif character == '"' and depth and line[start:i].rstrip()[-1:] in ("", ",", "(", "["):
            quote = character
        elif character in "([":
            if not depth:
                start = i + 1
            depth += 1
        elif character in ")]" and depth:
            depth -= 1
            if not depth:
                groups.append(line[start:i])
    return groups, bool(depth) and ("," in line[start:] or start == 1)


def _parts(group: str, chunk_text: str) -> list[str]:
    """Divide what stands between brackets into its parts."""
    if '"' in group:
        try:
            return ["" if part is None else str(part) for part in map(_only, json.loads(f"[{group}]"))]
        except (ValueError, RecursionError):
            pass  # not written as JSON: by commas and quotation marks then
        parts = [_bare(part) for part in _quoted(group.replace("“", '"').replace("”", '"'))]
        if len(parts) == 3:
            return parts if all(parts) else []
    for separator in (COMMA, *map(re.escape, SEPARATORS)):
        parts = re.split(separator, group)
        if separator is COMMA and 3 < len(parts) <= MAX_PARTS:
            return _divided(group, chunk_text)
        if len(parts) > 2 or (separator is COMMA and len(parts) == 2):
            return [_bare(part) for part in parts] if len(parts) <= MAX_PARTS else []
    return []


def _quoted(group: str) -> list[str]:
    """Divide at commas that stand outside quotation marks."""
    try:
        return next(csv.reader([group], skipinitialspace=True, escapechar="\\"), [])
    except csv.Error:  # longer than a field may be
        return []


def _only(part: Any) -> Any:
    """Take a part out of brackets of its own."""
    return part[0] if isinstance(part, list) and len(part) == 1 else part


def _divided(group: str, chunk_text: str) -> list[str]:
    """Divide at two of several commas, by what the chunk has: head and tail, then head alone, then tail alone; the shortest relation."""
    commas = [(match.start(), match.end()) for match in re.finditer(COMMA, group)]
    choices = []
    for i in range(len(commas) - 1):
        for j in range(i + 1, len(commas)):
            head, tail = _bare(group[: commas[i][0]]), _bare(group[commas[j][1] :])
            ends = head.casefold() in chunk_text, tail.casefold() in chunk_text
            if all(ends) or (any(ends) and j == i + 1):
                choices.append(
                    ((not all(ends), not ends[0], j - i), [head, _bare(group[commas[i][1] : commas[j][0]]), tail])
                )
    parts = [_bare(part) for part in re.split(COMMA, group)]
    return min(choices)[1] if choices and not has_types(parts, chunk_text) else parts


def _separated(line: str, chunk_text: str) -> list[str]:
    """Divide a line without brackets that has exactly two separators: commas only where the chunk has what stands at both ends."""
    for separator in ("|", "\t", " -> ", " → "):
        parts = [_bare(part) for part in line.strip(separator).split(separator)]
        if len(parts) == 3 and all(re.search(r"\w", part) for part in parts):
            return parts
    parts = [_bare(part) for part in _quoted(line)]
    return (
        parts if len(parts) == 3 and all(end and end.casefold() in chunk_text for end in (parts[0], parts[2])) else []
    )


def _bare(part: str) -> str:
    """Take quotation marks off a part, and nothing else: a prime after a number stays."""
    part = part.strip()
    if len(part) > 1 and part[0] in QUOTES and part[-1] in QUOTES:
        return part[1:-1].strip()
    return part.lstrip(QUOTES).strip() if part[:1] in QUOTES else part


def read_records(text: str, stated: Stated) -> Stated:
    """Read the records of GraphRAG, `("entity"<|>name<|>type<|>description)` and `("relationship"<|>head<|>tail<|>description<|>strength)`.

    LightRAG's stand in a line each, `relation<|#|>head<|#|>tail<|#|>keywords<|#|>description`. A relationship has no type of its own there:
    it is `related to`, and the description says how.
    """
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
    stated.form = "records"
    return stated


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
