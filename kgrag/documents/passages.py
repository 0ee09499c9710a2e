"""Ready passages: `.jsonl` files in which every line is one chunk, neither split nor cleaned.

{"id": "42", "title": "X-100", "text": "The X-100 runs from 3.3 V.", "product": "X-100", "url": "..."}
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgrag.documents.discovery import Source
from kgrag.documents.text_encoding import HEAD_BYTES, wide_encoding
from kgrag.errors import DocumentError
from kgrag.types import Chunk, Document, Scalar, content_id

__all__ = ["PassageFile", "read_passages"]

LINES_NAMED = 5
"""How many wrong lines a problem names; it counts all of them."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One line of the file."""

    id: str
    title: str
    text: str
    extra: dict[str, Scalar]
    """Every other key; what is no plain value is its JSON, and a number that is not finite is text."""

    @property
    def canonical(self) -> str:
        """All that the line says, however it was written."""
        return json.dumps([self.id, self.title, self.text, self.extra], ensure_ascii=True, sort_keys=True)


@dataclass(frozen=True, slots=True)
class PassageFile:
    """The documents of a file with their chunks, and what was wrong in it."""

    documents: tuple[tuple[Document, tuple[Chunk, ...]], ...]
    problems: tuple[str, ...]


def read_passages(source: Source, *, count_tokens: Callable[[str], int]) -> PassageFile:
    """Read a file of passages: one document for each title, in order of first appearance.

    A passage without a title belongs to the document with the empty title, the file itself. Values that all passages of a document
    share become the document's; where they differ, its metadata has the list of them as JSON. A line that is no passage is reported with
    its number and the rest is read; so is an `id` that was there before (both passages are kept, but a citation cannot tell them apart).
    Raises `DocumentError` where no line is a passage.
    """
    groups: dict[str, list[Passage]] = {}
    wrong: list[str] = []
    first_line_of: dict[str, int] = {}
    duplicates: list[str] = []
    for number, line in _lines(source.path):
        try:
            passage = _passage(line)
        except ValueError as error:
            wrong.append(f"line {number}: {error}")
            continue
        first = first_line_of.setdefault(passage.id, number)
        if first != number:
            duplicates.append(f"line {number}: id {passage.id!r} is that of line {first}")
        groups.setdefault(passage.title, []).append(passage)
    if not groups:
        raise DocumentError(source.path, f"no passages: {wrong[0]}" if wrong else "the file is empty")
    problems = [
        *_summary(wrong, "lines are not passages and were left out"),
        *_summary(duplicates, "passages have an id that is not unique in the file"),
    ]
    documents = [_document(source, title, passages, count_tokens) for title, passages in groups.items()]
    return PassageFile(tuple(documents), tuple(problems))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            encoding = wide_encoding(file.read(HEAD_BYTES))
            file.seek(0)
            lines = (text.encode() for text in io.TextIOWrapper(file, encoding, "replace")) if encoding else file
            for number, line in enumerate(lines, start=1):
                stripped = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
                if stripped:
                    yield number, stripped
    except OSError as error:
        raise DocumentError(path, f"cannot be read: {error.strerror}") from error


def _passage(line: bytes) -> Passage:
    """Read one line. Raises `ValueError` that says what is wrong with it."""
    try:
        data: Any = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 ({error.reason} at byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error})") from error
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error
    if not isinstance(data, dict):
        raise ValueError(f"expected an object with id, title and text, got {type(data).__name__}")
    ident, title, text = data.pop("id", None), data.pop("title", None), data.pop("text", None)
    if isinstance(ident, bool) or not isinstance(ident, str | int) or ident == "":
        raise ValueError(f"`id` must be text, got {ident!r}")
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"`text` must be text that is not empty, got {text!r}"[:200])
    if title is not None and not isinstance(title, str):
        raise ValueError(f"`title` must be text, got {title!r}"[:200])
    extra = {_encodable(key): _scalar(value) for key, value in data.items()}
    return Passage(_encodable(str(ident)), _encodable(title or ""), _encodable(text), extra)


def _encodable(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON can write and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def _scalar(value: Any) -> Scalar:
    if isinstance(value, str):
        return _encodable(value)
    if value is None or (isinstance(value, int | float | bool) and math.isfinite(value)):
        return value
    return json.dumps(value, ensure_ascii=True, sort_keys=True)


def _document(
    source: Source, title: str, passages: Sequence[Passage], count_tokens: Callable[[str], int]
) -> tuple[Document, tuple[Chunk, ...]]:
    metadata = {**_shared(passages), **source.metadata}
    sha256 = _sha256(passages)
    document = Document(
        id=content_id(source.stored_path, title, sha256),
        path=source.stored_path,
        title=title,
        sha256=sha256,
        format=source.format,
        product=_label(metadata.pop("product", None)) or source.product,
        category=_label(metadata.pop("category", None)) or source.category,
        version=_label(metadata.pop("version", None)) or source.version,
        metadata=metadata,
    )
    chunks = []
    for position, passage in enumerate(passages):
        chunk = Chunk(
            id=content_id(document.id, str(position), passage.text),
            document_id=document.id,
            source_id=passage.id,
            position=position,
            title=title,
            text=passage.text,
            tokens=0,
        )
        chunks.append(chunk.model_copy(update={"tokens": count_tokens(chunk.prompted_text)}))
    return document, tuple(chunks)


def _sha256(passages: Sequence[Passage]) -> str:
    digest = hashlib.sha256()
    for passage in passages:
        digest.update(passage.canonical.encode() + b"\n")
    return digest.hexdigest()


def _shared(passages: Sequence[Passage]) -> dict[str, Scalar]:
    """Merge the other keys of passages: one value as it is, several as a JSON list, in order of appearance."""
    values: dict[str, dict[str, Scalar]] = {}
    for passage in passages:
        for key, value in passage.extra.items():
            values.setdefault(key, {})[json.dumps(value)] = value
    return {
        key: next(iter(found.values())) if len(found) == 1 else json.dumps(list(found.values()), ensure_ascii=True)
        for key, found in values.items()
    }


def _label(value: Scalar) -> str | None:
    return None if value is None or value == "" else str(value)


def _summary(lines: Sequence[str], what: str) -> list[str]:
    if not lines:
        return []
    named = "; ".join(lines[:LINES_NAMED])
    more = f"; and {len(lines) - LINES_NAMED} more" if len(lines) > LINES_NAMED else ""
    return [f"{len(lines)} {what}: {named}{more}"]
