"""The walk along hyperlinks, on both databases, beside a reference in plain Python."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from kgrag.retrieve import Pipeline, open_retriever, read_pipeline
from kgrag.retrieve.steps.walk import words_around
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder
from kgrag.types import Chunk, Hyperlink
from tests.vectors import embed_waiting_chunks

from .conftest import Content

PAGES, SECTIONS, LINKS = 6, 3, 4
BROKEN = ("p0.html#nowhere", "missing.html", "https://example.com/a")


@pytest.fixture
def site(store_target: str, embedder: HashingEmbedder, content: Content) -> Iterator[GraphStore]:
    """Six pages of three sections, of which the last has two chunks; links to pages, sections, themselves and nowhere."""
    chance = random.Random(16)
    with open_store(store_target) as store:
        store.bind(embedder.name, embedder.dimensions)
        pages = []
        for page in range(PAGES):
            document, _ = content.document(f"p{page}.html", title=f"Page {page}")
            chunks = []
            for position in range(SECTIONS + 1):
                section = min(position, SECTIONS - 1)
                links = []
                for place in range(chance.randrange(LINKS + 1)):
                    anywhere = f"p{chance.randrange(PAGES)}.html"
                    href = chance.choice([anywhere, f"{anywhere}#s{chance.randrange(SECTIONS)}", chance.choice(BROKEN)])
                    context = f"See word{chance.randrange(30)} and word{chance.randrange(30)} at link {place}."
                    links.append(Hyperlink(href=href, anchor=f"link {place}", context=context, position=place))
                text = f"Chunk {position} of page {page} says " + " ".join(
                    f"word{chance.randrange(30)}" for _ in range(6)
                )
                headings = ("Part", f"Section {section}")
                chunks.append(
                    content.chunk(
                        document, position, text, headings=headings, anchors=(f"s{section}",), links=tuple(links)
                    )
                )
            pages.append((document, chunks))
        store.documents.put(pages)
        store.documents.relink()
        embed_waiting_chunks(store, embedder)
        store.finish()
        yield store


def pipeline(*, candidates: int = 5, **walk: Any) -> Pipeline:
    steps = [
        {"kind": "embed"},
        {"kind": "dense", "candidates": candidates},
        *([{"kind": "walk", **walk}] if walk else []),
    ]
    content = {"description": "d", "step": [*steps, {"kind": "read"}, {"kind": "budget", "top": 500}]}
    read = read_pipeline(content, name="walk")
    assert isinstance(read, Pipeline)
    return read


def counted(store: GraphStore, embedder: HashingEmbedder, question: str, **walk: Any) -> Mapping[str, int]:
    trace = asyncio.run(open_retriever(store, embedder, pipeline(**walk)).trace(question))
    return next(change.counts for change in trace.changes if change.step == "walk")


def found(store: GraphStore, embedder: HashingEmbedder, question: str, **walk: Any) -> list[str]:
    evidence = asyncio.run(open_retriever(store, embedder, pipeline(**walk)).retrieve(question))
    return [piece.chunk_id or "" for piece in evidence]


def reference(
    seeds: Sequence[str],
    chunks: Mapping[str, Chunk],
    vectors: Mapping[str, np.ndarray],
    embedder: HashingEmbedder,
    n: int,
    depth: int,
    m: int,
    links_of: str = "chunk",
) -> tuple[list[str], int]:
    """The walk as the paper writes it; also how many chunks were expanded."""
    visited, linked, expanded = set(seeds), [], 0
    paths = {chunk.document_id: f"p{chunk.title.split()[1]}.html" for chunk in chunks.values()}

    def expand(chunk_id: str, hop: int) -> None:
        nonlocal expanded
        if hop == depth:
            return
        expanded += 1
        followed = 0
        here = chunks[chunk_id]
        section = {
            one.id for one in chunks.values() if (one.document_id, one.section) == (here.document_id, here.section)
        }
        owners = sorted(section, key=lambda one: chunks[one].position) if links_of == "section" else [chunk_id]
        for link in (link for owner in owners for link in chunks[owner].links):
            path, _, anchor = link.href.partition("#")
            candidates = [
                one
                for one in sorted(chunks.values(), key=lambda one: one.position)
                if paths[one.document_id] == path and (not anchor or anchor in one.anchors)
            ]
            if not candidates or candidates[0].id in owners:
                continue
            followed += 1
            if followed > n:
                return
            words = words_around(link.context, link.anchor, words=12)
            vector = asyncio.run(embedder.embed_queries([words]))[0]
            ranked = sorted(candidates, key=lambda one: (-float(vectors[one.id] @ vector), one.position, one.id))
            for one in ranked[:m]:
                if one.id not in visited:
                    visited.add(one.id)
                    linked.append(one.id)
                    expand(one.id, hop + 1)

    for seed in seeds:
        expand(seed, 0)
    return [*seeds, *linked], expanded


def test_the_walk_is_that_of_the_paper_over_relationships_and_over_metadata(
    site: GraphStore, embedder: HashingEmbedder
) -> None:
    chunks = {chunk.id: chunk for chunk in site.documents.chunks()}
    texts = asyncio.run(embedder.embed_documents([chunk.embedded_text for chunk in chunks.values()]))
    vectors = dict(zip(chunks, texts, strict=True))
    chance = random.Random(7)
    reached = different = 0
    for _ in range(12):
        question = f"What of word{chance.randrange(30)} and word{chance.randrange(30)}?"
        n, depth, m = chance.randrange(1, 4), chance.randrange(1, 4), chance.randrange(1, 4)
        seeds = found(site, embedder, question)
        expected, expanded = reference(seeds, chunks, vectors, embedder, n, depth, m)
        assert found(site, embedder, question, links=n, depth=depth, chunks=m, over="metadata") == expected
        over_relationships = found(site, embedder, question, links=n, depth=depth, chunks=m)
        assert over_relationships == expected
        assert found(site, embedder, question, links=n, depth=depth, chunks=m, over="metadata") == expected
        assert len(expected) == len(set(expected)) <= 5 * (1 + sum((n * m) ** hop for hop in range(1, depth + 1)))
        assert expanded <= len(expected)
        reached += len(expected) - len(seeds)
        of_sections, _ = reference(seeds, chunks, vectors, embedder, n, depth, m, "section")
        for over in ("metadata", "relationships"):
            walk = {"links": n, "depth": depth, "chunks": m, "over": over, "links_of": "section"}
            assert found(site, embedder, question, **walk) == of_sections
        different += of_sections != expected
    assert reached > 20 and different > 3


def test_without_links_or_hops_it_is_the_baseline_to_the_byte(site: GraphStore, embedder: HashingEmbedder) -> None:
    retriever = open_retriever(site, embedder, pipeline())
    baseline = [piece.model_dump_json() for piece in asyncio.run(retriever.retrieve("word3 word5"))]
    for off in ({"links": 0}, {"depth": 0}, {"chunks": 0}, {"links": 0, "depth": 0, "chunks": 0}):
        walked = open_retriever(site, embedder, pipeline(**off))
        assert [piece.model_dump_json() for piece in asyncio.run(walked.retrieve("word3 word5"))] == baseline


def test_every_reached_chunk_says_how_and_leads_back_to_a_seed(site: GraphStore, embedder: HashingEmbedder) -> None:
    walked = open_retriever(site, embedder, pipeline(links=3, depth=3, chunks=2))
    evidence = asyncio.run(walked.retrieve("word3 word5"))
    seeds = set(found(site, embedder, "word3 word5"))
    why = {piece.chunk_id: piece.why[-1] for piece in evidence if piece.chunk_id not in seeds}
    assert why
    for chunk in why:
        steps = 0
        while chunk not in seeds:
            hop, _, rest = why[chunk].removeprefix("walk: hop ").partition(" from ")
            chunk, steps = rest.partition(" ")[0], steps + 1
            assert int(hop) <= 3 and steps <= 3


def test_backlinks_add_and_a_last_ranking_by_the_question_orders(site: GraphStore, embedder: HashingEmbedder) -> None:
    walk = {"links": 20, "depth": 1, "chunks": 1}
    ahead = set(found(site, embedder, "word3 word5", **walk))
    both = set(found(site, embedder, "word3 word5", **walk, backlinks=True))
    assert ahead < both
    ranked = open_retriever(site, embedder, pipeline(**walk, rerank="question"))
    scores = [piece.score for piece in asyncio.run(ranked.retrieve("word3 word5"))]
    assert scores == sorted(scores, reverse=True) and len(scores) == len(ahead)


def test_links_that_lead_nowhere_add_nothing_and_are_counted(site: GraphStore, embedder: HashingEmbedder) -> None:
    all_broken = all_external = 0
    for word in range(6):
        question = f"word{word}"
        seeds = found(site, embedder, question)
        hrefs = [link.href for chunk in site.documents.chunks(seeds) for link in chunk.links]
        broken = sum(href in ("p0.html#nowhere", "missing.html") for href in hrefs)
        external = sum(href.startswith("https:") for href in hrefs)
        for over in ("metadata", "relationships"):
            counts = counted(site, embedder, question, links=20, depth=1, chunks=1, over=over)
            assert (counts["broken"], counts["external"]) == (broken, external)
            assert 0 < counts["followed"] <= len(hrefs) - broken - external
        all_broken, all_external = all_broken + broken, all_external + external
    assert all_broken and all_external


def test_which_links_come_first_may_be_told_by_the_question(site: GraphStore, embedder: HashingEmbedder) -> None:
    different = 0
    for word in range(12):
        question = f"word{word}"
        walk = {"links": 1, "depth": 1, "chunks": 1}
        seeds = found(site, embedder, question)
        asked = found(site, embedder, question, **walk, order="question")
        every = found(site, embedder, question, **walk | {"links": 20})
        assert set(seeds) <= set(asked) <= set(every)
        different += asked != found(site, embedder, question, **walk)
        again = found(site, embedder, question, **walk | {"links": 20}, order="question")
        assert set(again) == set(every), "the order decides nothing where all are followed"
    assert different


def test_a_budget_of_tokens_cuts_what_was_reached_last(site: GraphStore, embedder: HashingEmbedder) -> None:
    retriever = open_retriever(site, embedder, pipeline(links=3, depth=2, chunks=2))
    everything = asyncio.run(retriever.retrieve("word3 word5", top=500))
    tokens = sum(piece.tokens for piece in everything[:7])
    cut = asyncio.run(retriever.retrieve("word3 word5", budget=tokens))
    assert 7 <= len(cut) < len(everything) and cut[:7] == everything[:7]
    assert sum(piece.tokens for piece in cut) <= tokens


@pytest.mark.parametrize("over", ["relationships", "metadata"])
def test_other_versions_and_what_is_out_of_date_are_not_entered_where_the_walk_keeps_to_one(
    over: str, store_target: str, embedder: HashingEmbedder, content: Content
) -> None:
    said: dict[str, dict[str, Any]] = {
        "same": {"version": "1.0"},
        "newer": {"version": "2.0"},
        "undated": {},
        "deprecated": {"version": "1.0", "metadata": {"deprecated": True}},
        "obsolete": {"version": "1.0", "metadata": {"status": "Obsolete"}},
        "current": {"version": "1.0", "metadata": {"status": "released"}},
    }
    hrefs = [f"{name}.html" for name in said]
    links = tuple(
        Hyperlink(href=href, anchor=href, context=f"See {href}.", position=place) for place, href in enumerate(hrefs)
    )
    with open_store(store_target) as store:
        store.bind(embedder.name, embedder.dimensions)
        start, _ = content.document("start.html", version="1.0")
        pages = [(start, [content.chunk(start, 0, "Where the walk begins: pump.", links=links)])]
        for name, fields in said.items():
            pages.append(content.document(f"{name}.html", f"The {name} page has other words.", **fields))
        store.documents.put(pages)
        store.documents.relink()
        embed_waiting_chunks(store, embedder)
        store.finish()

        def reached(versions: str) -> set[str]:
            walk = {"seeds": 1, "links": 10, "over": over, "versions": versions}
            evidence = asyncio.run(
                open_retriever(store, embedder, pipeline(candidates=1, **walk)).retrieve("pump begins")
            )
            return {piece.document.removesuffix(".html") for piece in evidence} - {"start"}

        assert reached("all") == set(said)
        assert reached("same") == {"same", "undated", "current"}
        walk = {"seeds": 1, "links": 10, "over": over, "versions": "same"}
        trace = asyncio.run(open_retriever(store, embedder, pipeline(candidates=1, **walk)).trace("pump begins"))
        counts = next(change.counts for change in trace.changes if change.step == "walk")
        assert counts["other version"] == 3


def test_every_chunk_of_a_circle_or_a_complete_site_is_expanded_once(
    store_target: str, embedder: HashingEmbedder, content: Content
) -> None:
    pages = 50
    with open_store(store_target) as store:
        store.bind(embedder.name, embedder.dimensions)
        written = []
        for page in range(pages):
            document, _ = content.document(f"p{page}.html", title=f"Page {page}")
            links = tuple(
                Hyperlink(href=f"p{other}.html", anchor=f"page {other}", context=f"See page {other}.", position=other)
                for other in range(pages)
            )
            written.append((document, [content.chunk(document, 0, f"Page {page} of all.", links=links)]))
        store.documents.put(written)
        store.documents.relink()
        embed_waiting_chunks(store, embedder)
        store.finish()
        walk = {"links": 3, "depth": 50, "chunks": 1}
        reached = found(store, embedder, "page 7", **walk)
        counts = counted(store, embedder, "page 7", **walk)
    assert len(reached) == len(set(reached)) <= pages
    assert counts["followed"] <= 3 * len(reached)


@pytest.fixture
def passages(store_target: str, embedder: HashingEmbedder, content: Content) -> Iterator[GraphStore]:
    """Passages without hyperlinks, each about one thing (its title): a mentions c, then b; d mentions a."""
    texts = {
        "a": "Alpha has the wheel of Gamma, and the engine of Beta.",
        "b": "Beta burns wood.",
        "c": "Gamma turns.",
        "d": "Delta came after Alpha.",
    }
    named = {"a": "Alpha", "b": "Beta", "c": "Gamma", "d": "Delta"}
    with open_store(store_target) as store:
        store.bind(embedder.name, embedder.dimensions)
        said = []
        for key, text in texts.items():
            document, (chunk,) = content.document(f"{key}.jsonl", text, title=named[key])
            store.documents.put([(document, [chunk])])
            about = [
                content.entity(name, role="title" if one == key else "mention")
                for one, name in named.items()
                if name in text
            ]
            said.append(content.said(chunk, *about))
        store.graphs.put_extractions("mention", said)
        embed_waiting_chunks(store, embedder)
        store.finish()
        yield store


def test_mentions_of_titles_are_links_where_passages_have_none(passages: GraphStore, embedder: HashingEmbedder) -> None:
    titles = {chunk.id: chunk.title for chunk in passages.documents.chunks()}

    def walked(**walk: Any) -> list[str]:
        question = "Which wheel has Alpha?"
        return [titles[one] for one in found(passages, embedder, question, candidates=1, over="titles", **walk)]

    assert walked(links=0) == ["Alpha"]
    assert walked(links=1) == ["Alpha", "Gamma"], "the first in the order of the text"
    assert walked(links=3) == ["Alpha", "Gamma", "Beta"]
    assert walked(links=3, backlinks=True) == ["Alpha", "Gamma", "Beta", "Delta"]


@pytest.mark.parametrize(
    ("anchor", "words", "expected"),
    [
        ("power page", 4, "the power page for"),
        ("See the", 3, "See the power"),
        ("more", 12, "See the power page for more."),
        ("See the power page for", 2, "See the"),
    ],
)
def test_the_words_around_a_link_have_the_link_in_their_middle(anchor: str, words: int, expected: str) -> None:
    assert words_around("See the power page for more.", anchor, words=words) == expected
