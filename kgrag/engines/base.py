"""The seam between the stages of a build and where their work is done."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol, TypeVar

from kgrag.documents import Converted, Source
from kgrag.extract.base import Extractor
from kgrag.models.base import ChatModel, Embedder
from kgrag.settings import Settings
from kgrag.types import Chunk, Extraction

__all__ = ["Engine", "Extract", "Readers"]

T = TypeVar("T")
Extract = Callable[[Chunk], Awaitable[Extraction]]
"""Extracts a chunk as `kgrag.engines.work.extract_chunk` does."""


class Readers(Protocol):
    """Read files into documents and chunks, several ahead of the one that is asked for."""

    def ahead(self, files: Iterable[T], source_of: Callable[[T], Source | None]) -> Iterator[T]:
        """Yield files as they come, having begun to read those that follow; `source_of` gives None for what is not to be read."""
        ...

    def read(self, source: Source) -> tuple[Iterable[Converted], float]:
        """Return the documents of a file, and the seconds that were spent on it elsewhere.

        Raises `DocumentError`, here or while they are taken; and `Stopped` when the build is stopping.
        """
        ...


class Engine(Protocol):
    """Does the three kinds of work of a build. Nothing of it writes to the store."""

    @property
    def batches_ahead(self) -> int:
        """How many batches of texts are embedded while another one is written."""
        ...

    def readers(
        self, sources: Iterable[Source], *, embedder: Embedder, settings: Settings, stopping: threading.Event
    ) -> AbstractContextManager[Readers]:
        """Open what reads files."""
        ...

    def embedding(self, embedder: Embedder) -> AbstractAsyncContextManager[Embedder]:
        """Open the same embedder, where the work is done."""
        ...

    def extraction(
        self, extractor: Extractor, *, model: ChatModel | None, settings: Settings
    ) -> AbstractAsyncContextManager[Extract]:
        """Open what extracts as `extractor` does, which is prepared and has its schema. `model` is what it asks."""
        ...

    def close(self) -> None:
        """Let go of what it holds; a second call does nothing."""
        ...
