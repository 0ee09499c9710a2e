"""Rows of CSV as `neo4j-admin database import` reads them, without loss.

A field that is not there is empty, and an empty text is `""`: Python's own reader does not tell them apart. Lists are fields, too, with
a delimiter between their items that no item has. That tool leaves out lists without items and cannot write a list of one empty text, so
each of both has a mark in its place.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kgrag.errors import InputError
from kgrag.store.exchange.kinds import Column, Kind

__all__ = ["MarkTaken", "Marks", "RowFile", "read_rows", "sha256_of"]

LONGEST_ROW = 256 * 2**20
"""Characters: nothing that kgrag writes comes near it."""
SHOWN_CHARACTERS = 60

_FIELD = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",\n]*))([,\n])')
_LONG = re.compile(r"-?[0-9]{1,19}")


class MarkTaken(Exception):
    """An item of a list has a character that was to be a mark."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Two of the characters that Unicode keeps out of texts (U+FDD0 to U+FDEF): one between the items of a list, one for odd lists."""

    delimiter: str
    mark: str

    @classmethod
    def all(cls) -> Iterator[Marks]:
        """Every pair that can be taken."""
        for number in range(0xFDD0, 0xFDF0, 2):
            yield cls(chr(number), chr(number + 1))

    @property
    def one_empty(self) -> str:
        """Stands for a list of one empty text."""
        return self.mark

    @property
    def none(self) -> str:
        """Stands for a list without items."""
        return self.mark * 2

    def joined(self, items: Sequence[str]) -> str:
        """Write a list of texts. Raises `MarkTaken`."""
        if any(self.delimiter in item or self.mark in item for item in items):
            raise MarkTaken
        if not items:
            return self.none
        return self.delimiter.join(items) if len(items) > 1 or items[0] else self.one_empty

    def split(self, text: str) -> list[str]:
        """Read a list of texts."""
        if text == self.none:
            return []
        return [""] if text == self.one_empty else text.split(self.delimiter)


class RowFile:
    """The file of a kind, row after row, with its SHA-256, number of rows and longest row (bytes). Close it."""

    def __init__(self, path: Path, kind: Kind, marks: Marks) -> None:
        self.kind, self.rows, self.longest = kind, 0, 0
        self._marks = marks
        self._known = frozenset(column.name for column in kind.columns)
        self._sha256 = hashlib.sha256()
        self._file = path.open("wb")
        self._put(kind.header)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def sha256(self) -> str:
        """Of what was written."""
        return self._sha256.hexdigest()

    def put(self, row: Mapping[str, Any]) -> None:
        """Write a row: `properties`, and `labels`, or `source`, `target` and perhaps `type`.

        Raises `MarkTaken`, and `InputError` for a property that no column is for or that is of another type than its column.
        """
        properties: Mapping[str, Any] = row["properties"]
        if unknown := {name for name, value in properties.items() if value is not None} - self._known:
            raise InputError(
                f"A {self.kind.name} has the property {min(unknown)!r}, which kgrag did not write and cannot export: remove it, then "
                "export again."
            )
        fields = [self._field(column, properties.get(column.name)) for column in self.kind.columns]
        if self.kind.is_relationship:
            ends = [_quoted(row["source"]), _quoted(row["target"])]
            fields = [*ends, *([] if self.kind.label else [_quoted(row["type"])]), *fields]
        elif not self.kind.label:
            fields.append(_quoted(self._marks.delimiter.join(sorted(row["labels"]))))
        self._put(fields)
        self.rows += 1

    def _put(self, fields: Sequence[str]) -> None:
        data = (",".join(fields) + "\n").encode()
        self._sha256.update(data)
        self._file.write(data)
        self.longest = max(self.longest, len(data))

    def _field(self, column: Column, value: Any) -> str:
        if value is None:
            return ""
        try:
            return self._written(column, value)
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            shown = repr(value)[:SHOWN_CHARACTERS]
            raise InputError(
                f"The property {column.name!r} of a {self.kind.name} is no {column.type}: {shown}. kgrag did not write it."
            ) from error

    def _written(self, column: Column, value: Any) -> str:
        match column.type:
            case "string":
                return _quoted(value)
            case "long":
                if isinstance(value, bool) or int(value) != value:
                    raise ValueError
                return str(int(value))
            case "double":
                return repr(float(value))
            case "boolean":
                return {True: "true", False: "false"}[value]
            case "string[]":
                return _quoted(self._marks.joined(value))
            case "float[]":
                # Nine digits tell every 32-bit number from its neighbours.
                return self._marks.delimiter.join(["%.9g"] * len(value)) % tuple(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def sha256_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_rows(path: Path, kind: Kind, marks: Marks, *, dimensions: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file as `RowFile.put` took them. Raises `InputError` where it is no such file."""
    lines = _fields(path)
    header = [text for text, _ in next(lines, [])]
    if header != kind.header:
        raise InputError(
            f"{path}: expected the columns {','.join(kind.header)}, got {','.join(header)[:500]!r}. Export again."
        )
    width = len(header)
    for number, fields in enumerate(lines, start=1):
        if len(fields) != width:
            raise InputError(f"{path}, row {number}: expected {width} fields, got {len(fields)}. Export again.")
        values = iter(fields)
        row: dict[str, Any] = {}
        if kind.is_relationship:
            row["source"], row["target"] = next(values)[0], next(values)[0]
            if not kind.label:
                row["type"] = next(values)[0]
        properties = {}
        for column, (text, quoted) in zip(kind.columns, values, strict=False):
            if text or quoted:
                properties[column.name] = _read(column, text, marks, dimensions, f"{path}, row {number}")
        row["properties"] = properties
        if not kind.is_relationship and not kind.label:
            row["labels"] = fields[-1][0].split(marks.delimiter)
        yield row


def _read(column: Column, text: str, marks: Marks, dimensions: int, where: str) -> Any:
    try:
        match column.type:
            case "string":
                return text
            case "long":
                if not _LONG.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
                    raise ValueError
                return int(text)
            case "double":
                number = float(text)
                if not math.isfinite(number):
                    raise ValueError
                return number
            case "boolean":
                return {"true": True, "false": False}[text]
            case "string[]":
                return marks.split(text)
            case "float[]":
                vector = np.array(text.split(marks.delimiter), dtype=np.float32)
                if vector.shape != (dimensions,) or not np.isfinite(vector).all():
                    raise ValueError
                return vector.tolist()
    except (ValueError, KeyError) as error:
        expected = f"{dimensions} finite numbers" if column.type == "float[]" else column.type
        raise InputError(
            f"{where}: expected {expected} as {column.name!r}, got {text[:SHOWN_CHARACTERS]!r}. Export again."
        ) from error


def _fields(path: Path) -> Iterator[list[tuple[str, bool]]]:
    """Yield the fields of each row, and whether each was quoted."""
    with path.open(encoding="utf-8", newline="\n") as file:
        number = 0
        try:
            while line := file.readline(LONGEST_ROW):
                number += 1
                parts = [line]
                quotes, length = line.count('"'), len(line)
                while quotes % 2 or not parts[-1].endswith("\n"):
                    if not (line := file.readline(LONGEST_ROW)) or length > LONGEST_ROW:
                        raise InputError(f"{path}, line {number}: the row does not end; the file is cut. Export again.")
                    parts.append(line)
                    quotes, length = quotes + line.count('"'), length + len(line)
                yield _split("".join(parts), f"{path}, row {number - 1}")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: expected UTF-8, got something else after row {number}. Export again.") from error


def _split(row: str, where: str) -> list[tuple[str, bool]]:
    fields: list[tuple[str, bool]] = []
    place = 0
    while place < len(row):
        found = _FIELD.match(row, place)
        if found is None:
            raise InputError(f"{where}: a field is neither quoted nor without quotes. Export again.")
        quoted, plain, end = found.groups()
        fields.append((quoted.replace('""', '"'), True) if quoted is not None else (plain, False))
        place = found.end()
        if end == "\n" and place < len(row):
            raise InputError(f"{where}: a field has a line break and no quotes. Export again.")
    return fields
