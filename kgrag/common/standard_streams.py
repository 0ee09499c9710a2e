"""Where a file is asked for and `-` is given: standard input is read, standard output is written, as other commands have it."""

from __future__ import annotations

import sys
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path

from kgrag.errors import InputError

__all__ = ["STANDARD", "expect_no_stream", "is_standard_output", "read_bytes_once", "read_text_once"]

STANDARD = Path("-")
OUTPUTS = frozenset({STANDARD, Path("/dev/stdout"), Path("/dev/fd/1")})


def is_standard_output(file: Path | None) -> bool:
    """Whether what is written there is the command's output: nothing else may be."""
    return file in OUTPUTS


def expect_no_stream(place: Path) -> None:
    """Refuse `-` for a folder, and for a file that is read again. Raises `InputError`."""
    if place == STANDARD:
        raise InputError("-: expected the name of a place that stays, got the sign for standard output.")


def read_bytes_once(file: Path) -> bytes:
    """Read a file; standard input and a pipe are read once, and can be asked for again. Raises `OSError`."""
    return file.read_bytes() if file != STANDARD and file.is_file() else _streamed(file)


def read_text_once(file: Path) -> str:
    """Read a text in UTF-8, with or without a byte order mark and with any ends of lines, as `read_bytes_once` does.

    Raises `OSError`, `UnicodeDecodeError`.
    """
    return TextIOWrapper(BytesIO(read_bytes_once(file)), encoding="utf-8-sig").read()


@cache
def _streamed(file: Path) -> bytes:
    return sys.stdin.buffer.read() if file == STANDARD else file.read_bytes()
