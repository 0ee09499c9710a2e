"""A run of a comparison as one SQLite file: every answer and every judgement, kept as soon as it is there.

A cell is one question asked through one pipeline once. Its key holds all that can change the answer; a judgement's key holds the cell's
and the judge's fingerprint. So a run that was killed goes on, an answer is never paid for twice, and judging anew costs no answer.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from kgrag.errors import InputError
from kgrag.evaluate.gold_questions import GoldQuestion
from kgrag.evaluate.judge.calibration import Agreement
from kgrag.evaluate.judge.judgement import Judgement
from kgrag.types import Answer, content_id

__all__ = ["Cell", "Result", "Run", "RunSettings", "judge_key", "run_exists"]

FILE = "run.sqlite"
VERSION = "1"
LOCK_TIMEOUT_S = 30.0
"""How long to wait for another process that writes the same run."""
SMALLEST_WRITE_BYTES = 64 * 1024
"""What SQLite asks of a disk at once; it says the same of one that is full and of one that is broken."""
QUESTION: TypeAdapter[GoldQuestion] = TypeAdapter(GoldQuestion)
AGREEMENT: TypeAdapter[Agreement] = TypeAdapter(Agreement)
SCHEMA = """
    CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS questions (place INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, body TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS cells (
      key TEXT PRIMARY KEY, place INTEGER NOT NULL, question TEXT NOT NULL, pipeline TEXT NOT NULL, repeat INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS cells_of_question ON cells (question);
    CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS judgements (
      key TEXT NOT NULL, judge TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (key, judge));
    CREATE TABLE IF NOT EXISTS failures (
      key TEXT NOT NULL, stage TEXT NOT NULL, reason TEXT NOT NULL, attempts INTEGER NOT NULL, PRIMARY KEY (key, stage));
"""


class RunSettings(BaseModel):
    """What a comparison was made with: what its report says of itself."""

    model_config = ConfigDict(frozen=True)

    version: str = VERSION
    questions_file: str
    store: str
    corpus: str
    """Fingerprint of the chunks and the graphs that were asked."""
    embedder: str
    model: str
    judge: str
    judge_fingerprint: str
    preset: str
    template: str
    """Digest of the answer template, and of what of `made_with` can change an answer."""
    made_with: dict[str, str | int | float | bool | None] = {}
    """Version of kgrag, and the settings of answers: template, open knowledge, strict, gate, chain, graph, reranker, temperature, seed."""
    top: int | None = None
    budget: int | None = None
    repeats: int = 1
    judge_repeats: int = 1
    pipelines: tuple[str, ...]
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One question asked through one pipeline once."""

    key: str
    question: str
    """The question's id."""
    pipeline: str
    repeat: int = 0

    @classmethod
    def of(cls, question: GoldQuestion, pipeline: str, *, digest: str, settings: RunSettings, repeat: int) -> Self:
        """Name a cell by all that can change its answer; `digest` is of the pipeline's content."""
        asked = (question.id, question.question, *sorted(question.hidden))
        limits = (str(settings.top), str(settings.budget), str(repeat))
        made_with = (settings.corpus, settings.embedder, settings.model, settings.template)
        return cls(content_id(VERSION, *asked, pipeline, digest, *made_with, *limits), question.id, pipeline, repeat)


@dataclass(frozen=True, slots=True)
class Result:
    """What a run has of one cell: None is what is missing, and `failures` says why (stage → reason)."""

    cell: Cell
    answer: Answer | None
    judgements: tuple[Judgement, ...]
    """One for each time that the judge was asked; complete, or empty."""
    failures: dict[str, str]

    @property
    def judgement(self) -> Judgement | None:
        """The first judgement."""
        return self.judgements[0] if self.judgements else None


def judge_key(fingerprint: str, repeat: int) -> str:
    """Name what a judge says when it is asked for the (repeat + 1)-th time."""
    return fingerprint if repeat == 0 else content_id(fingerprint, str(repeat))


def _error_of(error: sqlite3.Error, file: Path) -> Exception:
    """Say whether the file is another's, or its place takes no writing."""
    kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) & 0xFF  # the rest says at what
    if kind == sqlite3.SQLITE_IOERR:
        free = disk_usage(file.parent).free
        return _os_error(errno.EIO if free > SMALLEST_WRITE_BYTES else errno.ENOSPC, file)
    if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return _os_error(errno.EACCES, file)
    if kind == sqlite3.SQLITE_FULL:
        return _os_error(errno.ENOSPC, file)
    if kind == sqlite3.SQLITE_BUSY:
        return InputError(f"{file}: another process writes to this run ({error}). Wait until it has ended.")
    return InputError(f"{file}: expected a file of kgrag compare: {error}")


def _os_error(number: int, file: Path) -> OSError:
    return OSError(number, os.strerror(number), str(file))


def run_exists(folder: Path) -> bool:
    """Whether there is a run to open in a folder."""
    return (folder / FILE).is_file()


class Run:
    """An open run in a folder of its own. Writes are one transaction each and survive a kill of the process.

    Close it, or use it as a context manager. Raises `InputError` where the folder has no run (and `create` is false) or another's file, or
    another process writes to it all the time, and `OSError` where it may not be written to or the disk is full.
    """

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.folder = folder
        file = folder / FILE
        if not create and not run_exists(folder):
            raise InputError(f"{folder}: expected a run of kgrag compare, there is no {FILE}.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(file, isolation_level=None, timeout=LOCK_TIMEOUT_S)
            if create:  # a report that reads beside a comparison must not touch the file's mode
                self._database.execute("PRAGMA journal_mode=WAL")
                self._database.executescript(SCHEMA)
            self._database.execute("SELECT count(*) FROM about")
        except sqlite3.Error as error:
            raise _error_of(error, file) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:  # SQLite itself ends one that finds the disk full
                    self._database.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise _error_of(error, self.folder / FILE) from error

    # What is asked

    def plan(self, settings: RunSettings, questions: Sequence[GoldQuestion], cells: Sequence[Cell]) -> None:
        """Say what the run is of now; answers and judgements of earlier plans stay, and count where their cells are asked again."""
        with self._transaction() as database:
            database.execute("DELETE FROM questions")
            database.execute("DELETE FROM cells")
            database.execute("INSERT OR REPLACE INTO about VALUES ('settings', ?)", (settings.model_dump_json(),))
            bodies = [(place, one.id, QUESTION.dump_json(one).decode()) for place, one in enumerate(questions)]
            database.executemany("INSERT INTO questions VALUES (?, ?, ?)", bodies)
            rows = [(one.key, place, one.question, one.pipeline, one.repeat) for place, one in enumerate(cells)]
            database.executemany("INSERT INTO cells VALUES (?, ?, ?, ?, ?)", rows)

    @property
    def settings(self) -> RunSettings:
        """What the run was made with. Raises `InputError` where nothing was planned yet, or by another version."""
        row = self._database.execute("SELECT value FROM about WHERE key = 'settings'").fetchone()
        if row is None:
            raise InputError(f"{self.folder}: nothing was compared in this run yet.")
        try:
            return RunSettings.model_validate_json(row[0])
        except ValidationError as error:
            raise InputError(f"{self.folder}: the run was made by another version of kgrag: {error}") from error

    def questions(self) -> list[GoldQuestion]:
        """The questions, in the order of their file."""
        rows = self._database.execute("SELECT body FROM questions ORDER BY place").fetchall()
        return [QUESTION.validate_json(body) for (body,) in rows]

    def cells(self, question: str | None = None) -> list[Cell]:
        """The cells, or those of one question, in the order in which they are asked."""
        rows = self._database.execute(
            "SELECT key, question, pipeline, repeat FROM cells WHERE ?1 IS NULL OR question = ?1 ORDER BY place",
            (question,),
        ).fetchall()
        return [Cell(*row) for row in rows]

    # What is there

    def answered(self) -> set[str]:
        """Keys of the cells that have an answer."""
        return {key for (key,) in self._database.execute("SELECT key FROM answers")}

    def judged(self, judge: str) -> set[str]:
        """Keys of the cells that a judge (by fingerprint) has judged."""
        return {key for (key,) in self._database.execute("SELECT key FROM judgements WHERE judge = ?", (judge,))}

    def answer(self, key: str) -> Answer | None:
        """Return the answer of a cell."""
        row = self._database.execute("SELECT body FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else Answer.model_validate_json(row[0])

    def put_answer(self, key: str, answer: Answer) -> None:
        """Keep an answer; what was judged of an earlier one of this cell goes."""
        with self._transaction() as database:
            database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, answer.model_dump_json()))
            database.execute("DELETE FROM judgements WHERE key = ?", (key,))
            database.execute("DELETE FROM failures WHERE key = ? AND stage = 'answer'", (key,))

    def put_judgement(self, key: str, judge: str, judgement: Judgement) -> None:
        """Keep a judgement; its missing parts are in it."""
        with self._transaction() as database:
            row = (key, judge, judgement.model_dump_json())
            database.execute("INSERT OR REPLACE INTO judgements VALUES (?, ?, ?)", row)
            database.execute("DELETE FROM failures WHERE key = ? AND stage = 'judge'", (key,))

    def put_failure(self, key: str, stage: str, reason: str) -> None:
        """Keep why a cell could not be answered or judged; it is tried again by the next run."""
        with self._transaction() as database:
            database.execute(
                "INSERT INTO failures VALUES (?, ?, ?, 1) ON CONFLICT (key, stage) DO UPDATE "
                "SET reason = excluded.reason, attempts = attempts + 1",
                (key, stage, reason),
            )

    def failed_judgements(self, judge: str) -> set[str]:
        """Keys of the cells whose judgement has missing parts."""
        rows = self._database.execute("SELECT key, body FROM judgements WHERE judge = ?", (judge,))
        return {key for key, body in rows if Judgement.model_validate_json(body).failures}

    def judgement(self, key: str, judge: str) -> Judgement | None:
        """Return what a judge says of a cell."""
        row = self._one("SELECT body FROM judgements WHERE key = ? AND judge = ?", key, judge)
        return None if row is None else Judgement.model_validate_json(row)

    # How far the judge agrees with people

    def put_calibration(self, judge: str, preset: str, agreement: Agreement) -> None:
        """Keep how often a judge tells right from wrong as people do, by a preset's categories: the report corrects its rates by it."""
        with self._transaction() as database:
            row = (f"calibration {judge} {preset}", AGREEMENT.dump_json(agreement).decode())
            database.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", row)

    def calibration(self, preset: str) -> Agreement | None:
        """Return what is known of the run's judge with a preset; None where it was not calibrated."""
        key = f"calibration {self.settings.judge_fingerprint} {preset}"
        row = self._one("SELECT value FROM about WHERE key = ?", key)
        return None if row is None else AGREEMENT.validate_json(row)

    # All that there is

    def results(self, question: str | None = None) -> Iterator[Result]:
        """Yield every cell of the plan (or of one question) with what there is of it: only one answer is in memory at a time."""
        settings = self.settings
        judges = [judge_key(settings.judge_fingerprint, repeat) for repeat in range(settings.judge_repeats)]
        for cell in self.cells(question):
            judged = [one for judge in judges if (one := self.judgement(cell.key, judge)) is not None]
            failures = self._database.execute("SELECT stage, reason FROM failures WHERE key = ?", (cell.key,))
            yield Result(
                cell=cell,
                answer=self.answer(cell.key),
                judgements=tuple(judged) if len(judged) == len(judges) else (),
                failures=dict(failures.fetchall()),
            )

    def _one(self, statement: str, *values: Any) -> str | None:
        row = self._database.execute(statement, values).fetchone()
        return None if row is None else str(row[0])
