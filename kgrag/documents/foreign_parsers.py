"""The border to parsers of others: a file of anybody makes them raise anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgrag.errors import DocumentError

__all__ = ["broken_means_document_error"]


@contextmanager
def broken_means_document_error(path: Path) -> Iterator[None]:
    """Turn what a parser raises on a broken file (`KeyError`, `zlib.error`, `AttributeError`, ...) into a `DocumentError` that says it."""
    try:
        yield
    except (DocumentError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:300]
        raise DocumentError(path, f"is broken: {reason or type(error).__name__}") from error
