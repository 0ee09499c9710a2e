"""What is written down and never changed: tickets, feedback, who asked what. A line of JSON each, on the disk before it is confirmed."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from kgrag.common.whole_files import append_whole
from kgrag.errors import InputError

__all__ = ["Journal", "Kind", "NotWrittenDown"]

Kind = Literal["tickets", "feedback", "audit", "conversations"]


class NotWrittenDown(InputError):
    """What has to be written down cannot be."""


class Journal:
    """Files `KIND.jsonl` in a folder, made on first use and readable by their owner only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writing = threading.Lock()

    def check(self) -> None:
        """Make the folder: one in which nothing can be written is told before anybody asks. Raises `NotWrittenDown`."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for place in (self.folder, *(self._path(kind) for kind in get_args(Kind))):
                if place.exists() and not os.access(place, os.W_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
        except OSError as error:
            raise NotWrittenDown(
                f"{error.filename or self.folder}: cannot be written ({error.strerror}). Give --desk another folder."
            ) from error

    def write(self, kind: Kind, entry: dict[str, Any]) -> None:
        """Append an entry with the time; it is on the disk when this returns. Raises `NotWrittenDown`."""
        line = (
            json.dumps({"at": datetime.now(UTC).isoformat(timespec="milliseconds"), **entry}, ensure_ascii=False) + "\n"
        )
        # Half of a surrogate pair is no text that a file could hold.
        data = line.encode("utf-8", "replace")
        try:
            with self._writing:
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                append_whole(self._path(kind), data)
        except OSError as error:
            raise NotWrittenDown(
                f"{self._path(kind)}: cannot be written ({error.strerror}). Free space, or give --desk another folder."
            ) from error

    def read(self, kind: Kind) -> Iterator[dict[str, Any]]:
        """Yield the entries in order; a line that a crash cut is passed over."""
        if not self._path(kind).exists():
            return
        with self._path(kind).open(encoding="utf-8") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if isinstance(entry, dict):
                    yield entry

    def _path(self, kind: Kind) -> Path:
        return self.folder / f"{kind}.jsonl"
