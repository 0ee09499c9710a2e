"""JSON Schema as it is written in descriptions of APIs: the type of a value in words, and the fields of an object as rows of a table.

What comes from a file is of any form: whatever is no object, list or plain value where one is expected is read as if it were not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

from kgrag.documents.blocks import RemovedLine
from kgrag.documents.markdown import LOWEST_HEADING, markdown_passage

__all__ = [
    "Field",
    "SchemaWriter",
    "entries",
    "field_table",
    "fit_for_cell",
    "is_true",
    "items",
    "keywords",
    "said",
    "table",
    "value_text",
]


def keywords(names: str) -> frozenset[str]:
    """Return the names that a text has."""
    return frozenset(names.split())


MOST_SCHEMAS, SCHEMAS_OF_CHARACTER = 20_000, 0.2
"""That are looked at in any file, and for each of its characters, those within others counted each time: aliases of YAML and references can
make any number of few."""
DEEPEST_FIELD, DEEPEST_TYPE = 8, 6
"""Objects within each other that are rows of one table; types within each other (`array of map of ...`)."""
LONGEST_EXAMPLE = 4000
"""Characters; a longer one is left out and counted."""
LONGEST_VALUE = 120
"""Characters of an example or a default in a cell."""
MOST_VALUES = 200
"""Of an enumeration."""
MARKDOWN_MARKS = frozenset("`*_[]<>#|\n&!~\\")
IN_A_CELL = MappingProxyType(
    {
        **dict.fromkeys(("table", "thead", "tbody", "tfoot", "caption"), "div"),
        **dict.fromkeys(("tr", "h1", "h2", "h3", "h4", "h5", "h6"), "p"),
        **dict.fromkeys(("td", "th"), "span"),
    }
)
"""What would make a table of layout of the one that it stands in, and what stands in its place."""
CELL_TAG = re.compile(rf"<(/?)({'|'.join(IN_A_CELL)})\b[^>]*>", re.IGNORECASE)
READ = keywords(
    "$ref type format title description default example examples enum const nullable properties required items "
    "additionalProperties patternProperties oneOf anyOf allOf minimum maximum exclusiveMinimum exclusiveMaximum "
    "minLength maxLength minItems maxItems minProperties maxProperties readOnly writeOnly deprecated uniqueItems "
    "pattern multipleOf discriminator collectionFormat name in schema content style explode allowEmptyValue "
    "externalDocs"
)
"""Keywords of schemas and parameters; others are counted."""
BOUNDS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
    ("minProperties", "maxProperties", " properties"),
)
FLAGS = {"readOnly": "read-only", "writeOnly": "write-only", "deprecated": "deprecated", "uniqueItems": "each once"}
OTHER_CONSTRAINTS = {"pattern": "pattern", "multipleOf": "multiple of"}
VARIANTS = ("oneOf", "anyOf", "allOf")
JOINTS = {"oneOf": " or ", "anyOf": " or ", "allOf": " and "}


def entries(value: object) -> dict[str, Any]:
    """Return an object with its keys as text, an empty one for anything else."""
    return {str(key): one for key, one in value.items()} if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


def said(value: object) -> str:
    """Return a plain value as it is written; nothing for objects and lists."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).strip() if isinstance(value, str | int | float) else ""


def is_true(value: object) -> bool:
    """Whether a value says yes; in YAML it is text."""
    return said(value) == "true"


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter, or a field of an object; type, default, example and description are HTML."""

    name: str
    type: str
    required: bool
    default: str = ""
    example: str = ""
    description: str = ""
    place: str = ""
    """Where a parameter stands: `query`, `header`."""
    allowed: str = ""
    """What its values must be beside their type: `1 to 100`."""


def field_table(caption: str, fields: Iterable[Field]) -> str:
    """Write fields as a table; nothing where there are none."""
    return table(
        caption,
        [
            {
                "Name": escape(field.name),
                "In": escape(field.place),
                "Type": field.type,
                "Allowed": escape(field.allowed),
                "Required": "yes" if field.required else "no",
                "Default": field.default,
                "Example": field.example,
                "Description": field.description,
            }
            for field in dict.fromkeys(fields)
        ],
    )


def table(caption: str, rows: Sequence[dict[str, str]]) -> str:
    """Write rows of HTML by column as a table, without the columns that none of them fills; nothing where there are no rows."""
    columns = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    if not columns:
        return ""
    head = "".join(f"<th>{name}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{row[name]}</td>' for name in columns)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class SchemaWriter:
    """Writes the schemas of a file."""

    def __init__(self, root: dict[str, Any], *, named: Sequence[str], characters: int) -> None:
        """`named` are the places (`#/components/schemas/`) whose schemas have sections of their own, and are linked.

        `characters` is how long the file is.
        """
        self.removed: list[RemovedLine] = []
        self.elsewhere: dict[str, None] = {}
        """What is referred to and is not in the file."""
        self.referred: set[str] = set()
        self.left_out = 0
        """Schemas that were too many, or too deep."""
        self._root = root
        self._named = tuple(named)
        self._looked_at, self._most = 0, MOST_SCHEMAS + int(SCHEMAS_OF_CHARACTER * characters)

    def resolved(self, value: object) -> dict[str, Any]:
        """Return an object, or the one that it refers to; an empty one where that is not in the file."""
        found, names = entries(value), set()
        while isinstance(pointer := found.get("$ref"), str) and pointer not in names:
            names.add(pointer)
            self.referred.add(pointer)
            target = self._at(pointer)
            if target is None:
                self.elsewhere[pointer] = None
                return {}
            beside = {key: one for key, one in found.items() if key in ("description", "summary")}
            found = {**target, **beside}
        return {} if "$ref" in found else found

    def _at(self, pointer: str) -> dict[str, Any] | None:
        if not pointer.startswith("#/"):
            return None
        place: Any = self._root
        for step in pointer[2:].split("/"):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(place, list) and name.isdecimal() and int(name) < len(place):
                place = place[int(name)]
            elif isinstance(place, dict) and name in place:
                place = place[name]
            else:
                return None
        return entries(place) if isinstance(place, dict) else None

    def markdown(self, text: object, *, level: int) -> str:
        """Write a description, its headings `level` levels lower."""
        written = said(text)
        if MARKDOWN_MARKS.isdisjoint(written):
            return f"<p>{escape(written)}</p>" if written else ""
        html, marks = markdown_passage(written, level=level)
        self.removed += marks
        return html

    def line(self, text: object) -> str:
        """Write a text of one line."""
        return fit_for_cell(self.markdown(text, level=LOWEST_HEADING)).strip().removeprefix("<p>").removesuffix("</p>")

    def cell(self, text: object) -> str:
        """Write a description as it can stand in a cell."""
        return fit_for_cell(self.markdown(text, level=LOWEST_HEADING))

    def type_of(self, schema: object, depth: int = 0) -> str:
        """Say in a line what a value is, with links to schemas that have a section."""
        if not self._may_look(depth, DEEPEST_TYPE):
            return "object"
        written = entries(schema)
        pointer = written.get("$ref")
        if isinstance(pointer, str) and pointer.startswith(self._named):
            self.referred.add(pointer)
            name = unquote(pointer.rpartition("/")[2]).replace("~1", "/").replace("~0", "~")
            return f'<a href="{escape(pointer)}">{escape(name)}</a>'
        if isinstance(pointer, str):
            target = self.resolved(schema)
            return self.type_of(target, depth + 1) if target else escape(pointer)
        return ", ".join(filter(None, (self._kind(written, depth), escape(self.allowed(written)))))

    def kind_of(self, schema: object) -> str:
        """Say in a line what a value is, without what its type allows."""
        written = entries(schema)
        return self.type_of(schema) if "$ref" in written else self._kind(written, 0)

    def allowed(self, schema: object) -> str:
        """Say which values a type allows."""
        written = self.resolved(schema)
        values = ["null" if one is None else value_text(one) for one in items(written.get("enum"))]
        if len(values) > MOST_VALUES:
            self.removed.append(RemovedLine("values of an enumeration", ", ".join(values[MOST_VALUES:])))
            values = [*values[:MOST_VALUES], "..."]
        return ", ".join([f"one of: {', '.join(values)}"] * bool(values) + list(_constraints(written)))

    def _kind(self, schema: dict[str, Any], depth: int) -> str:
        flags = [words for key, words in FLAGS.items() if is_true(schema.get(key))]
        if "const" in schema:
            return ", ".join([f"always {escape(value_text(schema['const']))}", *flags])
        for key in VARIANTS:
            if variants := items(schema.get(key)):
                kinds = list(dict.fromkeys(filter(None, (self._variant(one, depth + 1) for one in variants))))
                if key == "allOf" and len(kinds) > 1 and "object" in kinds:
                    kinds = [*(kind for kind in kinds if kind != "object"), "more fields"]
                return ", ".join([JOINTS[key].join(kinds) or "object", *flags])
        types = [said(one) for one in items(schema.get("type"))] or [said(schema.get("type"))]
        kinds = [self._of_type(one, schema, depth) for one in types]
        if is_true(schema.get("nullable")):
            kinds.append("null")
        if form := said(schema.get("collectionFormat")):
            flags.append(escape(f"written as {form}"))
        return ", ".join(filter(None, (" or ".join(filter(None, kinds)), *flags)))

    def _variant(self, schema: object, depth: int) -> str:
        of_type, title = self.type_of(schema, depth), said(entries(schema).get("title"))
        return escape(title) if title and of_type == "object" else of_type

    def _of_type(self, type_: str, schema: dict[str, Any], depth: int) -> str:
        if type_ == "array" or (not type_ and "items" in schema):
            inner = self.type_of(schema["items"], depth + 1) if entries(schema.get("items")) else ""
            return f"array of {inner}" if inner else "array"
        if others := entries(schema.get("additionalProperties")):
            return f"map of {self.type_of(others, depth + 1)}"
        if not type_ and "properties" in schema:
            return "object"
        shown = said(schema.get("format"))
        return escape(f"{type_} ({shown})" if type_ and shown and type_ != "null" else type_ or shown)

    def words(self, schema: object, *, level: int, depth: int = 0) -> str:
        """Write what is said of a value, and of the variants, parts and items that have no section of their own."""
        written = self.resolved(schema)
        parts = [self.markdown(written.get("description"), level=level)]
        inner = [one for key in VARIANTS for one in items(written.get(key))]
        inner += [written[key] for key in ("items", "additionalProperties") if key in written]
        for one in inner if self._may_look(depth, DEEPEST_TYPE) else ():
            if self.has_section(one):
                continue
            title, said_of = said(entries(one).get("title")), self.words(one, level=level, depth=depth + 1)
            parts += [f"<p>{escape(title)}:</p>" if title and said_of else "", said_of]
        return "".join(parts)

    def fields(self, schema: object, prefix: str = "", depth: int = 0) -> Iterator[Field]:
        """Yield the fields of an object, those of objects in it by their path: `address.city`, `items[].name`.

        What has a section of its own is linked, and has no rows here but for parts of the whole (`allOf`).
        """
        if not self._may_look(depth, DEEPEST_FIELD):
            return
        written = self.resolved(schema)
        required = {said(one) for one in items(written.get("required"))}
        named = entries(written.get("properties"))
        named |= {f"/{pattern}/": of for pattern, of in entries(written.get("patternProperties")).items()}
        for name, of in named.items():
            yield self._field(prefix + name, of, required=name in required)
            yield from self._within(of, prefix + name, depth)
        for key in VARIANTS:
            for variant in items(written.get(key)):
                if not self.has_section(variant):
                    yield from self.fields(variant, prefix, depth + 1)
        if others := entries(written.get("additionalProperties")):
            yield from self._within(others, f"{prefix}*", depth)
        if prefix == "" and entries(written.get("items")) and not self.has_section(written["items"]):
            yield from self.fields(written["items"], "[].", depth + 1)

    def _within(self, schema: object, name: str, depth: int) -> Iterator[Field]:
        """Yield the fields of the object, or of those in the list, that a field is."""
        if self.has_section(schema):
            return
        inner = self.resolved(schema)
        while entries(inner.get("items")):
            if self.has_section(inner["items"]) or not self._may_look(depth, DEEPEST_FIELD):
                return
            inner, name, depth = self.resolved(inner["items"]), f"{name}[]", depth + 1
        yield from self.fields(inner, f"{name}.", depth + 1)

    def has_section(self, schema: object) -> bool:
        """Whether it refers to a schema that stands in a section of its own."""
        pointer = entries(schema).get("$ref")
        return isinstance(pointer, str) and pointer.startswith(self._named)

    def _field(self, name: str, schema: object, *, required: bool) -> Field:
        written = self.resolved(schema)
        self.count_unread(entries(schema))
        return Field(
            name,
            self.kind_of(schema),
            required,
            escape(value_text(written.get("default"))),
            escape(value_text(_example_of(written))),
            self._words_in_cell(schema),
            allowed="" if self.has_section(schema) else self.allowed(schema),
        )

    def _words_in_cell(self, schema: object) -> str:
        if self.has_section(schema):  # it says more of itself
            return self.cell(self.resolved(schema).get("description"))
        said_of = self.words(schema, level=LOWEST_HEADING)
        return fit_for_cell(said_of) or escape(said(entries(schema).get("title")))

    def count_unread(self, written: dict[str, Any], known: frozenset[str] = READ) -> None:
        """Count what is said by other keywords, and what programs added for themselves (`x-...`)."""
        for key, value in written.items():
            if key not in known:
                rule = "extension" if key.startswith("x-") else "keyword of OpenAPI"
                self.removed.append(RemovedLine(rule, f"{key}: {value_text(value)}"))

    def example(self, label: str, value: object) -> str:
        """Write an example as a listing; one that is too long is left out and counted."""
        if value in (None, "", {}, []):
            return ""
        text = value if isinstance(value, str) else json_text(value, LONGEST_EXAMPLE)
        if len(text) > LONGEST_EXAMPLE:
            self.removed.append(RemovedLine("long example", f"{label} {text[:LONGEST_VALUE]} ..."))
            return ""
        return f"<p>{escape(label)}</p><pre>{escape(text)}</pre>"

    def _may_look(self, depth: int, deepest: int) -> bool:
        self._looked_at += 1
        if depth > deepest or self._looked_at > self._most:
            self.left_out += 1
            return False
        return True


def value_text(value: object) -> str:
    """Write a value of any kind in one line, cut where it is long."""
    text = said(value) or (json_text(value, LONGEST_VALUE) if isinstance(value, dict | list) and value else "")
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]} ..."


def json_text(value: object, longest: int) -> str:
    """Write a value as JSON, and not much more of it than `longest` characters: what YAML says by aliases may have no end."""
    indent = 2 if longest > LONGEST_VALUE else None
    text = ""
    try:
        for part in json.JSONEncoder(ensure_ascii=False, indent=indent, default=str).iterencode(value):
            text += part
            if len(text) > longest:
                break
    except (ValueError, RecursionError, TypeError):
        return f"{text} ..."
    return text


def _example_of(schema: dict[str, Any]) -> object:
    if "example" in schema:
        return schema["example"]
    several = items(schema.get("examples"))
    if not several and "items" in schema:
        return entries(schema["items"]).get("example")
    return several[0] if several else None


def _constraints(schema: dict[str, Any]) -> Iterator[str]:
    """Say what a value must be beside its type: `1 to 100`, `at most 20 characters`."""
    for least_key, most_key, unit in BOUNDS:
        least, most = said(schema.get(least_key)), said(schema.get(most_key))
        above, below = _exclusive(schema, "Minimum", least), _exclusive(schema, "Maximum", most)
        if unit == "" and (above or below):
            yield " and ".join(
                filter(None, (above or (least and f"at least {least}"), below or (most and f"at most {most}")))
            )
        elif least and most:
            yield f"{least} to {most}{unit}"
        elif least or most:
            yield f"at least {least}{unit}" if least else f"at most {most}{unit}"
    for key, words in OTHER_CONSTRAINTS.items():
        if value := said(schema.get(key)):
            yield f"{words} {value}"


def _exclusive(schema: dict[str, Any], end: str, bound: str) -> str:
    """Say a bound that is not reached: `exclusiveMinimum` is a number, or says that `minimum` is one (before version 3.1)."""
    value = said(schema.get(f"exclusive{end}"))
    number = bound if value == "true" else "" if value == "false" else value
    return number and f"{'more' if end == 'Minimum' else 'less'} than {number}"


def fit_for_cell(html: str) -> str:
    """Take out of HTML what would make a table of layout of the one that it stands in: tables and headings."""
    return CELL_TAG.sub(lambda tag: f"<{tag[1]}{IN_A_CELL[tag[2].lower()]}>{' ' if tag[1] else ''}", html)
