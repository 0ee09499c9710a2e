"""Indexes, the user's own Cypher, and the statements as they lie, on both databases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kgrag.errors import CypherWriteError, InputError, KgragError
from kgrag.store.fulltext import escape_lucene, fulltext_query
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.readonly import called_names
from kgrag.store.schema import CHUNK_FULLTEXT_INDEX, CHUNK_VECTOR_INDEX, entity_vector_index

STATEMENTS = Path(__file__).parents[2] / "cypher"

WRITING = [
    "CREATE (n:Foreign) RETURN n",
    "MATCH (c:Chunk) SET c.text = 'gone'",
    "MATCH (c:Chunk) REMOVE c.text",
    "MATCH (c:Chunk) DETACH DELETE c",
    "MERGE (n:Chunk {id: 'new'}) RETURN n",
    "MATCH (c:Chunk) CALL (c) { SET c.text = 'gone' } RETURN c",
    "MATCH (c:Chunk) FOREACH (x IN [1] | SET c.text = 'gone')",
    "/* RETURN 1 */ match (c:Chunk) // only reading\n set c.text = 'gone'",
    "MATCH (c:Chunk) RETURN c UNION CREATE (c:Chunk) RETURN c",
    "CREATE INDEX foreign FOR (c:Chunk) ON (c.text)",
    "CREATE CONSTRAINT foreign FOR (c:Chunk) REQUIRE c.text IS UNIQUE",
    "DROP INDEX chunk_document",
    "CALL db.create.setNodeVectorProperty(null, 'embedding', [1.0])",
    "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "load /* */ csv FROM 'http://127.0.0.1/' AS line RETURN line",
    "// to both databases this comment ends here:\rLOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "PROFILE CREATE (n:Foreign) RETURN n",
    "SHOW TRANSACTIONS",
    "SHOW USERS",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
]

REACHING = [
    "CALL apoc.load.json('file:///etc/passwd') YIELD value RETURN value",
    "CALL `apoc`.`load`.`json`('http://127.0.0.1/') YIELD value RETURN value",
    "CALL apoc.export.csv.all('all.csv', {})",
    "CALL apoc.export.csv.all",
    "CALL dbms.listConfig()",
    "SHOW SETTINGS",
    "CALL algo.pagerank()",
    "// to both databases this comment ends here:\rCALL apoc.load.json('file:///etc/passwd') YIELD value RETURN value",
    "RETURN apoc.text.join(['a', 'b'], '-') AS joined",
    "MATCH (c:Chunk) RETURN apoc . cypher /* hidden */ .runFirstColumnSingle('RETURN 1', {}) AS x",
]
"""Refused on both, whatever is installed there; where a database does not know one, that may be the reason that it gives."""

MANY_ROWS = "UNWIND range(1, 900000) AS a UNWIND range(1, 40) AS b WITH a * b AS x WHERE x < 0 RETURN count(x) AS n"
"""Some seconds on one database, a minute or two on the other: more than a second anywhere, and not without end where nothing ends it."""

READING = [
    ("RETURN 1 AS one", [{"one": 1}]),
    (
        "MATCH (c:Chunk) RETURN c.text AS text ORDER BY text",
        [{"text": "gauge of pressure"}, {"text": "supply voltage 3.3 V"}],
    ),
    ("MATCH (c:Chunk) WHERE c.text CONTAINS 'CREATE (n) SET DELETE' RETURN c", []),
    ("PROFILE RETURN 1 AS one", [{"one": 1}]),
    ("// a comment\nMATCH (c:Chunk {text: $text}) RETURN count(c) AS n", [{"n": 1}]),
    (
        "MATCH (c:Chunk)-[r:FROM_DOCUMENT]->(d) RETURN DISTINCT type(r) AS t, d.path AS p",
        [{"t": "FROM_DOCUMENT", "p": "a.html"}],
    ),
]


@pytest.fixture
def filled(store: GraphStore, content: Any) -> GraphStore:
    store.documents.put([content.document("a.html", "supply voltage 3.3 V", "gauge of pressure", title="The X-100")])
    return store


@pytest.mark.parametrize("cypher", WRITING)
def test_cypher_that_would_write_is_refused(filled: GraphStore, cypher: str) -> None:
    before = filled.digest()
    with pytest.raises(KgragError) as caught:
        filled.query(cypher)
    assert isinstance(caught.value, CypherWriteError), caught.value
    assert "only reads" in str(caught.value)
    assert filled.digest() == before
    assert not filled.query("MATCH (n:Foreign) RETURN n")


@pytest.mark.parametrize("cypher", REACHING)
def test_cypher_that_reaches_beyond_the_graph_is_refused(filled: GraphStore, cypher: str) -> None:
    with pytest.raises(InputError):  # CypherWriteError is one
        filled.query(cypher)


def test_what_a_statement_calls_is_read_whatever_way_it_is_written() -> None:
    assert called_names("CALL `apoc`.`load`.json('x') YIELD value RETURN value") == ({"apoc.load.json"}, set())
    assert called_names("CALL `apoc.load.json`('x')") == ({"apoc.load.json"}, set())
    assert called_names("call /* a */ Apoc.Export.csv.all // b") == ({"apoc.export.csv.all"}, set())
    assert called_names("RETURN apoc . text\n.join(['a'], '')") == (set(), {"apoc.text.join"})
    assert called_names("MATCH (n) WHERE n.a IN (['x']) CALL (n) { RETURN 1 AS y } RETURN n.call") == (set(), set())
    assert called_names("RETURN 'CALL apoc.a()' AS s, \"apoc.b()\" AS t // CALL apoc.c()") == (set(), set())


def test_a_procedure_behind_an_escape_is_refused(filled: GraphStore) -> None:
    with pytest.raises(InputError):
        filled.query("CALL apoc.load.j\\u0073on('file:///etc/passwd') YIELD value RETURN value")
    assert filled.query("RETURN date.truncate('year', date('2026-05-04')) = date('2026-01-01') AS same") == [
        {"same": True}
    ]


def test_cypher_that_takes_too_long_is_ended_by_the_database(filled: GraphStore) -> None:
    with pytest.raises(InputError, match="too long"):
        list(filled.stream_query(MANY_ROWS, timeout_s=1))
    assert filled.query("RETURN 1 AS one") == [{"one": 1}]
    assert filled.documents.count_chunks() == 2


def test_rows_come_as_they_are_taken(filled: GraphStore) -> None:
    rows = filled.stream_query("UNWIND range(1, 9000000) AS n RETURN n")
    assert [next(rows)["n"] for _ in range(3)] == [1, 2, 3]
    rows.close()
    assert filled.query("RETURN 1 AS one") == [{"one": 1}]


@pytest.mark.parametrize(("cypher", "rows"), READING)
def test_cypher_that_reads_is_answered(filled: GraphStore, cypher: str, rows: list[dict[str, Any]]) -> None:
    assert filled.query(cypher, text="gauge of pressure") == rows


@pytest.mark.parametrize(
    "cypher",
    [
        "",
        "MATCH (n RETURN n",
        "DROP",
        "RETURN 1; MATCH (n) DETACH DELETE n",
        "SELECT FROM Chunk",
        "RETURN $missing.x + 1 / 0",
    ],
)
def test_cypher_that_is_wrong_is_an_error_of_ours(filled: GraphStore, cypher: str) -> None:
    with pytest.raises(InputError):
        filled.query(cypher)
    assert filled.documents.count_chunks() == 2


def test_vector_indexes_find_the_nearest(store: GraphStore, content: Any) -> None:
    texts = [f"text {i}" for i in range(300)]
    document, chunks = content.document("a.html", *texts)
    store.documents.put([(document, chunks)])
    store.graphs.put_extractions(
        "mention",
        [
            content.said(chunk, content.entity(chunk.text, type_))
            for chunk, type_ in zip(chunks, ["A", "B", "C"] * 100, strict=True)
        ],
    )
    store.graphs.put_extractions(
        "other", [content.said(chunk, content.entity(chunk.text), graph="other") for chunk in chunks[:5]]
    )
    content.embed_all(store, "mention", "other")
    store.finish()
    search = "CALL db.index.vector.queryNodes($index, $k, $vector) YIELD node, score RETURN coalesce(node.text, node.name) AS text, score"
    vectors = content.vectors(texts)
    for index, within in (
        (CHUNK_VECTOR_INDEX, 300),
        (entity_vector_index("mention"), 300),
        (entity_vector_index("other"), 5),
    ):
        for wanted in (0, 4):
            cosines = vectors[:within] @ vectors[wanted]
            best = sorted(range(within), key=lambda i: -cosines[i])[:5]
            found = store.query(search, index=index, k=50, vector=vectors[wanted].tolist())[:5]
            assert [row["text"] for row in found] == [texts[i] for i in best]
            assert [row["score"] for row in found] == pytest.approx([(1 + cosines[i]) / 2 for i in best], abs=1e-5)


def test_a_vector_that_is_gone_is_not_found(store: GraphStore, content: Any) -> None:
    document, chunks = content.document("a.html", *(f"text {i}" for i in range(20)))
    other = content.document("b.html", "text 3 as well")
    store.documents.put([(document, chunks), other])
    content.embed_all(store)
    store.finish()
    store.documents.delete([document.id])
    search = "CALL db.index.vector.queryNodes($index, 10, $vector) YIELD node RETURN node.text AS text"
    assert store.query(search, index=CHUNK_VECTOR_INDEX, vector=content.vectors(["text 3"])[0].tolist()) == [
        {"text": "text 3 as well"}
    ]


@pytest.mark.changes_indexes
def test_the_full_text_index_gives_the_best_hits_that_reading_all_would_give(store: GraphStore, content: Any) -> None:
    texts = [" ".join(["pump"] * (1 + number % 7) + ["filler"] * (number % 97)) for number in range(600)]
    store.documents.put([content.document(f"{start}.html", *texts[start : start + 60]) for start in range(0, 600, 60)])
    content.embed_all(store)
    store.finish()

    def hits(of: GraphStore) -> list[str]:
        vector = [1.0] * content.dimensions
        rows = of.search.sparse_seeds(query="pump", vector=vector, limit=20)
        return [row["id"] for row in rows]

    # Who may not read all is given what is left of all hits.
    everything = store.limited_to([document.id for document in store.documents.all()])
    assert len(hits(store)) == 20
    assert hits(store) == hits(everything)


def test_the_full_text_index_finds_words_at_once_and_ranks_rare_ones_first(store: GraphStore, content: Any) -> None:
    texts = [
        "the sensor measures pressure",
        "the sensor has 3.3 V",
        "the sensor, the X-100",
        "the board I2C/SPI (rev. 2)",
        "the Größe of a 部品",
        "объём памяти",
        "память компьютера",
        "메모리를 사용",
    ]
    store.documents.put([content.document("a.html", *texts, title="Manual")])
    store.finish()
    search = "CALL db.index.fulltext.queryNodes($index, $query) YIELD node, score RETURN node.text AS text, score"

    def found(question: str) -> list[str]:
        return [row["text"] for row in store.query(search, index=CHUNK_FULLTEXT_INDEX, query=fulltext_query(question))]

    assert found("What is the pressure of the sensor?")[0] == texts[0]
    assert found("Which runs on 3.3 V?")[0] == texts[1]
    assert found("x-100")[0] == texts[2]
    assert found("X-1000") == []
    assert found("the 100 of the X, as X-100") == found("x-100")
    assert found("on-off") == found("to-be or-not") == []
    assert found("i2c")[0] == texts[3]
    assert found("grösse") == []
    assert found("GRÖSSE") == []
    assert found("GRÖßE") == [texts[4]]
    assert found("Память") == [texts[6], texts[5]]
    assert found("메모리가") == [texts[7]]
    for hostile in [
        '"',
        "(a",
        "a:b",
        "foo AND",
        "NOT",
        "[a TO",
        "/x",
        "~",
        "*",
        "a^",
        "\\",
        "&& ||",
        "部品",
        "{",
        "sensor\x00",
    ]:
        found(hostile) if fulltext_query(hostile) else None
        store.query(search, index=CHUNK_FULLTEXT_INDEX, query=escape_lucene(hostile))


def test_every_statement_says_what_it_is_for() -> None:
    for path in STATEMENTS.rglob("*.cypher"):
        assert re.match(r"// [A-Z]", path.read_text(encoding="utf-8")), path


@pytest.mark.neo4j
def test_equal_content_has_an_equal_digest_on_both_databases(neo4j_empty: str, tmp_path: Path, content: Any) -> None:
    digests = []
    for target in (str(tmp_path / "store.kg"), neo4j_empty):
        with open_store(target) as store:
            store.bind(content.embedder, content.dimensions)
            document, chunks = content.document(
                "a.html", "one", "two 😀", product="X", metadata={"n": 1.0, "none": None}
            )
            store.documents.put([(document, chunks)])
            relation = content.relation("X-100", "has part", "Y", description="X has Y")
            store.graphs.put_extractions(
                "mention",
                [content.said(chunks[0], content.entity("Z", "TYPE"), relations=[relation]), content.said(chunks[1])],
            )
            digests.append(store.digest())
            content.embed_all(store, "mention")
            digests.append(store.digest())
    assert digests[:2] == digests[2:]
    assert digests[0] != digests[1]


@pytest.mark.parametrize("brackets", ["()", "[]"])
def test_a_statement_that_is_nested_too_deeply_to_be_planned_is_refused_at_once(
    store: GraphStore, brackets: str
) -> None:
    nested = f"RETURN {brackets[0] * 3_000}1{brackets[1] * 3_000} AS a"
    with pytest.raises(InputError, match=r"nested 3,000 brackets deep"):
        store.query(nested)
    assert store.query(f"RETURN '{'(' * 3_000}' AS a, ((1)) AS b") == [{"a": "(" * 3_000, "b": 1}]
