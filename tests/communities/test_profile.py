"""What a summary is made from: coverage, budget, canonical form."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.communities.chat import ChatSummariser
from kgrag.communities.labels import label
from kgrag.communities.profile import Corpus, EntityRow, Profile, make_profile, representative_chunks
from kgrag.communities.rules import RulesSummariser
from kgrag.communities.summary import Summary, community
from kgrag.errors import ModelReplyError
from kgrag.testing import ScriptedChatModel
from kgrag.types import Chunk, Citation, Community, Document


@st.composite
def coverings(draw: st.DrawFn) -> tuple[dict[str, list[str]], dict[str, int], int]:
    chunks = [f"c{i}" for i in range(draw(st.integers(1, 12)))]
    naming = {
        f"e{i}": sorted(draw(st.sets(st.sampled_from(chunks), max_size=5))) for i in range(draw(st.integers(1, 12)))
    }
    return naming, {chunk: draw(st.integers(1, 100)) for chunk in chunks}, draw(st.integers(0, 400))


@given(coverings())
def test_representative_chunks_keep_to_the_budget_and_each_adds_a_member(
    made: tuple[dict[str, list[str]], dict[str, int], int],
) -> None:
    naming, tokens, budget = made
    chosen = representative_chunks(naming, weights=dict.fromkeys(naming, 1.0), tokens=tokens, budget=budget)
    assert len(set(chosen)) == len(chosen)
    assert sum(tokens[chunk] for chunk in chosen) <= budget
    covered: set[str] = set()
    for chunk in chosen:
        named = {entity for entity, chunks in naming.items() if chunk in chunks}
        assert named - covered
        covered |= named
    if budget >= sum(tokens.values()):
        assert covered == {entity for entity, chunks in naming.items() if chunks}


def test_chunks_are_chosen_by_what_they_cover_not_by_which_comes_first() -> None:
    naming = {"a": ["first", "wide"], "b": ["wide"], "c": ["wide"], "d": ["last"]}
    tokens = dict.fromkeys(("first", "wide", "last"), 50)
    chosen = representative_chunks(naming, weights=dict.fromkeys(naming, 1.0), tokens=tokens, budget=1000)
    assert chosen == ["wide", "last"]


def corpus_of(names: dict[str, tuple[str, str]], *, product: str = "X-100") -> tuple[Corpus, dict[str, Chunk]]:
    document = Document(
        id="d", path="d.pdf", title="Sheet", sha256="0", format="pdf", product=product, category="Boards"
    )
    chunks = {
        key: Chunk(id=f"c-{key}", document_id="d", source_id="d", position=i, text=f"About {name}. " * 20, tokens=60)
        for i, (key, (name, _)) in enumerate(names.items())
    }
    corpus = Corpus(
        entities={key: EntityRow(key, name, type_, "", 1) for key, (name, type_) in names.items()},
        mentions={key: (f"c-{key}",) for key in names},
        chunk_tokens={chunk.id: chunk.tokens for chunk in chunks.values()},
        chunk_document=dict.fromkeys((chunk.id for chunk in chunks.values()), "d"),
        documents={"d": document},
    )
    return corpus, {chunk.id: chunk for chunk in chunks.values()}


def profile_of(
    names: dict[str, tuple[str, str]],
    *,
    budget: int = 2000,
    children: tuple[Community, ...] = (),
    product: str = "X-100",
) -> Profile:
    corpus, chunks = corpus_of(names, product=product)
    return make_profile(
        "k",
        graph="g",
        level=0,
        members=[(key, 1.0) for key in names],
        corpus=corpus,
        children=children,
        read_chunks=lambda ids: [chunks[one] for one in ids],
        count_tokens=lambda text: len(text.split()),
        budget=budget,
    )


PARTS = {f"e{i}": (f"part {i}", "Part") for i in range(30)}
CHILD = Community(
    key="c", graph="g", level=1, size=20, label="Half", summary="The half of it.", full_content="Half. The half of it."
)


def test_a_whole_is_made_from_its_parts_only_where_its_chunks_do_not_fit() -> None:
    roomy = profile_of(PARTS, budget=5000, children=(CHILD,))
    assert roomy.children == ()
    assert roomy.covered == len(PARTS)
    tight = profile_of(PARTS, budget=400, children=(CHILD,))
    assert tight.children == (CHILD,)
    assert json.loads(tight.canonical_json())["parts"] == [
        {"key_terms": [], "summary": "The half of it.", "topic_label": "Half"}
    ]
    assert 0 < len(tight.chunks) < len(roomy.chunks)


def test_the_hash_is_of_the_content_and_of_nothing_else() -> None:
    one = profile_of(PARTS)
    shuffled = profile_of(dict(reversed(PARTS.items())))
    assert sorted(json.loads(one.canonical_json())["types"]) == ["Part"]
    assert profile_of(PARTS).content_hash == one.content_hash
    assert json.loads(shuffled.canonical_json())["products"] == json.loads(one.canonical_json())["products"]
    renamed = profile_of({**PARTS, "e0": ("another part", "Part")})
    assert renamed.content_hash != one.content_hash


def test_values_are_not_what_a_label_says_unless_there_is_nothing_else() -> None:
    members = {"a": ("3.3 V", "Quantity"), "b": ("October 2005", "Date"), "c": ("Relay", "Part"), "d": ("2005", "Term")}
    assert label(profile_of(members)) == "X-100: Relay"
    assert label(profile_of({"a": ("3.3 V", "Quantity")})) == "X-100: 3.3 V"


def test_labels_say_which_product_and_which_family_of_names_a_community_is_about() -> None:
    signals = {f"e{i}": (f"STOBE{i}_P", "Part") for i in range(8)}
    assert label(profile_of(signals)) == "X-100: STOBE0_P, STOBE1_P and 6 more STOBE…"
    names = {
        "a": ("Nano 33 BLE", "Part"),
        "b": ("Nano 33 IoT", "Part"),
        "c": ("Wi-Fi", "Term"),
        "d": ("X-100", "Product"),
    }
    assert label(profile_of(names)) == "X-100: Nano 33 BLE and Wi-Fi"


def summarised(profile: Profile) -> Summary:
    summariser = RulesSummariser()
    summariser.prepare([profile])
    return asyncio.run(summariser.summarise(profile))


def test_a_large_community_is_summarised_by_sentences_of_its_parts() -> None:
    quote = "The relay of the pump protects the motor of the mill."
    room = profile_of(PARTS, budget=400)
    cited = Citation(number=1, chunk_id=room.chunks[0].id, document="Sheet", quote=quote)
    whole = summarised(profile_of(PARTS, budget=400, children=(CHILD.model_copy(update={"citations": (cited,)}),)))
    assert [text for _, text in whole.quotes] == [quote]
    assert quote.rstrip(".") in whole.summary
    assert "Parts: Half" in whole.summary


def test_a_community_of_short_chunks_has_a_sentence_all_the_same() -> None:
    summary = summarised(profile_of({"a": ("Relay", "Part"), "b": ("3.3 V", "Quantity")}))
    assert summary.quotes
    assert "About" in summary.summary and "[1]" in summary.summary


def chat_summary(reply: dict[str, object], profile: Profile) -> Summary:
    model = ScriptedChatModel([json.dumps(reply)])
    return asyncio.run(ChatSummariser("scripted", lambda: model).summarise(profile))


def test_citations_of_a_summary_are_read_as_models_write_them_and_number_what_is_cited() -> None:
    profile = profile_of({f"e{i}": (f"part {i}", "Part") for i in range(4)})
    assert len(profile.chunks) == 4
    written = f"One [2-4]. Two [chunk 1]. Three [1; 9]. Four [0]. Five [{'7' * 5000}]."
    summary = chat_summary({"topic_label": "Parts", "summary": written, "key_terms": []}, profile)
    assert (summary.state, summary.reason) == ("mended", "it cited chunks that it was not given: 0, 9")
    made = community(profile, summary, parent=None, titles={"d": "Sheet"})
    assert made.summary.startswith("One [1] [2] [3]. Two [4]. Three [4]. Four. Five [777")
    assert [one.chunk_id for one in made.citations] == [profile.chunks[place].id for place in (1, 2, 3, 0)]


def test_a_summary_without_its_label_says_what_it_cost() -> None:
    with pytest.raises(ModelReplyError, match="Expected a topic_label") as raised:
        chat_summary({"topic_label": " ", "summary": "One.", "key_terms": []}, profile_of(PARTS))
    assert raised.value.usage.calls == 1
