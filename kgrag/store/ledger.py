"""The ledger: what was done about which document or chunk, by what, and how it went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from kgrag.store.connection import Transaction
from kgrag.store.rows import batches_by_size
from kgrag.types import Usage, content_id

__all__ = ["WorkRecord", "put_work", "work_by_subject", "work_key"]


def work_key(stage: str, subject: str, scope: str) -> str:
    """Identify a unit of work."""
    return content_id(stage, subject, scope)


@dataclass(frozen=True, slots=True)
class WorkRecord:
    """One unit of work: a document that was converted, a chunk that was embedded or extracted."""

    stage: str
    """`convert`, `embed` or `extract`."""
    subject: str
    """The path of a document or the id of a chunk."""
    scope: str = ""
    """Embedder or graph."""
    version: str = ""
    """Fingerprint of what did it."""
    state: str = "ok"
    """ok, empty, repaired or failed."""
    reason: str = ""
    """Why it failed or was repaired."""
    result: str = ""
    """Digest of what came out; for `convert` of what went in."""
    attempts: int = 1
    calls: int = 0
    """Of a model, over all attempts, as are the next four."""
    tokens: int = 0
    """Of prompts and completions."""
    completion_tokens: int = 0
    cost: float = 0.0
    """US dollars."""
    seconds: float = 0.0
    at: str = ""
    """When it was written, ISO 8601 in UTC; the store fills it."""

    @property
    def key(self) -> str:
        """Stage, subject and scope: a newer record of the same work replaces the older."""
        return work_key(self.stage, self.subject, self.scope)

    @property
    def usage(self) -> Usage:
        """What its model calls cost."""
        prompt_tokens = self.tokens - self.completion_tokens
        return Usage(
            calls=self.calls, prompt_tokens=prompt_tokens, completion_tokens=self.completion_tokens, cost=self.cost
        )

    def row(self) -> dict[str, Any]:
        """Return what the database keeps."""
        return asdict(self) | {
            "key": self.key,
            "cost": float(self.cost),
            "seconds": float(self.seconds),
            "at": self.at or datetime.now(UTC).isoformat(timespec="seconds"),
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> WorkRecord:
        """Read what the database keeps."""
        return cls(**{field.name: row[field.name] for field in fields(cls) if row.get(field.name) is not None})


def put_work(transaction: Transaction, records: Sequence[WorkRecord]) -> None:
    """Write records in place of older ones of the same work."""
    for rows in batches_by_size([record.row() for record in records]):
        transaction.run("store/put_work", rows=rows)


def work_by_subject(rows: Sequence[Mapping[str, Any]]) -> dict[str, WorkRecord]:
    """Read rows of `work` into records by their subject."""
    return {record.subject: record for record in (WorkRecord.from_row(row["work"]) for row in rows)}
