"""What is looked at around an answer: the entities of chunks, their relations, and the types of a graph, on both databases."""

from __future__ import annotations

import asyncio

from kgrag.jobs.neighbourhood import graph_of_chunks
from kgrag.store.graph import GraphStore

from .conftest import Content


def filled(store: GraphStore, content: Content) -> tuple[str, str, str]:
    document = content.document("a.html", "one", "two", "three")
    store.documents.put([document])
    one, two, three = document[1]
    fan, board, both = content.entity("Fan"), content.entity("Board"), content.entity("Volt", "Quantity")
    store.graphs.put_extractions(
        "mention",
        [
            content.said(one, fan, board, relations=[content.relation("Fan", "PART_OF", "Board")]),
            content.said(two, fan, both, relations=[content.relation("Fan", "PART_OF", "Board")]),
            content.said(three, both),
        ],
    )
    store.graphs.put_extractions("other", [content.said(one, content.entity("Elsewhere"), graph="other")])
    return one.id, two.id, three.id


def test_the_entities_of_chunks_come_with_the_relations_between_them(store: GraphStore, content: Content) -> None:
    one, two, three = filled(store, content)
    found = asyncio.run(graph_of_chunks(store, "mention", [one, two], entities=10, relations=10))
    assert [(node.name, node.type, node.mentions, set(node.chunks)) for node in found.nodes] == [
        ("Board", "Product", 2, {one, two}),
        ("Fan", "Product", 2, {one, two}),
        ("Volt", "Quantity", 2, {two}),
    ]
    names = {node.key: node.name for node in found.nodes}
    assert [(names[e.head], e.type, names[e.tail], set(e.chunks)) for e in found.edges] == [
        ("Fan", "PART_OF", "Board", {one, two})
    ]
    few = asyncio.run(graph_of_chunks(store, "mention", [two, three], entities=1, relations=10))
    assert [node.name for node in few.nodes] == ["Volt"]
    assert few.edges == ()
    assert asyncio.run(graph_of_chunks(store, "mention", ["none"], entities=9, relations=9)).nodes == ()


def test_the_types_of_graphs_are_counted(store: GraphStore, content: Content) -> None:
    filled(store, content)
    assert store.graphs.types() == {
        "mention": {"entities": {"Product": 2, "Quantity": 1}, "relations": {"PART_OF": 1}},
        "other": {"entities": {"Product": 1}, "relations": {}},
    }
