"""One process at a time has an embedded store open: a lock that the operating system drops when its holder dies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from kgrag.errors import StoreLocked

__all__ = ["FolderLock", "says_closed", "shared_lock"]

LOCK_FILE = "lock"
CLOSED = "closed\n"


class FolderLock:
    """Holds `<folder>/lock`, which says which process holds it, until `release`."""

    def __init__(self, folder: Path) -> None:
        """Take the lock of `folder`, which must exist. Raises `StoreLocked`, with the holder's process id, where it is taken."""
        # Not "w": the holder's id must stay readable for the one who is refused.
        file = (folder / LOCK_FILE).open("a+", encoding="utf-8")
        if not _take(file):
            file.seek(0)
            holder = file.read().partition("\n")[0].strip() or "unknown"
            file.close()
            who, then = f"process {holder}", "Wait for that one or end it"
            if holder == str(os.getpid()):
                who, then = "this process", "Use that one, or close it (`close()`, or `with kgrag.open(...) as kg:`)"
            raise StoreLocked(
                f"{folder} is open in {who}, and an embedded store can be open in one place only. "
                f"{then}; for several at once use a Neo4j server (--store neo4j://...)."
            )
        self.found_closed = says_closed(folder)
        """Whether whoever had it before closed the store."""
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._file: IO[str] | None = file

    def mark_closed(self) -> None:
        """Have the file say, until somebody takes it again, that the store is closed; where the disk takes no more it does not."""
        if self._file is not None:
            with suppress(OSError):
                os.write(self._file.fileno(), CLOSED.encode())  # not by the file: what it could not write it would keep

    def fileno(self) -> int:
        """Return the descriptor by which a child process holds the lock as well."""
        if self._file is None:
            raise ValueError("The lock was released.")
        return self._file.fileno()

    def release(self) -> None:
        """Let others have the folder; a second call does nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None


def says_closed(folder: Path) -> bool:
    """Whether the lock of a store that nobody has open says that it was closed: whoever is killed leaves it without that."""
    try:
        return (folder / LOCK_FILE).read_text(encoding="utf-8").endswith(CLOSED)
    except (OSError, UnicodeDecodeError):
        return False


@contextmanager
def shared_lock(folder: Path) -> Iterator[bool]:
    """Keep others from opening a store within the block, together with other readers; give whether nobody had it open.

    The folder need not be writable.
    """
    with (folder / LOCK_FILE).open(encoding="utf-8") as file:
        yield _share(file)


if sys.platform == "win32":

    def _take(file: IO[str]) -> bool:
        import msvcrt

        file.seek(1 << 30)  # Windows locks keep others from reading what they cover: lock a byte that nobody reads.
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _share(file: IO[str]) -> bool:
        return _take(file)

else:

    def _take(file: IO[str]) -> bool:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _share(file: IO[str]) -> bool:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
