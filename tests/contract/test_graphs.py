"""Entities, mentions and relations, on both databases."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kgrag.errors import IdentifierError, InputError
from kgrag.store import vectors as stored_vectors
from kgrag.store.connection import Transaction
from kgrag.store.graph import GraphStore
from kgrag.store.ledger import WorkRecord
from kgrag.store.namings import Namings
from kgrag.types import Extraction

HOSTILE = [
    "",
    " ",
    "`",
    "a`) DETACH DELETE n //",
    "a\\`b",
    "{}",
    "{key: 1}",
    "$key",
    "line\nbreak\r\ttab",
    "'\"",
    "x" * 10_000,
    "Ω µ 部品 😀 \u202e\ufeff",
    "\x00\x07",
    "\ud800 half a pair",
    "name:(foo OR bar)~2^3 AND /re.*/ [a TO b]",
    "MATCH (n) DETACH DELETE n",
    "Chunk",
    "Document",
    "__Entity__",
    "__Graph_mention__",
    "__Work__",
    "FROM_CHUNK",
    "NEXT_CHUNK",
    "HAS PART",
    "1st",
    "V",
    "E",
    "Vertex",
    "Edge",
    "a.b~c:d|e*f/g",
    "null",
]


def test_the_name_is_the_most_frequent_spelling_and_titles_come_first(store: GraphStore, content: Any) -> None:
    document, chunks = content.document("a.html", *"abcdef")
    store.documents.put([(document, chunks)])
    spellings = ["x-100", "X-100", "x-100", "X–100", "X-100", "x-100"]
    mentions = [
        content.said(
            chunk, content.entity(name, normal="x 100", description=f"{name} is it" if name == "X–100" else "")
        )
        for chunk, name in zip(chunks, spellings, strict=True)
    ]
    store.graphs.put_extractions("mention", mentions[:2])
    assert content.entities(store)["x 100"]["name"] == "X-100"  # a tie: the first by the alphabet
    store.graphs.put_extractions("mention", mentions[2:])
    entity = content.entities(store)["x 100"]
    assert (entity["name"], entity["aliases"], entity["mentions"]) == ("x-100", ["X-100", "X–100"], 6)
    assert (entity["type"], entity["graph"], entity["description"]) == ("Product", "mention", "X–100 is it")
    store.graphs.put_extractions(
        "mention", [content.said(chunks[3], content.entity("X–100", normal="x 100", role="title"))]
    )
    entity = content.entities(store)["x 100"]
    assert (entity["name"], entity["aliases"], entity["mentions"], entity["description"]) == (
        "X–100",
        ["X-100", "x-100"],
        6,
        "",
    )


def test_a_name_of_many_chunks_is_not_counted_anew_for_each_batch(
    store: GraphStore, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, chunks = content.document("a.html", *(f"part {number}" for number in range(60)))
    store.documents.put([(document, chunks)])
    counted: list[str] = []
    run = Transaction.run

    def watched(self: Transaction, name: str, **parameters: Any) -> list[dict[str, Any]]:
        counted.extend(parameters["keys"] if name == "store/spellings" else ())
        return run(self, name, **parameters)

    monkeypatch.setattr(Transaction, "run", watched)
    for start in range(0, 60, 10):
        spelt = [["x-100", "X-100", "X 100"][(start + place) % 7 % 3] for place in range(10)]
        said = [
            content.said(chunk, content.entity(name, normal="x 100", description=name * (start % 4)))
            for chunk, name in zip(chunks[start:], spelt, strict=False)
        ]
        store.graphs.put_extractions("mention", said)
    assert counted == []
    entity = content.entities(store)["x 100"]
    assert (entity["name"], entity["aliases"], entity["mentions"]) == ("x-100", ["X 100", "X-100"], 60)
    assert entity["description"] == "X 100X 100"
    written = store.digest()
    store.graphs._namings = Namings()  # as in another process
    store.graphs.put_extractions("mention", [content.said(chunks[0])])
    store.graphs.put_extractions("mention", [content.said(chunks[0], content.entity("x-100", normal="x 100"))])
    assert len(counted) == 1, "once, by who has not counted yet"
    assert store.digest() == written


def test_what_an_older_kgrag_did_not_count_is_counted_by_the_next_build(store: GraphStore, content: Any) -> None:
    document, chunks = content.document("a.html", "one", "two")
    store.documents.put([(document, chunks)])
    said = [content.entity("X-100", role="title"), content.entity("LQ22")]
    store.graphs.put_extractions("mention", [content.said(chunk, *said) for chunk in chunks])
    assert [content.entities(store)[name]["titles"] for name in ("x-100", "lq22")] == [2, 0]
    digest = store.digest()
    store._connection.run_alone("MATCH (e:__Entity__) REMOVE e.titles")
    assert content.wrong_titles(store) == ["LQ22", "X-100"]
    assert store.digest() == digest
    store.bind(content.embedder, content.dimensions)
    assert content.wrong_titles(store) == []
    assert store.digest() == digest


def test_a_new_name_or_description_waits_for_a_new_vector(store: GraphStore, content: Any) -> None:
    document, (one, two) = content.document("a.html", "one", "two")
    store.documents.put([(document, [one, two])])
    store.graphs.put_extractions("mention", [content.said(one, content.entity("b"), content.entity("other"))])
    content.embed_all(store, "mention")
    store.graphs.put_extractions("mention", [content.said(two, content.entity("b"))])
    assert not store.graphs.keys_without_embedding("mention")
    store.graphs.put_extractions("mention", [content.said(two, content.entity("B", normal="b", role="title"))])
    assert [entity["name"] for entity in store.graphs.entities_of(store.graphs.keys_without_embedding("mention"))] == [
        "B"
    ]
    content.embed_all(store, "mention")
    store.graphs.put_extractions(
        "mention", [content.said(one, content.entity("b", description="A letter."), content.entity("other"))]
    )
    waiting = store.graphs.entities_of(store.graphs.keys_without_embedding("mention"))
    assert [(entity["name"], entity["type"], entity["description"]) for entity in waiting] == [
        ("B", "Product", "A letter.")
    ]


def test_a_relation_lists_the_chunks_that_say_it(store: GraphStore, content: Any) -> None:
    document, chunks = content.document("a.html", "one", "two", "three")
    store.documents.put([(document, chunks)])
    first, second, third = sorted(chunks, key=lambda chunk: chunk.id)
    said = {
        first.id: content.relation(
            "X", "has part", "Y", description="not seen", grounded=False, reason="Y is not in the chunk"
        ),
        second.id: content.relation("X", "HAS_PART", "Y", description="X has Y."),
        third.id: content.relation("X", "HAS_PART", "Y", description="Y, of X", grounded=False),
    }
    for chunk in (third, first, second):
        store.graphs.put_extractions("mention", [content.said(chunk, relations=[said[chunk.id]])])
    relation = content.relations(store)["x", "HAS_PART", "y"]
    assert relation["chunks"] == [first.id, second.id, third.id]
    assert relation["descriptions"] == ["not seen", "X has Y.", "Y, of X"]
    assert (relation["weight"], relation["description"], relation["grounded"], relation["reason"]) == (
        3,
        "not seen",
        True,
        "",
    )
    store.graphs.put_extractions("mention", [content.said(second, content.entity("Y"))])
    relation = content.relations(store)["x", "HAS_PART", "y"]
    assert (relation["weight"], relation["grounded"], relation["reason"]) == (2, False, "Y is not in the chunk")
    store.graphs.put_extractions("mention", [content.said(first), content.said(third)])
    assert content.relations(store) == {}
    assert content.entities(store).keys() == {"y"}


def test_a_relation_from_a_thing_to_itself_and_both_ways_is_kept(store: GraphStore, content: Any) -> None:
    document, (chunk,) = content.document("a.html", "one")
    store.documents.put([(document, [chunk])])
    relations = [
        content.relation("X", "IS_A", "X"),
        content.relation("X", "IS_A", "Y"),
        content.relation("Y", "IS_A", "X"),
    ]
    store.graphs.put_extractions("mention", [content.said(chunk, relations=[*relations, relations[0]])])
    assert content.relations(store).keys() == {("x", "IS_A", "x"), ("x", "IS_A", "y"), ("y", "IS_A", "x")}
    assert {relation["weight"] for relation in content.relations(store).values()} == {1}
    store.graphs.put_extractions("mention", [content.said(chunk)])
    assert (content.entities(store), content.relations(store)) == ({}, {})


def test_an_entity_that_a_chunk_names_twice_is_mentioned_once(store: GraphStore, content: Any) -> None:
    document, (chunk,) = content.document("a.html", "one")
    store.documents.put([(document, [chunk])])
    ways = [content.entity("X"), content.entity("x", role="title"), content.entity("X", description="A letter.")]
    store.graphs.put_extractions("mention", [content.said(chunk, *ways)])
    forwards = store.digest()
    store.graphs.put_extractions("mention", [content.said(chunk, *reversed(ways))])
    entity = content.entities(store)["x"]
    assert (entity["name"], entity["mentions"]) == ("x", 1)
    assert store.query("MATCH ()-[m:FROM_CHUNK]->() RETURN m.role AS role") == [{"role": "title"}]
    store.graphs.put_extractions("mention", [content.said(chunk, *ways)])
    assert store.digest() == forwards


@pytest.mark.changes_indexes
def test_graphs_live_side_by_side(store: GraphStore, content: Any) -> None:
    document, (chunk,) = content.document("a.html", "one")
    store.documents.put([(document, [chunk])])
    store.graphs.put_extractions(
        "one", [content.said(chunk, content.entity("X"), relations=[content.relation("X", "IS_A", "Y")], graph="one")]
    )
    content.embed_all(store, "one")
    alone = store.digest()
    store.graphs.put_extractions(
        "two-2.b", [content.said(chunk, content.entity("X", description="other"), graph="two-2.b")]
    )
    content.embed_all(store, "two-2.b")
    assert store.status()["graphs"] == {
        "one": {"entities": 2, "relations": 1, "communities": 0},
        "two-2.b": {"entities": 1, "relations": 0, "communities": 0},
    }
    assert store.query("MATCH (e:`__Graph_two-2.b__`:Product) RETURN e.description AS d") == [{"d": "other"}]
    store.graphs.put_extractions("two-2.b", [content.said(chunk, graph="two-2.b")])
    assert content.entities(store, "one").keys() == {"x", "y"}
    store.graphs.put_extractions("two-2.b", [content.said(chunk, content.entity("Z"), graph="two-2.b")])
    assert store.graphs.delete("two-2.b") == 1
    assert store.digest() == alone
    store.graphs.put_extractions("two-2.b", [content.said(chunk, content.entity("Z"), graph="two-2.b")])
    assert len(store.graphs.keys_without_embedding("two-2.b")) == 1


@pytest.mark.changes_indexes
def test_deleting_a_graph_that_is_not_there_does_nothing(store: GraphStore) -> None:
    before = store.digest()
    assert store.graphs.delete("nobody") == 0
    assert store.digest() == before


def test_a_failed_extraction_takes_back_what_the_chunk_said(store: GraphStore, content: Any) -> None:
    document, (chunk,) = content.document("a.html", "one")
    store.documents.put([(document, [chunk])])
    store.graphs.put_extractions("mention", [content.said(chunk, content.entity("X"))])
    failed = WorkRecord("extract", chunk.id, scope="mention", state="failed", reason="no answer", attempts=2)
    store.graphs.put_extractions(
        "mention", [(Extraction(chunk_id=chunk.id, state="failed", reason="no answer"), failed)]
    )
    assert content.entities(store) == {}
    assert store.ledger.of_stage("extract", "mention")[chunk.id].reason == "no answer"


def test_a_chunk_that_is_not_in_the_store_says_nothing(store: GraphStore, content: Any) -> None:
    _, (chunk,) = content.document("a.html", "one")
    store.graphs.put_extractions("mention", [content.said(chunk, relations=[content.relation("X", "IS_A", "Y")])])
    assert (content.entities(store), content.relations(store)) == ({}, {})


def test_a_mention_without_a_relation_has_no_list_and_one_of_before_counts_as_the_same(
    store: GraphStore, content: Any
) -> None:
    document, (one, other) = content.document("a.html", "one", "other")
    store.documents.put([(document, [one, other])])
    said = [
        content.said(one, content.entity("Z"), relations=[content.relation("X", "IS_A", "Y")]),
        content.said(other, content.entity("Z")),
    ]
    store.graphs.put_extractions("mention", said)
    says = "MATCH ()-[m:FROM_CHUNK]->() RETURN sum(CASE WHEN m.says IS NULL THEN 1 ELSE 0 END) AS none, count(m) AS all"
    assert store.query(says) == [{"none": 3, "all": 4}]
    digest = store.digest()
    before = "MATCH ()-[m:FROM_CHUNK]->() WHERE m.says IS NULL SET m.says = []"
    store._connection.run_alone(before)
    assert store.query(says) == [{"none": 0, "all": 4}]
    assert store.digest() == digest
    store.graphs.put_extractions("mention", said)
    assert store.digest() == digest
    assert store.graphs.delete("mention") == 3


@pytest.mark.parametrize("graph", ["", " ", "a b", "a`b", "_x", "x" * 49, "a\n", "a}", "x:y"])
def test_a_graph_has_a_plain_name(store: GraphStore, content: Any, graph: str) -> None:
    document, (chunk,) = content.document("a.html", "one")
    store.documents.put([(document, [chunk])])
    with pytest.raises(IdentifierError, match="Graph name"):
        store.graphs.put_extractions(graph, [content.said(chunk, content.entity("X"), graph=graph)])


def test_hostile_names_and_types_do_nothing_but_stand_there(store: GraphStore, content: Any) -> None:
    document, chunks = content.document("a.html", *HOSTILE)
    store.documents.put([(document, chunks)])
    said = []
    for chunk, text in zip(chunks, HOSTILE, strict=True):
        entity = content.entity(text, text, description=text)
        relation = content.relation("X", text, "Y", description=text, grounded=False, reason=text).model_copy(
            update={"tail": entity}
        )
        said.append(content.said(chunk, entity, relations=[relation]))
    store.graphs.put_extractions("mention", said)
    content.embed_all(store, "mention")
    counts = (store.documents.count_chunks(), store.digest())
    assert store.documents.count_chunks() == len(HOSTILE)
    # Those that differ in case or in half a surrogate pair only are still different.
    assert len(content.entities(store)) == len({text.casefold() for text in HOSTILE}) + 1
    assert {name for name in HOSTILE if "\ud800" not in name} <= {
        entity["name"] for entity in content.entities(store).values()
    }
    for text in HOSTILE:
        store.query("MATCH (e:__Entity__) WHERE e.name = $name RETURN e.key AS key", name=text.replace("\ud800", "?"))
    store.documents.put([(document, chunks)])
    store.graphs.put_extractions("mention", said)
    assert (store.documents.count_chunks(), store.digest()) == counts
    store.documents.delete([document.id])
    assert (content.entities(store), store.documents.count_chunks()) == ({}, 0)


def test_vectors_of_another_shape_are_refused(store: GraphStore, content: Any) -> None:
    document, (chunk,) = content.document("a.html", "one")
    store.documents.put([(document, [chunk])])
    with pytest.raises(InputError, match=r"\(1, 64\)"):
        store.documents.put_embeddings([chunk.id], content.vectors(["one", "two"]), embedder="e")
    with pytest.raises(InputError, match=r"\(1, 64\)"):
        store.graphs.put_embeddings("mention", ["k"], content.vectors(["one"])[:, :4])


@pytest.mark.parametrize("seed", range(3))
def test_a_store_does_not_depend_on_how_it_came_about(store: GraphStore, content: Any, seed: int) -> None:
    """Documents come, change and go, chunks are extracted anew and in any order; then the store is as if built at once."""
    chance = random.Random(seed)

    def version_of(path: str, version: int) -> Any:
        return content.document(
            path, *(f"{path} {position} v{version if position % 2 else 0}" for position in range(4))
        )

    def saying(chunk: Any) -> Any:
        words = random.Random(chunk.text)
        names = [words.choice(["x-100", "X-100", "y", "Y", "z"]) for _ in range(3)]
        entities = [
            content.entity(
                name,
                words.choice(["Product", "Part"]),
                role=words.choice(["title", "mention"]),
                description=words.choice(["", name * 2, chunk.text]),
            )
            for name in names
        ]
        relations = [
            content.relation(
                a,
                words.choice(["HAS_PART", "IS_A"]),
                b,
                description=chunk.text,
                grounded=words.random() < 0.5,
                reason="why",
            )
            for a, b in pairwise(names)
        ]
        return content.said(chunk, *entities, relations=relations)

    final = [version_of(path, 1) for path in ("a.html", "b.html", "c.html")]
    for _ in range(12):
        match chance.choice(["put", "put", "delete", "extract", "extract", "nonsense", "embed"]):
            case "put":
                store.documents.put(
                    [version_of(chance.choice(["a.html", "b.html", "c.html", "d.html"]), chance.randrange(3))]
                )
            case "delete":
                store.documents.delete([document.id for document in store.documents.all() if chance.random() < 0.3])
            case "extract":
                store.graphs.put_extractions(
                    "mention", [saying(chunk) for chunk in store.documents.chunks() if chance.random() < 0.5]
                )
            case "nonsense":
                wrong = [
                    content.said(c, relations=[content.relation("q", "IS_A", "y")])
                    for c in store.documents.chunks()
                    if chance.random() < 0.3
                ]
                store.graphs.put_extractions("mention", wrong)
            case "embed":
                content.embed_all(store, "mention")
        assert content.wrong_titles(store) == []
    store.documents.put(chance.sample(final, len(final)))
    store.documents.delete([document.id for document in store.documents.all() if document.path == "d.html"])
    chunks = list(store.documents.chunks())
    for chunk in chance.sample(chunks, len(chunks)):
        store.graphs.put_extractions("mention", [saying(chunk)])
    content.embed_all(store, "mention")
    wandered = store.digest()
    assert content.wrong_titles(store) == []

    store.documents.delete([document.id for document in store.documents.all()])
    assert store.status()["chunks"] == 0
    store.documents.put(final)
    store.graphs.put_extractions("mention", [saying(chunk) for chunk in store.documents.chunks()])
    content.embed_all(store, "mention")
    assert store.digest() == wandered


def test_what_many_chunks_describe_has_one_description_and_saying_it_again_changes_nothing(
    store: GraphStore, content: Any
) -> None:
    """Where frameworks join all descriptions and let a model condense what became too long, the longest one stands for all."""
    texts = [f"text {n}" for n in range(40)]
    document, chunks = content.document("a.html", *texts)
    store.documents.put([(document, chunks)])
    said = [f"A pump of kind {n}, " + "which pumps, " * (n % 7 * 20) for n in range(40)]

    def extracted() -> list[tuple[Extraction, WorkRecord]]:
        return [
            content.said(
                chunk,
                content.entity("pump", description=description),
                content.entity("kit"),
                relations=[content.relation("kit", "HAS", "pump", description=description)],
            )
            for chunk, description in zip(chunks, said, strict=True)
        ]

    store.graphs.put_extractions("mention", extracted())
    pump, relation = content.entities(store)["pump"], content.relations(store)["kit", "HAS", "pump"]
    assert pump["description"] in said and len(str(pump["description"])) == max(map(len, said))
    assert relation["description"] in said and relation["weight"] == 40
    assert sorted(relation["descriptions"]) == sorted(said), "none is lost"
    before = store.digest()
    store.graphs.put_extractions("mention", extracted())
    assert store.digest() == before


def test_vectors_are_in_the_order_of_keys_and_many_are_in_a_file(
    store: GraphStore, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, [chunk] = content.document("a.html", "text")
    store.documents.put([(document, [chunk])])
    names = [f"part {number}" for number in range(30)]
    store.graphs.put_extractions("mention", [content.said(chunk, *map(content.entity, [*names, "lacks one"]))])
    keys = {
        str(row["name"]): str(row["key"])
        for row in store.query("MATCH (e:__Entity__) RETURN e.name AS name, e.key AS key")
    }
    store.graphs.put_embeddings("mention", [keys[name] for name in names], content.vectors(names))
    expected = sorted((keys[name], vector.tolist()) for name, vector in zip(names, content.vectors(names), strict=True))
    monkeypatch.setattr(stored_vectors, "AT_ONCE", 7)
    for most, is_file in ((10**6, False), (100, True)):
        monkeypatch.setattr(stored_vectors, "IN_MEMORY_BYTES", most)
        found, vectors = store.graphs.vectors("mention")
        assert [*zip(found, vectors.tolist(), strict=True)] == expected
        assert (vectors.dtype, isinstance(vectors, np.memmap)) == (np.float32, is_file)
    store.graphs.delete("mention")
    found, vectors = store.graphs.vectors("mention")
    assert (found, vectors.shape) == ([], (0, content.dimensions))
