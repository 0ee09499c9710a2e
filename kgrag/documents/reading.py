"""One file in, its documents out: the wiring of this room."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from kgrag.documents.chunking import chunk_blocks, fit_title
from kgrag.documents.cleaning import clean
from kgrag.documents.cleaning_report import CleaningReport
from kgrag.documents.conversion import convert
from kgrag.documents.discovery import Source
from kgrag.documents.mojibake import repair_text
from kgrag.documents.passages import read_passages
from kgrag.errors import DocumentError
from kgrag.types import Chunk, Document, Scalar, content_id

__all__ = ["MAX_FILE_MB", "Converted", "read"]

MAX_FILE_MB = 100
"""Larger files are refused: a manual of a thousand pages has 10 to 50 MB, and what is larger is a dump."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A document as it goes into the store, and what was done to make it."""

    document: Document
    chunks: tuple[Chunk, ...]
    cleaning: CleaningReport = field(default_factory=CleaningReport)
    notes: tuple[str, ...] = ()
    """What the user should know: how a PDF was read, what was repaired, lines of a `.jsonl` file that could not be read."""


def read(
    source: Source,
    *,
    count_tokens: Callable[[str], int],
    max_tokens: int,
    pdf: str = "auto",
    max_file_mb: int = MAX_FILE_MB,
) -> Iterator[Converted]:
    """Convert, clean and chunk a file.

    Yields one document, or for `.jsonl` one for each title. `count_tokens` is the embedder's tokenizer; no chunk's `embedded_text` has
    more than `max_tokens` (ready passages excepted: they are not split). `pdf` is `auto`, `native` or `standard`. Raises `DocumentError`,
    with a reason, for a file that is broken, encrypted, empty, of another format than its name says, or larger than `max_file_mb`.
    """
    _check_size(source, max_file_mb)
    if source.format == "jsonl":
        passages = read_passages(source, count_tokens=count_tokens)
        for number, (document, chunks) in enumerate(passages.documents):
            yield Converted(document, chunks, notes=passages.problems if number == 0 else ())
        return
    data = _bytes(source)
    converted = convert(source, data, pdf=pdf)
    blocks, report = clean(converted.blocks, removed_before=converted.removed)
    if not blocks:
        raise DocumentError(source.path, _nothing_left(report))
    first_heading = next((block.text for block in blocks if block.kind == "heading"), "")
    title = repair_text(converted.title or first_heading or source.path.stem)
    document = _document(
        source, fit_title(title, count_tokens=count_tokens, max_tokens=max_tokens), data, converted.metadata
    )
    chunks = chunk_blocks(document, blocks, count_tokens=count_tokens, max_tokens=max_tokens)
    notes = list(converted.notes)
    if report.repaired:
        notes.append(f"{len(report.repaired)} lines had wrongly encoded characters, which were repaired")
    yield Converted(document, chunks, report, tuple(notes))


def _check_size(source: Source, max_file_mb: int) -> None:
    try:
        size = source.path.stat().st_size
    except OSError as error:
        raise DocumentError(source.path, f"cannot be read: {error.strerror}") from error
    if size == 0:
        raise DocumentError(source.path, "the file is empty")
    if size > max_file_mb * 1_000_000:
        raise DocumentError(
            source.path,
            f"has {size / 1_000_000:.0f} MB, more than the limit of {max_file_mb} MB: split it, or raise `max_file_mb` "
            "(kgrag.toml, KGRAG_MAX_FILE_MB)",
        )


def _bytes(source: Source) -> bytes:
    try:
        return source.path.read_bytes()
    except OSError as error:
        raise DocumentError(source.path, f"cannot be read: {error.strerror}") from error


def _nothing_left(report: CleaningReport) -> str:
    removed = ", ".join(f"{rule} {count}" for rule, count in report.counts.items())
    return f"has no text{f' but what cleaning removes ({removed} lines)' if removed else ''}"


def _document(source: Source, title: str, data: bytes, said: Mapping[str, Scalar]) -> Document:
    """Make the record of a document. What the user says about it counts more than its folders, and those more than what it says itself."""
    sha256 = hashlib.sha256(data).hexdigest()
    known = {key: str(said[key]) for key in ("product", "category", "version") if said.get(key)}
    metadata = {key: value for key, value in said.items() if key not in known}
    return Document(
        id=content_id(source.stored_path, "", sha256),
        path=source.stored_path,
        title=title,
        sha256=sha256,
        format=source.format,
        product=source.product or known.get("product"),
        category=source.category or known.get("category"),
        version=source.version or known.get("version"),
        metadata={**metadata, **source.metadata},
    )
