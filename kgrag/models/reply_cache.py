"""Replies that were paid for, in one SQLite file that any number of processes may use at once.

An entry is (key, kind, model, value, time). The key is a hash of what was asked of which model with which options; the prompt is not
stored, and no credential reaches this file.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kgrag.errors import InputError

__all__ = ["CacheSize", "ReplyCache"]

SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 60.0
"""How long another process may hold the file; its writes take milliseconds."""
LOOKUP_KEYS = 500
"""Keys of one statement: SQLite allows 999 parameters in its oldest builds."""
CHECKPOINT_WRITES = 2000
"""How many writes the write-ahead log holds before it is worked into the file."""

Kind = Literal["chat", "embed", "rerank"]


@dataclass(frozen=True, slots=True)
class CacheSize:
    """What a cache holds."""

    path: Path
    entries: Mapping[str, int]
    """Model → replies."""
    megabytes: float


class ReplyCache:
    """A SQLite file of replies, made on first use. Raises `InputError` where the file cannot be used.

    Reading and writing block, for some fifty microseconds: less than handing them to a thread would take. What waits for the disk (working
    the write-ahead log into the file) is done by a thread.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._writes = 0

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those keys that are there."""
        found: dict[str, bytes] = {}
        for start in range(0, len(keys), LOOKUP_KEYS):
            some = list(keys[start : start + LOOKUP_KEYS])
            marks = ",".join("?" * len(some))
            query = f"SELECT key, value FROM replies WHERE key IN ({marks})"  # noqa: S608  only question marks
            with self._opened() as connection:
                found.update(connection.execute(query, some).fetchall())
        return found

    def put(self, kind: Kind, model: str, values: Mapping[str, bytes]) -> None:
        """Keep values by key; when it returns they survive a killed process."""
        now = time.time()
        rows = [(key, kind, model, value, now) for key, value in values.items()]
        with self._opened() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)", rows)
        self._writes += 1
        if self._writes % CHECKPOINT_WRITES == 0:
            threading.Thread(target=self._checkpoint, name="ReplyCache", daemon=True).start()

    def size(self) -> CacheSize:
        """Say how many replies of which model are there, and how much room they take. A file that is not there is not made."""
        if not self.path.exists():
            return CacheSize(self.path, {}, 0.0)
        query = "SELECT model, count(*) FROM replies GROUP BY model ORDER BY model"
        with self._opened() as connection:
            counts = dict(connection.execute(query).fetchall())
        files = [self.path, *(self.path.with_name(self.path.name + suffix) for suffix in ("-wal", "-shm"))]
        return CacheSize(self.path, counts, sum(file.stat().st_size for file in files if file.exists()) / 1e6)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise self._unusable(error) from error

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch(mode=0o600)  # replies repeat what the documents say
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
        # A write-ahead log lets readers and one writer work at once, and keeps what was committed when the process is killed.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, SCHEMA_VERSION):
            connection.close()
            raise InputError(
                f"{self.path}: made by another version of kgrag (format {version}). Delete it or set another model_cache."
            )
        with connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, kind TEXT NOT NULL, model TEXT NOT NULL, "
                "value BLOB NOT NULL, at REAL NOT NULL) WITHOUT ROWID"
            )
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        return connection

    def _checkpoint(self) -> None:
        """Work the write-ahead log into the file without holding anybody up; what is left is left to the next time."""
        with closing(sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S)) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _unusable(self, error: Exception) -> InputError:
        return InputError(
            f"{self.path}: the cache of model replies cannot be used ({error}). Delete it, or name another file by --model-cache or "
            'KGRAG_MODEL_CACHE ("off" is none).'
        )
