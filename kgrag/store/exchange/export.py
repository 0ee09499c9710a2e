"""Writing a store to a folder of CSV files: one pass over the database, in memory that does not grow with it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from kgrag.common.progress import Progress
from kgrag.errors import DISK_FULL, InputError
from kgrag.store.connection import Connection
from kgrag.store.digest import ContentDigest
from kgrag.store.exchange.csv_rows import Marks, MarkTaken, RowFile
from kgrag.store.exchange.kinds import IMPORT, KINDS, Kind
from kgrag.store.mentions import without_empty_says
from kgrag.store.schema import Meta

__all__ = ["FORMAT_VERSION", "LOADED", "MANIFEST", "ExportFiles", "Exported", "export_store"]

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
LOADED = "loaded"
"""The kind in the state of an import whose rows `neo4j-admin` has loaded: what is left is to finish it."""
WITH_VECTORS = frozenset({"chunk", "table_row", "entity", "member", "community"})
FIRST_BUFFER_BYTES = 4 * 2**20
"""What `neo4j-admin` reads at a time unless it is told otherwise; a row has to go into it."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    folder: Path
    digest: str
    """Of the store: what is imported has the same."""
    rows: dict[str, int]
    """By kind, those that have any."""
    bytes: int
    command: str
    """Loads the files into a Neo4j database that is not there yet, while its server is stopped."""


def export_store(connection: Connection, meta: Meta, folder: Path, *, progress: Progress) -> Exported:
    """Write all that is in the store into `folder`, which is made, is empty, or has an export that did not end.

    Raises `InputError` for another folder, for one that cannot be written to, and where somebody wrote to the store meanwhile; `OSError`
    where the disk is full.
    """
    _prepare(folder)
    for marks in Marks.all():
        try:
            return _export(connection, meta, folder, marks, progress)
        except MarkTaken:
            progress.say(
                "Texts of the store have the characters that were to divide lists: beginning again with others."
            )
        except OSError as error:
            if error.errno in DISK_FULL:
                raise OSError(error.errno, error.strerror, str(folder)) from error
            raise InputError(f"{folder}: the export cannot be written: {error.strerror or error}.") from error
    raise InputError(
        "The store's lists have every character that could divide them (U+FDD0 to U+FDEF, which are none of any text): they "
        "cannot be written as CSV. Take them out of the documents, and build again."
    )


def _prepare(folder: Path) -> None:
    ours = {MANIFEST, *(f"{kind.name}.csv" for kind in (*KINDS, IMPORT))}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = {path.name for path in folder.iterdir()}
        if found - ours or MANIFEST in found:
            raise InputError(
                f"{folder}: expected an empty folder for the export, and it has {min(found - ours or {MANIFEST})}. "
                "Name another one."
            )
        for name in found:
            (folder / name).unlink()
    except OSError as error:
        raise InputError(f"{folder}: the export cannot be written: {error.strerror or error}.") from error


def _export(connection: Connection, meta: Meta, folder: Path, marks: Marks, progress: Progress) -> Exported:
    state = connection.read("retrieve/ledger_state")
    with ExportFiles(folder, meta, marks) as files:
        for kind in KINDS:
            with progress.step(f"Export {kind.name}", None, "rows") as step:
                for row in _rows(connection, kind):
                    files.put(kind, row)
                    step.advance()
        if connection.read("retrieve/ledger_state") != state:
            raise InputError(
                "The store was written to while it was exported: export again when nothing else runs on it."
            )
        return files.finish()


class ExportFiles:
    """The files of an export, in an empty folder: rows of any kind in any order, and at last the manifest."""

    def __init__(self, folder: Path, meta: Meta, marks: Marks) -> None:
        self._folder, self._meta, self._marks = folder, meta, marks
        self._files: dict[str, RowFile] = {}
        self._digest = ContentDigest()
        self._digest.add("meta", {"properties": {"key": "store", **asdict(meta)}})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def put(self, kind: Kind, row: Mapping[str, Any]) -> None:
        """Write a row, as `RowFile.put` takes it."""
        file = self._files.get(kind.name)
        if file is None:
            file = self._files[kind.name] = self._open(kind)
        if kind.name == "from_chunk":  # neo4j-admin cannot write empty lists, and nearly every mention would have one
            row = {**row, "properties": without_empty_says(row["properties"])}
        file.put(row)
        self._digest.add(kind.name, _counted(row))

    def finish(self) -> Exported:
        """Write the manifest: from then on the folder is an export."""
        self._close()
        digest = self._digest.hexdigest()
        last = self._open(IMPORT)
        last.put({"properties": {"key": "import", "export": digest, "kind": LOADED, "rows": 0}})
        last.close()
        written = {kind.name: self._files[kind.name] for kind in KINDS if kind.name in self._files}
        command = _command(
            self._folder, written, self._marks, longest=max((file.longest for file in written.values()), default=0)
        )
        manifest = {
            "format": "kgrag export",
            "format_version": FORMAT_VERSION,
            "digest": digest,
            "store": asdict(self._meta),
            "marks": asdict(self._marks),
            "files": {name: {"rows": file.rows, "sha256": file.sha256} for name, file in written.items()},
            "neo4j_admin": command,
        }
        (self._folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        size = sum(path.stat().st_size for path in self._folder.iterdir())
        return Exported(self._folder, digest, {name: file.rows for name, file in written.items()}, size, command)

    def _open(self, kind: Kind) -> RowFile:
        return RowFile(self._folder / f"{kind.name}.csv", kind, self._marks)

    def _close(self) -> None:
        for file in self._files.values():
            file.close()


def _rows(connection: Connection, kind: Kind) -> Iterator[dict[str, Any]]:
    """Read the rows of a kind as the digest does, and vectors as they are."""
    if kind.is_relationship:
        names = ["source", "target", *([] if kind.label else ["type"]), "properties"]
    else:
        names = ["properties", *([] if kind.label else ["labels"])]
    folder = "exchange" if kind.name in WITH_VECTORS else "digest"
    for values in connection.stream_values(f"{folder}/{kind.name}"):
        yield dict(zip(names, values, strict=True))


def _counted(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row as the digest sees it."""
    vector = row["properties"].get("embedding")
    return row if vector is None else {**row, "properties": {**row["properties"], "embedding": len(vector)}}


def _command(folder: Path, files: Mapping[str, Any], marks: Marks, *, longest: int) -> str:
    """Return the command that has `neo4j-admin` load the files."""
    parts = ["neo4j-admin", "database", "import", "full", "neo4j"]
    for kind in (*(kind for kind in KINDS if kind.name in files), IMPORT):
        label = f"{kind.label}=" if kind.label else ""
        flag = "--relationships" if kind.is_relationship else "--nodes"
        parts.append(f"{flag}={label}{(folder / f'{kind.name}.csv').resolve()}")
    buffer = FIRST_BUFFER_BYTES
    while buffer < 2 * longest:
        buffer *= 2
    parts += [
        "--id-type=string",
        f"--array-delimiter=U+{ord(marks.delimiter):04X}",
        "--multiline-fields=true",
        f"--read-buffer-size={buffer}",
        "--overwrite-destination",
    ]
    return " ".join(shlex.quote(part) for part in parts)
