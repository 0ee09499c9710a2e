"""Which pictures are no documents of their own: what pages show, and what is too small to have text on it."""

from __future__ import annotations

import gzip
import os
import re
import warnings
import zlib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePath
from urllib.parse import unquote

from kgrag.documents.text_encoding import PACKED

__all__ = ["is_small_picture", "shown_pictures"]

SUFFIX = re.compile(rb"\.(?:png|jpe?g|tiff?|webp|bmp)\b", re.IGNORECASE)
BACKWARD = re.compile(rb"[^\s\"'<>()\[\]{}=|,;`#?]+")
"""What stands before a suffix, read from there to its beginning: read forward, every word of a page would be a candidate."""
LONGEST_REFERENCE = 300
"""Bytes."""
SMALLEST_SIDE, SMALLEST_PIXELS = 24, 10_000
"""Of a picture with text on it: icons and buttons have less."""
MAX_READ = 20_000_000
"""Bytes of a page that are looked at."""


def is_small_picture(path: Path) -> bool:
    """Whether a picture is an icon or the like; not where its size cannot be told."""
    from PIL import Image

    try:
        with (
            warnings.catch_warnings(action="ignore"),
            Image.open(path) as picture,
        ):
            width, height = picture.size
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return min(width, height) < SMALLEST_SIDE or width * height < SMALLEST_PIXELS


def shown_pictures(pictures: Iterable[Path], pages: Iterable[Path]) -> set[Path]:
    """Return the pictures that pages name: by a path from the page, by the end of a path, or by a name at or below the page's folder."""
    by_name: defaultdict[str, list[Path]] = defaultdict(list)
    for picture in pictures:
        by_name[picture.name.lower()].append(picture)
    shown: set[Path] = set()
    for page in pages if by_name else ():
        for named in _references(_bytes(page)):
            reference = unquote(named.decode("utf-8", "replace")).replace("\\", "/")
            parts = [part for part in PurePath(reference).parts if part not in ("/", ".", "..")]
            for picture in by_name.get(parts[-1].lower() if parts else "", ()):
                if (
                    os.path.normpath(page.parent / reference) == os.path.normpath(picture)
                    or (len(parts) > 1 and list(picture.parts[-len(parts) :]) == parts)
                    or (len(parts) == 1 and picture.is_relative_to(page.parent))
                ):
                    shown.add(picture)
    return shown


def _references(page: bytes) -> set[bytes]:
    """Return the names of pictures, with the paths before them."""
    found = set()
    for suffix in SUFFIX.finditer(page):
        before = page[max(0, suffix.start() - LONGEST_REFERENCE) : suffix.start()]
        if name := BACKWARD.match(before[::-1]):
            found.add(name[0][::-1] + suffix[0])
    return found


def _bytes(page: Path) -> bytes:
    """Return a page, unpacked; nothing of one that cannot be read, which is said when it is its turn."""
    try:
        with gzip.open(page) if page.suffix.lower() == PACKED else page.open("rb") as file:
            return file.read(MAX_READ)
    except (OSError, EOFError, zlib.error):
        return b""
