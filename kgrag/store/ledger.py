"""The ledger: what was done about which document or chunk, by what, and how it went."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from kgrag.store.connection import Connection, Transaction
from kgrag.store.schema import Schema
from kgrag.types import Usage, content_id

__all__ = ["Ledger", "WorkRecord", "put_work"]

EXTRACTION_STATES = ("ok", "empty", "mended", "partial", "failed")
FORMER_STATES = {"repaired": "mended"}
"""States as stores of older versions have them, and what they are called now."""


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
    """ok, empty, mended, partial or failed."""
    reason: str = ""
    """Why it failed, or what was mended or lost."""
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
        return _key(self.stage, self.subject, self.scope)

    @property
    def usage(self) -> Usage:
        """What its model calls cost."""
        prompt_tokens = self.tokens - self.completion_tokens
        return Usage(
            calls=self.calls, prompt_tokens=prompt_tokens, completion_tokens=self.completion_tokens, cost=self.cost
        )

    def after(self, previous: WorkRecord | None, usage: Usage | None = None) -> WorkRecord:
        """Return it as the attempt after `previous` (None: the first): attempts, and what model calls cost, add up."""
        spent = (usage or Usage()) + (previous.usage if previous else Usage())
        return replace(
            self,
            attempts=previous.attempts + 1 if previous else 1,
            calls=spent.calls,
            tokens=spent.prompt_tokens + spent.completion_tokens,
            completion_tokens=spent.completion_tokens,
            cost=spent.cost,
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
        kept = {field.name: row[field.name] for field in fields(cls) if row.get(field.name) is not None}
        return cls(**kept | {"state": _state(kept.get("state", "ok"))})


class Ledger:
    """The ledger of an open store. What has a result beside it is written with that result, in one transaction."""

    def __init__(self, connection: Connection, schema: Schema) -> None:
        self._connection = connection
        self._schema = schema

    def of_stage(self, stage: str, scope: str = "") -> dict[str, WorkRecord]:
        """Return what the ledger says about one stage (and graph or embedder), by subject."""
        return _by_subject(self._schema.read("store/work", stage=stage, scope=scope))

    def of_subjects(self, stage: str, subjects: Sequence[str], *, scope: str = "") -> dict[str, WorkRecord]:
        """Return what the ledger says about some subjects of one stage (and graph or embedder), by subject."""
        keys = [_key(stage, subject, scope) for subject in subjects]
        return _by_subject(self._schema.read("store/work_of_keys", keys=keys)) if keys else {}

    def put(self, records: Sequence[WorkRecord]) -> None:
        """Write entries that have no result beside them: failures, and what came out as it was."""
        if records:
            self._schema.bound()
            self._connection.write(lambda transaction: put_work(transaction, records))

    def forget(self, stage: str, subjects: Sequence[str]) -> None:
        """Take entries out: of files that are gone and never became documents."""
        if subjects:
            self._schema.bound()
            self._connection.write(
                lambda transaction: transaction.run("store/delete_work", subjects=subjects, stages=[stage])
            )

    def failures(self) -> list[WorkRecord]:
        """Return what failed, by stage, scope and subject."""
        return sorted(
            (WorkRecord.from_row(row["work"]) for row in self._schema.read("store/failures")),
            key=lambda record: (record.stage, record.scope, record.subject),
        )

    def counts(self) -> tuple[dict[str, dict[str, int]], dict[str, float]]:
        """Return the entries by stage and state, and the tokens, US dollars and seconds of all."""
        entries: dict[str, dict[str, int]] = defaultdict(dict)
        cost = {"tokens": 0, "usd": 0.0, "seconds": 0.0}
        for row in self._schema.read("store/count_work"):
            states = entries[row["stage"]]
            states[_state(row["state"])] = states.get(_state(row["state"]), 0) + row["entries"]
            cost = {
                "tokens": cost["tokens"] + row["tokens"],
                "usd": cost["usd"] + row["cost"],
                "seconds": cost["seconds"] + row["seconds"],
            }
        return {stage: dict(sorted(states.items())) for stage, states in sorted(entries.items())}, cost

    def extraction_counts(self) -> dict[str, dict[str, Any]]:
        """Return for each graph its chunks by state, ungrounded relations, calls, tokens, US dollars and seconds."""
        rows = self._schema.read("store/count_work_of_graphs")
        ungrounded = self._schema.read("store/count_ungrounded") if rows else []
        ungrounded_of = {row["graph"]: row["ungrounded"] for row in ungrounded}
        counts: dict[str, dict[str, Any]] = {}
        for row in sorted(rows, key=lambda row: str(row["graph"])):
            graph = counts.setdefault(
                row["graph"],
                {"chunks": dict.fromkeys(EXTRACTION_STATES, 0), "ungrounded": ungrounded_of.get(row["graph"], 0)}
                | dict.fromkeys(("calls", "tokens", "completion_tokens"), 0)
                | dict.fromkeys(("usd", "seconds"), 0.0),
            )
            graph["chunks"][_state(row["state"])] += row["chunks"]
            for name in ("calls", "tokens", "completion_tokens", "seconds"):
                graph[name] += row[name] or 0
            graph["usd"] += row["cost"]
        return counts


def put_work(transaction: Transaction, records: Sequence[WorkRecord]) -> None:
    """Write records in place of older ones of the same work."""
    transaction.run_batched("store/put_work", rows=[record.row() for record in records])


def _key(stage: str, subject: str, scope: str) -> str:
    return content_id(stage, subject, scope)


def _by_subject(rows: Sequence[Mapping[str, Any]]) -> dict[str, WorkRecord]:
    return {record.subject: record for record in (WorkRecord.from_row(row["work"]) for row in rows)}


def _state(kept: str) -> str:
    return FORMER_STATES.get(kept, kept)
