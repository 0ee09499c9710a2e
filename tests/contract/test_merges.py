"""Merged entities on both databases: nothing is lost, all can be taken back, and writes find what they look for."""

from __future__ import annotations

from typing import Any

import pytest

from kgrag.store.graph import GraphStore
from kgrag.store.merges import Merge


@pytest.fixture
def two_spellings(store: GraphStore, content: Any) -> GraphStore:
    """`X-100` and `X100`, both related to a part, the second in two chunks; and an entity that is not merged."""
    document = content.document("a.html", "one", "two", "three")
    store.documents.put([document])
    one, two, three = document[1]
    store.graphs.put_extractions(
        "mention",
        [
            content.said(
                one,
                content.entity("X-100", description="A board."),
                relations=[content.relation("X-100", "HAS_PART", "LQ22", description="X-100 has LQ22.")],
            ),
            content.said(
                two,
                content.entity("X100", description="The X100 is a sensor board."),
                content.entity("X-100"),
                relations=[
                    content.relation("X100", "HAS_PART", "LQ22", description="X100 has LQ22."),
                    content.relation("X100", "IS_A", "X-100", description="X100 is X-100."),
                ],
            ),
            content.said(three, relations=[content.relation("Y", "NEXT_TO", "X100", description="Y next to X100.")]),
        ],
    )
    content.embed_all(store, "mention")
    return store


def keys(store: GraphStore, *normals: str) -> list[str]:
    by_normal = {row["normal"]: row["key"] for row in store.graphs.unmerged_entities("mention")}
    return [by_normal[normal] for normal in normals]


def merge(store: GraphStore, *normals: str) -> Merge:
    members = keys(store, *normals)
    return Merge(members[0], tuple(sorted(members)), "{}")


def test_a_merged_entity_has_all_names_descriptions_mentions_and_relations(
    two_spellings: GraphStore, content: Any
) -> None:
    done = two_spellings.graphs.apply_merges("mention", [merge(two_spellings, "x-100", "x100")])
    entities, relations = content.entities(two_spellings), content.relations(two_spellings)
    assert sorted(entities) == ["lq22", "x-100", "y"]
    merged = entities["x-100"]
    assert {merged["name"], *merged["aliases"]} == {"X-100", "X100"}
    assert merged["mentions"] == 3
    assert merged["descriptions"] == ["A board.", "The X100 is a sensor board."]
    assert sorted(relations) == [("x-100", "HAS_PART", "lq22"), ("y", "NEXT_TO", "x-100")]
    fused = relations["x-100", "HAS_PART", "lq22"]
    assert fused["weight"] == 2
    assert fused["descriptions"] == sorted(
        fused["descriptions"], key=lambda d: fused["chunks"][fused["descriptions"].index(d)]
    )
    assert set(fused["descriptions"]) == {"X-100 has LQ22.", "X100 has LQ22."}
    assert (done.groups, done.entities, done.relations, done.loops) == (1, 1, 1, 1)


def test_taking_a_merge_back_leaves_what_was_there_before(two_spellings: GraphStore) -> None:
    before = two_spellings.digest()
    wanted = merge(two_spellings, "x-100", "x100")
    two_spellings.graphs.apply_merges("mention", [wanted])
    assert two_spellings.digest() != before
    assert two_spellings.graphs.merges("mention") == [wanted]
    two_spellings.graphs.split_merges("mention", [wanted.survivor])
    assert two_spellings.digest() == before
    assert two_spellings.graphs.merges("mention") == []


def test_a_merged_entity_says_how_many_chunks_are_about_it_and_so_do_its_members_afterwards(
    store: GraphStore, content: Any
) -> None:
    document = content.document("a.html", "one", "two", "three")
    store.documents.put([document])
    one, two, three = document[1]
    said = [
        content.said(one, content.entity("X-100", role="title"), content.entity("X100")),
        content.said(two, content.entity("X-100", role="title"), content.entity("X100", role="title")),
        content.said(three, content.entity("X100"), content.entity("Y")),
    ]
    store.graphs.put_extractions("mention", said)
    wanted = merge(store, "x-100", "x100")
    store.graphs.apply_merges("mention", [wanted])
    assert content.entities(store)["x-100"]["titles"] == 2
    assert content.wrong_titles(store) == []
    store.graphs.split_merges("mention", [wanted.survivor])
    assert [content.entities(store)[name]["titles"] for name in ("x-100", "x100", "y")] == [2, 1, 0]


def test_merges_on_both_ends_of_a_relation_are_taken_back_in_any_order(two_spellings: GraphStore, content: Any) -> None:
    document = content.document("b.html", "four")
    two_spellings.documents.put([document])
    two_spellings.graphs.put_extractions(
        "mention",
        [content.said(document[1][0], relations=[content.relation("X100", "HAS_PART", "LQ-22", description="so")])],
    )
    content.embed_all(two_spellings, "mention")
    before = two_spellings.digest()
    boards, parts = merge(two_spellings, "x-100", "x100"), merge(two_spellings, "lq22", "lq-22")
    for first, second in ((boards, parts), (parts, boards)):
        two_spellings.graphs.apply_merges("mention", [first])
        half = two_spellings.digest()
        two_spellings.graphs.apply_merges("mention", [second])
        whole = two_spellings.digest()
        fused = content.relations(two_spellings)["x-100", "HAS_PART", "lq22"]
        assert fused["weight"] == 3
        two_spellings.graphs.split_merges("mention", [second.survivor])
        assert two_spellings.digest() == half
        two_spellings.graphs.apply_merges("mention", [second])
        two_spellings.graphs.split_merges("mention", [first.survivor])
        two_spellings.graphs.split_merges("mention", [second.survivor])
        assert two_spellings.digest() == before
        two_spellings.graphs.apply_merges("mention", [boards, parts])
        assert two_spellings.digest() == whole
        two_spellings.graphs.split_merges("mention", [boards.survivor, parts.survivor])
        assert two_spellings.digest() == before


def test_a_chunk_that_says_something_else_finds_the_entities_that_were_merged(
    two_spellings: GraphStore, content: Any
) -> None:
    (chunk,) = [c for c in two_spellings.documents.chunks() if c.text == "two"]
    changed = [content.said(chunk, content.entity("X100"), content.entity("Z"))]
    two_spellings.graphs.put_extractions("mention", changed)
    content.embed_all(two_spellings, "mention")
    without_merge = two_spellings.digest()
    again = content.said(
        chunk,
        content.entity("X100", description="The X100 is a sensor board."),
        content.entity("X-100"),
        relations=[
            content.relation("X100", "HAS_PART", "LQ22", description="X100 has LQ22."),
            content.relation("X100", "IS_A", "X-100", description="X100 is X-100."),
        ],
    )
    two_spellings.graphs.put_extractions("mention", [again])
    two_spellings.graphs.apply_merges("mention", [merge(two_spellings, "x-100", "x100")])
    two_spellings.graphs.put_extractions("mention", changed)
    content.embed_all(two_spellings, "mention")
    assert two_spellings.digest() == without_merge


def test_a_deleted_document_takes_its_part_of_a_merged_entity_with_it(two_spellings: GraphStore, content: Any) -> None:
    document = content.document("b.html", "four")
    two_spellings.documents.put([document])
    before = two_spellings.digest()
    two_spellings.graphs.put_extractions(
        "mention", [content.said(document[1][0], content.entity("X 100"), content.entity("Q"))]
    )
    content.embed_all(two_spellings, "mention")
    two_spellings.graphs.apply_merges("mention", [merge(two_spellings, "x-100", "x100", "x 100")])
    two_spellings.documents.delete([document[0].id])
    content.embed_all(two_spellings, "mention")
    two_spellings.documents.put([document])
    assert two_spellings.digest() == before


@pytest.mark.changes_indexes
def test_a_deleted_graph_leaves_no_merge_behind(two_spellings: GraphStore) -> None:
    two_spellings.graphs.apply_merges("mention", [merge(two_spellings, "x-100", "x100")])
    two_spellings.graphs.delete("mention")
    assert two_spellings.query("MATCH (n) WHERE n:__Member__ OR n:__Merge__ RETURN n") == []


def test_an_entity_that_is_gone_leaves_its_merge_out(two_spellings: GraphStore) -> None:
    before = two_spellings.digest()
    key = keys(two_spellings, "x-100")[0]
    assert two_spellings.graphs.apply_merges("mention", [Merge(key, (key, "gone"), "{}")]).groups == 0
    assert two_spellings.digest() == before
