"""Retrieval on both databases: the same evidence, and expansions equal to a reference computed in Python."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from kgrag.answer import generate_answer, read_instructions
from kgrag.errors import InputError
from kgrag.evaluate.switches import composed
from kgrag.jobs.chosen_documents import documents_where
from kgrag.models.base import Message
from kgrag.retrieve import Pipeline, load_pipeline, open_retriever, pipeline_names, read_pipeline
from kgrag.retrieve.scores import cosine
from kgrag.retrieve.state import Candidate, Query, Resources, Seeds, State
from kgrag.retrieve.steps.links import Links
from kgrag.retrieve.steps.seeds import Dense, Hybrid
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder, ScriptedChatModel, ScriptedReranker
from kgrag.types import Chunk, Citation, Evidence, Hyperlink, Usage, content_id
from tests.contract.conftest import Content
from tests.contract.small_manual import ask, embed, put_pages
from tests.vectors import embed_waiting_entities

COMMUNITIES_ONLY = {"LlamaIndex_Community_Only", "global_communities"}
HOSTILE = [
    "`; MATCH (n) DETACH DELETE n //",
    'prompted:"x" AND (a OR -b) ^2 ~ [1 TO 2] {x} \\',
    "*:*",
    "AND OR NOT",
    "?!",
    "'\"`{}[]()\\\n\t",
    "x" * 10_000,
    "a " * 5_000,
    "\u0000 null",
    "Ω µ ± 中文 🙂",
]


def test_what_the_question_names_comes_first_and_its_near_namesake_does_not(
    manual: GraphStore, embedder: HashingEmbedder
) -> None:
    first, *_ = ask(manual, embedder, "At what voltage does the X-1000 pressure sensor run?")
    assert first.title == "X-1000"
    assert "question names X-1000" in first.why
    reasons = {evidence.title: evidence.why for evidence in ask(manual, embedder, "voltage of the x100")}
    assert "question names X-100" in reasons["X-100"]
    assert not any(reason.startswith("question names") for reason in reasons["X-1000"])


def test_a_word_of_the_question_is_no_name_where_the_chunks_about_it_use_the_word_too(
    store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    pages = {
        "Phone": ["Open Phone to call somebody.", "While the phone rings press Phone again."],
        "Stella": ["Stella rings."],
    }
    put_pages(store, embedder, content, pages)

    def named(question: str) -> set[str]:
        found = ask(store, embedder, question)
        return {why for evidence in found for why in evidence.why if why.startswith("question names")}

    assert named("Why is my phone so loud?") == set()
    assert named("Phone rings all day, why?") == set()
    assert named("What does Phone show? And where is Phone?") == {"question names Phone"}
    assert named("why does my stella ring") == {"question names Stella"}


def test_a_family_means_all_its_members_and_they_take_turns(manual: GraphStore, embedder: HashingEmbedder) -> None:
    first, second, *_ = ask(manual, embedder, "At what voltage do X sensors run?")
    assert {first.title, second.title} == {"X-100", "X-1000"}
    assert f"question names {first.title}" in first.why and f"question names {second.title}" in second.why
    assert any(reason.startswith("diversification") for reason in first.why)


def test_a_name_that_begins_one_other_name_only_is_no_family(manual: GraphStore, embedder: HashingEmbedder) -> None:
    found = ask(manual, embedder, "How many slots do Carrier boards have?")
    assert not any(reason.startswith("question names") for evidence in found for reason in evidence.why)


def test_a_link_leads_to_what_a_seed_mentions_and_says_so(manual: GraphStore, embedder: HashingEmbedder) -> None:
    found = {
        evidence.title: evidence for evidence in ask(manual, embedder, "How many slots where the X-100 is mounted?")
    }
    assert "link: title mention of Carrier Q7" in found["Carrier Q7"].why


@pytest.mark.parametrize("name", sorted({*pipeline_names()} - COMMUNITIES_ONLY))
def test_evidence_is_complete_and_in_order_for_every_pipeline(
    manual: GraphStore, embedder: HashingEmbedder, name: str
) -> None:
    evidence = ask(manual, embedder, "pressure sensor X-100", pipeline=name)
    assert evidence
    assert [e.score for e in evidence] == sorted((e.score for e in evidence), reverse=True)
    assert len({(e.chunk_id, e.text) for e in evidence}) == len(evidence)
    chunks = {chunk.id: chunk for chunk in manual.documents.chunks()}
    for piece in evidence:
        chunk = chunks[piece.chunk_id or ""]
        assert piece.text == chunk.prompted_text
        assert (piece.source_id, piece.section, piece.tokens) == (chunk.source_id, chunk.section, chunk.tokens)
        assert piece.document == f"{chunk.title}.html"
        assert piece.why


def test_behind_a_prefilter_full_text_finds_nothing_that_the_vectors_do_not(
    store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    """The embedder reads all words of a text; only the last page has the rare one of the question, between many others."""
    texts = [
        "pump noise at night",
        "pump noise by day",
        "pump noise",
        f"{' '.join(f'word{n}' for n in range(60))} zirconium",
    ]
    pages = [content.document(f"{number}.html", text, title="-") for number, text in enumerate(texts)]
    store.documents.put(pages)
    chunks = [chunk for _, made in pages for chunk in made]
    vectors = embedder.embed([chunk.text for chunk in chunks])
    store.documents.put_embeddings([chunk.id for chunk in chunks], vectors, embedder=embedder.name, seconds=0.0)
    store.finish()

    asked = "pump noise zirconium"

    def found(prefilter: int, fusion: str, alpha: float) -> list[str]:
        step = Hybrid(fusion=fusion, alpha=alpha, prefilter=prefilter, candidates=4)  # type: ignore[arg-type]
        vector = tuple(asyncio.run(embedder.embed_queries([asked]))[0].tolist())
        query = Query(question=asked, dense=asked, sparse=asked, vector=vector)
        seeds = asyncio.run(step.find(query, Resources(store, embedder, "mention")))
        words = [one for one in seeds.candidates.values() if one.words]
        by_id = {chunk.id: chunk.text for chunk in chunks}
        return [by_id[one.chunk_id] for one in sorted(words, key=lambda one: (-one.score, one.chunk_id))]

    for fusion in ("rrf", "minmax"):
        assert texts[3] in found(0, fusion, 0.0)
        assert texts[3] not in found(3, fusion, 0.0)
        assert set(found(3, fusion, 0.0)) == set(texts[:3])
        assert texts[3] in found(4, fusion, 0.5)


class ReadsNothing(HashingEmbedder):
    """An embedder that was trained on other letters than those of any question."""

    def share_read(self, _: str) -> float:
        return 0.0


@pytest.mark.parametrize("fusion", ["rrf", "minmax"])
def test_where_the_embedder_does_not_read_the_question_words_decide(
    store: GraphStore, embedder: HashingEmbedder, content: Content, fusion: str
) -> None:
    """The embedder is nearest to the shortest page; the second one has the rare word of the question."""
    texts = ["насос", "цирконий один два три четыре", "насос шум", "насос тихий"]
    pages = [content.document(f"{number}.html", text, title="-") for number, text in enumerate(texts)]
    store.documents.put(pages)
    chunks = [chunk for _, made in pages for chunk in made]
    vectors = embedder.embed([chunk.text for chunk in chunks])
    store.documents.put_embeddings([chunk.id for chunk in chunks], vectors, embedder=embedder.name, seconds=0.0)
    store.finish()
    asked = "насос цирконий"
    vector = tuple(asyncio.run(embedder.embed_queries([asked]))[0].tolist())
    query = Query(question=asked, dense=asked, sparse=asked, vector=vector)

    def first(reading: HashingEmbedder) -> str:
        step = Hybrid(fusion=fusion, alpha=0.8, candidates=4)  # type: ignore[arg-type]
        found = asyncio.run(step.find(query, Resources(store, reading, "mention"))).candidates.values()
        return {chunk.id: chunk.text for chunk in chunks}[max(found, key=lambda one: one.score).chunk_id]

    assert first(embedder) == texts[0]
    assert first(ReadsNothing()) == texts[1]


PAPERS = {
    "pumps": [f"Paper on pumps: how pumps and valves work together, part {n}." for n in range(6)],
    "valves": ["The valve opens slowly, closes fast."],
}


def test_several_documents_are_covered_by_parts_of_the_question_or_by_fair_shares_where_plain_search_sees_one(
    store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    pages = [content.document(f"{name}.html", *texts, title=name) for name, texts in PAPERS.items()]
    store.documents.put(pages)
    embed(store, embedder)

    def covered(question: str, *steps: dict[str, object], before: Sequence[dict[str, object]] = ()) -> float:
        order = [*before, {"kind": "embed"}, {"kind": "dense"}, {"kind": "read"}, *steps, {"kind": "budget", "top": 5}]
        made = read_pipeline({"description": "d", "step": order}, name="covering")
        assert isinstance(made, Pipeline)
        evidence = asyncio.run(open_retriever(store, embedder, made).retrieve(question))
        return len({piece.document for piece in evidence}) / len(PAPERS)

    joined = "How do pumps and valves work together, and which valve closes fast?"
    assert covered(joined) == 0.5
    assert covered(joined, before=[{"kind": "coordination"}]) == 1.0
    across = "Which products have pumps and valves that work together?"
    shares: dict[str, object] = {"kind": "diversification", "length": 0.0, "document": 0.3, "family": 0.0}
    assert (covered(across), covered(across, shares)) == (0.5, 1.0)


def test_what_a_graph_says_is_cited_by_the_page_of_the_chunk_that_says_it(
    store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    document, _ = content.document("manual.pdf", title="Manual", format="pdf")
    said = ["The X-100 carries the TPR-40.", "The TPR-40 needs a supply of 1.8 V.", "The weather is fine."]
    chunks = [content.chunk(document, n, text, page_start=n + 3, page_end=n + 3) for n, text in enumerate(said)]
    store.documents.put([(document, chunks)])
    vectors = asyncio.run(embedder.embed_documents([chunk.embedded_text for chunk in chunks]))
    store.documents.put_embeddings([chunk.id for chunk in chunks], vectors, embedder=embedder.name)
    carries, needs = content.relation("X-100", "CARRIES", "TPR-40"), content.relation("TPR-40", "NEEDS", "1.8 V")
    extracted = [
        content.said(chunks[0], content.entity("X-100"), content.entity("TPR-40"), relations=[carries]),
        content.said(chunks[1], content.entity("TPR-40"), content.entity("1.8 V"), relations=[needs]),
    ]
    store.graphs.put_extractions("mention", extracted)
    embed_waiting_entities(store, embedder)
    store.finish()
    pages = {chunk.id: chunk.page_start for chunk in chunks}
    found = asyncio.run(open_retriever(store, embedder, load_pipeline("kg")).retrieve("What does the X-100 carry?"))
    relations = [piece for piece in found if piece.text not in {chunk.prompted_text for chunk in chunks}]
    assert relations
    for piece in found:
        assert piece.page_start == piece.page_end == pages[piece.chunk_id or ""]
        assert Citation.of(piece, number=1, quote="").page_start == piece.page_start


COMPANIES = {
    "ABF": ("retail", "Our target is net zero by 2040.", "Scope 3 is reported each year."),
    "BASF": ("chemistry", "Our target is net zero by 2040.", "Scope 3 is reported each year."),
    "Bosch": ("cars", "Our target is net zero by 2030.", "Engines are built in Stuttgart."),
}


@pytest.fixture
def reports(
    filled_once: Callable[[Callable[[str], object]], str], embedder: HashingEmbedder, content: Content
) -> Iterator[GraphStore]:
    """Reports of companies, two of which say the same word for word; what they name is one graph."""

    def fill(target: str) -> None:
        with open_store(target) as store:
            store.bind(embedder.name, embedder.dimensions)
            pages = [
                content.document(
                    f"{name}.pdf",
                    *texts,
                    title="Annual report",
                    product=name,
                    metadata={"sector": sector, "year": 2024},
                )
                for name, (sector, *texts) in COMPANIES.items()
            ]
            store.documents.put(pages)
            said = []
            for _, chunks in pages:
                for chunk in chunks:
                    subject, thing = chunk.text.split()[:2]
                    relation = content.relation(subject, "IS_SAID_OF", thing, description=chunk.text)
                    entities = (content.entity(subject), content.entity(thing))
                    said.append(content.said(chunk, *entities, relations=[relation]))
            store.graphs.put_extractions("mention", said)
            embed_waiting_entities(store, embedder)
            embed(store, embedder)

    with open_store(filled_once(fill)) as opened:
        yield opened


def test_where_documents_are_chosen_by_their_fields_no_way_of_searching_finds_anything_of_others(
    reports: GraphStore, embedder: HashingEmbedder
) -> None:
    question = "What is our target?"
    hyde: list[dict[str, object]] = [{"kind": "hyde"}, {"kind": "dense"}]
    ways: dict[str, list[dict[str, object]]] = {"hyde": hyde} | {
        kind: [{"kind": kind}] for kind in ("dense", "sparse", "hybrid", "entity")
    }
    ways["kg"] = [{"kind": "dense", "candidates": 1}, {"kind": "kg", "seeds": 1}]

    def companies(way: str, *conditions: str) -> set[str]:
        order = [{"kind": "embed"}, *ways[way], {"kind": "read"}, {"kind": "budget", "top": 50}]
        made = read_pipeline({"description": "d", "step": order}, name=way)
        assert isinstance(made, Pipeline)
        chat = ScriptedChatModel(lambda _: json.dumps({"text": "Our target is net zero."}))
        searched = reports.limited_to(documents_where(conditions, reports.documents.all())) if conditions else reports
        evidence = asyncio.run(open_retriever(searched, embedder, made, chat=chat).retrieve(question))
        return {piece.document.removesuffix(".pdf") for piece in evidence}

    for way in ways:
        assert companies(way) >= {"ABF", "BASF"}, way
        assert companies(way, "product=BASF") == {"BASF"}, way
        assert companies(way, "sector=Chemistry", "year=2024") == {"BASF"}, way
        assert companies(way, "product=abf", "product=basf") == {"ABF", "BASF"}, way


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        (["product"], "--where product: expected FIELD=VALUE"),
        (["product=Holcim"], "no document has that product. There are: ABF, BASF, Bosch."),
        (["colour=red"], "no document has a field 'colour'. Fields are product"),
        (["sector=cars", "product=ABF"], "no document of those that the conditions before leave has that product"),
    ],
)
def test_a_condition_that_no_document_meets_is_said_with_what_there_is(
    reports: GraphStore, conditions: list[str], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        documents_where(conditions, reports.documents.all())
    assert said in str(caught.value)


def test_chunks_with_the_same_words_are_told_apart_by_the_title_and_headings_that_are_embedded_with_them(
    store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    text = "Our target is net zero by 2040."
    pages, bare = [], []
    for country in ("Slovakia", "Austria", "Poland"):
        document, _ = content.document(f"{country}.pdf", title=f"Report {country}")
        pages.append((document, [content.chunk(document, 0, text, headings=("Climate",))]))
        other, _ = content.document(f"{country}-bare.pdf", title=" ")
        bare.append((other, [content.chunk(other, 0, text, title="", headings=())]))
    store.documents.put([*pages, *bare])
    embed(store, embedder)

    def ranked(documents: Sequence[tuple[object, list[Chunk]]], country: str) -> list[Evidence]:
        limited = store.limited_to([chunks[0].document_id for _, chunks in documents])
        return ask(limited, embedder, f"Net zero target of {country}?", pipeline="dense")

    for country in ("Slovakia", "Austria", "Poland"):
        first, second, _ = ranked(pages, country)
        assert first.title == f"Report {country}" and first.score > second.score + 0.01
        assert len({piece.score for piece in ranked(bare, country)}) == 1, "without them nothing tells them apart"
    assert {chunk.text for chunk in store.documents.chunks()} == {text}, "what is shown stays clean"


def test_a_chunks_own_words_find_it_first_and_fewer_hits_are_the_first_of_more(
    store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    chance = random.Random(5)
    texts = [" ".join(f"word{chance.randrange(400)}" for _ in range(12)) for _ in range(120)]
    document, chunks = content.document("a.html", *texts, title="a")
    store.documents.put([(document, chunks)])
    vectors = embedder.embed([chunk.embedded_text for chunk in chunks])
    store.documents.put_embeddings([chunk.id for chunk in chunks], vectors, embedder=embedder.name)
    store.finish()
    for chunk in chunks[::12]:
        vector = embedder.embed([chunk.embedded_text])[0]
        lists = []
        for limit in (1, 3, 5):
            rows = store.search.dense_seeds(
                vector=vector.tolist(), limit=limit, candidates=store.search.candidates(limit)
            )
            lists.append([(row["id"], row["similarity"]) for row in rows])
        ids = [[one for one, _ in found] for found in lists]
        assert ids[0] == [chunk.id] and cosine(lists[0][0][1]) == pytest.approx(1.0, abs=1e-5)
        assert ids[2][:3] == ids[1] and ids[1][:1] == ids[0] and len(ids[2]) == 5
        by_hand = sorted(zip((vectors @ vector).tolist(), (one.id for one in chunks), strict=True), reverse=True)[:5]
        assert [cosine(one) for _, one in lists[2]] == pytest.approx([score for score, _ in by_hand], abs=1e-5)


@pytest.mark.changes_indexes
def test_the_best_dense_seeds_are_the_nearest_by_brute_force(
    store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    """Of the hundred that a pipeline asks for; the index is approximate, and may miss the fifth of five."""
    chance = random.Random(9)
    texts = [" ".join(f"word{chance.randrange(60)}" for _ in range(8)) for _ in range(800)]
    document, chunks = content.document("a.html", *texts, title="a")
    store.documents.put([(document, chunks)])
    vectors = asyncio.run(embedder.embed_documents([chunk.embedded_text for chunk in chunks]))
    store.documents.put_embeddings([chunk.id for chunk in chunks], vectors, embedder=embedder.name)
    store.finish()
    resources = Resources(store, embedder, "mention")
    for _ in range(20):
        asked = " ".join(f"word{chance.randrange(60)}" for _ in range(4))
        vector = asyncio.run(embedder.embed_queries([asked]))[0]
        query = Query(question=asked, dense=asked, sparse=asked, vector=tuple(vector.tolist()))
        seeds = asyncio.run(Dense().find(query, resources))
        found = sorted((one.cosine for one in seeds.candidates.values()), reverse=True)
        # Ties may be broken either way: the cosines are what brute force says.
        assert found[:10] == pytest.approx(sorted((vectors @ vector).tolist(), reverse=True)[:10], abs=1e-5)


def test_the_same_question_gives_the_same_evidence(manual: GraphStore, embedder: HashingEmbedder) -> None:
    question = "Which sensor runs at 3.3 V?"
    assert ask(manual, embedder, question) == ask(manual, embedder, question)


def test_limits_replace_those_of_the_pipeline(manual: GraphStore, embedder: HashingEmbedder) -> None:
    assert len(ask(manual, embedder, "pressure sensor", top=2)) == 2
    assert sum(e.tokens for e in ask(manual, embedder, "pressure sensor", budget=15)) <= 15
    with pytest.raises(InputError, match="top to be at least 1"):
        ask(manual, embedder, "pressure sensor", top=0)
    with pytest.raises(InputError, match="Expected a question"):
        ask(manual, embedder, "  ")


@pytest.mark.parametrize("question", HOSTILE, ids=lambda question: repr(question[:12]))
def test_a_hostile_question_is_only_a_question(manual: GraphStore, embedder: HashingEmbedder, question: str) -> None:
    before = manual.documents.count_chunks()
    for name in ("default", "kg", "sparse"):
        ask(manual, embedder, f"{question} sensor", pipeline=name)
        ask(manual, embedder, question, pipeline=name)
    assert manual.documents.count_chunks() == before


def test_an_empty_store_has_no_evidence(store: GraphStore, embedder: HashingEmbedder) -> None:
    for name in pipeline_names():
        assert ask(store, embedder, "anything", pipeline=name) == []


@pytest.mark.parametrize("seed", range(2))
def test_expansions_equal_a_reference(
    store: GraphStore, embedder: HashingEmbedder, content: Content, seed: int
) -> None:
    chance = random.Random(seed)
    names = [f"name {number}" for number in range(12)]
    _, chunks = made = content.document(
        "d.html", *(" ".join(f"word{chance.randint(0, 60)}" for _ in range(12)) for _ in range(30))
    )
    store.documents.put([made])
    roles: dict[str, dict[str, str]] = {}
    said = []
    for chunk in chunks:
        roles[chunk.id] = {n: chance.choice(["title", "mention"]) for n in chance.sample(names, chance.randint(0, 6))}
        entities = [content.entity(n, role=role) for n, role in roles[chunk.id].items()]
        pairs = [chance.sample(sorted(roles[chunk.id]), 2) for _ in range(2)] if len(entities) > 1 else []
        relations = [content.relation(head, "PART_OF", tail, description=chunk.text) for head, tail in pairs]
        said.append(content.said(chunk, *entities, relations=relations))
    store.graphs.put_extractions("mention", said)
    embed(store, embedder)
    vector = asyncio.run(embedder.embed_queries([" ".join(f"word{number}" for number in range(30))]))[0].tolist()
    seeds = [chunk.id for chunk in chunks[:6]]
    mentions = {name: sum(name in said_here for said_here in roles.values()) for name in names}

    rows = store.search.linked_chunks(
        graph="mention",
        seeds=seeds,
        known=[],
        vector=vector,
        entities=2,
        limit=3,
        hyperlinks=1,
    )
    links = {(row["seed"], row["name"]): ([c["id"] for c in row["chunks"]], row["about"]) for row in rows}
    assert links == linked(chunks, roles, mentions, seeds, dict(similarities(store, vector)), entities=2, limit=3)

    fewest = min(row["mentions"] for row in rows)
    without_hubs = store.search.linked_chunks(
        graph="mention", seeds=seeds, known=[], vector=vector, entities=2, limit=3, hyperlinks=1, common=fewest
    )
    assert {row["mentions"] for row in without_hubs} == {fewest} < {row["mentions"] for row in rows}

    rows = store.search.graph_neighbourhood(
        graph="mention",
        seeds=seeds,
        vector=vector,
        entities=3,
        chunks=4,
        neighbours=5,
        hops=2,
    )
    for row in rows:
        own = rarest(roles[row["seed"]], mentions)[:3]
        weights = {c.id: sum(1.0 / mentions[n] for n in own if n in roles[c.id]) for c in chunks if c.id != row["seed"]}
        expected = sorted((c for c in weights if weights[c] > 0), key=lambda c: (-round(weights[c], 9), c))[:4]
        assert [c["id"] for c in row["chunks"]] == expected
        assert all(math.isclose(c["weight"], weights[c["id"]]) for c in row["chunks"])
        near = [r for r in row["relations"] if r["hop"] == 1]
        assert len(near) <= 5
        assert all({r["head"], r["tail"]} & set(own) for r in near)
        assert sum(r["hop"] == 2 for r in row["relations"]) <= 5


def test_what_authors_write_where_they_link_counts_for_what_they_link_to(
    store: GraphStore, embedder: HashingEmbedder, content: Content
) -> None:
    names = ("colours", "pressure", "spares")
    links = tuple(
        Hyperlink(href=f"{name}.html", anchor=f"page {number}", context=f"Read here about {name}.", position=number)
        for number, name in enumerate(names)
    )
    seed, _ = content.document("seed.html", title="Seed")
    pages = [content.document(f"{name}.html", f"Page {number}.") for number, name in enumerate(names)]
    store.documents.put([(seed, [content.chunk(seed, 0, "All about the pump.", links=links)]), *pages])
    store.documents.relink()
    embed(store, embedder)
    ids = {chunk.text: chunk.id for chunk in store.documents.chunks()}
    first, other = ids["All about the pump."], ids["Page 0."]
    start = State(
        Query(*["Which pressure may it have?"] * 3, vector=(1.0, *(0.0,) * (embedder.dimensions - 1))),
        seeds=(Seeds({first: Candidate(first, 1.0)}),),
        candidates={first: Candidate(first, 1.0)},
    )

    def scores(around: float) -> list[float]:
        after = asyncio.run(Links(weight=0.6, around=around)(start, Resources(store, embedder, "mention")))
        return [after.candidates[ids[f"Page {number}."]].score for number in range(len(names))]

    assert scores(0.0) == pytest.approx([0.6 / 3] * 3)
    # Of the question's words (pressure; which, may, it and have say nothing) the second link has all.
    assert scores(1.0) == pytest.approx([0.6 / 3, 0.6 / 3 + 1.0, 0.6 / 3])
    assert scores(0.5) == pytest.approx([0.6 / 3, 0.6 / 3 + 0.5, 0.6 / 3])
    # No matter how good the chunk is that links: it hands nothing on that is no seed, and what it says counts as before.
    ahead = replace(start, candidates={first: Candidate(first, 0.1), other: Candidate(other, 0.4)})
    after = asyncio.run(Links(weight=0.6, seeds=1, around=0.5)(ahead, Resources(store, embedder, "mention")))
    found = {key: one.score for key, one in after.candidates.items()}
    assert found == pytest.approx({first: 0.1, other: 0.4, ids["Page 1."]: 0.5})


@pytest.mark.parametrize("seed", [3, 4])
def test_paths_equal_a_reference(store: GraphStore, embedder: HashingEmbedder, content: Content, seed: int) -> None:
    chance = random.Random(seed)
    names = [f"name {number}" for number in range(10)]
    pages = [
        content.document(
            f"{page}.html", *(" ".join(f"word{chance.randint(0, 40)}" for _ in range(9)) for _ in range(3))
        )
        for page in range(8)
    ]
    store.documents.put(pages)
    of = {chunk.id: chunk.document_id for _, chunks in pages for chunk in chunks}
    says = {chunk_id: chance.sample(names, chance.randint(0, 4)) for chunk_id in of}
    chunks = [chunk for _, chunks in pages for chunk in chunks]
    store.graphs.put_extractions(
        "mention", [content.said(chunk, *(content.entity(name) for name in says[chunk.id])) for chunk in chunks]
    )
    embed(store, embedder)
    vector = asyncio.run(embedder.embed_queries([" ".join(f"word{number}" for number in range(20))]))[0].tolist()
    mentions = {name: sum(name in said for said in says.values()) for name in names}
    seeds = [chunk.id for chunk in chunks[::5]]
    rows = store.search.paths(
        graph="mention",
        seeds=seeds,
        vector=vector,
        normals=[],
        common=9,
        stated_common=9,
        ignored=["Nothing"],
        kinds=["Nothing"],
        entities=2,
        limit=100,
    )
    found = {(row["seed"], row["id"]): row["name"] for row in rows}
    expected = {}
    for one in seeds:
        for name in reversed(rarest([n for n in says[one] if mentions[n] <= 9], mentions)[:2]):
            expected |= {(one, other): name for other in of if name in says[other] and of[other] != of[one]}
    assert found == expected
    assert found
    to_question, to_each = dict(similarities(store, vector)), {}
    for one in seeds:
        own = store.query("MATCH (c:Chunk {id: $id}) RETURN c.embedding AS embedding", id=one)[0]["embedding"]
        to_each[one] = dict(similarities(store, own))
    for row in rows:
        for similarity, expected_cosine in (
            (row["similarity"], to_question[row["id"]]),
            (row["seed_similarity"], to_question[row["seed"]]),
            (row["alike"], to_each[row["seed"]][row["id"]]),
        ):
            assert math.isclose(2 * similarity - 1, expected_cosine, abs_tol=1e-5)


def similarities(store: GraphStore, vector: list[float]) -> Iterator[tuple[str, float]]:
    for row in store.query("MATCH (c:Chunk) RETURN c.id AS id, c.embedding AS embedding"):
        yield row["id"], sum(a * b for a, b in zip(row["embedding"], vector, strict=True))


def rarest(names: dict[str, str], mentions: dict[str, int]) -> list[str]:
    return sorted(names, key=lambda name: (mentions[name], content_id("mention", "Product", name)))


def linked(
    chunks: list[Chunk],
    roles: dict[str, dict[str, str]],
    mentions: dict[str, int],
    seeds: list[str],
    similarity: dict[str, float],
    *,
    entities: int,
    limit: int,
) -> dict[tuple[str, str], tuple[list[str], int]]:
    expected = {}
    for seed in seeds:
        mentioned = {name: role for name, role in roles[seed].items() if role == "mention"}
        for name in rarest(mentioned, mentions)[:entities]:
            about = [c.id for c in chunks if c.id != seed and roles[c.id].get(name) == "title"]
            if about:
                expected[seed, name] = (sorted(about, key=lambda c: (-similarity[c], c))[:limit], len(about))
    return expected


SEARCHES = {
    "dense": [{"kind": "dense"}],
    "hyde": [{"kind": "hyde"}, {"kind": "dense"}],
    "hybrid": [{"kind": "hybrid"}],
    "graph": [{"kind": "entity"}, {"kind": "kg"}],
}
RERANKERS = {"off": [], "cross_encoder": [{"kind": "cross_encoder"}], "listwise": [{"kind": "listwise"}]}
SWITCHES = {
    "search": SEARCHES,
    "rerank": RERANKERS,
    "ends": {"off": [], "on": [{"kind": "arrange", "order": "ends"}]},
}


def test_all_48_combinations_of_search_reranking_order_and_reasoning_run(
    manual: GraphStore, embedder: HashingEmbedder
) -> None:
    def reply(messages: Sequence[Message]) -> str:
        text = "\n".join(message.content for message in messages)
        if "Each passage stands between" in text:
            reasoning = {"reasoning": "One names it."} if '"reasoning"' in text else {}
            return json.dumps({**reasoning, "quotes": [], "answered": True, "answer": "It runs at 3.3 V [passage 1]."})
        return json.dumps({"passage": "A sensor runs at a voltage.", "order": [2, 1], "text": "A sensor runs."})

    chat = ScriptedChatModel(reply)
    reranker = ScriptedReranker(lambda query, passage: float(len(passage)))
    question, shown, ran = "At what voltage does the X-100 run?", {}, 0
    for search, rerank, ends in product(SEARCHES, RERANKERS, ("off", "on")):
        pipeline = composed(SWITCHES, {"search": search, "rerank": rerank, "ends": ends}, top=6)
        retriever = open_retriever(manual, embedder, pipeline, chat=chat, reranker=reranker)
        trace = asyncio.run(retriever.trace(question))
        enabled = ["embed", *(step["kind"] for step in SEARCHES[search]), "read"]
        enabled += [step["kind"] for step in RERANKERS[rerank]] + ["budget"] + (["arrange"] if ends == "on" else [])
        assert [change.step for change in trace.changes] == enabled
        asked_a_model = [change.step for change in trace.changes if change.usage.calls]
        asking = ("hyde", "listwise") if len(trace.evidence) > 1 else ("hyde",)
        assert asked_a_model == [one for one in enabled if one in asking]
        assert sum((change.usage for change in trace.changes), Usage()) == trace.usage
        shown[search, rerank, ends] = [piece.model_dump_json() for piece in trace.evidence]
        for template in (None, Path("steps")):
            answer = asyncio.run(
                generate_answer(
                    question,
                    trace.evidence,
                    model=chat,
                    embedder=embedder,
                    instructions=read_instructions(template),
                )
            )
            assert bool(answer.reasoning) == (template is not None) and not answer.abstained
            ran += 1
    assert ran == 48 and sum(len(found) > 1 for found in shown.values()) >= 18
    for search, rerank in product(SEARCHES, RERANKERS):
        assert sorted(shown[search, rerank, "off"]) == sorted(shown[search, rerank, "on"]), (
            "another order, the same pieces"
        )
    # Off is byte-identical to absent.
    for search, steps in SEARCHES.items():
        content = {
            "description": "d",
            "step": [{"kind": "embed"}, *steps, {"kind": "read"}, {"kind": "budget", "top": 6}],
        }
        absent = read_pipeline(content, name="absent")
        found = asyncio.run(open_retriever(manual, embedder, absent, chat=chat, reranker=reranker).retrieve(question))
        assert [piece.model_dump_json() for piece in found] == shown[search, "off", "off"]
