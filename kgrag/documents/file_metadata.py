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
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from kgrag.errors import InputError
from kgrag.types import Scalar

__all__ = ["FileMetadata", "read_file_metadata"]

Entry = tuple[str, dict[str, Scalar]]


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
        text = path.read_text(encoding="utf-8-sig")
        return FileMetadata(path, [_entry(path, key, values) for key, values in reader(path, text)])
    except OSError as error:
        raise InputError(f"{path}: the metadata file cannot be read ({error.strerror}).") from error
    except (ValueError, csv.Error) as error:  # not UTF-8, not JSON, not TOML
        raise InputError(
            f"{path}: the metadata file is not valid {path.suffix[1:].upper()} in UTF-8: {error}"
        ) from error


def _csv(path: Path, text: str) -> Iterator[tuple[Any, Any]]:
    rows = csv.DictReader(text.splitlines())
    if "path" not in (rows.fieldnames or ()):
        raise InputError(
            f"{path}: expected a column `path` in the first line, got {', '.join(rows.fieldnames or ()) or 'nothing'}."
        )
    for row in rows:
        extra = row.pop(None, None)
        if extra:
            raise InputError(f"{path}, line {rows.line_num}: more cells than the first line has columns: {extra}.")
        yield row.pop("path"), {key: value for key, value in row.items() if value}


def _jsonl(path: Path, text: str) -> Iterator[tuple[Any, Any]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield _keyed_by_path(path, f"line {number}", json.loads(line))


def _json(path: Path, text: str) -> Iterator[tuple[Any, Any]]:
    data = json.loads(text)
    if isinstance(data, list):
        yield from (_keyed_by_path(path, f"element {number}", item) for number, item in enumerate(data))
    elif isinstance(data, dict):
        yield from data.items()
    else:
        raise InputError(f"{path}: expected an object keyed by path or a list of objects, got {type(data).__name__}.")


def _toml(path: Path, text: str) -> Iterator[tuple[Any, Any]]:
    yield from tomllib.loads(text).items()


def _keyed_by_path(path: Path, where: str, item: Any) -> tuple[Any, Any]:
    if not isinstance(item, dict) or "path" not in item:
        raise InputError(f"{path}, {where}: expected an object with `path`, got {json.dumps(item)[:100]}.")
    return item["path"], {key: value for key, value in item.items() if key != "path"}


def _entry(file: Path, key: Any, values: Any) -> Entry:
    if not isinstance(key, str) or not key:
        raise InputError(f"{file}: a path must be text, got {key!r}.")
    if not isinstance(values, Mapping):
        raise InputError(f"{file}: {key!r} must have keys such as product and category, got {values!r}.")
    wrong = {name: value for name, value in values.items() if not isinstance(value, str | int | float | bool | None)}
    if wrong:
        raise InputError(f"{file}: {key!r} must have plain values (text, numbers, true or false), got {wrong}.")
    return PurePosixPath(key).as_posix(), dict(values)
