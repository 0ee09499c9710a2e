"""`--metadata FILE`: what the user says about files, which folders do not say.

The file's suffix says how it is written; `product`, `category` and `version` are known keys, every other is kept as metadata:

    .csv    one column `path`, one for each key                  path,product,version
                                                                 boards/*.pdf,X-100,Rev 3
    .jsonl  one object a line, with `path`                       {"path": "boards/*.pdf", "product": "X-100"}
    .json   a list of such objects, or an object keyed by path   {"boards/*.pdf": {"product": "X-100"}}
    .toml   tables keyed by path                                 ["boards/*.pdf"]
                                                                 product = "X-100"

A path is written as documents are stored (relative to the working directory), or relative to the folder that is built, or as a pattern of
either, in which `*` stands for anything, folders included. Where several match, an exact path wins over patterns and a later pattern over
an earlier one, key by key.
"""

from __future__ import annotations

import csv
import io
import json
import math
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetPydanticSchema, TypeAdapter, ValidationError
from pydantic_core import core_schema

from kgrag.common.csv_quotes import check_quotes
from kgrag.common.question_files import json_lines
from kgrag.errors import InputError
from kgrag.types import Scalar

__all__ = ["FileMetadata", "read_file_metadata"]

T = TypeVar("T")


def _finite(value: Scalar) -> Scalar:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not finite")  # no JSON: whoever reads what is said about the document could not
    return value


Entry = tuple[str, dict[str, Scalar]]

PathText = Annotated[str, Field(min_length=1)]
PlainValue = Annotated[
    Scalar,
    GetPydanticSchema(
        lambda source, handler: core_schema.custom_error_schema(
            core_schema.no_info_after_validator_function(_finite, handler(source)),
            "plain_value",
            custom_error_message="a plain value (text, a finite number, true or false)",
        )
    ),
]


class _Row(BaseModel):
    """What one row, line or element says; every key but `path` is free."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, PlainValue]
    path: PathText


ROW, KEYED_BY_PATH = TypeAdapter(_Row), TypeAdapter(dict[PathText, dict[str, PlainValue]])
SHOWN_CHARACTERS = 100
EXPECTED = {
    "missing": "a path",
    "string_type": "text",
    "string_too_short": "a path",
    "model_type": "an object with `path`",
    "dict_type": "keys such as product and category",
}
"""In the words of the file, by pydantic's type of error; `plain_value` has its own."""


class FileMetadata:
    """What a metadata file says, by path or pattern; it remembers what was asked for."""

    def __init__(self, path: Path, entries: Iterable[Entry]) -> None:
        self.path = path
        self._exact: dict[str, dict[str, Scalar]] = {}
        self._patterns: dict[str, dict[str, Scalar]] = {}
        self._used: set[str] = set()
        for key, values in entries:
            is_pattern = any(character in key for character in "*?[")
            (self._patterns if is_pattern else self._exact).setdefault(key, {}).update(values)

    def lookup(self, *names: str) -> dict[str, Scalar]:
        """Merge what is said about a file that goes by these names."""
        merged: dict[str, Scalar] = {}
        for pattern, values in self._patterns.items():
            if any(fnmatchcase(name, pattern) for name in names):
                self._used.add(pattern)
                merged.update(values)
        for name in names:
            if name in self._exact:
                self._used.add(name)
                merged.update(self._exact[name])
        return merged

    def unused(self) -> tuple[str, ...]:
        """Name the paths and patterns that no `lookup` met."""
        return tuple(key for key in (*self._exact, *self._patterns) if key not in self._used)


def read_file_metadata(path: Path) -> FileMetadata:
    """Read a metadata file. Raises `InputError` that names the line or key that cannot be used."""
    readers = {".csv": _csv, ".jsonl": _jsonl, ".json": _json, ".toml": _toml}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: metadata must be a .csv, .json, .jsonl or .toml file, got {path.suffix or 'no suffix'!r}."
        )
    try:
        entries = list(reader(path, path.read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise InputError(f"{path}: the metadata file cannot be read ({error.strerror}).") from error
    except (ValueError, csv.Error) as error:  # not UTF-8, not JSON, not TOML
        raise InputError(
            f"{path}: the metadata file is not valid {path.suffix[1:].upper()} in UTF-8: {error}"
        ) from error
    except RecursionError:
        raise InputError(f"{path}: expected plain values by path, got lists or objects in one another.") from None
    return FileMetadata(path, ((PurePosixPath(key).as_posix(), values) for key, values in entries))


def _csv(path: Path, text: str) -> Iterator[Entry]:
    check_quotes(text)
    rows = csv.DictReader(io.StringIO(text, newline=""))
    if "path" not in (rows.fieldnames or ()):
        raise InputError(
            f"{path}: expected a column `path` in the first line, got {', '.join(rows.fieldnames or ()) or 'nothing'}."
        )
    for row in rows:
        if None in row:
            raise InputError(f"{path}, line {rows.line_num}: more cells than the first line has columns: {row[None]}.")
        yield _row(f"{path}, line {rows.line_num}", {key: value for key, value in row.items() if value})


def _jsonl(path: Path, _text: str) -> Iterator[Entry]:
    for number, line in json_lines(path):
        try:
            data = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: expected a JSON object with `path`: {error}.") from error
        yield _row(f"{path}, line {number}", data)


def _json(path: Path, text: str) -> Iterator[Entry]:
    data = json.loads(text)
    if isinstance(data, list):
        yield from (_row(f"{path}, element {number}", item) for number, item in enumerate(data, start=1))
    elif isinstance(data, dict):
        yield from _valid(KEYED_BY_PATH, str(path), data).items()
    else:
        raise InputError(f"{path}: expected an object keyed by path or a list of objects, got {type(data).__name__}.")


def _toml(path: Path, text: str) -> Iterator[Entry]:
    yield from _valid(KEYED_BY_PATH, str(path), tomllib.loads(text)).items()


def _row(where: str, data: Any) -> Entry:
    row = _valid(ROW, where, data)
    return row.path, row.model_extra or {}


def _valid(form: TypeAdapter[T], where: str, data: Any) -> T:
    try:
        return form.validate_python(data, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ", ".join([where, *(repr(key) for key in first["loc"] if key != "[key]")])
        got = repr(first["input"])[:SHOWN_CHARACTERS]
        raise InputError(f"{place}: expected {EXPECTED.get(first['type'], first['msg'])}, got {got}.") from error
