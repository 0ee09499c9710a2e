"""The ledger: what was done about which document or chunk, by what, and how it went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from kgrag.types import content_id

__all__ = ["WorkRecord"]


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
    tokens: int = 0
    cost: float = 0.0
    """US dollars."""
    seconds: float = 0.0
    at: str = ""
    """When it was written, ISO 8601 in UTC; the store fills it."""

    @property
    def key(self) -> str:
        """Stage, subject and scope: a newer record of the same work replaces the older."""
        return content_id(self.stage, self.subject, self.scope)

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
