"""The folder of uploaded documents: what may be written there, under which names, and how much of it."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import stat
import unicodedata
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from kgrag.common.journal import NotWrittenDown
from kgrag.documents.discovery import FORMATS, OFFICE_LOCK_PREFIX, format_of, may_be_read, missing_for, stored_path
from kgrag.errors import InputError
from kgrag.serve.problems import NoRoom, TooLarge

__all__ = ["UPLOADS_MB", "Uploaded", "Uploads"]

UPLOADS_MB = 10_000
"""Of all uploads together, where nothing else is said."""
EXPECTED = (
    f"expected a file that ends in {', '.join(FORMATS)}, a DocBook `.xml`, an OpenAPI `.json` or `.yaml`, an "
    "Outlook `.msg`, an `.info` file, a manual page (`.1`) or a configuration with prose in its comments (`.conf`, `.ini`); "
    "all but pictures and passages may be packed (`.gz`)."
)
MAX_NAME_BYTES = 180
"""Of a file's or folder's name: file systems take 255."""


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A file that was written: where it is, as documents are named, and its size."""

    path: str
    bytes: int


class Uploads:
    """A folder that takes files of at most `file_bytes` each and `total_bytes` together. Use it from one event loop."""

    def __init__(self, folder: Path, *, file_bytes: int, total_bytes: int = UPLOADS_MB * 1_000_000) -> None:
        self.folder = folder
        self.file_bytes = file_bytes
        self._total_bytes = total_bytes
        self._arriving: dict[Path, int] = {}
        """Bytes of each file that is being written."""
        self._taking_in = asyncio.Lock()

    async def write(self, name: str, product: str, data: AsyncIterator[bytes]) -> Uploaded:
        """Write a file, in place of one of the same name; nothing is there until all of it is.

        Raises `InputError` for a name that is none, an empty file, or one that a build does not read, `TooLarge`, `NoRoom` where it
        does not fit beside the others (one that is replaced counts until it is), and `NotWrittenDown` where the folder takes nothing.
        """
        folder = self.folder / _checked(product, "product") if product else self.folder
        _check_file_name(name)
        target = folder / name
        part = folder / f".{secrets.token_hex(8)}.part"
        try:
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True, mode=0o700)
            try:
                size = await self._receive(name, part, data)
                await asyncio.to_thread(_check_content, name, part)
                async with self._taking_in:  # so that two that fit alone are not both taken
                    self._check_room(name, await asyncio.to_thread(self._stored_bytes))
                    part.replace(target)
                    del self._arriving[part]
            finally:
                self._arriving.pop(part, None)
                part.unlink(missing_ok=True)
        except OSError as error:
            raise NotWrittenDown(
                f"{folder}: cannot be written ({error.strerror}). Free space, or give --uploads another folder."
            ) from error
        return Uploaded(stored_path(target), size)

    async def _receive(self, name: str, part: Path, data: AsyncIterator[bytes]) -> int:
        """Write what comes into a new file, on the disk when this returns; return its size."""
        stored = await asyncio.to_thread(self._stored_bytes)
        self._arriving[part] = 0
        with part.open("xb") as out:
            async for piece in data:
                self._arriving[part] += len(piece)
                if self._arriving[part] > self.file_bytes:
                    raise TooLarge(f"{name}: larger than {self.file_bytes // 1_000_000} MB. Split it.")
                self._check_room(name, stored)
                await asyncio.to_thread(out.write, piece)
            out.flush()
            await asyncio.to_thread(os.fsync, out.fileno())
        if not self._arriving[part]:
            raise InputError(f"{name}: expected a document, got an empty file.")
        return self._arriving[part]

    def _check_room(self, name: str, stored: int) -> None:
        if stored + sum(self._arriving.values()) > self._total_bytes:
            raise NoRoom(
                f"{name}: does not fit, as uploads may take {self._total_bytes // 1_000_000:,} MB together. Delete documents that nobody "
                "needs, or start the desk with a larger --uploads-mb."
            )

    def _stored_bytes(self) -> int:
        """Return the size of all files that are there, without those that are being written."""
        return sum(_size(file) for file in self.folder.rglob("*") if file not in self._arriving)

    def delete(self, places: list[Path]) -> bool:
        """Delete the first of these files that is an upload; return whether there was one. Whatever else they name stays."""
        uploads = self.folder.resolve()
        for place in places:
            if place.parent.resolve().is_relative_to(uploads) and place.is_file():
                place.unlink()
                return True
        return False


def _size(path: Path) -> int:
    """Return the size of a file; of a folder, a link to nothing, and of what another upload just took away, 0."""
    try:
        status = path.stat()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ELOOP):
            raise
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _check_file_name(name: str) -> None:
    """Raise `InputError` where neither the name nor any content would make a file one that a build reads."""
    _checked(name, "file name")
    if name.startswith(OFFICE_LOCK_PREFIX) or not may_be_read(Path(name)):
        raise InputError(f"{name[:100]!r}: {EXPECTED}")


def _check_content(name: str, content: Path) -> None:
    """Raise `InputError` for a file that a build would not read."""
    format_ = format_of(Path(name), content=content)
    if format_ is None:
        raise InputError(f"{name[:100]!r}: {EXPECTED} What this one begins with is none of them.")
    if missing := missing_for(format_):
        raise InputError(f"{name[:100]!r}: {missing}")


def _checked(name: str, what: str) -> str:
    """Return a name that is one part of a path, on every system, and looks like what it is. Raises `InputError`."""
    bad = (
        name != name.strip()
        or name.startswith(".")
        or name.endswith(".")
        or any(character in "/\\:" or unicodedata.category(character)[0] == "C" for character in name)
        or not 0 < len(name.encode("utf-8", "replace")) <= MAX_NAME_BYTES
    )
    if bad:
        raise InputError(
            f"{name[:100]!r}: expected a {what} without folders, control characters or a dot at its ends, at most {MAX_NAME_BYTES} bytes."
        )
    return name
