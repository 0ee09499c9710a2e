"""One file in, its documents out: the wiring of this room."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kgrag.documents.cleaning_report import CleaningReport
from kgrag.documents.discovery import Source
from kgrag.documents.passages import read_passages
from kgrag.errors import DocumentError
from kgrag.types import Chunk, Document

__all__ = ["MAX_FILE_MB", "Converted", "read"]

MAX_FILE_MB = 100
"""Larger files are refused: a manual of a thousand pages has 10 to 50 MB, and what is larger is a dump."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A document as it goes into the store, and what was done to make it."""

    document: Document
    chunks: tuple[Chunk, ...]
    cleaning: CleaningReport = CleaningReport()
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
    raise DocumentError(source.path, "not yet")


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
