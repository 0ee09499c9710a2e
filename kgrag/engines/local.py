"""The engine of one machine: conversion in processes beside each other, embedding and model calls in this one."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from kgrag.documents import Converted, Source
from kgrag.documents.page_parts import may_have_parts
from kgrag.documents.processes import IN_PLACE, ConversionProcesses
from kgrag.engines.base import Extract
from kgrag.engines.work import extract_chunk, read_source
from kgrag.extract.base import Extractor
from kgrag.models.base import ChatModel, Embedder
from kgrag.settings import Settings

__all__ = ["LocalEngine"]

MIN_MB = 2.0
"""With so many megabytes of files conversion has processes of its own: each takes up to three seconds to start."""

T = TypeVar("T")


class LocalEngine:
    """An `Engine` in this process, with others for conversion."""

    batches_ahead = 1

    @contextmanager
    def readers(
        self, sources: Iterable[Source], *, embedder: Embedder, settings: Settings, stopping: threading.Event
    ) -> Iterator[_Readers]:
        """Read in this process, and convert in others where there is much to convert."""
        with ConversionProcesses(_processes(sources, settings), pdf=settings.pdf, stopping=stopping) as processes:
            yield _Readers(processes, embedder, settings)

    @asynccontextmanager
    async def embedding(self, embedder: Embedder) -> AsyncIterator[Embedder]:
        """Embed in this process."""
        yield embedder

    @asynccontextmanager
    async def extraction(
        self, extractor: Extractor, *, model: ChatModel | None, settings: Settings
    ) -> AsyncIterator[Extract]:
        """Extract in this process."""
        yield partial(extract_chunk, extractor)

    def close(self) -> None:
        """Hold nothing."""


class _Readers:
    def __init__(self, processes: ConversionProcesses, embedder: Embedder, settings: Settings) -> None:
        self._processes, self._embedder, self._settings = processes, embedder, settings

    def ahead(self, files: Iterable[T], source_of: Callable[[T], Source | None]) -> Iterator[T]:
        return self._processes.ahead(files, source_of)

    def read(self, source: Source) -> tuple[Iterable[Converted], float]:
        conversion = self._processes.result(source)
        return read_source(
            source, self._embedder, self._settings, conversion
        ), conversion.seconds if conversion else 0.0


def _processes(sources: Iterable[Source], settings: Settings) -> int:
    """How many processes convert: as many as are set, else one for each core where there is enough to convert; 0 is the build's own."""
    files = [source for source in sources if source.format not in IN_PLACE]
    wanted = settings.processes
    if wanted is None:
        wanted = (os.cpu_count() or 1) if sum(_size(file.path) for file in files) >= MIN_MB * 1_000_000 else 1
    most = wanted if any(map(may_have_parts, files)) else len(files)
    return min(wanted, most) if wanted > 1 else 0


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # It is that file's failure when its turn comes.
        return 0
