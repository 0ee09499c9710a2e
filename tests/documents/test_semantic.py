"""Semantic chunking: how many clusters, which sentences are together, what is kept apart, and that nothing is lost."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgrag
from kgrag.documents.blocks import Block, TableRow
from kgrag.documents.chunking import chunk_blocks
from kgrag.documents.semantic import cluster_count, clustered
from kgrag.models.minilm import MiniLM
from kgrag.testing import HashingEmbedder
from kgrag.types import Chunk, Document, PageBox

TOPICS = {
    "bread": (
        "Knead the dough until it is smooth.",
        "Bake the loaf in a hot oven.",
        "Yeast makes the dough rise.",
        "Let the bread cool before slicing.",
    ),
    "sea": (
        "The tide rises twice a day.",
        "Waves break on the rocky coast.",
        "A lighthouse warns ships at night.",
        "Salt water covers the beach at high tide.",
    ),
    "law": (
        "The court heard the appeal.",
        "A judge signed the verdict.",
        "The contract binds both parties.",
        "The lawyer filed a claim for damages.",
    ),
}
MIXED = [sentence for row in zip(*TOPICS.values(), strict=True) for sentence in row]
TOPIC = {sentence: topic for topic, said in TOPICS.items() for sentence in said}
WORDS = HashingEmbedder()


def by_meaning(texts: Sequence[str]) -> Any:
    return asyncio.run(MiniLM().embed_documents(texts))


def by_words(texts: Sequence[str]) -> Any:
    return WORDS.embed(texts)


def chunked(*blocks: Block, embed: Any = by_words, max_tokens: int = 200) -> tuple[Chunk, ...]:
    document = Document(id="d", path="a.md", title="-", sha256="", format="md")
    return chunk_blocks(
        document, blocks, count_tokens=WORDS.count_tokens, max_tokens=max_tokens, chunker="semantic", embed=embed
    )


@given(st.lists(st.text(min_size=1, max_size=400), min_size=1, max_size=30), st.integers(50, 2000))
def test_there_are_as_many_clusters_as_the_formula_says_and_no_more_than_sentences(
    texts: list[str], target: int
) -> None:
    mean = sum(map(len, texts)) / len(texts)
    assert cluster_count(texts, target=target) == min(len(texts), math.ceil(round(len(texts) * mean, 6) / target))


def test_interleaved_topics_come_apart_and_the_same_text_gives_the_same_clusters() -> None:
    target = math.ceil(sum(map(len, MIXED)) / len(TOPICS))
    first, second = (clustered(MIXED, embed=by_meaning, target=target) for _ in range(2))
    assert first == second and len(first) == len(TOPICS)
    pure = sum(max(Counter(TOPIC[MIXED[place]] for place in places).values()) for places in first)
    assert pure / len(MIXED) >= 0.9


def test_sentences_of_a_chunk_are_in_their_order_with_the_pages_they_are_from() -> None:
    said = [f"{sentence} {sentence}" for sentence in MIXED for _ in range(3)]
    blocks = [
        Block("paragraph", text, 0, page, page, boxes=(PageBox(page=page, left=0, top=0, right=9, bottom=9),))
        for page, text in enumerate(said, start=1)
    ]
    chunks = chunked(*blocks, embed=by_meaning, max_tokens=500)
    assert len(chunks) == cluster_count([text for block in said for text in (block[: len(block) // 2],) * 2])
    for chunk in chunks:
        pages = sorted({box.page for box in chunk.boxes})
        assert [chunk.page_start, chunk.page_end] == [pages[0], pages[-1]]
        assert chunk.text.splitlines() == [said[page - 1] for page in pages]
    assert sorted(page for chunk in chunks for page in {box.page for box in chunk.boxes}) == list(
        range(1, len(said) + 1)
    )


def test_tables_stand_by_themselves_and_headings_are_not_lost() -> None:
    rows = tuple(TableRow((f"part {n}", f"{n} V")) for n in range(3))
    table = Block("table", header=TableRow(("part", "supply")), rows=rows)
    chunks = chunked(
        Block("heading", "Supply", 1),
        Block("paragraph", "It needs power. It is small."),
        table,
        Block("heading", "End", 1),
    )
    (of_table,) = [chunk for chunk in chunks if "|" in chunk.text]
    assert of_table.text.count("\n") == 4 and "small" not in of_table.text
    assert of_table.headings == ("Supply",)
    others = "\n".join(chunk.text for chunk in chunks if chunk is not of_table)
    assert all(word in others for word in ("Supply", "It needs power.", "It is small.", "End"))
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))


@given(st.lists(st.text(alphabet="abcdef .", min_size=1, max_size=300), min_size=1, max_size=12), st.integers(20, 60))
def test_no_chunk_is_too_long_and_no_word_is_lost(texts: list[str], max_tokens: int) -> None:
    chunks = chunked(*(Block("paragraph", text) for text in texts), max_tokens=max_tokens)
    assert all(WORDS.count_tokens(chunk.embedded_text) <= max_tokens for chunk in chunks)
    said = Counter("".join(texts).replace(" ", "").replace(".", ""))
    assert Counter("".join(chunk.text for chunk in chunks).replace(" ", "").replace(".", "").replace("\n", "")) == said


def test_sentences_that_are_all_alike_make_one_cluster_without_a_warning() -> None:
    alike = ["the same words " * 20] * 8
    made = clustered(alike, embed=lambda texts: np.ones((len(texts), 4), np.float32) / 2)
    assert sorted(place for places in made for place in places) == list(range(8))


def test_a_build_can_cut_by_meaning(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Guide\n\n" + "\n\n".join(f"{sentence} {sentence}" for sentence in MIXED * 2))
    with kgrag.open(tmp_path / "s.kg", chunker="semantic") as graph:
        graph.build(tmp_path / "a.md")
        texts = [chunk.text for chunk in graph.store.documents.chunks()]
        evidence = graph.retrieve("How is bread baked?", top=1)
    assert len(texts) > 1
    assert sum(sentence in text for text in texts for sentence in set(MIXED)) >= len(MIXED)
    assert "Bake the loaf" in evidence[0].text


def test_without_vectors_it_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="expected `embed`"):
        chunked(Block("paragraph", "a"), embed=None)
