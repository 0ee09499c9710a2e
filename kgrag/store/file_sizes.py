"""How long the files of a closed database are.

ArcadeDB takes what files there are: of one that was cut, or left out when a store was copied, it opens a smaller graph and says nothing.
So a database that is closed leaves a note of its files beside it. It counts as long as the store's lock says that it was closed
(`folder_lock.py`): after a crash, the write-ahead log does.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from kgrag.errors import StoreUnavailable

__all__ = ["DATABASE_FOLDER", "FILE_SIZES", "check_file_sizes", "note_file_sizes"]

FILE_SIZES = "files.json"
DATABASE_FOLDER = "database"
NAMED_FILES = 3
"""Of those that are gone or too short, in the message."""


def note_file_sizes(folder: Path) -> bool:
    """Note the files of a store whose database is closed; say whether the disk took the note."""
    database, note = folder / DATABASE_FOLDER, folder / FILE_SIZES
    new = note.with_suffix(".new")
    try:
        sizes = {
            file.relative_to(database).as_posix(): file.stat().st_size for file in database.rglob("*") if file.is_file()
        }
        new.write_text(json.dumps(sizes), encoding="utf-8")
        new.replace(note)
    except OSError:
        with suppress(OSError):
            new.unlink()
        return False
    return True


def check_file_sizes(folder: Path) -> None:
    """Raise `StoreUnavailable` where a file of a store that was closed is gone, or shorter than it was then."""
    try:
        sizes = dict(json.loads((folder / FILE_SIZES).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return
    wrong = [problem for name, size in sorted(sizes.items()) if (problem := _problem(folder, name, size))]
    if wrong:
        more = f" and {len(wrong) - NAMED_FILES} more" if len(wrong) > NAMED_FILES else ""
        raise StoreUnavailable(
            f"{folder} is damaged: {', '.join(wrong[:NAMED_FILES])}{more}. Copy the whole store again, or build into another --store."
        )


def _problem(folder: Path, name: str, size: int) -> str:
    """Say what is wrong with a file; empty where nothing is."""
    try:
        is_there = (folder / DATABASE_FOLDER / name).stat().st_size
    except OSError as error:
        return f"{DATABASE_FOLDER}/{name} cannot be read ({error.strerror})"
    return f"{DATABASE_FOLDER}/{name} has {is_there:,} of {size:,} bytes" if is_there < size else ""
