"""Frames of pictures as pages: for those who want to see a source with their own eyes. As `kgrag.documents.pdf.page_images` is for PDFs.

Files are of anybody: whoever serves many people calls these functions in a process of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.documents.pdf.page_images import MAX_PIXELS
from kgrag.documents.pictures import counted_frames, on_white, open_picture, pixels_per_point, upright_frame
from kgrag.errors import DocumentError
from kgrag.types import PageBox

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["page_sizes", "places_of_quote", "render_page"]


@contextmanager
def _frames(path: Path) -> Iterator[tuple[Image, int]]:
    from PIL.Image import DecompressionBombError

    try:
        with warnings.catch_warnings(action="ignore"), open_picture(path.read_bytes(), path) as picture:
            yield picture, counted_frames(picture)
    except (DecompressionBombError, EOFError, SyntaxError) as error:
        raise DocumentError(path, f"cannot be shown: {error}") from error


def page_sizes(path: Path) -> list[tuple[float, float]]:
    """Return width and height of every frame in points, upright. Raises `DocumentError`."""
    with _frames(path) as (picture, count):
        return [_size(upright_frame(picture, frame)) for frame in range(count)]


def render_page(path: Path, number: int, *, width: int) -> bytes:
    """Draw a frame (from 1) `width` pixels wide, at most `MAX_PIXELS` in all, as PNG. Raises `DocumentError`."""
    with _frames(path) as (picture, count):
        if not 1 <= number <= count:
            raise DocumentError(path, f"expected a page from 1 to {count}, got {number}")
        upright = upright_frame(picture, number - 1)
        scale = min(width / upright.width, (MAX_PIXELS / (upright.width * upright.height)) ** 0.5)
        if upright.mode.startswith(("I", "F")):  # more than 8 bits, as it is read
            shown = on_white(upright)
        else:
            shown = upright.convert("RGBA" if upright.mode in ("P", "LA", "PA", "RGBA") else "RGB")
        size = max(1, round(upright.width * scale)), max(1, round(upright.height * scale))
        file = BytesIO()
        shown.resize(size).save(file, "PNG", compress_level=4)
        return file.getvalue()


def places_of_quote(path: Path, quote: str, boxes: Sequence[PageBox]) -> list[PageBox]:
    """Return nothing: a picture has no letters that a quotation could be found among, and is read once."""
    return []


def _size(upright: Image) -> tuple[float, float]:
    scale = pixels_per_point(upright)
    return upright.width / scale, upright.height / scale
