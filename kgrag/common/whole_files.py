"""Files that a command is asked to write: there when they are whole."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

__all__ = ["part_of", "whole_file"]


def part_of(file: Path) -> Path:
    """Return where a file is written until it is whole; what is no plain file (a pipe, `/dev/stdout`) is written at once."""
    if file.parts[:2] == ("/", "dev") or (file.exists() and not file.is_file()):
        return file
    target = Path(os.path.realpath(file))
    return target.with_name(f"{target.name}.part")


@contextmanager
def whole_file(file: Path, *, newline: str | None = None) -> Iterator[TextIO]:
    """Open a text file for writing that takes its place when the block ends; an interrupted one stays as its `part_of`, beside it.

    Raises `OSError` where it cannot be written.
    """
    part = part_of(file)
    if part != file and file.exists() and not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    try:
        opened = part.open("w", encoding="utf-8", newline=newline)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    with opened:
        yield opened
    if part != file:
        if file.exists():
            shutil.copymode(file, part)
        part.replace(os.path.realpath(file))
