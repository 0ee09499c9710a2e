import asyncio
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.extract import open_extractor
from kgrag.jobs.build import build
from kgrag.retrieve.state import Candidate, Hit, Query, Resources, State
from kgrag.retrieve.steps import paths
from kgrag.retrieve.steps.paths import Paths, joint_cosine, lift_pairs
from kgrag.settings import Settings
from kgrag.store.graph import GraphStore, open_store
from kgrag.testing import HashingEmbedder

SETTINGS = Paths(pairs=1)


def state(**scores: float) -> State:
    candidates = {key: Candidate(key, score) for key, score in scores.items()}
    return State(Query("?", "?", "?"), candidates=candidates, score_per_cosine=0.5)


def path(seed: str, to: str, *, seed_cosine: float = 0.5, cosine: float = 0.3, between: float = 0.0) -> paths.Path:
    return paths.Path(seed, seed_cosine, Hit(to, cosine, ("d", 0)), between, name="Lago", idf=0.8)


@given(st.integers(0, 1000))
def test_the_joint_cosine_is_that_of_the_sum(seed: int) -> None:
    question, one, other = (v / np.linalg.norm(v) for v in np.random.default_rng(seed).normal(size=(3, 5)))
    both = one + other
    expected = float(both @ question / np.linalg.norm(both))
    assert math.isclose(joint_cosine(one @ question, other @ question, one @ other), expected, abs_tol=1e-9)


def test_opposite_chunks_say_nothing_together() -> None:
    assert joint_cosine(0.5, -0.5, -1.0) == 0.0


def test_a_chunk_that_completes_a_seed_is_lifted_towards_it() -> None:
    lifted = lift_pairs(state(a=0.5, b=0.45), [path("a", "new", cosine=0.5)], settings=SETTINGS)
    assert lifted["a"].score == 0.5
    gain = joint_cosine(0.5, 0.5, 0.0) - 0.5
    expected = (0.5 + 0.5 * 0.5) / 2 + SETTINGS.joint * gain + SETTINGS.link * 0.8
    assert lifted["new"].score == pytest.approx(expected)
    assert lifted["new"].why == ("path: over Lago",)
    assert lifted["b"].score == 0.45


def test_a_lifted_chunk_stays_behind_its_seed() -> None:
    halves = path("a", "b", seed_cosine=0.5, cosine=0.5, between=-0.5)
    lifted = lift_pairs(state(a=0.5, b=0.49, c=0.495), [halves], settings=SETTINGS)
    assert lifted["a"].score == 0.5 > lifted["b"].score > lifted["c"].score


def test_no_more_pairs_are_lifted_than_are_asked_for() -> None:
    ways = [path("a", f"n{number}", cosine=0.5 - number / 100) for number in range(5)]
    assert set(lift_pairs(state(a=0.5), ways, settings=SETTINGS)) == {"a", "n0"}


def test_of_two_seeds_the_lesser_one_is_lifted_whichever_has_the_smaller_id() -> None:
    ways = [path("a", "b", cosine=0.5, between=-0.5), path("b", "a", cosine=0.5, between=-0.5)]
    assert lift_pairs(state(a=0.4, b=0.5, c=0.45), ways, settings=SETTINGS)["a"].score > 0.45
    assert lift_pairs(state(a=0.5, b=0.4, c=0.45), ways, settings=SETTINGS)["b"].score > 0.45


@given(
    st.dictionaries(st.sampled_from("abcd"), st.floats(0.0, 1.0), min_size=1),
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcdef")), max_size=8, unique=True),
)
def test_nothing_is_taken_away_whatever_the_order_of_paths(
    scores: dict[str, float], ways: list[tuple[str, str]]
) -> None:
    start = state(**scores)
    paths = [path(seed, to) for seed, to in ways if seed in scores and to != seed]
    lifted = lift_pairs(start, paths, settings=SETTINGS)
    assert all(lifted[key].score >= score for key, score in scores.items())
    assert {k: c.score for k, c in lift_pairs(start, paths[::-1], settings=SETTINGS).items()} == {
        k: c.score for k, c in lifted.items()
    }


def test_what_the_seed_relates_to_the_question_counts_more_than_what_it_only_names() -> None:
    named, stated = path("a", "named"), replace(path("a", "stated"), stated=True)
    lifted = lift_pairs(state(a=0.5), [named, stated], settings=SETTINGS)
    assert set(lifted) == {"a", "stated"}
    assert lifted["stated"].why == ("path: over Lago, which the seed relates to the question",)


DIMENSIONS = HashingEmbedder().dimensions
PASSAGES = {
    "brand": (
        "Brand",
        "Brand is a verse tragedy in five acts.",
        [
            ["Brand", "written by", "Henrik Ibsen"],
            ["Henrik Ibsen", "is a", "dramatist"],
            ["Brand", "published in", "1866"],
        ],
    ),
    "peer": ("Peer", "Henrik Ibsen was fond of Peer.", [["Henrik Ibsen", "fond of", "Peer"]]),
    "ibsen": ("Skien", "Henrik Ibsen was born in Skien.", [["Henrik Ibsen", "born in", "Skien"]]),
    "other": (
        "Branding",
        "Branding is for cattle.",
        [["Branding", "is for", "cattle"], ["Branding", "described in", "1866"]],
    ),
}


@pytest.fixture
def store(
    filled_once: Callable[[Callable[[str], object]], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GraphStore]:
    monkeypatch.chdir(tmp_path)
    with open_store(filled_once(fill)) as opened:
        yield opened


def fill(target: str) -> None:
    passages = [{"id": key, "title": title, "text": text} for key, (title, text, _) in PASSAGES.items()]
    kinds = [{"name": "dramatist", "type": "Class"}]
    records = [
        {"id": key, "triples": triples, "entities": kinds if key == "brand" else []}
        for key, (_, _, triples) in PASSAGES.items()
    ]
    for name, lines in (("corpus.jsonl", passages), ("recorded.jsonl", records)):
        Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    settings = Settings(extractor=("recorded",), recorded=Path("recorded.jsonl"))
    with open_store(target) as opened:
        asyncio.run(
            build(
                [Path("corpus.jsonl")],
                store=opened,
                embedder=HashingEmbedder(),
                extractors=[open_extractor("recorded", settings=settings)],
                settings=settings,
            )
        )


def test_paths_say_what_the_seed_relates_to_the_question(store: GraphStore) -> None:
    """A common name joins where the seed relates it to what the question names; a longer word or name is not that name, and a year none."""
    chunks = {chunk.source_id: chunk for chunk in store.documents.chunks()}
    ids = {chunk.id: source for source, chunk in chunks.items()}
    vector = asyncio.run(HashingEmbedder().embed_queries(["?"]))[0].tolist()

    def ways(question: str, **settings: int) -> set[tuple[str, str, str, bool]]:
        seeds = [chunks["brand"].id, chunks["peer"].id]
        read = Paths(**settings).read(question, seeds, vector, Resources(store, HashingEmbedder(), "recorded"))
        return {(ids[way.seed], ids[way.chunk.chunk_id], way.name, way.stated) for way in asyncio.run(read)}

    over = "Henrik Ibsen"
    both = {("brand", "peer"), ("brand", "ibsen"), ("peer", "brand"), ("peer", "ibsen")}
    assert ways("Where was the author of Brand born?") == {(a, b, over, a == "brand") for a, b in both}
    assert ways("Where was the author of Branding born?") == {(a, b, over, False) for a, b in both}
    capped = ways("Where was the author of Brand born?", common=1, stated_common=3)
    assert capped == {("brand", "peer", over, True), ("brand", "ibsen", over, True)}
    assert ways("Where was the author of Brand born?", common=1, stated_common=2) == set()


def test_a_word_for_a_kind_of_thing_names_none(store: GraphStore) -> None:
    """The seed says that Ibsen is a dramatist: that relates him to Brand, and not to a question that has the word dramatist."""
    seed = next(chunk.id for chunk in store.documents.chunks() if chunk.source_id == "brand")
    vector = asyncio.run(HashingEmbedder().embed_queries(["?"]))[0].tolist()
    resources = Resources(store, HashingEmbedder(), "recorded")
    for question, stated in (("Which dramatist was born there?", False), ("Which dramatist wrote Brand?", True)):
        read = asyncio.run(Paths().read(question, [seed], vector, resources))
        assert {(way.name, way.stated) for way in read} == {("Henrik Ibsen", stated)}
