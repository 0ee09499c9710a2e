"""Pages of PDFs and pictures, drawn in a process of their own: pdfium is not thread-safe, and no file may take the server down."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from kgrag.documents import picture_pages
from kgrag.documents.discovery import PICTURE
from kgrag.documents.pdf import page_images
from kgrag.documents.text_encoding import unpacked_file
from kgrag.errors import DocumentError
from kgrag.types import Document, PageBox

__all__ = ["PAGES_OF", "PageProcess"]

KEPT_BYTES = 64_000_000
"""Of pictures."""
KEPT_ANSWERS = 4_000
"""Sizes of pages, and places of quotations."""
PAGES_UNTIL_NEW = 500
"""Files drawn until the process is replaced: what pdfium loses of memory goes with it."""

PAGES_OF = {"pdf": page_images, PICTURE: picture_pages}
"""Format → what draws its pages."""

T = TypeVar("T")


class PageProcess:
    """Draws pages of `PAGES_OF` and finds quotations on them; remembers what it was asked, by the content of the file. Close it."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._starting = threading.Lock()
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._kept_bytes = 0

    async def picture(self, path: Path, of: Document, number: int, *, width: int) -> bytes:
        """Return a page (from 1) as PNG, `width` pixels wide. Raises `DocumentError`."""
        key = (of.sha256, "picture", number, width)
        return await self._ask(key, PAGES_OF[of.format].render_page, path, number, width=width)

    async def sizes(self, path: Path, of: Document) -> list[tuple[float, float]]:
        """Return width and height of every page in points. Raises `DocumentError`."""
        return await self._ask((of.sha256, "sizes"), PAGES_OF[of.format].page_sizes, path)

    async def places(self, path: Path, of: Document, quote: str, boxes: Sequence[PageBox]) -> list[PageBox]:
        """Return boxes around the lines of a quotation. Raises `DocumentError`."""
        key = (of.sha256, "places", quote, tuple(boxes))
        return await self._ask(key, PAGES_OF[of.format].places_of_quote, path, quote, tuple(boxes))

    def close(self) -> None:
        """End the process."""
        with self._starting:
            if self._pool is not None:
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._pool = None

    async def _ask(self, key: Hashable, function: Callable[..., T], path: Path, *args: Any, **kwargs: Any) -> T:
        if key in self._kept:
            self._kept.move_to_end(key)
            found: T = self._kept[key]
            return found
        pool = await asyncio.to_thread(self._opened)
        try:
            found = await asyncio.wrap_future(pool.submit(_call, function, path, args, kwargs))
        except _Refused as error:
            raise DocumentError(path, str(error)) from error
        except BrokenProcessPool as error:
            with self._starting:
                if self._pool is pool:
                    self._pool = None
            raise DocumentError(path, "broke the program that draws pages; its text is still shown") from error
        self._keep(key, found)
        return found

    def _opened(self) -> ProcessPoolExecutor:
        with self._starting:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    max_workers=1,
                    mp_context=multiprocessing.get_context("spawn"),
                    max_tasks_per_child=PAGES_UNTIL_NEW,
                )
            return self._pool

    def _keep(self, key: Hashable, value: Any) -> None:
        self._kept[key] = value
        self._kept_bytes += _size(value)
        while len(self._kept) > KEPT_ANSWERS or self._kept_bytes > KEPT_BYTES:
            self._kept_bytes -= _size(self._kept.popitem(last=False)[1])


def _size(value: object) -> int:
    return len(value) if isinstance(value, bytes) else 1_000


def _call(function: Callable[..., T], path: Path, args: Sequence[Any], kwargs: dict[str, Any]) -> T:
    """Run in the other process; an error of pdfium or of the picture's writer is that of the document."""
    try:
        with unpacked_file(path) as file:
            return function(file, *args, **kwargs)
    except DocumentError as error:
        # Its own arguments are two, and an exception is made again from those of its base on the way back.
        raise _Refused(error.reason) from None
    except (OSError, RuntimeError, ValueError) as error:
        raise _Refused(f"is broken: {error}") from None


class _Refused(Exception):
    """What crosses the border between the processes."""
