"""Predicted edges in either database: apart from what was extracted, gone with what they rest on."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from kgrag.errors import InputError
from kgrag.jobs.complete import complete
from kgrag.retrieve.state import Candidate as Found
from kgrag.retrieve.state import Query, Resources, Seeds, State
from kgrag.retrieve.steps.predicted import Predicted
from kgrag.store.graph import GraphStore
from kgrag.store.merges import Merge
from kgrag.store.predictions import PredictedEdge

from .conftest import Content

GRAPH = "mention"
VECTOR = [1.0, *[0.0] * (Content.dimensions - 1)]


def people(content: Content, store: GraphStore) -> dict[str, str]:
    """Two people of whom one is a citizen, each in a document of its own; return keys by normal form."""
    for name, city, land in (("Ada", "Turin", "Italy"), ("Bea", "Lyon", "France")):
        converted = content.document(f"{name}.html", f"{name} lives in {city}.", f"{land} is old.")
        store.documents.put([converted])
        lives, old = converted[1]
        relations = [content.relation(name, "lives in", city)]
        if name == "Ada":
            relations.append(content.relation(name, "citizen of", land))
        named = [content.entity(one) for one in (name, city)]
        store.graphs.put_extractions(
            GRAPH, [content.said(lives, *named, relations=relations), content.said(old, content.entity(land))]
        )
    content.embed_all(store, GRAPH)
    return {normal: str(entity["key"]) for normal, entity in content.entities(store).items()}


def edge(keys: dict[str, str], head: str, type_: str, tail: str, score: float = 0.5) -> PredictedEdge:
    return PredictedEdge(keys[head], type_, keys[tail], score, "rules")


def test_predicted_edges_change_nothing_of_what_was_extracted(store: GraphStore, content: Content) -> None:
    keys = people(content, store)

    def extracted() -> list[object]:
        search = store.search
        return [
            store.digest(),
            store.graphs.state(GRAPH),
            store.graphs.counts(),
            store.graphs.types(),
            store.ledger.extraction_counts(),
            search.records("relation"),
            list(search.relations(graph=GRAPH)),
            search.walk_relations(graph=GRAPH),
            search.relations_of_keys(keys=sorted(keys.values()), limit=100),
            search.entity_context(graph=GRAPH, keys=sorted(keys.values()), vector=VECTOR, chunks=5, relations=50),
            search.graph_neighbourhood(
                graph=GRAPH,
                seeds=[chunk.id for chunk in store.documents.chunks()],
                vector=VECTOR,
                entities=9,
                chunks=9,
                neighbours=9,
                hops=2,
            ),
            store.predictions.triples(GRAPH),
        ]

    before = extracted()
    edges = [edge(keys, "bea", "CITIZEN_OF", "france", 0.9), edge(keys, "lyon", "LIES_IN", "france")]
    store.predictions.put(GRAPH, edges, version="1")
    assert store.predictions.of_graph(GRAPH) == edges
    assert extracted() == before
    store.predictions.put(GRAPH, edges[:1], version="1")
    assert store.predictions.of_graph(GRAPH) == edges[:1]
    assert store.predictions.delete(GRAPH) == 1
    assert store.predictions.of_graph(GRAPH) == []
    assert not store.predictions.completed()
    assert extracted() == before


def test_a_relation_that_comes_or_goes_takes_the_predicted_edges_of_its_ends(
    store: GraphStore, content: Content
) -> None:
    keys = people(content, store)
    of_ada, of_bea = edge(keys, "ada", "KNOWS", "turin"), edge(keys, "bea", "CITIZEN_OF", "france")
    store.predictions.put(GRAPH, [of_ada, of_bea], version="1")
    chunk = next(chunk for chunk in store.documents.chunks() if chunk.text == "France is old.")
    said = content.said(chunk, content.entity("France"), relations=[content.relation("Bea", "citizen of", "France")])
    store.graphs.put_extractions(GRAPH, [said])
    assert store.predictions.of_graph(GRAPH) == [of_ada]
    store.predictions.put(GRAPH, [of_ada, edge(keys, "bea", "KNOWS", "lyon")], version="1")
    store.documents.delete([document.id for document in store.documents.all() if document.path == "Bea.html"])
    assert store.predictions.of_graph(GRAPH) == [of_ada]


def test_merged_entities_lose_their_predicted_edges_and_so_do_those_they_are_related_to(
    store: GraphStore, content: Content
) -> None:
    keys = people(content, store)
    kept = edge(keys, "bea", "CITIZEN_OF", "france")
    edges = [kept, edge(keys, "italy", "NEAR", "france"), edge(keys, "ada", "KNOWS", "bea")]
    store.predictions.put(GRAPH, edges, version="1")
    store.graphs.apply_merges(GRAPH, [Merge(keys["turin"], (keys["turin"], keys["italy"]), "[]")])
    assert store.predictions.of_graph(GRAPH) == [kept]


@pytest.mark.changes_indexes
def test_a_deleted_graph_has_no_predicted_edges(store: GraphStore, content: Content) -> None:
    keys = people(content, store)
    store.predictions.put(GRAPH, [edge(keys, "bea", "CITIZEN_OF", "france")], version="1")
    store.graphs.delete(GRAPH)
    assert not store.predictions.completed()
    assert store.query("MATCH (:__Entity__)-[p]->(:__Entity__) RETURN p") == []


def test_an_extracted_relation_called_predicted_is_a_relation(store: GraphStore, content: Content) -> None:
    converted = content.document("oracle.html", "The oracle predicted the fall.")
    store.documents.put([converted])
    relation = content.relation("Oracle", "__PREDICTED__", "Fall")
    store.graphs.put_extractions(GRAPH, [content.said(converted[1][0], relations=[relation])])
    assert store.predictions.of_graph(GRAPH) == []
    assert [type_ for _, type_, _ in store.predictions.triples(GRAPH)] == ["PREDICTED"]


def follow(store: GraphStore, content: Content, seed: str, **settings: float) -> State:
    ids = {chunk.text: chunk.id for chunk in store.documents.chunks()}
    found = {ids[seed]: Found(ids[seed], 0.8)}
    state = State(Query("?", "?", "?", vector=tuple(VECTOR)), seeds=(Seeds(found),), candidates=found)
    resources = Resources(store, None, GRAPH)  # type: ignore[arg-type]  # the step embeds nothing
    after = asyncio.run(Predicted(**settings)(state, resources))  # type: ignore[arg-type]
    texts = {id_: text for text, id_ in ids.items()}
    return replace(after, candidates={texts[one.chunk_id]: one for one in after.candidates.values()})


def test_the_step_follows_predicted_edges_to_chunks_and_shows_no_edge(store: GraphStore, content: Content) -> None:
    keys = people(content, store)
    assert set(follow(store, content, "Bea lives in Lyon.").candidates) == {"Bea lives in Lyon."}
    store.predictions.put(GRAPH, [edge(keys, "bea", "CITIZEN_OF", "france", 0.9)], version="1")
    reached = follow(store, content, "Bea lives in Lyon.").candidates
    assert set(reached) == {"Bea lives in Lyon.", "France is old."}
    assert all(one.is_chunk for one in reached.values())
    assert reached["France is old."].why == ("predicted, not stated: Bea may be related to France",)
    assert 0 < reached["France is old."].score < reached["Bea lives in Lyon."].score
    assert set(follow(store, content, "France is old.").candidates) == {"Bea lives in Lyon.", "France is old."}
    assert set(follow(store, content, "Bea lives in Lyon.", least=0.95).candidates) == {"Bea lives in Lyon."}


@pytest.mark.parametrize("name", ["5 V", "X-100", "max_connections"])
def test_the_step_never_follows_an_edge_to_or_from_what_is_exact(
    store: GraphStore, content: Content, name: str
) -> None:
    converted = content.document("board.html", "The board is blue.", f"It has {name}.")
    store.documents.put([converted])
    blue, exact = converted[1]
    said = [content.said(blue, content.entity("board")), content.said(exact, content.entity(name))]
    store.graphs.put_extractions(GRAPH, said)
    content.embed_all(store, GRAPH)
    keys = {normal: str(entity["key"]) for normal, entity in content.entities(store).items()}
    store.predictions.put(GRAPH, [edge(keys, "board", "HAS", name.casefold(), 1.0)], version="1")
    assert set(follow(store, content, "The board is blue.").candidates) == {"The board is blue."}
    assert set(follow(store, content, f"It has {name}.").candidates) == {f"It has {name}."}


def test_the_job_writes_what_it_is_sure_of_and_a_dry_run_nothing(store: GraphStore, content: Content) -> None:
    texts, said = [], []
    for i in range(30):
        relations = [content.relation(f"person {i}", "lives in", f"city {i % 5}")]
        if i < 27:
            relations.append(content.relation(f"person {i}", "citizen of", f"land {i % 5}"))
        if i < 5:
            relations.append(content.relation(f"city {i}", "lies in", f"land {i}"))
        relations.append(content.relation(f"person {i}", "has", "X-100"))
        relations.append(content.relation(f"person {i}", "owes", f"{i % 3 + 2} V"))
        texts.append(f"text {i}")
        said.append(relations)
    converted = content.document("people.html", *texts)
    store.documents.put([converted])
    store.graphs.put_extractions(
        GRAPH, [content.said(chunk, relations=some) for chunk, some in zip(converted[1], said, strict=True)]
    )
    dry = asyncio.run(complete(store, GRAPH, method="rules", precision=0.2, dry_run=True))
    assert store.predictions.of_graph(GRAPH) == []
    report = asyncio.run(complete(store, GRAPH, method="rules", precision=0.2))
    assert (report.edges, report.best) == (dry.edges, dry.best)
    keys = {str(entity["key"]): normal for normal, entity in content.entities(store).items()}
    edges = store.predictions.of_graph(GRAPH)
    found = {(keys[one.head], one.type, keys[one.tail]) for one in edges}
    assert report.edges == len(edges) > 0
    assert {(f"person {i}", "CITIZEN_OF", f"land {i % 5}") for i in (27, 28, 29)} <= found
    assert not {end for one in found for end in (one[0], one[2])} & {"x-100", "2 v", "3 v", "4 v"}
    assert all(one.score >= 0.2 for one in edges)
    again = asyncio.run(complete(store, GRAPH, method="rules", precision=0.2))
    assert again.edges == len(store.predictions.of_graph(GRAPH)) == report.edges


def test_a_graph_with_few_relations_is_refused_with_what_to_do(store: GraphStore, content: Content) -> None:
    people(content, store)
    with pytest.raises(InputError, match="expected at least 20 relations to learn from, got 3"):
        asyncio.run(complete(store, GRAPH, method="rules", precision=0.1))
