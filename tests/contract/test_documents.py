"""Documents and chunks, on both databases."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from kgrag.errors import StoreMismatch
from kgrag.store.connection import Transaction
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.ledger import WorkRecord
from kgrag.store.links import LinkCounts
from kgrag.types import Chunk, Document, Hyperlink, PageBox


def test_documents_and_chunks_come_back_as_they_went_in(store: GraphStore, content: Any) -> None:
    document = Document(
        id="d" * 32,
        path="Geräte/x-100.html",
        title="X-100 “Größe”\u2028\x00",
        sha256="0" * 64,
        format="html",
        product="X-100",
        category=None,
        version="Rev 2",
        metadata={"url": "https://example.org/?a=1&b='2'", "pages": 3, "ratio": 0.5, "draft": False, "none": None},
    )
    first = content.chunk(
        document,
        0,
        "3.3 V – 5 mA, Ω µ 部品 😀\n| a | b |",
        page_start=1,
        page_end=2,
        anchors=("top", "s-1"),
        links=(Hyperlink(href="a.html#b", anchor="b", context="See b.", position=0),),
        boxes=(
            PageBox(page=1, left=72, top=700.5, right=523.2, bottom=760),
            PageBox(page=2, left=72, top=72, right=90, bottom=80),
        ),
    )
    bare = Chunk(id="c" * 32, document_id=document.id, source_id="passage 7", position=1, text="", tokens=0)
    store.documents.put([(document, [first, bare])])
    assert store.documents.all() == [document]
    assert list(store.documents.chunks()) == [first, bare]
    assert list(store.documents.chunks([bare.id, "unknown", first.id])) == [bare, first]


def test_chunks_come_in_document_order(store: GraphStore, content: Any) -> None:
    documents = [content.document(f"{name}.html", *(f"{name} {i}" for i in range(12))) for name in "cab"]
    store.documents.put(documents)
    assert [chunk.text for chunk in store.documents.chunks()] == [f"{name} {i}" for name in "abc" for i in range(12)]
    assert store.documents.of_path("b.html") == [documents[2][0]]
    order = "MATCH (:Chunk {text: 'b 0'})-[:NEXT_CHUNK*11]->(last) RETURN last.text AS text"
    assert store.query(order) == [{"text": "b 11"}]


def test_the_first_documents_are_those_by_path_and_all_are_counted(store: GraphStore, content: Any) -> None:
    assert (store.documents.first(2), store.documents.count()) == ([], 0)
    documents = [content.document(f"{name}.html", name) for name in "cab"]
    store.documents.put(documents)
    assert store.documents.first(2) == [documents[1][0], documents[2][0]]
    assert store.documents.count() == 3
    limited = store.limited_to([documents[0][0].id, documents[2][0].id])
    assert limited.documents.first(1) == [documents[2][0]]
    assert limited.documents.count() == 2


def test_the_same_documents_again_change_nothing(store: GraphStore, content: Any) -> None:
    documents = [content.document("a.html", "one", "two"), content.document("b.html", "three")]
    store.documents.put(documents)
    store.graphs.put_extractions("mention", [content.said(documents[0][1][0], content.entity("X-100"))])
    content.embed_all(store, "mention")
    before = store.digest()
    store.documents.put(documents)
    store.documents.put(list(reversed(documents)))
    assert store.digest() == before
    assert not store.documents.ids_without_embedding()


def test_places_on_pages_are_filled_in_without_losing_what_was_made(store: GraphStore, content: Any) -> None:
    document, (chunk,) = content.document("a.pdf", "one")
    store.documents.put([(document, [chunk])])
    store.graphs.put_extractions("mention", [content.said(chunk, content.entity("X-100"))])
    content.embed_all(store, "mention")
    box = PageBox(page=1, left=72, top=100, right=523.2, bottom=130)
    for boxes in ((box,), ()):
        store.documents.put([(document, [chunk.model_copy(update={"boxes": boxes})])])
        assert [found.boxes for found in store.documents.chunks()] == [boxes]
        assert not store.documents.ids_without_embedding()
        assert store.graphs.counts()["mention"]["entities"] == 1


def test_a_changed_document_takes_the_place_of_the_old_one(store: GraphStore, content: Any) -> None:
    old, other = content.document("a.html", "same", "old"), content.document("b.html", "other")
    store.documents.put([old, other])
    new = content.document("a.html", "same", "new", "more")
    gone = store.documents.put([new])
    assert (gone.documents, gone.chunks) == (1, 2)
    assert store.documents.all() == [new[0], other[0]]
    assert [chunk.text for chunk in store.documents.chunks()] == ["same", "new", "more", "other"]


def test_a_chunk_that_is_cut_differently_loses_what_followed_from_it(store: GraphStore, content: Any) -> None:
    document, (first, second) = content.document("a.html", "one", "two")
    store.documents.put([(document, [first, second])])
    store.graphs.put_extractions(
        "mention", [content.said(first, content.entity("X-100")), content.said(second, content.entity("Y-200"))]
    )
    content.embed_all(store)
    store.documents.put([(document, [first, second.model_copy(update={"headings": ("Another",)})])])
    assert store.documents.ids_without_embedding() == [second.id]
    assert content.entities(store).keys() == {"x-100"}
    assert store.ledger.of_stage("extract", "mention").keys() == {first.id}
    assert store.query("MATCH (:Chunk)-[n:NEXT_CHUNK]->(:Chunk) RETURN count(n) AS n") == [{"n": 1}]


def test_passages_of_one_file_live_side_by_side(store: GraphStore, content: Any) -> None:
    one, two = (content.document("passages.jsonl", f"text of {title}", title=title) for title in ("One", "Two"))
    store.documents.put([one])
    store.documents.put([two])
    assert [document.title for document in store.documents.of_path("passages.jsonl")] == ["One", "Two"]
    changed = content.document("passages.jsonl", "another text of One", title="One")
    store.documents.put([changed])
    assert store.documents.all() == [changed[0], two[0]]


def test_a_batch_of_passages_does_not_read_all_documents_of_their_file(
    store: GraphStore, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [content.document("all.jsonl", "text", title=f"Title {number}") for number in range(40)]
    read: list[int] = []
    run = Transaction.run

    def watched(self: Transaction, name: str, **parameters: Any) -> list[dict[str, Any]]:
        rows = run(self, name, **parameters)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(Transaction, "run", watched)
    for start in range(0, 40, 4):
        store.documents.put(made[start : start + 4])
    store.documents.put([content.document("all.jsonl", "another text", title="Title 7")])
    store.documents.delete([made[8][0].id])
    assert max(read) <= 4
    assert sorted(document.title for document in store.documents.of_path("all.jsonl")) == sorted(
        document.title for document, _ in made if document.title != "Title 8"
    )


def test_many_documents_are_deleted_by_transactions_that_a_server_can_hold(
    store: GraphStore, content: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [content.document(f"{number}.html", "first", "second", "third") for number in range(5)]
    store.documents.put(made)
    deleted: dict[Transaction, int] = defaultdict(int)
    run = Transaction.run

    def watched(self: Transaction, name: str, **parameters: Any) -> list[dict[str, Any]]:
        if name == "store/delete_chunks":
            deleted[self] += len(parameters["ids"])
        return run(self, name, **parameters)

    monkeypatch.setattr(Transaction, "run", watched)
    monkeypatch.setattr("kgrag.store.documents.DELETE_CHUNKS", 7)
    counts = store.documents.delete([document.id for document, _ in made[1:]])
    assert (counts.documents, counts.chunks) == (4, 12)
    assert list(deleted.values()) == [6, 6]
    assert [document.path for document in store.documents.all()] == ["0.html"]
    assert store.documents.count_chunks() == 3


def test_a_deleted_document_takes_what_only_it_supported(store: GraphStore, content: Any) -> None:
    (a, (a1,)), (b, (b1,)) = content.document("a.html", "first"), content.document("b.html", "second")
    store.documents.put([(b, [b1])])
    store.ledger.put([WorkRecord("convert", "b.html")])
    store.graphs.put_extractions(
        "mention", [content.said(b1, content.entity("X-100"), relations=[content.relation("X-100", "HAS_PART", "Y-1")])]
    )
    content.embed_all(store, "mention")
    alone = store.digest()

    store.documents.put([(a, [a1])])
    store.ledger.put([WorkRecord("convert", "a.html")])
    both = [content.relation("X-100", "HAS_PART", "Y-1"), content.relation("X-100", "HAS_PART", "Z-1")]
    store.graphs.put_extractions("mention", [content.said(a1, content.entity("x-100"), relations=both)])
    content.embed_all(store, "mention")
    assert store.digest() != alone

    gone = store.documents.delete([a.id, "unknown"])
    assert (gone.documents, gone.chunks, gone.entities, gone.relations) == (1, 1, 1, 1)
    content.embed_all(store, "mention")
    assert store.digest() == alone
    assert store.ledger.of_stage("convert").keys() == {"b.html"}


def test_what_is_deleted_wholly_leaves_an_empty_store(store: GraphStore, content: Any) -> None:
    empty = store.digest()
    documents = [content.document(f"{i}.html", "one", "two") for i in range(3)]
    store.documents.put(documents)
    store.ledger.put([WorkRecord("convert", document.path) for document, _ in documents])
    store.graphs.put_extractions(
        "mention", [content.said(chunk, content.entity("X")) for _, chunks in documents for chunk in chunks]
    )
    content.embed_all(store, "mention")
    store.documents.delete([document.id for document, _ in documents])
    assert store.digest() == empty
    assert store.status()["graphs"] == {}


def test_hyperlinks_follow_the_chunks(store: GraphStore, content: Any) -> None:
    target, places = content.document("b.html", "start", "middle", "end")
    places = [
        places[0],
        places[1].model_copy(update={"anchors": ("outer", "s1")}),
        places[2].model_copy(update={"anchors": ("outer",)}),
    ]
    source, (linking,) = content.document("a.html", "links")
    hrefs = [
        "b.html#s1",
        "b.html#outer",
        "b.html",
        "b.html#nowhere",
        "https://example.org/b.html#s1",
        "a.html",
        "c.html",
    ]
    links = tuple(
        Hyperlink(href=href, anchor=f"to {href}", context="A sentence.", position=i) for i, href in enumerate(hrefs)
    )
    linking = linking.model_copy(update={"links": links})
    store.documents.put([(source, [linking])])
    assert store.documents.relink() == LinkCounts(made=0, within=1, external=1, no_page=5)
    store.documents.put([(target, places)])
    assert store.documents.relink() == LinkCounts(made=4, within=1, external=1, no_page=1, no_anchor=1)
    query = "MATCH (:Chunk)-[l:LINKS_TO]->(t:Chunk) RETURN l.href AS href, l.anchor AS anchor, l.position AS position, t.text AS text"
    linked = sorted(store.query(query), key=lambda row: row["position"])
    assert [(row["href"], row["text"]) for row in linked] == [
        ("b.html#s1", "middle"),
        ("b.html#outer", "middle"),
        ("b.html", "start"),
        ("b.html#nowhere", "start"),
    ]
    assert linked[0]["anchor"] == "to b.html#s1"
    before = store.digest()
    assert store.documents.relink().made == 4
    assert store.digest() == before
    store.documents.delete([target.id])
    assert store.documents.relink().made == 0


def test_a_store_remembers_its_embedder(store_target: str, content: Any) -> None:
    with open_store(store_target) as store:
        with pytest.raises(StoreMismatch, match="bind"):
            store.documents.put([content.document("a.html", "one")])
        with pytest.raises(StoreMismatch, match="kgrag build"):
            store.check("one", 64)
        assert (
            store.documents.all(),
            list(store.documents.chunks()),
            store.ledger.of_stage("convert"),
            store.ledger.failures(),
        ) == ([], [], {}, [])
        assert store.status()["documents"] == 0
        store.bind("one", 64)
        store.bind("one", 64)
    with open_store(store_target) as store:
        store.check("one", 64)
        for embedder, dimensions in (("another", 64), ("one", 16)):
            with pytest.raises(StoreMismatch, match="one"):
                store.bind(embedder, dimensions)
            with pytest.raises(StoreMismatch, match="--embedder one"):
                store.check(embedder, dimensions)


def test_a_store_of_another_schema_version_is_refused(store_target: str) -> None:
    with open_store(store_target) as store:
        store.bind("one", 64)
        store._connection.write(
            lambda transaction: transaction.run("store/put_meta", schema_version=99, embedder="one", dimensions=64)
        )
    with pytest.raises(StoreMismatch, match="99"):
        open_store(store_target)


def test_status_counts_what_is_there(store: GraphStore, content: Any) -> None:
    document, chunks = content.document("a.html", "one", "two")
    store.documents.put([(document, chunks)])
    store.graphs.put_extractions(
        "mention", [content.said(chunks[0], relations=[content.relation("X", "HAS_PART", "Y")])]
    )
    store.ledger.put(
        [
            WorkRecord(
                "extract",
                chunks[1].id,
                scope="mention",
                state="failed",
                reason="no JSON",
                tokens=7,
                cost=0.25,
                seconds=2.0,
            )
        ]
    )
    status = store.status()
    assert status == {
        "schema_version": 1,
        "embedder": content.embedder,
        "dimensions": content.dimensions,
        "graphs": {"mention": {"entities": 2, "relations": 1, "communities": 0}},
        "documents": 1,
        "chunks": 2,
        "ledger": {"extract": {"failed": 1, "ok": 1}},
        "communities": {},
        "cost": {"tokens": 7, "usd": 0.25, "seconds": 2.0},
    }
    assert [(record.subject, record.reason) for record in store.ledger.failures()] == [(chunks[1].id, "no JSON")]
    store.ledger.forget("extract", [chunks[1].id])
    assert store.ledger.failures() == []


def test_ledger_entries_come_back_as_they_went_in(store: GraphStore) -> None:
    record = WorkRecord(
        "convert",
        "a 'b'.html",
        version="1 native",
        state="mended",
        reason="mended",
        result="r",
        attempts=3,
        tokens=5,
        cost=1.5,
        at="now",
    )
    store.ledger.put([record])
    assert store.ledger.of_stage("convert") == {"a 'b'.html": record}
    assert store.ledger.of_stage("convert", "other") == {}
    newer = WorkRecord("convert", "a 'b'.html", version="2", attempts=4, at="later")
    store.ledger.put([newer])
    assert store.ledger.of_stage("convert") == {"a 'b'.html": newer}
