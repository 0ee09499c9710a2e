"""JSON as models write it: quoted twice, in other signs, with keys that come twice, among prose, or cut off; complete values are read."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from kgrag.extract.reply_keys import HEAD_KEYS, TAIL_KEYS, TYPE_KEYS, first_value, known_keys
from kgrag.extract.statements import Stated

__all__ = ["Twice", "in_signs_of_json", "json_values", "parse_json", "unquoted"]

MAX_OPEN_OBJECTS = 4
MAX_CUT_KEYS = 6
"""How far back the complete part of a cut object is looked for."""
MAX_BROKEN_STARTS = 300
"""Places where JSON may begin and does not that are tried before the rest is given up."""
FULL_WIDTH = str.maketrans("｛｝［］：，（）", "{}[]:,()")
"""What a model that writes Chinese or Japanese may put for the signs of JSON."""
FULL_WIDTH_QUOTES = str.maketrans(dict.fromkeys("＂“”„", '"'))
STRING = re.compile(r'("(?:[^"\\]|\\.)*")', re.DOTALL)
DOUBLED = re.compile(r"\[?\{\{")
"""Braces as the templates of prompts escape them."""
BEGINS_JSON = re.compile(r"[{\[]\s*(?:[\"'{\[]|-?\d|\w+\s*:|$)")
"""A bracket in prose (a smiley, an interval) is no JSON that was broken."""


def in_signs_of_json(reply: str) -> Iterator[tuple[str, str]]:
    """What may be JSON in other signs than its own, with what they are: full-width ones, typographic quotation marks."""
    if any(chr(sign) in reply for sign in FULL_WIDTH):
        yield "the reply had full-width punctuation", _half_width(reply)
    elif '"' not in reply and any(chr(sign) in reply for sign in FULL_WIDTH_QUOTES):
        yield "the JSON had typographic quotation marks", _half_width(reply)


def _half_width(reply: str) -> str:
    """Write the signs of JSON as JSON has them; those within strings stay."""
    text = reply if '"' in reply else reply.translate(FULL_WIDTH_QUOTES)
    return "".join(part if part[:1] == '"' else part.translate(FULL_WIDTH) for part in STRING.split(text))


def parse_json(text: str, twice: Twice | None = None) -> tuple[Any, bool]:
    """Parse JSON, or what is a literal of Python (single quotation marks): the data, and whether the text is that."""
    if text[0] not in "{[":
        return None, False
    for written in _spellings(text):
        try:
            return json.loads(written, strict=False, object_pairs_hook=twice), True
        except (ValueError, RecursionError):
            continue
    try:
        data = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # `{{...}}` is a set of objects
        return None, False
    return data, isinstance(data, dict | list)


def _spellings(text: str) -> Iterator[str]:
    """Yield the text, and then as it is without what else may stand in it for JSON's own signs."""
    yield text
    if (escaped := _escaped(text)) != text:
        yield escaped
    if DOUBLED.match(text):
        yield text.replace("{{", "{").replace("}}", "}")


def _escaped(text: str) -> str:
    r"""Take the escapes of Markdown (`HAS\_PART`) off, and keep a backslash that escapes nothing (`k\Omega`)."""
    return re.sub(r"\\(?![\"\\/bfnrtu])", r"\\\\", re.sub(r"\\([_*#&%$~\[\]()<>|-])", r"\1", text))


def unquoted(text: str) -> str | None:
    r"""Read a text that is a string of JSON, with or without the quotation marks around it (`{\"head\": ...`); None for another."""
    if text[0] == '"' or '\\"' in text.partition(":")[0]:
        try:
            written = json.loads(text if text[0] == '"' else f'"{text}"', strict=False)
        except ValueError:
            return None
        return written.strip() or None if isinstance(written, str) else None
    return None


class Twice:
    """Makes objects of JSON's pairs of key and value; a key that comes twice loses nothing silently."""

    def __init__(self, stated: Stated) -> None:
        self._stated = stated

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any] | list[dict[str, Any]]:
        """Put lists of one key together, and take two ends of a relation for both; of other values the first counts.

        Several whole relations in one object are as many objects.
        """
        relations: list[dict[str, Any]] = [{}]
        for key, value in pairs:
            if key in relations[-1]:
                relations.append({})
            relations[-1][key] = value
        if any(map(_is_relation, relations)) and all(len(one) > 1 for one in relations[1:]) and len(relations) > 1:
            self._note("relations stood in one object", self._stated.mended)
            return relations
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


def _is_relation(item: dict[str, Any]) -> bool:
    known = known_keys(item)
    return all(first_value(known, keys) is not None for keys in (HEAD_KEYS, TAIL_KEYS, TYPE_KEYS))


def json_values(text: str, twice: Twice) -> tuple[list[Any], bool, bool]:
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
    """Read the last object of a text that was cut off inside it: its complete values, where they say a relation or a name."""
    for start in (start for start in starts[-MAX_OPEN_OBJECTS:] if text[start] == "{"):
        end = len(text)
        for _ in range(MAX_CUT_KEYS):
            end = text.rfind(",", start, end)
            if end < 0:
                break
            try:
                cut = json.loads(f"{text[start:end]}}}", strict=False)
                return [cut] if _is_relation(cut) or not {"name", "properties"}.isdisjoint(cut) else []
            except (ValueError, RecursionError):
                continue
    return []
