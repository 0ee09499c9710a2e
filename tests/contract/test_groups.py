"""What a store gives to whoever may read some of its documents alone: nothing of the others, by any way that evidence can come in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from kgrag.communities import CommunitySettings
from kgrag.communities.rules import RulesSummariser
from kgrag.errors import PipelineError
from kgrag.jobs.communities import update_communities
from kgrag.retrieve import load_pipeline, open_retriever, pipeline_names
from kgrag.retrieve.state import Candidate, Query, Resources, Seeds, State
from kgrag.retrieve.steps.predicted import Predicted
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.merges import Merge
from kgrag.store.predictions import PredictedEdge
from kgrag.store.search import Search
from kgrag.testing import HashingEmbedder
from kgrag.text.names import normal_form
from kgrag.types import Chunk, Entity, Hyperlink, Relation
from tests.vectors import embed_waiting_chunks, embed_waiting_entities

from .conftest import Content

SECRET = "zanzibar"
"""A word that only the hidden document has."""
QUESTIONS = ("Which valve does the X-100 pump need?", "What limits the X-100?", "Who supplies the X 100 valve?", SECRET)


def entity(name: str, role: str = "mention") -> Entity:
    return Entity(name=name, type="Product", normal=normal_form(name), role=role)  # type: ignore[arg-type]


def relation(head: str, tail: str, description: str) -> Relation:
    return Relation(head=entity(head), type="NEEDS", tail=entity(tail), description=description)


@pytest.fixture
def store(
    filled_once: Callable[[Callable[[str], object]], str], embedder: HashingEmbedder, content: Content
) -> Iterator[GraphStore]:
    """The two pages, for tests that only read them."""
    with open_store(filled_once(lambda target: fill(target, embedder, content))) as opened:
        yield opened


@pytest.fixture
def own_store(store_target: str, embedder: HashingEmbedder, content: Content) -> Iterator[GraphStore]:
    """The two pages, for a test that adds to them."""
    fill(store_target, embedder, content)
    with open_store(store_target) as opened:
        yield opened


def fill(target: str, embedder: HashingEmbedder, content: Content) -> None:
    """A public page that mentions what a hidden page is about and links to it; both say the same relation, the hidden one first."""
    with open_store(target) as opened:
        opened.bind(embedder.name, embedder.dimensions)
        texts = (
            "The X-100 pump needs the valve V-7. See the limits.",
            "The X-100 and the valve V-7 are sold together.",
        )
        public, chunks = content.document("public.html", *texts, title="Pumps")
        link = Hyperlink(href="hidden.html#limits", anchor=f"{SECRET} limits", context="See the limits.", position=0)
        back = Hyperlink(href="public.html#sold", anchor="sold together", context="See the public page.", position=0)
        chunks = [
            chunks[0].model_copy(update={"links": (link,)}),
            chunks[1].model_copy(update={"anchors": ("public.html#sold",)}),
        ]
        # What is said of a relation first is what the chunk with the smallest id says: here a hidden one.
        hidden, secret = next(
            made
            for number in count()
            if min(
                (
                    made := content.document(
                        "hidden.html",
                        f"The X-100 pump needs the valve V-7 of {SECRET} {number}.",
                        f"The {SECRET} pump X-100 Pro fails with the valve V-7 at 80 bar.",
                        title="X-100",
                        metadata={"groups": "service, sales"},
                    )
                )[1][0].id,
                chunks[0].id,
            )
            != chunks[0].id
        )
        secret = [
            secret[0].model_copy(update={"anchors": ("hidden.html#limits", "limits"), "links": (back,)}),
            secret[1],
        ]
        opened.documents.put([(public, chunks), (hidden, secret)])
        assert hidden.groups == {"service", "sales"}
        said = [
            content.said(
                secret[0],
                entity("X-100", "title"),
                entity("V-7"),
                relations=[relation("X-100", "V-7", f"{SECRET}, a reason much longer than others")],
            ),
            content.said(
                secret[1],
                entity("X-100 Pro", "title"),
                entity("X-100"),
                entity("V-7"),
                relations=[relation("X-100 Pro", "V-7", f"only {SECRET} says this")],
            ),
            content.said(
                chunks[0],
                entity("X-100"),
                entity("V-7"),
                relations=[relation("X-100", "V-7", "a plain reason")],
            ),
            content.said(chunks[1], entity("X-100"), entity("V-7", "title")),
        ]
        opened.graphs.put_extractions("mention", said)
        keys = {row["name"]: row["key"] for row in opened.search.entities(graph="mention")}
        pump, valve, pro = keys["X-100"], keys["V-7"], keys["X-100 Pro"]
        predicted = [(pump, valve), (valve, pro)]  # the first between what the public page names as well
        opened.predictions.put(
            "mention", [PredictedEdge(head, "SUITS", tail, 0.5, "rules") for head, tail in predicted], version="1"
        )
        opened.documents.relink()
        embed_waiting_chunks(opened, embedder)
        tables = [(secret[1].id, f"{SECRET}: 80 bar"), (chunks[1].id, "V-7; Price: 12 EUR")]
        vectors = asyncio.run(embedder.embed_documents([said for _, said in tables]))
        opened.documents.put_table_rows(tables, vectors)
        embed_waiting_entities(opened, embedder)
        opened.finish()
        asyncio.run(
            update_communities(
                opened,
                graph="mention",
                embedder=embedder,
                summariser=RulesSummariser(),
                settings=CommunitySettings(summary_floor=1),
            )
        )


@pytest.fixture
def limited(store: GraphStore) -> GraphStore:
    """The store as it is for those who are in no group."""
    return store.limited_to([one.id for one in store.documents.all() if not one.groups])


def hidden_of(store: GraphStore) -> list[Chunk]:
    return store.documents.chunks_of([one.id for one in store.documents.all() if one.groups])


WAYS: dict[str, Callable[[Search, dict[str, Any]], Any]] = {
    "dense_seeds": lambda s, a: s.dense_seeds(vector=a["vector"], limit=9, candidates=50),
    "row_seeds": lambda s, a: s.row_seeds(vector=a["vector"], limit=9, candidates=50),
    "sparse_seeds": lambda s, a: s.sparse_seeds(query="pump OR valve", vector=a["vector"], limit=9, read=9),
    "mentioning_chunk": lambda s, a: s.mentioning_chunk(query=SECRET),
    "documents": lambda s, a: s.documents(ids=a["documents"]),
    "nearest_vectors": lambda s, a: s.nearest_vectors(vector=a["vector"], limit=9, candidates=50),
    "chunk_similarity": lambda s, a: s.chunk_similarity(ids=a["ids"], vector=a["vector"]),
    "chunks": lambda s, a: s.chunks(ids=a["ids"]),
    "named_chunks": lambda s, a: s.named_chunks(
        graph="mention", normals=[normal_form("X-100")], vector=a["vector"], limit=9
    ),
    "family_chunks": lambda s, a: s.family_chunks(
        graph="mention", families=[normal_form("X-100")], vector=a["vector"], limit=9
    ),
    "linked_entities by vector": lambda s, a: s.linked_entities(
        graph="mention",
        vector=a["vector"],
        limit=9,
        candidates=50,
        normals=[],
    ),
    "linked_entities by name": lambda s, a: s.linked_entities(
        graph="mention",
        vector=a["vector"],
        limit=1,
        candidates=1,
        normals=[normal_form("X-100 Pro")],
    ),
    "linked_chunks": lambda s, a: s.linked_chunks(
        graph="mention", seeds=a["public"], known=[], vector=a["vector"], entities=9, limit=9, hyperlinks=9
    ),
    "linked_chunks from a hidden seed": lambda s, a: s.linked_chunks(
        graph="mention", seeds=a["hidden"], known=[], vector=a["vector"], entities=9, limit=9, hyperlinks=9
    ),
    "graph_neighbourhood": lambda s, a: s.graph_neighbourhood(
        graph="mention", seeds=a["ids"], vector=a["vector"], entities=9, chunks=9, neighbours=9, hops=2
    ),
    "entity_context": lambda s, a: s.entity_context(
        graph="mention", keys=a["keys"], vector=a["vector"], chunks=9, relations=9
    ),
    "paths": lambda s, a: s.paths(
        graph="mention",
        seeds=a["ids"],
        vector=a["vector"],
        normals=[normal_form("X-100")],
        common=20,
        stated_common=40,
        ignored=[],
        kinds=[],
        entities=9,
        limit=9,
    ),
    "predicted_chunks": lambda s, a: s.predicted_chunks(
        graph="mention", seeds=a["ids"], vector=a["vector"], least=0.0, edges=9, limit=9
    ),
    "entities_of_chunks": lambda s, a: s.entities_of_chunks(graph="mention", chunks=a["ids"], limit=9),
    "relations_of_keys": lambda s, a: s.relations_of_keys(keys=a["keys"], limit=9),
    "nearest_communities": lambda s, a: s.nearest_communities(graph="mention", vector=a["vector"], level=9, limit=9),
    "communities_of_level": lambda s, a: s.communities_of_level(graph="mention", vector=a["vector"], level=9),
    "community_citations": lambda s, a: s.community_citations(keys=a["communities"]),
    "communities_of_seeds": lambda s, a: s.communities_of_seeds(
        graph="mention", seeds=a["ids"], vector=a["vector"], level=9, entities=9
    ),
    "community_chunks": lambda s, a: s.community_chunks(
        keys=a["communities"], vector=a["vector"], entities=9, chunks=9
    ),
    "link_targets": lambda s, a: s.link_targets(id=a["public"][0]),
    "titles_mentioned": lambda s, a: s.titles_mentioned(graph="mention", id=a["public"][0]),
    "section_chunks": lambda s, a: s.section_chunks(path="hidden.html", anchor=""),
    "chunks_of_section": lambda s, a: s.chunks_of_section(id=a["hidden"][0]),
    "things": lambda s, a: s.things(),
    "stated_words": lambda s, a: s.stated(
        "words", index="chunk_prompted", query="pump", graph="mention", words=["pump"], owned=a["documents"], things=[]
    ),
    "stated_amounts": lambda s, a: s.stated(
        "amounts", graph="mention", amounts=a["keys"], words=["pump"], owned=a["documents"], things=[]
    ),
    "walk_chunks": lambda s, a: s.walk_chunks(graph="mention"),
    "walk_relations": lambda s, a: s.walk_relations(graph="mention"),
    "walk_links": lambda s, a: s.walk_links(),
}


def test_no_statement_gives_anything_of_a_hidden_document_and_each_does_where_all_may_be_read(
    store: GraphStore, limited: GraphStore, embedder: HashingEmbedder
) -> None:
    secret = hidden_of(store)
    ids = [chunk.id for chunk in store.documents.chunks()]
    keys = [row["key"] for row in store.search.entities(graph="mention")]
    arguments = {
        "vector": asyncio.run(embedder.embed_queries([QUESTIONS[0]]))[0].tolist(),
        "ids": ids,
        "public": [one for one in ids if one not in {chunk.id for chunk in secret}],
        "hidden": [chunk.id for chunk in secret],
        "keys": keys,
        "documents": [one.id for one in store.documents.all()],
        "communities": list(store.communities.of_graph("mention")),
    }
    assert arguments["communities"]
    # Of what only the hidden document has: its word, its chunks, itself, and the product that only it names.
    marks = (SECRET, "X-100 Pro", secret[0].document_id, *arguments["hidden"])
    leaks, blind = [], []
    for name, way in WAYS.items():
        if any(mark in str(way(limited.search, arguments)) for mark in marks):
            leaks.append(name)
        if not any(mark in str(way(store.search, arguments)) for mark in marks):
            blind.append(name)
    assert leaks == []
    assert blind == []
    # The index of rows is asked for as many more as are hidden, so that the nearest one that may be read is found.
    nearest = asyncio.run(embedder.embed_documents([f"{SECRET}: 80 bar"]))[0].tolist()
    found = limited.search.row_seeds(vector=nearest, limit=1, candidates=1)
    assert [row["said"] for row in found] == ["V-7; Price: 12 EUR"]
    # Nothing that is only in the hidden document can come from these two; asked of a hidden chunk they give nothing at all.
    hidden = secret[0].id
    assert store.search.chunk_links(id=hidden) and not limited.search.chunk_links(id=hidden)
    assert store.search.mentioning_titles(graph="mention", id=hidden)
    assert not limited.search.mentioning_titles(graph="mention", id=hidden)


def test_a_predicted_edge_is_followed_by_nobody_who_may_not_read_all_that_it_was_learnt_from(
    store: GraphStore, limited: GraphStore, embedder: HashingEmbedder
) -> None:
    vector = asyncio.run(embedder.embed_queries([QUESTIONS[0]]))[0].tolist()
    public = [chunk.id for chunk in limited.documents.chunks()]
    asked = {"graph": "mention", "seeds": public, "vector": vector, "least": 0.0, "edges": 9, "limit": 9}
    reached = {chunk["id"] for row in store.search.predicted_chunks(**asked) for chunk in row["chunks"]}
    assert reached & set(public)  # one edge has both ends in what is public, and leads there
    assert limited.search.predicted_chunks(**asked) == []
    # The step says so, and changes no score; who may read all gets what the edges lead to.
    step = Predicted()
    found = {public[0]: Candidate(public[0], 0.8)}
    before = State(Query("?", "?", "?", vector=tuple(vector)), seeds=(Seeds(found),), candidates=found)
    states = [asyncio.run(step(before, Resources(one, embedder, "mention"))) for one in (limited, store)]
    assert states[0] == before.remarked("predicted: who may not read every document follows no predicted edge")
    assert states[1].remarks == ()


def test_a_name_that_was_merged_leads_to_no_hidden_document(
    store: GraphStore, limited: GraphStore, embedder: HashingEmbedder
) -> None:
    """The X-100 went into the X-100 Pro, whose titles are those of the hidden page."""
    keys = {row["normal"]: row["key"] for row in store.graphs.unmerged_entities("mention")}
    survivor, member = keys[normal_form("X-100 Pro")], keys[normal_form("X-100")]
    store.graphs.apply_merges("mention", [Merge(survivor, tuple(sorted((survivor, member))), "{}")])
    vector = asyncio.run(embedder.embed_queries([QUESTIONS[0]]))[0].tolist()
    asked = {"graph": "mention", "normals": [normal_form("X-100")], "vector": vector, "limit": 9}
    hidden = hidden_of(store)[0].id
    assert hidden in str(store.search.named_chunks(**asked))
    assert limited.search.named_chunks(**asked) == []


def test_a_name_that_only_a_hidden_document_writes_is_seen_nowhere(
    store: GraphStore, limited: GraphStore, embedder: HashingEmbedder
) -> None:
    """The X-100 of the public page was merged into the X-100 Pro, which only the hidden page names."""
    keys = {row["normal"]: row["key"] for row in store.graphs.unmerged_entities("mention")}
    survivor, member = keys[normal_form("X-100 Pro")], keys[normal_form("X-100")]
    store.graphs.apply_merges("mention", [Merge(survivor, tuple(sorted((survivor, member))), "{}")])
    # As where more hidden pages write it so than there are others.
    name_it = "MATCH (e:__Entity__ {key: $key}) SET e.name = 'X-100 Pro'"
    store._connection.run_alone(name_it, {"key": survivor})
    hidden = {chunk.id for chunk in hidden_of(store)}
    public = [chunk.id for chunk in store.documents.chunks() if chunk.id not in hidden]
    vector = asyncio.run(embedder.embed_queries([QUESTIONS[0]]))[0].tolist()
    asked = {
        "vector": vector,
        "ids": public,
        "public": public,
        "hidden": sorted(hidden),
        "keys": [survivor, keys[normal_form("V-7")]],
        "documents": [one.id for one in store.documents.all() if not one.groups],
        "communities": [],
    }
    seen = {name for name, way in WAYS.items() if "X-100 Pro" in str(way(store.search, asked))}
    assert {"entities_of_chunks", "entity_context", "graph_neighbourhood", "linked_entities by name"} <= seen
    assert [name for name, way in WAYS.items() if "X-100 Pro" in str(way(limited.search, asked))] == []
    named = {
        row["name"]: row["mentions"]
        for row in limited.search.entities_of_chunks(graph="mention", chunks=public, limit=9)
    }
    assert named == {"X-100": 2, "V-7": 2}, "nor is counted who else says it"


def test_what_several_documents_say_is_said_in_the_words_of_those_that_may_be_read(
    store: GraphStore, limited: GraphStore
) -> None:
    keys = [row["key"] for row in store.search.entities(graph="mention")]
    found = {row["description"] for row in limited.search.relations_of_keys(keys=keys, limit=9)}
    everything = {row["description"] for row in store.search.relations_of_keys(keys=keys, limit=9)}
    assert found == {"a plain reason"}
    assert any(SECRET in description for description in everything)


def test_no_pipeline_shows_anything_of_a_hidden_document(
    store: GraphStore, limited: GraphStore, embedder: HashingEmbedder
) -> None:
    hidden = {chunk.id for chunk in hidden_of(store)}
    shown_to_all = set()
    asked = 0
    for name in pipeline_names():
        try:
            retriever, whole = (open_retriever(one, embedder, load_pipeline(name)) for one in (limited, store))
        except PipelineError:  # asks a model
            continue
        asked += 1
        for question in QUESTIONS:
            found = asyncio.run(retriever.retrieve(question))
            assert SECRET not in str(found).replace(f"'{SECRET}'", "") or question == SECRET, (name, question)
            assert not hidden & {piece.chunk_id for piece in found}, (name, question)
            assert all("hidden.html" not in piece.document and "X-100 Pro" not in str(piece) for piece in found)
            if hidden & {piece.chunk_id for piece in asyncio.run(whole.retrieve(question))}:
                shown_to_all.add(name)
    assert asked >= 10
    assert len(shown_to_all) >= asked - 3


def test_the_documents_that_may_be_read_are_all_that_is_listed(store: GraphStore, limited: GraphStore) -> None:
    secret = hidden_of(store)
    assert [one.path for one in limited.documents.all()] == ["public.html"]
    assert limited.documents.of_path("hidden.html") == []
    assert list(limited.documents.chunks([chunk.id for chunk in secret])) == []
    assert limited.documents.chunks_of([secret[0].document_id]) == []
    assert limited.documents.count_chunks() == 2
    assert {chunk.document_id for chunk in limited.documents.chunks()} == {limited.documents.all()[0].id}


def test_hidden_chunks_take_no_places_of_seeds(
    own_store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    question = "At which pressure does the pump leak?"
    crowd = content.document("crowd.html", *[f"{question} {n}" for n in range(60)], title="Crowd")
    few = content.document("few.html", *[f"A pump is painted in colour {n}." for n in range(5)], title="Few")
    own_store.documents.put([crowd, few])
    embed_waiting_chunks(own_store, embedder)
    own_store.finish()
    limited = own_store.limited_to([few[0].id])
    vector = asyncio.run(embedder.embed_queries([question]))[0].tolist()
    dense = limited.search.dense_seeds(vector=vector, limit=5, candidates=10)
    sparse = limited.search.sparse_seeds(query="pump", vector=vector, limit=5)
    assert {row["document_id"] for row in (*dense, *sparse)} == {few[0].id}
    assert len(dense) == len(sparse) == 5
