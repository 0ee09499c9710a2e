"""The errors of kgrag.

    KgragError
    ├── InputError              bad arguments, settings or question files              exit code 2
    │   ├── DocumentError       a document that cannot be read; the build goes on without it
    │   ├── IdentifierError     a label, type or statement name that is not allowed
    │   ├── PipelineError       a pipeline file that is unknown or wrong
    │   └── CypherWriteError    a statement that would write where only reading is allowed
    ├── StoreError              the database                                          exit code 3
    │   ├── StoreUnavailable    cannot be reached or started
    │   │   └── StoreReadOnly   may not be written to, or its disk is full
    │   ├── StoreLocked         another process has the embedded store open
    │   └── StoreMismatch       built with another schema version or embedder
    ├── Interrupted             by Ctrl-C or SIGTERM, where a command says what is there  exit code 130
    └── ModelError              a language, embedding or rerank model                  exit code 3
        ├── ModelMissing        its package or weights are not installed
        ├── ModelUnavailable    cannot be reached, or is too busy, for now: a build waits for it
        └── ModelReplyError     it answered, but not in the form that was asked for

Each says what was expected, what came, and what to do.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgrag.types import Usage

__all__ = [
    "DISK_FULL",
    "PLACE_REFUSED",
    "CypherWriteError",
    "DocumentError",
    "IdentifierError",
    "InputError",
    "Interrupted",
    "KgragError",
    "ModelError",
    "ModelMissing",
    "ModelReplyError",
    "ModelUnavailable",
    "PipelineError",
    "StoreError",
    "StoreLocked",
    "StoreMismatch",
    "StoreReadOnly",
    "StoreUnavailable",
    "did_you_mean",
]

SHOWN_REPLY_CHARACTERS = 10_000
DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""`errno` of an `OSError` where a disk takes no more: what was written before is there."""
PLACE_REFUSED = frozenset(
    {
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EEXIST,
        errno.ENAMETOOLONG,
        errno.EIO,
    }
)
"""`errno` where a file's place is not one to write to or read from."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean X?` for the known name that is spelt most like an unknown one, an empty text where none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]}?" if near else ""


class KgragError(Exception):
    """The root: everything that kgrag raises on purpose."""

    exit_code = 1


class InputError(KgragError):
    """What the caller gave cannot be used."""

    exit_code = 2


class DocumentError(InputError):
    """A document cannot be read."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class IdentifierError(InputError):
    """A label, relationship type or statement name is not allowed."""


class PipelineError(InputError):
    """A pipeline file is unknown or wrong."""


class CypherWriteError(InputError):
    """A statement would write where only reading is allowed."""


class StoreError(KgragError):
    """The database failed."""

    exit_code = 3


class StoreUnavailable(StoreError):
    """The database cannot be reached or started."""


class StoreReadOnly(StoreUnavailable):
    """The folder of the embedded store may not be written to, or its disk is full."""


class StoreLocked(StoreError):
    """Another process has the embedded store open."""


class StoreMismatch(StoreError):
    """The store was built with another schema version or embedder."""


class Interrupted(KgragError):
    """Ctrl-C or SIGTERM ended a command that the same command does not go on from: the message says what is there."""

    exit_code = 130


class ModelError(KgragError):
    """A model failed."""

    exit_code = 3


class ModelMissing(ModelError):
    """A model's package or weights are not installed."""


class ModelUnavailable(ModelError):
    """A model cannot be reached, or answers nothing but errors of its own side (429, 5xx, timeouts): it may work a minute later.

    `retry_after_s` is how long it asked to be left alone, where it said so.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelReplyError(ModelError):
    """A model answered, but not in the form that was asked for.

    `reply` is what it wrote, which also ends the message (cut after `SHOWN_REPLY_CHARACTERS`), so that the ledger keeps it; `usage` is
    what all attempts cost.
    """

    def __init__(self, message: str, *, reply: str = "", usage: Usage | None = None) -> None:
        shown = reply[:SHOWN_REPLY_CHARACTERS] + ("..." if len(reply) > SHOWN_REPLY_CHARACTERS else "")
        super().__init__(f"{message} The reply was: {shown!r}" if reply else message)
        self.reply = reply
        if usage is None:
            from kgrag.types import Usage  # not before it is needed: `kgrag --help` knows the errors, too

            usage = Usage()
        self.usage = usage
