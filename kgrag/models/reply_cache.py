"""Replies that were paid for, in one SQLite file that any number of processes may use at once.

An entry is (key, kind, model, value, time). The key is a hash of what was asked of which model with which options; the prompt is not
stored, and no credential reaches this file.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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
CHECKPOINT_PAGES = 10_000
"""Of 4 kB: how long the write-ahead log grows before it is worked in, which waits for the disk."""

Kind = Literal["chat", "embed", "rerank"]
Row = tuple[str, str, str, bytes, float]


@dataclass(frozen=True, slots=True)
class CacheSize:
    """What a cache holds."""

    path: Path
    entries: Mapping[str, int]
    """Model → replies."""
    megabytes: float


class ReplyCache:
    """A SQLite file of replies, made on first use. Raises `InputError` where the file cannot be used.

    Reading is quick and blocks; writing is done by one thread, which commits all that waits together.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser()
        self._reading = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._queueing = threading.Lock()
        self._queue: list[tuple[list[Row], Future[None]]] = []
        self._thread: ThreadPoolExecutor | None = None

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the values of those keys that are there."""
        found: dict[str, bytes] = {}
        for start in range(0, len(keys), LOOKUP_KEYS):
            some = list(keys[start : start + LOOKUP_KEYS])
            marks = ",".join("?" * len(some))
            query = f"SELECT key, value FROM replies WHERE key IN ({marks})"  # noqa: S608  only question marks
            with self._reading:
                try:
                    found.update(self._opened_reader().execute(query, some).fetchall())
                except sqlite3.Error as error:
                    raise self._unusable(error) from error
        return found

    async def put(self, kind: Kind, model: str, values: Mapping[str, bytes]) -> None:
        """Keep values by key; when it returns they survive a killed process. Cancelled, it still keeps them."""
        now = time.time()
        rows: list[Row] = [(key, kind, model, value, now) for key, value in values.items()]
        written: Future[None] = Future()
        with self._queueing:
            self._queue.append((rows, written))
            if self._thread is None:
                self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ReplyCache")
            if len(self._queue) == 1:
                self._thread.submit(self._write_queue)
        await asyncio.shield(asyncio.wrap_future(written))

    def size(self) -> CacheSize:
        """Say how many replies of which model are there, and how much room they take. A file that is not there is not made."""
        if not self.path.exists():
            return CacheSize(self.path, {}, 0.0)
        query = "SELECT model, count(*) FROM replies GROUP BY model ORDER BY model"
        with self._reading:
            try:
                counts = dict(self._opened_reader().execute(query).fetchall())
            except sqlite3.Error as error:
                raise self._unusable(error) from error
        files = [self.path, *(self.path.with_name(self.path.name + suffix) for suffix in ("-wal", "-shm"))]
        return CacheSize(self.path, counts, sum(file.stat().st_size for file in files if file.exists()) / 1e6)

    def _write_queue(self) -> None:
        """Write all that waits, in one transaction; runs in the writer's thread."""
        with self._queueing:
            batch, self._queue = self._queue, []
        try:
            connection = self._opened_writer()
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)", [row for rows, _ in batch for row in rows]
                )
        except Exception as error:  # noqa: BLE001  handed to those who wait
            failure = self._unusable(error) if isinstance(error, sqlite3.Error) else error
            for _, written in batch:
                written.set_exception(failure)
        else:
            for _, written in batch:
                written.set_result(None)

    def _opened_reader(self) -> sqlite3.Connection:
        if self._reader is None:
            self._reader = self._open()
        return self._reader

    def _opened_writer(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = self._open()
        return self._writer

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch(mode=0o600)  # replies repeat what the documents say
            connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
        except OSError as error:
            raise self._unusable(error) from error
        # A write-ahead log lets readers and one writer work at once, and keeps what was committed when the process is killed.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
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

    def _unusable(self, error: Exception) -> InputError:
        return InputError(
            f"{self.path}: the cache of model replies cannot be used ({error}). Delete it, or name another file by --model-cache or "
            'KGRAG_MODEL_CACHE ("off" is none).'
        )
