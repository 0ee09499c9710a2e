"""Reading a folder that `export` wrote into an empty store, on either database.

Files are checked against the manifest before anything is written. Each transaction also says how far the import is, and what the store is
made with is written last: an import that was interrupted goes on where it stopped, and nothing takes half of one for a store.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgrag.common.progress import Progress
from kgrag.errors import InputError
from kgrag.store.connection import Connection, Transaction
from kgrag.store.digest import digest
from kgrag.store.exchange.csv_rows import Marks, read_rows, sha256_of
from kgrag.store.exchange.export import FORMAT_VERSION, LOADED, MANIFEST
from kgrag.store.exchange.kinds import KINDS, Kind
from kgrag.store.extractions import count_titles
from kgrag.store.identifiers import community_label, entity_type, graph_label, relation_type
from kgrag.store.schema import SCHEMA_VERSION, Meta, Schema, import_state
from kgrag.store.statements import statement

__all__ = ["Imported", "Manifest", "import_store", "read_manifest"]

WRITE_ROWS = 5000
"""Of one transaction."""
SHA256 = "^[0-9a-f]{64}$"
ONE_TYPE = {
    "document": "store/put_documents",
    "member": "resolve/put_members",
    "merge": "resolve/put_merges",
    "work": "store/put_work",
}
"""Kinds of nodes whose rows are their properties: the statements that write them."""
JOINED = {
    "next_chunk": ("store/put_next_chunks", "id", "next"),
    "links_to": ("store/put_links", "source", "target"),
    "from_chunk": ("store/put_mentions", "key", "chunk_id"),
    "merged_into": ("resolve/put_merged_into", "member", "survivor"),
    "in_community": ("communities/put_members", "member", "key"),
    "parent_community": ("communities/put_parents", "key", "parent"),
}
"""Kinds of relationships: the statements that write them, and what these call the ends."""
SIMILAR = "SIMILAR"


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read."""

    digest: str
    rows: dict[str, int]
    """By kind."""
    loaded_before: bool
    """Whether `neo4j-admin` had loaded the files already, so that only the rest was to be done."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _File(_Strict):
    rows: int = Field(ge=1)
    sha256: str = Field(pattern=SHA256)


class _Store(_Strict):
    schema_version: int
    embedder: str = Field(min_length=1, max_length=500)
    dimensions: int = Field(ge=1, le=100_000)


class _Marks(_Strict):
    delimiter: str = Field(pattern="^[\ufdd0-\ufdef]$")
    mark: str = Field(pattern="^[\ufdd0-\ufdef]$")


class Manifest(_Strict):
    """What an export says about itself."""

    format_version: int
    digest: str = Field(pattern=SHA256)
    store: _Store
    marks: _Marks
    files: dict[str, _File]


def import_store(connection: Connection, schema: Schema, folder: Path, *, progress: Progress) -> Imported:
    """Make an empty store hold what was exported into `folder`; go on with an import that was interrupted, or end what `neo4j-admin` began.

    Raises `InputError` for a folder that is no whole export, or whose content is not what its digest says, and for a store with something
    else in it.
    """
    manifest = read_manifest(folder)
    meta = Meta(**manifest.store.model_dump())
    if schema.meta is not None:
        raise InputError("The store has content already, and an import needs an empty one. Choose another --store.")
    state = import_state(connection)
    if state is None and connection.read("exchange/any_node")[0]["any"]:
        raise InputError("The database has nodes that are none of kgrag's, and an import needs an empty one.")
    if state is not None and state["export"] != manifest.digest:
        raise InputError(
            "A part of another export was imported into this store: import that one again to its end, or choose another --store."
        )
    loaded = state is not None and state["kind"] == LOADED
    job = _Import(connection, schema, folder, manifest, progress)
    try:
        if loaded:
            with progress.step("Lists that neo4j-admin cannot write", None, ""):
                job.mend_lists()
        else:
            job.check_files()
        schema.create(meta, vectors=not schema.fills_at_once)
        if not loaded:
            job.write(None if state is None else (state["kind"], state["rows"]))
        with progress.step("Index and check", None, ""):
            job.finish(meta)
    except BaseException:
        schema.meta = None  # the store does not say it yet
        raise
    return Imported(manifest.digest, {name: file.rows for name, file in manifest.files.items()}, loaded)


class _Import:
    def __init__(
        self, connection: Connection, schema: Schema, folder: Path, manifest: Manifest, progress: Progress
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._levels: set[tuple[str, int]] = set()
        self._folder = folder
        self._manifest = manifest
        self._marks = Marks(manifest.marks.delimiter, manifest.marks.mark)
        self._progress = progress

    def check_files(self) -> None:
        """Raise `InputError` where a file is not as the manifest says."""
        with self._progress.step("Check files", len(self._manifest.files), "files") as step:
            for name, file in self._manifest.files.items():
                path = self._path(name)
                try:
                    is_same = sha256_of(path) == file.sha256
                except OSError as error:
                    raise InputError(f"{path}: cannot be read: {error.strerror}. Export again.") from error
                if not is_same:
                    raise InputError(f"{path}: is not as it was exported: cut, or changed since. Export again.")
                step.advance()

    def write(self, state: tuple[str, int] | None) -> None:
        """Write the rows of every file after those that `state` says are in."""
        kinds = [kind for kind in KINDS if kind.name in self._manifest.files]
        begin, done = 0, 0
        if state is not None:
            begin = next((place for place, kind in enumerate(kinds) if kind.name == state[0]), 0)
            done = state[1]
        for kind in kinds[begin:]:
            path, expected = self._path(kind.name), self._manifest.files[kind.name].rows
            with self._progress.step(f"Import {kind.name}", expected, "rows") as step:
                rows = read_rows(path, kind, self._marks, dimensions=self._manifest.store.dimensions)
                step.advance(sum(1 for _ in islice(rows, done)))
                while some := list(islice(rows, WRITE_ROWS)):
                    done += len(some)
                    checked = [_checked(kind, row, path) for row in some]
                    self._ensure(kind, checked)
                    self._put(kind, checked, done)
                    step.advance(len(some))
            if done != expected:
                raise InputError(f"{path}: expected {expected} rows, got {done}. Export again.")
            done = 0

    def _put(self, kind: Kind, rows: Sequence[dict[str, Any]], done: int) -> None:
        """Write rows and how far that is, in one transaction."""

        def work(transaction: Transaction) -> None:
            _write(transaction, kind, rows)
            transaction.run("exchange/put_import_state", export=self._manifest.digest, kind=kind.name, rows=done)

        self._connection.write(work)

    def mend_lists(self) -> None:
        """Write the lists that `neo4j-admin` could not."""
        for name, relationships in (("exchange/mend_nodes", False), ("exchange/mend_relationships", True)):
            kinds = (kind for kind in KINDS if kind.is_relationship == relationships)
            names = {column.name for kind in kinds for column in kind.columns if column.type == "string[]"}
            parameters = {"names": sorted(names), "none": self._marks.none, "one_empty": self._marks.one_empty}
            self._connection.run_alone(statement(name), parameters)

    def finish(self, meta: Meta) -> None:
        """Make the indexes that are missing, compare the digest, and say what the store is made with: from then on it is one.

        On Neo4j these are all of vectors, each filled from all of its nodes.
        """
        self._schema.create(meta)
        for row in self._connection.read("store/graphs"):
            self._schema.ensure_graph(row["graph"])
        for row in self._connection.read("communities/levels"):
            self._ensure_level(row["graph"], row["level"])
        count_titles(self._connection)
        says = {"key": "store", **asdict(meta)}
        if (got := digest(self._connection, meta=says)) != self._manifest.digest:
            raise InputError(
                f"{self._folder}: the digest of what was imported is {got[:16]}…, and of what was exported {self._manifest.digest[:16]}…: "
                "a file was changed together with its manifest. Delete the store, and export again."
            )

        def work(transaction: Transaction) -> None:
            transaction.run("exchange/delete_import_state")
            transaction.run("store/put_meta", **asdict(meta))

        self._connection.write(work)

    def _ensure(self, kind: Kind, rows: Sequence[Mapping[str, Any]]) -> None:
        """Make the labels and indexes that rows need before they are written; Neo4j needs none."""
        if self._schema.fills_at_once:
            return
        for properties in (row["properties"] for row in rows):
            if kind.name == "entity":
                self._schema.ensure_graph(properties["graph"])
            elif kind.name == "community":
                self._ensure_level(properties["graph"], properties["level"])

    def _ensure_level(self, graph: str, level: int) -> None:
        if (graph, level) not in self._levels:
            self._schema.ensure_level(graph, level)
            self._levels.add((graph, level))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.csv"


def read_manifest(folder: Path) -> Manifest:
    """Read what an export says about itself. Raises `InputError` where it is none that this kgrag reads."""
    path = folder / MANIFEST
    try:
        said = json.loads(path.read_bytes())
        manifest = Manifest.model_validate(said)
    except FileNotFoundError as error:
        raise InputError(
            f"{folder}: expected a folder that kgrag export wrote; it has no {MANIFEST}, which is written last."
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: {place}: {first['msg']}. Expected what kgrag export wrote; export again.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected the JSON that kgrag export wrote, got something else: {error}.") from error
    if unknown := manifest.files.keys() - {kind.name for kind in KINDS}:
        raise InputError(f"{path}: names files of an unknown kind, {min(unknown)[:60]!r}. Export again.")
    if manifest.format_version != FORMAT_VERSION or manifest.store.schema_version != SCHEMA_VERSION:
        raise InputError(
            f"{path}: format {manifest.format_version} of schema version {manifest.store.schema_version}; this kgrag reads format "
            f"{FORMAT_VERSION} of version {SCHEMA_VERSION}. Import with the kgrag that exported."
        )
    return manifest


def _checked(kind: Kind, row: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return a row whose labels or type are those that kgrag would give it. Raises `InputError`."""
    properties = row["properties"]
    match kind.name:
        case "entity":
            wanted = {"__Entity__", graph_label(_text(properties, "graph")), entity_type(_text(properties, "type"))}
            is_right = set(row["labels"]) == wanted
        case "community":
            label = community_label(_text(properties, "graph"), properties.get("level", -1))
            is_right = set(row["labels"]) == {"__Community__", label}
        case "relation":
            is_right = row["type"] == SIMILAR or row["type"] == relation_type(row["type"])
        case _:
            return row
    if not is_right:
        said = row.get("type") or " ".join(row["labels"])
        raise InputError(
            f"{path}: a {kind.name} has a label or type that kgrag does not give: {said[:80]!r}. Export again."
        )
    return row


def _text(properties: Mapping[str, Any], name: str) -> str:
    return str(properties.get(name, ""))


def _write(transaction: Transaction, kind: Kind, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows of one kind; what each is written by says its labels or type."""
    if kind.name in ONE_TYPE:
        transaction.run_batched(ONE_TYPE[kind.name], rows=[row["properties"] for row in rows])
    elif kind.name == "chunk":  # with its FROM_DOCUMENT, whose own file is for neo4j-admin
        made = [{"document_id": row["properties"].get("document_id"), "properties": row["properties"]} for row in rows]
        transaction.run_batched("store/put_chunks", rows=made)
    elif kind.name == "table_row":  # with its ROW_OF, likewise
        transaction.run_batched("store/put_table_rows", rows=[row["properties"] for row in rows])
    elif kind.name in ("entity", "community"):
        for (graph, of), some in _grouped(
            rows, lambda row: (row["graph"], row["level" if kind.name == "community" else "type"])
        ):
            if kind.name == "entity":
                transaction.run_batched("store/put_entities", rows=some, graph=graph, entity=of)
            else:
                transaction.run_batched("communities/put_communities", rows=some, graph=graph, level=of)
    elif kind.name == "relation":
        by_type: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            by_type[row["type"]].append(row)
        for type_, some_rows in sorted(by_type.items()):
            if type_ == SIMILAR:
                joined = [{"one": r["source"], "other": r["target"], **r["properties"]} for r in some_rows]
                transaction.run_batched("communities/put_similar", rows=joined)
            else:
                joined = [{"head": r["source"], "tail": r["target"], "properties": r["properties"]} for r in some_rows]
                transaction.run_batched("store/put_relations", rows=joined, relation=type_)
    elif kind.name in JOINED:
        name, source, target = JOINED[kind.name]
        ends = [{source: r["source"], target: r["target"], "properties": r["properties"]} for r in rows]
        transaction.run_batched(name, rows=ends)


def _grouped(
    rows: Sequence[dict[str, Any]], of: Callable[[dict[str, Any]], tuple[str, Any]]
) -> Iterator[tuple[tuple[str, Any], list[dict[str, Any]]]]:
    """Put the properties of rows together by what `of` says of them."""
    groups: dict[tuple[str, Any], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[of(row["properties"])].append(row["properties"])
    yield from sorted(groups.items())
