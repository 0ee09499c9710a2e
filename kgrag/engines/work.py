"""The work of a build's stages, as every engine does it."""

from __future__ import annotations

from collections.abc import Iterable

from kgrag.common.waiting import wait_for
from kgrag.documents import Converted, Source, read
from kgrag.documents.processes import Conversion
from kgrag.errors import ModelError, ModelReplyError
from kgrag.extract.base import Extractor
from kgrag.models.base import Embedder
from kgrag.settings import Settings
from kgrag.types import Chunk, Extraction

__all__ = ["chunk_tokens", "extract_chunk", "read_source"]

SHOWN_ERROR_CHARACTERS = 2_000


def read_source(
    source: Source, embedder: Embedder, settings: Settings, conversion: Conversion | None = None
) -> Iterable[Converted]:
    """Read one file, which may be converted already, into its documents and their chunks. Raises `DocumentError`."""
    return read(
        source,
        count_tokens=embedder.count_tokens,
        max_tokens=chunk_tokens(embedder, settings),
        pdf=settings.pdf,
        chunker=settings.chunker,
        embed=lambda texts: wait_for(embedder.embed_documents(texts)),
        max_file_mb=settings.max_file_mb,
        convert=None if conversion is None else lambda _: conversion.blocks(),
    )


def chunk_tokens(embedder: Embedder, settings: Settings) -> int:
    """Tokens of the longest chunk: a hosted embedder's window can hold a whole document, and that is no passage to find or to cite."""
    return min(embedder.max_tokens, settings.chunk_tokens)


async def extract_chunk(extractor: Extractor, chunk: Chunk) -> Extraction:
    """Extract one chunk; what an extractor makes of a reply that cannot be used, or raises, is that chunk's failure.

    Raises `ModelUnavailable`, and another `ModelError` when waiting would not help.
    """
    try:
        return await extractor.extract(chunk)
    except ModelReplyError as error:
        return Extraction(chunk_id=chunk.id, state="failed", reason=str(error), usage=error.usage)
    except ModelError:
        raise
    except Exception as error:  # noqa: BLE001  a defect of an extractor must not end the build
        reason = f"The extractor {extractor.name} raised {type(error).__name__}: {error}"
        return Extraction(chunk_id=chunk.id, state="failed", reason=reason[:SHOWN_ERROR_CHARACTERS])
