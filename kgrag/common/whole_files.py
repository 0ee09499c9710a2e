"""Files that a command is asked to write: there when they are whole."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from kgrag.common.standard_streams import STANDARD, expect_no_stream
from kgrag.errors import DISK_FULL, InputError

__all__ = ["append_whole", "expect_place", "part_of", "whole_file", "write_whole"]


def expect_place(file: Path, *, is_read_again: bool = False) -> None:
    """Make the folder of a file that long work will write: a place that takes none is told before it. Raises `InputError`.

    `-` is standard output, and no place for what `is_read_again`.
    """
    if is_read_again:
        expect_no_stream(file)
    if file == STANDARD:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{file}: expected a place for a file, got a folder that cannot be made ({error.strerror})."
        ) from error
    if file.is_dir():
        raise InputError(f"{file}: expected a place for a file, got a folder: name a file in it.")
    written = (file,) if part_of(file) == file else (Path(os.path.realpath(file)).parent, file)
    if not all(os.access(one, os.W_OK) for one in written if one.exists()):
        raise InputError(f"{file}: expected a place for a file, got one that may not be written to.")


def part_of(file: Path) -> Path:
    """Return where a file is written until it is whole; what is no plain file (a pipe, `/dev/stdout`) is written at once."""
    if file == STANDARD or file.parts[:2] == ("/", "dev") or (file.exists() and not file.is_file()):
        return file
    target = Path(os.path.realpath(file))
    return target.with_name(f"{target.name}.part")


@contextmanager
def whole_file(file: Path, *, newline: str | None = None) -> Iterator[TextIO]:
    """Open a text file for writing that takes its place when the block ends; an interrupted one stays as its `part_of`, beside it.

    `-` is standard output. Raises `OSError` where it cannot be written.
    """
    if file == STANDARD:
        yield sys.stdout
        return
    part = part_of(file)
    if part != file and file.exists() and not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    try:
        opened = part.open("w", encoding="utf-8", newline=newline)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    try:
        with opened:
            yield opened
    except OSError as error:
        if error.errno in DISK_FULL and error.filename is None:  # of a write, which does not say where
            raise OSError(error.errno, error.strerror, str(file)) from error
        raise
    if part != file:
        if file.exists():
            shutil.copymode(file, part)
        part.replace(os.path.realpath(file))


def append_whole(file: Path, data: bytes) -> None:
    """Add to the end of a file that its owner alone may read, all or nothing, on the disk when this returns. Raises `OSError`."""
    opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        before = os.fstat(opened).st_size
        if before and os.pread(opened, 1, before - 1) != b"\n":  # a line that a crash cut
            data = b"\n" + data
        try:
            if os.write(opened, data) < len(data):  # where the disk is nearly full that is no error
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
            os.fsync(opened)
        except OSError:
            os.ftruncate(opened, before)
            raise
    finally:
        os.close(opened)


def write_whole(file: Path, text: str) -> None:
    """Write a text file whose place is taken when it is whole. Raises `OSError`."""
    with whole_file(file) as opened:
        opened.write(text)
