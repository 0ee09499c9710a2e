"""The last finished build of an embedded store, for readers while somebody else has the store.

ArcadeDB lets one process open a database, and writes even when it is only read. So a build that has finished leaves a copy of the closed
database beside it (`snapshot/`), and who comes while the store is taken, or may not write there, opens a copy of that copy in a temporary
folder of its own: any number of readers, none of which waits for another or sees half a build.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from datetime import datetime
from pathlib import Path

from kgrag.errors import KgragError, StoreUnavailable
from kgrag.store.file_sizes import DATABASE_FOLDER, check_file_sizes
from kgrag.store.folder_lock import LOCK_FILE, says_closed, shared_lock

__all__ = ["SNAPSHOT", "copy_for_reading", "keep_snapshot"]

SNAPSHOT = "snapshot"
TRIES = 3
"""A build that finishes meanwhile takes the snapshot away while it is copied."""
COPY_PREFIX = "kgrag-read-"
COPYING_AT_MOST_S = 86_400
"""A copy that nobody has opened may still be under way for so long."""
ERROR_TEXT = re.compile(r"\[Errno \d+\] ([^:]+)")
"""Of an error of the system: why, without its files."""


def keep_snapshot(folder: Path) -> None:
    """Copy the closed database of a store, in place of the snapshot that it has. Raises `StoreUnavailable` where there is no room."""
    new, old = folder / f"{SNAPSHOT}.new", folder / f"{SNAPSHOT}.old"
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    try:
        shutil.copytree(folder / DATABASE_FOLDER, new / DATABASE_FOLDER)
        os.utime(
            new / DATABASE_FOLDER
        )  # readers are told when it was made; the folder's own time is that of its last new file
        if (folder / SNAPSHOT).exists():
            (folder / SNAPSHOT).rename(old)
        new.rename(folder / SNAPSHOT)
    except OSError as error:
        shutil.rmtree(new, ignore_errors=True)
        raise StoreUnavailable(
            f"{folder}: the build is done, but no snapshot of it for readers could be kept: {reason(error)}. Free space and build again."
        ) from error
    shutil.rmtree(old, ignore_errors=True)


def copy_for_reading(folder: Path, refused: KgragError) -> tuple[Path, str]:
    """Copy a store that was `refused` to a temporary folder; return it and a remark. Raises `refused` where there is nothing to copy."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    place = Path(tempfile.mkdtemp(prefix=COPY_PREFIX))
    try:
        for _ in range(TRIES):
            try:
                with shared_lock(folder) as quiet:
                    source = folder if quiet else folder / SNAPSHOT
                    if not (source / DATABASE_FOLDER).is_dir():
                        raise refused
                    if quiet and says_closed(folder):
                        check_file_sizes(folder)
                    at = datetime.fromtimestamp((source / DATABASE_FOLDER).stat().st_mtime).astimezone()
                    _copy_writable(source / DATABASE_FOLDER, place / DATABASE_FOLDER)
            except FileNotFoundError:
                shutil.rmtree(place / DATABASE_FOLDER, ignore_errors=True)
                continue
            what = "a copy of it" if quiet else f"the snapshot of the build that finished {at:%Y-%m-%d %H:%M}"
            return place, f"Read from {what}: {str(refused).partition('. ')[0]}."
        raise refused
    except OSError as error:
        shutil.rmtree(place, ignore_errors=True)
        if isinstance(error, PermissionError) and Path(str(error.filename)).is_relative_to(folder):
            raise StoreUnavailable(
                f"{folder}: the store may not be read: {error.strerror}. Only who made a store may read it: run as that user, or have its "
                "permissions changed."
            ) from error
        raise StoreUnavailable(
            f"{folder}: the store cannot be copied to {place.parent} for reading: {reason(error)}. Free space there, or set TMPDIR."
        ) from error
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


def _copy_writable(source: Path, copy: Path) -> None:
    """Copy files and folders without their permissions: the database writes to its copy of a store that nobody may write to."""
    shutil.copytree(source, copy, dirs_exist_ok=True, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(copy):
        Path(folder).chmod(stat.S_IRWXU)


def _remove_abandoned(temporary: Path) -> None:
    """Remove the copies of readers that were killed."""
    for place in temporary.glob(f"{COPY_PREFIX}*"):
        try:
            about = place.lstat()
            if not stat.S_ISDIR(about.st_mode) or (hasattr(os, "getuid") and about.st_uid != os.getuid()):
                continue  # of another user: its lock may be anything
            if (place / LOCK_FILE).exists():
                with shared_lock(place) as abandoned:
                    pass
            else:
                abandoned = time.time() - about.st_mtime > COPYING_AT_MOST_S
        except OSError:
            continue  # taken away meanwhile
        if abandoned:
            shutil.rmtree(place, ignore_errors=True)


def reason(error: OSError) -> str:
    """Say why, of an error of `shutil.copytree`, too, which has a list of what failed."""
    if isinstance(error, shutil.Error):
        said = str(error.args[0][0][2]) if error.args and error.args[0] else "unknown"
        return found[1] if (found := ERROR_TEXT.match(said)) else said
    return error.strerror or str(error)
