"""Constraints and indexes, and what the store was made with.

Vector and full-text indexes are the one place where the two databases part: Neo4j makes them in Cypher, ArcadeDB in its SQL.
They are asked in the same way, `db.index.vector.queryNodes` and `db.index.fulltext.queryNodes`, by the names given here.

- Vector scores of both are (1 + cosine) / 2. Both indexes are approximate and are asked for more than is wanted (`Search.candidates`).
- Neo4j's vector index has a segment for each transaction that wrote vectors, up to 49 of a size, and a question is put to each of them:
  with 2,138 chunks of 33 transactions in 60 ms, once filled from all of them in 5 ms. So it is filled anew when it has grown.
- Full-text scores of both are BM25 (k1 1.2, b 0.75); ArcadeDB's are 2.2 (k1 + 1) times Neo4j's, so only order and ratios mean something.
- Both full-text indexes have Lucene's English analyzer: standard splitting (`X-100` is `x` and `100`, `3.3` one word), then stems
  (boards = board) and no stop words. With stems the right section of the phone manual came first for 21 of 25 questions, without for 19.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from kgrag.errors import StoreError, StoreMismatch
from kgrag.store.connection import Connection, Transaction
from kgrag.store.identifiers import community_label, graph_label, quoted
from kgrag.store.statements import statement

__all__ = [
    "CHUNK_FULLTEXT_INDEX",
    "CHUNK_VECTOR_INDEX",
    "ROW_VECTOR_INDEX",
    "SCHEMA_VERSION",
    "Meta",
    "Schema",
    "community_text_index",
    "community_vector_index",
    "drop_index",
    "entity_vector_index",
    "import_state",
]

SCHEMA_VERSION = 1
CHUNK_VECTOR_INDEX = "chunk_embedding"
CHUNK_FULLTEXT_INDEX = "chunk_prompted"
ROW_VECTOR_INDEX = "table_row_embedding"
INDEX_PATIENCE_S = 600.0
"""How long Neo4j may fill indexes without getting further: a million vectors take hours on two processors, and no error."""
LOOK_AGAIN_S = 0.05, 2.0
"""How soon is looked again at first, and at last."""
GROWN_BY = 0.1
"""Share of its nodes that a vector index of Neo4j got since it was last filled from them all at once: as much, and it is so again."""
FEWEST_FILLED = 500
"""Of fewer nodes an index is fast whatever it consists of."""
FILLED_SETTINGS = {"vector.hnsw.m": 32, "vector.hnsw.ef_construction": 400}
"""How an index of Neo4j is made that is filled from all its nodes at once: twice the neighbours of its default, four times the search for
them. Of 23,913 real vectors it then finds 0.9975 of the nearest hundred when asked for 200, in half of the processor time that
Neo4j's own settings take for as much (0.9974, asked for 500). Filling takes twice as long, so while an index grows by transactions it
has Neo4j's own: what so grew is filled anew."""
EDGE_TYPES = (
    "FROM_DOCUMENT",
    "NEXT_CHUNK",
    "LINKS_TO",
    "FROM_CHUNK",
    "ROW_OF",
    "MERGED_INTO",
    "SIMILAR",
    "IN_COMMUNITY",
    "PARENT_COMMUNITY",
    "__PREDICTED__",
)

_CONSTRAINTS = {
    "chunk_id": "Chunk[id]",
    "table_row_id": "__TableRow__[id]",
    "document_id": "Document[id]",
    "entity_key": "__Entity__[key]",
    "member_key": "__Member__[key]",
    "merge_key": "__Merge__[key]",
    "community_key": "__Community__[key]",
    "work_key": "__Work__[key]",
    "meta_key": "__Meta__[key]",
}
"""What is unique, with the name that ArcadeDB gives its index; Neo4j calls it as the constraint."""
_INDEXES = (
    "chunk_document",
    "chunk_source",
    "document_path",
    "entity_normal",
    "member_normal",
    "member_survivor",
    "work_subject",
)


_ARCADEDB_TEXT = 'FULL_TEXT METADATA {"analyzer": "org.apache.lucene.analysis.en.EnglishAnalyzer"}'


@dataclass(frozen=True, slots=True)
class Meta:
    """What a store was made with."""

    schema_version: int
    embedder: str
    dimensions: int


def entity_vector_index(graph: str) -> str:
    """Name the vector index over the entities of a graph."""
    return f"entity_embedding_{graph}"


def community_vector_index(graph: str, level: int) -> str:
    """Name the vector index over the communities of one level of a graph."""
    return f"community_embedding_{graph}_{level}"


def community_text_index(graph: str, level: int) -> str:
    """Name the full-text index over `full_content` of the communities of one level of a graph."""
    return f"community_text_{graph}_{level}"


class Schema:
    """What an open store was made with, and the indexes that it has."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.meta = _read_meta(connection)
        """None where nothing was built yet."""
        self._graphs: set[str] = set()

    @property
    def dimensions(self) -> int:
        """Of every vector. Raises `StoreMismatch` where nothing was built yet: whoever writes binds the store first."""
        return self.bound().dimensions

    def bound(self) -> Meta:
        """Return what the store was made with. Raises `StoreMismatch` where nothing was built yet."""
        if self.meta is None:
            raise StoreMismatch(
                "Nothing was built into this store yet: expected one that kgrag build FOLDER made (bind(embedder, dimensions) in Python)."
            )
        return self.meta

    def bind(self, embedder: str, dimensions: int) -> None:
        """Remember the embedder that the store is built with, and make constraints and indexes.

        Raises `StoreMismatch` for another, and for a database that has nodes of others under kgrag's labels.
        """
        if self.meta is None:
            self.meta = _read_meta(self._connection)  # another build may have begun since the store was opened
        _check_meta(self.meta, embedder, dimensions)
        if self.meta is None and import_state(self._connection) is not None:
            raise StoreMismatch(
                "An import into this store has not ended: kgrag import with the same folder goes on with it."
            )
        if self.meta is None and self._connection.server is None:
            for row in self._connection.read("schema/foreign_neo4j"):
                raise StoreMismatch(
                    f"The database has nodes that kgrag did not write under labels that it uses ({':'.join(row['labels'])}). "
                    "Choose another one by --store or NEO4J_DATABASE, or remove them."
                )
        _create_schema(self._connection, dimensions)
        if self.meta is None:
            meta = Meta(SCHEMA_VERSION, embedder, dimensions)
            self._connection.write(lambda transaction: transaction.run("store/put_meta", **asdict(meta)))
            self.meta = meta

    def read(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a reading statement by its name; there is nothing in a store where nothing was built yet."""
        return self._connection.read(name, **parameters) if self.meta else []

    def create(self, meta: Meta, *, vectors: bool = True) -> None:
        """Make constraints and indexes for content that comes before the store says what it is made with: it is imported."""
        _create_schema(self._connection, meta.dimensions, vectors=vectors)
        self.meta = meta

    @property
    def fills_at_once(self) -> bool:
        """Whether a vector index costs less where it is made after its nodes: Neo4j then fills it from all of them, else by transaction."""
        return self._connection.server is None

    def check(self, embedder: str, dimensions: int) -> None:
        """Raise `StoreMismatch` where the store was built with another embedder, or nothing was built."""
        if self.meta is None:
            raise StoreMismatch("Nothing was built in this store yet. Fill it with kgrag build PATH...")
        _check_meta(self.meta, embedder, dimensions)

    def ensure_graph(self, graph: str) -> None:
        """Make the vector index over the entities of a graph, unless it is there; its label exists from then on."""
        if graph not in self._graphs:
            _create_vector_index(self._connection, entity_vector_index(graph), graph_label(graph), self.dimensions)
            self._graphs.add(graph)

    def drop_graph(self, graph: str) -> None:
        """Drop the vector index over the entities of a graph."""
        self._graphs.discard(graph)
        drop_index(self._connection, entity_vector_index(graph))

    def ensure_level(self, graph: str, level: int) -> None:
        """Make the vector and the full-text index over the communities of one level of a graph."""
        _create_community_indexes(self._connection, graph, level, self.dimensions)

    def drop_level(self, graph: str, level: int) -> None:
        """Drop the indexes over the communities of one level of a graph."""
        drop_index(self._connection, community_vector_index(graph, level))
        drop_index(self._connection, community_text_index(graph, level))

    def warm_indexes(self, *, graphs: Sequence[str], levels: Sequence[tuple[str, int]]) -> None:
        """Have the vector indexes, also over levels of communities, built and in memory.

        ArcadeDB does it at the first question: 100,000 chunks in about a minute.
        """
        if self._connection.server is None:
            self._fill_grown_indexes(graphs, levels)
        vector = [1.0] + [0.0] * (self.dimensions - 1)
        # A store that was made before rows had vectors has no index of them.
        rows = self._connection.read("store/count_table_rows")[0]["rows"]
        for index in _vector_indexes(graphs, levels):
            if index != ROW_VECTOR_INDEX or rows:
                self._connection.read("schema/ask_vectors", index=index, vector=vector)

    def _fill_grown_indexes(self, graphs: Sequence[str], levels: Sequence[tuple[str, int]]) -> None:
        """Have Neo4j fill those vector indexes from all their nodes at once that grew since, and wait until all indexes are ready.

        Who asks one meanwhile waits for it (`Connection.read_plain`).
        """
        connection = self._connection
        filled = {row["name"]: row["nodes"] for row in connection.read("schema/filled_indexes")}
        rows = connection.read("schema/vector_settings_neo4j")
        settings: dict[str, dict[str, Any]] = {row["name"]: row["settings"] for row in rows}
        for index, label in _vector_indexes(graphs, levels).items():
            nodes = connection.read("schema/count_label", label=label)[0]["nodes"]
            grown = abs(nodes - filled.get(index, 0)) >= GROWN_BY * nodes
            if nodes >= FEWEST_FILLED and (grown or not FILLED_SETTINGS.items() <= settings.get(index, {}).items()):
                _fill_from_all(connection, index, label, self.dimensions, nodes)
        _await_indexes(connection)


def import_state(connection: Connection) -> dict[str, Any] | None:
    """Say how far an import is that has not ended (export, kind, rows); None where there is none."""
    rows = connection.read("exchange/import_state") if _knows(connection, "__Import__") else []
    return rows[0] if rows else None


def _knows(connection: Connection, label: str) -> bool:
    """Say whether a label can be asked for: ArcadeDB refuses those that it has not seen."""
    if connection.server is None:
        return True
    return bool(connection.server.sql(f"SELECT FROM schema:types WHERE name = '{label}'"))


def _read_meta(connection: Connection) -> Meta | None:
    """Read what the store was made with; None where nothing was built yet. Raises `StoreMismatch` for another schema version."""
    if not _knows(connection, "__Meta__"):
        return None
    rows = connection.read("store/meta")
    if not rows:
        return None
    meta = Meta(**rows[0])
    if meta.schema_version != SCHEMA_VERSION:
        raise StoreMismatch(
            f"The store has schema version {meta.schema_version}, and this kgrag has {SCHEMA_VERSION}. "
            "Build anew in another place, or use the kgrag that made it."
        )
    return meta


def _check_meta(meta: Meta | None, embedder: str, dimensions: int) -> None:
    """Raise `StoreMismatch` unless the store was made with this embedder; None (nothing built yet) fits every one."""
    if meta is not None and (meta.embedder, meta.dimensions) != (embedder, dimensions):
        raise StoreMismatch(
            f"The store was built with the embedder {meta.embedder} ({meta.dimensions} dimensions), not with {embedder} ({dimensions}). "
            f"Use --embedder {meta.embedder}, or build anew in another place: vectors of two embedders cannot be compared."
        )


def _create_schema(connection: Connection, dimensions: int, *, vectors: bool = True) -> None:
    """Make the constraints and indexes that are not there yet, those of vectors where `vectors` says so.

    To ask once what is there costs a tenth of asking for each to be made.
    """
    there = _names(connection)
    for name, in_arcadedb in (*_CONSTRAINTS.items(), *zip(_INDEXES, _INDEXES, strict=True)):
        if (name if connection.server is None else in_arcadedb) not in there:
            connection.run_alone(statement(f"schema/{name}"))
    for index, label in _vector_indexes().items():
        if vectors and index not in there:
            _create_vector_index(connection, index, label, dimensions)
    if connection.server is None:
        if CHUNK_FULLTEXT_INDEX not in there:
            connection.run_alone(statement("schema/chunk_prompted_neo4j"))
        return
    sql = connection.server.sql
    for type_name in EDGE_TYPES:
        if type_name not in there:
            sql(f"CREATE EDGE TYPE {quoted(type_name)} IF NOT EXISTS")
    if CHUNK_FULLTEXT_INDEX not in there:
        sql("CREATE PROPERTY Chunk.prompted IF NOT EXISTS STRING")
        sql(f"CREATE INDEX {quoted(CHUNK_FULLTEXT_INDEX)} IF NOT EXISTS ON Chunk (prompted) {_ARCADEDB_TEXT}")


def _names(connection: Connection) -> frozenset[str]:
    """Return the names of all indexes, on ArcadeDB those of types of nodes and edges, too."""
    if connection.server is None:
        rows = connection.read("schema/names_neo4j")
    else:
        sql = connection.server.sql
        rows = [*sql("SELECT name FROM schema:indexes"), *sql("SELECT name FROM schema:types")]
    return frozenset(str(row["name"]) for row in rows)


def _vector_indexes(graphs: Sequence[str] = (), levels: Sequence[tuple[str, int]] = ()) -> dict[str, str]:
    """Return the label of the nodes of each vector index: of chunks, rows of tables, entities of graphs, levels of communities."""
    return {
        CHUNK_VECTOR_INDEX: "Chunk",
        ROW_VECTOR_INDEX: "__TableRow__",
        **{entity_vector_index(graph): graph_label(graph) for graph in graphs},
        **{community_vector_index(graph, level): community_label(graph, level) for graph, level in levels},
    }


def _create_vector_index(connection: Connection, index: str, label: str, dimensions: int) -> None:
    """Make a vector index over the nodes of a label, unless it is there; where many nodes came before it, filled from all of them."""
    if connection.server is None:
        nodes = connection.read("schema/count_label", label=label)[0]["nodes"]
        if nodes >= FEWEST_FILLED and index not in _names(connection):
            _fill_from_all(connection, index, label, dimensions, nodes)
            return
        text = statement("schema/vectors_neo4j", index=index, label=label)
        connection.run_alone(text, {"options": _neo4j_options(dimensions)})
        return
    sql, of = connection.server.sql, quoted(label)
    sql(f"CREATE VERTEX TYPE {of} IF NOT EXISTS")
    sql(f"CREATE PROPERTY {of}.embedding IF NOT EXISTS ARRAY_OF_FLOATS")
    metadata = f'{{"dimensions": {int(dimensions)}, "similarity": "COSINE"}}'
    sql(f"CREATE INDEX {quoted(index)} IF NOT EXISTS ON {of} (embedding) LSM_VECTOR METADATA {metadata}")


def _fill_from_all(connection: Connection, index: str, label: str, dimensions: int, nodes: int) -> None:
    """Have Neo4j make a vector index anew, which fills it from all its nodes at once, and remember how many these were."""
    options = _neo4j_options(dimensions, FILLED_SETTINGS)

    def make(transaction: Transaction) -> None:
        transaction.run("schema/drop_index", index=index)
        transaction.run("schema/vectors_neo4j", index=index, label=label, options=options)

    connection.write(make)
    connection.write(partial(Transaction.run, name="schema/put_filled_index", of=index, nodes=nodes))


def _await_indexes(connection: Connection) -> None:
    """Wait until all indexes of Neo4j can be asked. Raises `StoreError` where one has failed, or none gets further any more."""
    before: list[dict[str, Any]] = []
    since = time.monotonic()
    pause, longest = LOOK_AGAIN_S
    while under_way := connection.read("schema/indexes_under_way_neo4j"):
        for row in under_way:
            if row["state"] == "FAILED":
                raise StoreError(f"Neo4j could not fill the index {row['name']}: {row['reason']}")
        if under_way != before:
            before, since = under_way, time.monotonic()
        elif time.monotonic() - since > INDEX_PATIENCE_S:
            said = ", ".join(f"{row['name']} ({row['percent']:.0f} %)" for row in under_way)
            raise StoreError(
                f"Neo4j has filled its indexes no further for {INDEX_PATIENCE_S:.0f} s: {said}. Look into its log; the next build goes on."
            )
        time.sleep(pause)
        pause = min(2 * pause, longest)


def drop_index(connection: Connection, index: str) -> None:
    """Drop an index, by the language of the database that has it; one that is not there is none."""
    if connection.server is None:
        connection.run_alone(statement("schema/drop_index", index=index))
    else:
        connection.server.sql(f"DROP INDEX {quoted(index)} IF EXISTS")


def _create_community_indexes(connection: Connection, graph: str, level: int, dimensions: int) -> None:
    """Make the vector and the full-text index over the communities of one level of a graph."""
    label, texts = community_label(graph, level), community_text_index(graph, level)
    _create_vector_index(connection, community_vector_index(graph, level), label, dimensions)
    if connection.server is None:
        connection.run_alone(statement("schema/community_text_neo4j", graph=graph, level=level, index=texts))
        return
    sql = connection.server.sql
    sql(f"CREATE PROPERTY {quoted(label)}.full_content IF NOT EXISTS STRING")
    sql(f"CREATE INDEX {quoted(texts)} IF NOT EXISTS ON {quoted(label)} (full_content) {_ARCADEDB_TEXT}")


def _neo4j_options(dimensions: int, settings: Mapping[str, int] = MappingProxyType({})) -> dict[str, Any]:
    return {
        "indexConfig": {
            "vector.dimensions": dimensions,
            "vector.similarity_function": "cosine",
            # Quantised, recall@10 was 0.91 on 6,119 passages; without and with five-fold candidates 1.0.
            "vector.quantization.enabled": False,
            **settings,
        }
    }
