"""Entities, relations and communities as retrieval reads them, on both databases: a small graph whose every answer is known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from kgrag.errors import InputError, PipelineError
from kgrag.retrieve import Pipeline, Retriever, load_pipeline, read_pipeline
from kgrag.retrieve.walk_graph import walk_graph
from kgrag.store.communities import Membership
from kgrag.store.graph import GraphStore, open_store
from kgrag.store.ledger import WorkRecord
from kgrag.testing import HashingEmbedder, ScriptedChatModel, ScriptedReranker
from kgrag.types import Citation, Community, place

from .conftest import Content

EMBEDDER = HashingEmbedder(dimensions=64)
TEXTS = ("alpha pump runs", "beta pump stops", "alpha valve opens", "gamma board boots")
NAMED = (("alpha", "pump", "kit"), ("beta", "pump", "kit"), ("alpha", "valve", "kit"), ("gamma", "kit"))
DENSE: dict[str, object] = {"kind": "dense"}
QUESTION = "How does the alpha pump run?"
COARSE, FINE, ALONE = "community-coarse", "community-fine", "community-alone"
MEMBERS = {COARSE: ("alpha", "beta", "pump"), FINE: ("alpha", "pump"), ALONE: ("gamma",)}
CITED = (
    Citation(number=1, chunk_id="c1", document="pump.pdf", section="Parts", page_start=3, page_end=3, quote="alpha"),
    Citation(number=2, chunk_id="c2", document="pump.pdf", page_start=4, page_end=5),
)
ABOUT = {COARSE: "pumps and valves", FINE: "the alpha pump", ALONE: "boards"}


def embedded(*texts: str) -> np.ndarray:
    return EMBEDDER.embed(texts)


@pytest.fixture
def vector_dimensions() -> int:
    return EMBEDDER.dimensions


@pytest.fixture
def store(filled_once: Callable[[Callable[[str], object]], str], content: Content) -> Iterator[GraphStore]:
    """The small graph, for tests that only read it."""
    with open_store(filled_once(lambda target: fill(target, content))) as opened:
        yield opened


@pytest.fixture
def own_store(store_target: str, content: Content) -> Iterator[GraphStore]:
    """The small graph, for a test that adds to it."""
    fill(store_target, content)
    with open_store(store_target) as opened:
        yield opened


def fill(target: str, content: Content) -> None:
    """Four chunks, six entities, two relations, and communities on two levels: FINE lies in COARSE, ALONE has none below."""
    with open_store(target) as opened:
        opened.bind(EMBEDDER.name, EMBEDDER.dimensions)
        made = content.document("d.html", *TEXTS, title="D")
        opened.documents.put([made])
        _, chunks = made
        relations = {0: [content.relation("alpha", "DRIVES", "pump", description="alpha drives the pump")]}
        relations[1] = [content.relation("beta", "STOPS", "pump")]
        opened.graphs.put_extractions(
            "mention",
            [
                content.said(chunk, *(content.entity(name) for name in names), relations=relations.get(place, ()))
                for place, (chunk, names) in enumerate(zip(chunks, NAMED, strict=True))
            ],
        )
        opened.documents.put_embeddings([c.id for c in chunks], embedded(*TEXTS), embedder=EMBEDDER.name)
        entities = opened.graphs.entities_of(opened.graphs.keys_without_embedding("mention"))
        opened.graphs.put_embeddings("mention", [e["key"] for e in entities], embedded(*(e["name"] for e in entities)))
        keys = {e["name"]: e["key"] for e in entities}
        parents = {FINE: COARSE}
        opened.communities.put_memberships(
            "mention",
            [
                Membership(
                    key, int(key in parents), tuple(sorted(keys[n] for n in MEMBERS[key])), "s", parents.get(key)
                )
                for key in (COARSE, ALONE, FINE)
            ],
            record=WorkRecord("communities", "mention", scope="mention", version="1", result="r"),
            atomic=True,
        )
        about = [
            Community(
                key=key, graph="mention", level=int(key in parents), size=len(MEMBERS[key]), label=text, summary=text, full_content=text,
                citations=CITED if key == FINE else (),
            )
            for key, text in ABOUT.items()
        ]  # fmt: skip
        opened.communities.put_summaries(
            [(one, "h", WorkRecord("summarise", one.key, scope="mention", version="1")) for one in about],
            embedded(*ABOUT.values()),
        )
        opened.finish()


def keys_of(store: GraphStore) -> dict[str, str]:
    rows = store.query("MATCH (e:__Entity__) RETURN e.name AS name, e.key AS key")
    return {row["name"]: row["key"] for row in rows}


def pipeline(*steps: dict[str, object], graph: str | None = None) -> Pipeline:
    """A pipeline of these steps between the vector and the texts."""
    around = ({"kind": "embed"}, *steps, {"kind": "read"}, {"kind": "budget"})
    made = read_pipeline({"description": "x", "step": list(around), **({"graph": graph} if graph else {})}, name="p")
    assert isinstance(made, Pipeline)
    return made


def retrieved(store: GraphStore, chosen: Pipeline, *, chat: ScriptedChatModel | None = None, graph: str | None = None):
    return asyncio.run(Retriever(store, EMBEDDER, chosen, chat=chat, graph=graph).trace(QUESTION, top=20))


def test_a_question_is_linked_to_what_it_names_and_what_is_near(store: GraphStore) -> None:
    rows = store.search.linked_entities(
        graph="mention",
        vector=embedded("pump")[0].tolist(),
        limit=2,
        candidates=10,
        normals=["gamma", "nothing"],
    )
    assert rows[0]["name"] == "pump"
    assert rows[0]["similarity"] == pytest.approx(1.0)
    assert [(row["name"], row["similarity"]) for row in rows[2:]] == [("gamma", None)]


def test_entities_bring_their_chunks_and_relations_nearest_and_best_supported_first(store: GraphStore) -> None:
    keys = keys_of(store)
    (row,) = store.search.entity_context(
        graph="mention",
        keys=[keys["pump"]],
        vector=embedded(TEXTS[1])[0].tolist(),
        chunks=5,
        relations=5,
    )
    chunks = {chunk.id: chunk.text for chunk in store.documents.chunks()}
    assert [chunks[c["id"]] for c in row["chunks"]] == [TEXTS[1], TEXTS[0]]
    assert {(r["head"], r["type"], r["tail"]) for r in row["relations"]} == {
        ("alpha", "DRIVES", "pump"),
        ("beta", "STOPS", "pump"),
    }
    (cut,) = store.search.entity_context(graph="mention", keys=[keys["pump"]], vector=embedded("x")[0].tolist(), chunks=1, relations=1
    )  # fmt: skip
    assert (len(cut["chunks"]), len(cut["relations"])) == (1, 1)


def test_a_hub_leads_nowhere_and_has_those_of_the_nearest_chunks_that_mention_it(store: GraphStore) -> None:
    keys, chunks = keys_of(store), {chunk.text: chunk.id for chunk in store.documents.chunks()}
    vector = embedded(TEXTS[0])[0].tolist()

    def around(common: int) -> set[str]:
        (row,) = store.search.graph_neighbourhood(
            graph="mention", seeds=[chunks[TEXTS[3]]], vector=vector, entities=9, chunks=9, neighbours=9, hops=2, common=common
        )  # fmt: skip
        return {chunk["id"] for chunk in row["chunks"]}

    def context(name: str, near: list[str]) -> tuple[list[str], int]:
        (row,) = store.search.entity_context(
            graph="mention", keys=[keys[name]], vector=vector, chunks=9, relations=9, near=near, common=3
        )
        return [chunk["id"] for chunk in row["chunks"]], len(row["relations"])

    assert around(common=4) == {chunks[text] for text in TEXTS[:3]}, "all that mention the kit, as the seed does"
    assert around(common=3) == set()
    near = [chunks[TEXTS[2]], chunks[TEXTS[0]]]
    assert context("kit", near) == (near[::-1], 0)
    assert context("pump", near) == ([chunks[TEXTS[0]], chunks[TEXTS[1]]], 2), "no hub: all that mention it"


def test_relations_by_their_support_are_so_many_between_the_entities_and_so_many_with_others(
    own_store: GraphStore, content: Content
) -> None:
    """By hand: alpha and pump are found; beside `alpha drives pump` come one weaker between them, and four with others."""
    said = {
        ("alpha", "FEEDS", "pump"): 3,
        ("alpha", "NEEDS", "kit"): 4,
        ("valve", "OPENS", "pump"): 2,
        ("gamma", "HOLDS", "beta"): 5,
    }
    texts = [f"{head} {type_} {tail} {n}" for (head, type_, tail), count in said.items() for n in range(count)]
    document, chunks = content.document("more.html", *texts, title="More")
    own_store.documents.put([(document, chunks)])
    relations = [relation for relation, count in said.items() for _ in range(count)]
    own_store.graphs.put_extractions(
        "mention",
        [
            content.said(
                chunk, content.entity(head), content.entity(tail), relations=[content.relation(head, type_, tail)]
            )
            for chunk, (head, type_, tail) in zip(chunks, relations, strict=True)
        ],
    )
    own_store.documents.put_embeddings([c.id for c in chunks], embedded(*texts), embedder=EMBEDDER.name)
    own_store.finish()
    texts_of = {chunk.id: chunk.text for chunk in own_store.documents.chunks()}

    def found(relations: int, *steps: dict[str, object]) -> tuple[set[str], set[str]]:
        entity: dict[str, object] = {"kind": "entity", "entities": 1, "by": "support", "relations": relations}
        chosen = pipeline(entity, *steps)
        reranker = ScriptedReranker(lambda _, passage: -float(len(passage)))
        retriever = Retriever(own_store, EMBEDDER, chosen, reranker=reranker)
        question = "Which alpha pump is meant?"
        pieces = asyncio.run(retriever.trace(question, top=20)).evidence
        again = asyncio.run(retriever.trace(question, top=20)).evidence
        assert [piece.text for piece in pieces] == [piece.text for piece in again]
        statements = {piece.text for piece in pieces if " - " in piece.text}
        shown = {texts_of[piece.chunk_id] for piece in pieces if piece.chunk_id and " - " not in piece.text}
        summaries = [piece.text for piece in pieces if piece.chunk_id is None]
        assert len(summaries) == len(set(summaries))
        return {text.partition(":")[0] for text in statements}, shown | set(summaries)

    inside = ["alpha - FEEDS -> pump", "alpha - DRIVES -> pump"]
    outside = ["alpha - NEEDS -> kit", "valve - OPENS -> pump", "beta - STOPS -> pump"]
    assert found(0)[0] == set()
    assert found(1)[0] == {inside[0], outside[0]}
    assert found(2)[0] == {*inside, *outside[:2]}
    statements, shown = found(12)
    assert statements == {*inside, *outside}
    about = {text for text in texts_of.values() if {"alpha", "pump"} & set(text.split())}
    assert shown == about
    around: dict[str, object] = {"kind": "communities", "level": 1}
    assert found(12, around)[1] - about == {ABOUT[FINE]}, "the finest that both are in, once"

    best: dict[str, object] = {"kind": "entity", "entities": 1, "relations": 0}
    order = [{"kind": "embed"}, best, {"kind": "read"}, {"kind": "cross_encoder"}, {"kind": "budget", "top": 6}]
    chosen = read_pipeline({"description": "d", "step": order}, name="reranked")
    assert isinstance(chosen, Pipeline)
    reranker = ScriptedReranker(lambda _, passage: -float(len(passage)))
    retriever = Retriever(own_store, EMBEDDER, chosen, reranker=reranker)
    pieces = asyncio.run(retriever.trace("Which alpha pump is meant?")).evidence
    assert len(pieces) == 6 < len(about)
    assert {texts_of[piece.chunk_id or ""] for piece in pieces} <= about
    assert [len(piece.text) for piece in pieces] == sorted(len(piece.text) for piece in pieces)


def test_a_community_without_finer_ones_stands_for_itself(store: GraphStore) -> None:
    vector = embedded("the alpha pump")[0].tolist()

    def nearest(level: int) -> list[str]:
        rows = store.search.nearest_communities(graph="mention", vector=vector, level=level, limit=5)
        assert rows[0]["similarity"] == max(row["similarity"] for row in rows)
        return [row["key"] for row in rows]

    assert set(nearest(0)) == {COARSE, ALONE}
    assert nearest(1)[0] == FINE
    assert set(nearest(1)) == {FINE, ALONE}
    rows = store.search.communities_of_level(graph="mention", vector=vector, level=1)
    assert [(row["key"], row["content"]) for row in rows] == [(FINE, ABOUT[FINE]), (ALONE, ABOUT[ALONE])]


def test_seeds_lead_to_the_finest_community_of_each_entity(store: GraphStore) -> None:
    chunks = [chunk.id for chunk in store.documents.chunks()]
    rows = store.search.communities_of_seeds(
        graph="mention",
        seeds=[chunks[1], chunks[3]],
        vector=embedded("pump")[0].tolist(),
        level=1,
        entities=20,
    )
    found = {(row["seed"], row["key"]): row["shared"] for row in rows}
    # beta is in no community of level 1, so its coarser one counts; kit is in none at all
    assert found == {(chunks[1], FINE): 1, (chunks[1], COARSE): 1, (chunks[3], ALONE): 1}


def test_communities_lead_to_the_chunks_of_their_entities_that_are_nearest(store: GraphStore) -> None:
    (row,) = store.search.community_chunks(keys=[FINE], vector=embedded(TEXTS[0])[0].tolist(), entities=25, chunks=2)
    chunks = {chunk.id: chunk.text for chunk in store.documents.chunks()}
    assert chunks[row["chunks"][0]["id"]] == TEXTS[0]
    assert [c["shared"] for c in row["chunks"]] == [2, 1]


def test_the_walk_graph_is_what_the_store_holds_and_is_read_again_after_a_change(store: GraphStore) -> None:
    graph = walk_graph(store, "mention")
    assert len(graph.chunks) == 4
    assert len(graph.entities) == 6
    assert len(graph.mentions[0]) + len(graph.titles[0]) == sum(map(len, NAMED))
    assert len(graph.relations[0]) == 2
    assert len(graph.adjacent[0]) == 3
    assert walk_graph(store, "mention") is graph


def test_a_summary_of_a_community_is_evidence_of_its_own(store: GraphStore) -> None:
    found = retrieved(store, pipeline({"kind": "community", "level": 1})).evidence
    summary = next(piece for piece in found if piece.chunk_id is None)
    assert (summary.text, summary.source_id, summary.title) == (ABOUT[FINE], FINE, ABOUT[FINE])
    assert any(piece.text.endswith(TEXTS[0]) for piece in found)
    expanded = retrieved(store, pipeline(DENSE, {"kind": "communities", "level": 1})).evidence
    assert {piece.source_id for piece in expanded if piece.chunk_id is None} >= {FINE}
    best = max(piece.score for piece in expanded if piece.chunk_id is None)
    assert best < expanded[0].score


def test_what_is_written_about_a_community_is_cited_with_the_pages_that_it_is_from(store: GraphStore) -> None:
    found = retrieved(store, pipeline({"kind": "community", "level": 1})).evidence
    summary = next(piece for piece in found if piece.chunk_id is None)
    assert summary.sources == CITED
    citation = Citation.of(summary, number=1, quote="the alpha pump")
    assert place(citation) == "community of mention (from pump.pdf, page 3, Parts; pump.pdf, pages 4-5)"


def test_pagerank_brings_up_what_the_graph_joins_to_the_question(store: GraphStore) -> None:
    found = retrieved(
        store,
        pipeline(
            DENSE,
            {
                "kind": "pagerank",
                "weight": 1.0,
                "passages": 0.0,
                "linked": 1,
                "facts": 1,
                "adjacent": 0.0,
                "relation": 0.0,
            },
        ),
    ).evidence
    assert found[0].text.endswith(TEXTS[0])
    assert any(reason.startswith("pagerank") for reason in found[0].why)


def test_points_that_a_model_finds_in_communities_are_evidence_by_relevance(store: GraphStore) -> None:
    points = """{"points": [{"point": "It hums.", "relevance": 10, "descriptions": [1]},
        {"point": "It runs fast.", "relevance": 90, "descriptions": [1, 2, 99]},
        {"point": "It is blue.", "relevance": 0, "descriptions": [1]}, {"point": "From nowhere.", "relevance": 80, "descriptions": [7]}]}"""
    chosen = pipeline({"kind": "global", "level": 1})
    found = retrieved(store, chosen, chat=ScriptedChatModel([points]))
    assert [(piece.text, piece.score) for piece in found.evidence] == [("It runs fast.", 0.9), ("It hums.", 0.1)]
    assert found.usage.calls == 1
    failed = retrieved(store, chosen, chat=ScriptedChatModel(["no"]))
    assert failed.evidence == []
    assert "could not be judged" in failed.remarks[0]


def test_a_graph_that_is_not_there_is_an_error_where_it_was_asked_for_and_a_remark_where_a_file_names_it(
    store: GraphStore,
) -> None:
    chosen = load_pipeline("SimpleKG_Dense_KG")
    assert isinstance(chosen, Pipeline)
    with pytest.raises(InputError, match="one of the store's: mention; got 'simple_kg'"):
        retrieved(store, chosen, graph="simple_kg")
    (remark,) = retrieved(store, chosen).remarks
    assert "'mention' is used" in remark
    assert retrieved(store, chosen, graph="mention").remarks == ()
    (missing,) = retrieved(store, pipeline(DENSE, {"kind": "kg"}, graph="other")).remarks
    assert "'mention', its only one, is used" in missing


def test_a_graph_without_entities_is_told_from_one_that_is_not_there(own_store: GraphStore, content: Content) -> None:
    (chunk, *_) = own_store.documents.chunks()
    own_store.graphs.put_extractions("path", [content.said(chunk, graph="path")])
    kg = pipeline(DENSE, {"kind": "kg"})
    with pytest.raises(InputError, match=r"graph 'path' has no entities: .*kgrag build --extractor path goes on"):
        retrieved(own_store, kg, graph="path")
    assert retrieved(own_store, kg).remarks == ()


def test_the_only_graph_of_a_store_is_used_and_of_several_one_has_to_be_chosen(
    store_target: str, content: Content
) -> None:
    with open_store(store_target) as opened:
        opened.bind(EMBEDDER.name, EMBEDDER.dimensions)
        made = content.document("d.html", *TEXTS, title="D")
        opened.documents.put([made])
        opened.documents.put_embeddings([c.id for c in made[1]], embedded(*TEXTS), embedder=EMBEDDER.name)
        alpha = content.entity("alpha", role="title")
        opened.graphs.put_extractions("recorded", [content.said(c, alpha, graph="recorded") for c in made[1][:1]])
        opened.finish()
        chosen = pipeline(DENSE, {"kind": "names", "weight": 0.2})
        found = retrieved(opened, chosen)
        assert found.remarks == ()
        assert [piece.text for piece in found.evidence if "question names alpha" in piece.why] == [
            made[1][0].prompted_text
        ]
        opened.graphs.put_extractions("path", [content.said(c, alpha, graph="path") for c in made[1][:1]])
        (remark,) = retrieved(opened, chosen).remarks
        assert "no graph 'mention' (it has path, recorded)" in remark


def test_seeds_that_are_communities_are_refused_where_there_are_none_with_the_command_that_makes_them(
    own_store: GraphStore, content: Content
) -> None:
    chunks = list(own_store.documents.chunks())
    own_store.graphs.put_extractions("path", [content.said(chunks[0], content.entity("alpha"), graph="path")])
    for name in ("LlamaIndex_Community_Only", "global_communities"):
        chosen = load_pipeline(name)
        assert isinstance(chosen, Pipeline)
        with pytest.raises(
            PipelineError,
            match=r"^Pipeline [^:]+: .*looks for communities: .*kgrag communities --graph path makes them",
        ):
            retrieved(own_store, chosen, graph="path")
        assert retrieved(own_store, chosen, graph="mention").evidence
