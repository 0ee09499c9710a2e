"""Replies that are text: one triple a line, `(head, relation, tail)`."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

from kgrag.extract.named_rows import TABLE_RULE
from kgrag.extract.reply_keys import HEAD_KEYS, TAIL_KEYS, TYPE_KEYS, known_keys
from kgrag.extract.statements import Named, Stated, Statement, has_types, read_path

__all__ = ["NOTHING_TO_SAY", "read_triple_lines", "triples_of"]

NOTHING_TO_SAY = re.compile(
    r"\W*(?:none|null|n/a|\[\s*\]|\(\s*\)"
    r"|(?!.*(?:sorry|n['’]t|cannot|unable))(?:[^.\n]{0,120}\b(?:not|no|any)|no) (?:[\w-]+ ){0,3}"
    r"(?:entit|triple|relation|path|fact)(?:[^.\n]{0,120}))\W*",
    re.IGNORECASE,
)
"""A line that says that there is nothing: `None`, `The text does not state any relations.`"""
HEADING = re.compile(r"\W*(?:triples?|triplets?|paths?|output|answer|relations?)\W*", re.IGNORECASE)
LEADING = re.compile(r"^\s*(?:[-*•]\s+|(?:\d+[.)]|[a-z]\))\s+)?")
TABLE_HEADER = re.compile(rf"^.*\|.*\n{TABLE_RULE.pattern}$", re.MULTILINE)
"""What the columns of a Markdown table are called, and the line below."""
ARROW = re.compile(
    r"(?P<head>[^<>{}]+?) ?(?:--? ?\[ ?:?(?P<kind>[^\[\]]+)\] ?--?>|--+ ?(?P<word>[^<>{}-]+?) ?--+>) ?(?P<tail>[^<>{}]+)"
)
"""`X-100 -[MADE_BY]-> Acme`, `(X-100)-[:MADE_BY]->(Acme)`, `X-100 --made by--> Acme`."""
ARROWS = (
    re.compile(r"(?P<head>.+?) ?[-–—─]+ ?(?P<kind>[^-–—─<>→⟶⇒➔▶]+?) ?(?:[-–—─]*[>→⟶⇒➔▶]) ?(?P<tail>.+)"),
    re.compile(r"(?P<tail>.+?) ?(?:[<←⟵⇐◀][-–—─]*) ?(?P<kind>[^-–—─<>←⟵⇐◀]+?) ?[-–—─]+ ?(?P<head>.+)"),
    re.compile(r"(?P<head>.+?) ?(?:[-–—─]+[>→▶]|[→⟶⇒➔]) ?(?P<tail>[^:]+?) ?: ?(?P<kind>[^:]+)"),
)
"""`X-100 — HAS_PART → LQ22`, `LQ22 <-- HAS_PART -- X-100`, `X-100 --> LQ22 : HAS_PART`: only where the chunk has both ends, for a dash and
an arrow stand in prose, too."""
MAX_JOINED_CHARACTERS = 600
BOLD_ENDS = re.compile(r"\*\*(?P<head>[^*]+)\*\*:? (?P<kind>[^*]+?) \*\*(?P<tail>[^*]+)\*\*\.?")
"""`**X-100** is made by **Acme**`"""
CALL = re.compile(r"(?P<kind>[A-Za-z_]\w*)\((?P<ends>.+)\)[.;]?")
"""`HAS_PART(X-100, LQ22)`, a fact of Prolog"""
ENTITY = re.compile(r"(?P<name>[^()]+?) \((?P<type>[A-Za-z][A-Za-z _-]{1,30})\)")
"""`X-100 (Board)`"""
HEAD_LINE = re.compile(r"\s*(?:(?:#+|[-*•]|\d+[.)])\s+)?(?P<name>.+?):?\s*")
SAID_LINE = re.compile(r"(?:\s*(?:[-*•]|\d+[.)]|[│ ]*[├└]─+)\s+|\s{2,})(?P<kind>[^:\n]{1,60}):\**\s+(?P<tail>.+)")
"""`- HAS_PART: LQ22`, below its head."""
NESTED = re.compile(r"(?P<indent>\s*)(?:[-*•]|\d+[.)])\s+(?P<name>[^:]{1,100}?):?\s*")
"""A list in a list in a list: head, relation, tail."""
SEPARATORS = ("|", ";", " -> ", " → ", "\t")
SEPARATORS_OF_PROSE = (" - ", " – ", " — ", ";", " / ", ": ")
"""They divide a line only where the chunk has what stands at both ends; so does a comma."""
EMPHASIS = re.compile(r"(\*{1,3}|__?)(?P<said>[^*]+)\1")
PARTS_HEADER = frozenset((*HEAD_KEYS, *TAIL_KEYS, *TYPE_KEYS))
NAMED_PART = re.compile(r"(?P<key>\w+)\s*[:=]\s*(?P<value>.+)")
ARROW_ALONE = re.compile(r"\s*(?:[-=–—]+>|[→⟶⇒➔])\s*")
QUOTES = "\"'“”‘’`"
COMMA = r"(?<!\d),|,(?!\d{3}(?!\d))"
"""Not the comma of `20,000`."""
MAX_PARTS = 24
"""Of a line without quotation marks: a line with more commas is prose."""


def read_triple_lines(text: str, stated: Stated, *, chunk_text: str = "") -> Stated:
    """Read one triple a line into `stated`; other lines are prose, which is reported and not read."""
    prose = fences = 0
    folded, head, path = " ".join(chunk_text.casefold().split()), "", list[tuple[int, str]]()
    for written in TABLE_HEADER.sub("", text).splitlines():
        line = LEADING.sub("", written).strip()
        if not line:
            continue
        if line.startswith("```"):
            fences += 1
            continue
        if head and (below := SAID_LINE.fullmatch(written)) and (tails := _listed(below["tail"], folded)):
            stated.statements += [Statement(head, _bare(below["kind"].strip("*")), tail) for tail in tails]
            continue
        if item := NESTED.fullmatch(written):
            indent = len(item["indent"].expandtabs(4))
            path = [*(one for one in path if one[0] < indent), (indent, _bare(item["name"]))]
            if len(path) == 3 and _has(folded, path[0][1]) and _has(folded, path[2][1]):
                stated.statements.append(Statement(path[0][1], path[1][1], path[2][1]))
                continue
        if (
            len(written) <= MAX_JOINED_CHARACTERS
            and (above := HEAD_LINE.fullmatch(written))
            and _has(folded, name := _bare(above["name"]))
        ):
            head = name
        triples, cut_off = _triples(line, folded)
        is_short = not triples and not cut_off and len(line) <= MAX_JOINED_CHARACTERS
        entity = ENTITY.fullmatch(line) if is_short and not _has(folded, line) else None
        for parts in triples:
            read_path(parts, stated, chunk_text=folded)
        if cut_off:
            stated.lost.append("a line ends inside a triple")
        elif entity and _has(folded, name := _bare(entity["name"])):
            stated.named.append(Named(name, entity["type"]))
        elif is_short and NOTHING_TO_SAY.fullmatch(line):
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


def triples_of(line: str, chunk_text: str) -> list[list[str]]:
    """Divide a line that states triples into the parts of each; nothing for a line that is none."""
    return [parts for parts in _triples(line.strip(), " ".join(chunk_text.casefold().split()))[0] if len(parts) > 2]


def _triples(line: str, chunk_text: str) -> tuple[list[list[str]], bool]:
    """Give the triples of a line, and whether it ends inside one."""
    if line.startswith("<") and line.endswith(">"):
        line = f"({line[1:-1]})"
    if parts := _joined(line, chunk_text):
        return [parts], False
    groups, cut_off = _bracketed(line)
    triples = [parts for group in groups if len(parts := _parts(group, chunk_text)) > 1]
    if not triples and not groups and (parts := _separated(line, chunk_text)):
        triples = [parts]
    return [_in_order(parts) for parts in triples if not PARTS_HEADER.issuperset(map(str.lower, parts))], cut_off


def _in_order(parts: list[str]) -> list[str]:
    """Put parts that are named in their order: `A, B, relation="HAS_PART"`, `object: B, subject: A, predicate: HAS_PART`."""
    ends, kinds = list[str](), list[str]()
    for part in parts if len(parts) == 3 else ():
        named = NAMED_PART.fullmatch(part)
        (key,) = known_keys({named["key"]: ""}) if named else ("",)
        said = _bare(named["value"]) if named and key in PARTS_HEADER else part
        if key in TYPE_KEYS:
            kinds.append(said)
        elif key in HEAD_KEYS:
            ends.insert(0, said)
        else:
            ends.append(said)
    return [ends[0], kinds[0], ends[1]] if len(ends) == 2 else parts


def _listed(said: str, chunk_text: str) -> list[str]:
    """Give what the chunk has of names: the whole, or the parts at commas where it has each of them."""
    for names in ([said], said.split(", ")):
        if all(_has(chunk_text, _bare(name)) for name in names):
            return [_bare(name) for name in names]
    return []


def _has(chunk_text: str, name: str) -> bool:
    return bool(name) and name.casefold() in chunk_text


def _joined(line: str, chunk_text: str) -> list[str]:
    """Divide a line whose ends are joined by an arrow with the relation on it, are bold, or stand in brackets behind the relation."""
    line = " ".join(line.split())
    if len(line) > MAX_JOINED_CHARACTERS:
        return []
    if match := ARROW.fullmatch(line):
        head, tail = (_bare(match[end].removeprefix("(").removesuffix(")")) for end in ("head", "tail"))
        return [head, _bare(match["kind"] or match["word"]), tail]
    for arrow in ARROWS:
        if (match := arrow.fullmatch(line)) and all(_has(chunk_text, _bare(match[end])) for end in ("head", "tail")):
            return [_bare(match[part]) for part in ("head", "kind", "tail")]
    if match := BOLD_ENDS.fullmatch(line):
        return [match["head"], match["kind"], match["tail"]]
    if (match := CALL.fullmatch(line)) and len(ends := _parts(match["ends"], chunk_text)) == 2:
        return [ends[0], match["kind"], ends[1]]
    return []


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
    """Divide a line without brackets that has exactly two separators; those of prose only where the chunk has what stands at both ends."""
    for divided in (line.strip("|").split("|"), line.split("\t"), ARROW_ALONE.split(line)):
        parts = [_bare(part) for part in divided]
        is_sentence = line.endswith(".") and not any(_has(chunk_text, end) for end in parts[::2])
        if len(parts) == 3 and all(re.search(r"\w", part) for part in parts) and not is_sentence:
            return [] if PARTS_HEADER.issuperset(known_keys({parts[0]: ""})) else parts  # of a table that is turned
    for parts in (_quoted(line), *map(line.split, SEPARATORS_OF_PROSE)):
        parts = _in_order([_bare(part) for part in parts])
        if len(parts) == 3 and all(_has(chunk_text, end) for end in (parts[0], parts[2])):
            return parts
    return []


def _bare(part: str) -> str:
    """Take quotation marks and emphasis off a part, and nothing else: a prime after a number stays."""
    part = part.strip()
    if emphasis := EMPHASIS.fullmatch(part):
        return _bare(emphasis["said"])
    if len(part) > 1 and part[0] in QUOTES and part[-1] in QUOTES:
        return part[1:-1].strip()
    return part.lstrip(QUOTES).strip() if part[:1] in QUOTES else part
