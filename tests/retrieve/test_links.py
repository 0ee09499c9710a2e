from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.state import Candidate, Hit, Query, State
from kgrag.retrieve.steps.links import Link, hand_on, said_around
from kgrag.store.search_rows import ChunkRow, LinkRow

KEYS = st.sampled_from("abcdef")
SHARES = st.floats(0.0, 1.0)


def link(seed: str, to: str, *, cosine: float = 0.0, weight: float = 1.0) -> Link:
    return Link(seed=seed, chunk=Hit(to, cosine, ("d", 0)), weight=weight, why=f"link: title mention of {to}")


def found(**scores: float) -> State:
    candidates = {key: Candidate(key, score) for key, score in scores.items()}
    return State(Query("?", "?", "?"), candidates=candidates, score_per_cosine=0.5)


def test_a_linked_chunk_gets_a_share_of_its_seed_and_stays_behind_it() -> None:
    start = found(a=1.0, b=0.6)
    reached = hand_on(start, [link("a", "new", cosine=0.4), link("a", "b")], weight=0.5)
    assert reached["new"].score == 0.5 * 0.4 + 0.5
    assert 0.99 < reached["b"].score < 1.0
    assert reached["b"].why == ("link: title mention of b",)


def test_a_link_never_takes_away() -> None:
    start = found(a=0.4, b=0.9)
    assert hand_on(start, [link("a", "b")], weight=0.5)["b"].score == 0.9


@given(
    st.dictionaries(KEYS, SHARES, min_size=1),
    st.lists(st.tuples(KEYS, KEYS, SHARES, SHARES), max_size=12),
    SHARES,
)
def test_no_chunk_overtakes_the_best_seed_through_links(
    scores: dict[str, float], ways: list[tuple[str, str, float, float]], weight: float
) -> None:
    start = found(**scores)
    links = [link(seed, to, cosine=c, weight=w) for seed, to, c, w in ways if seed in scores and to != seed]
    reached = hand_on(start, links, weight=weight)
    assert all(reached[key].score >= score for key, score in scores.items())
    for key, candidate in reached.items():
        own = scores.get(key, 0.0)
        assert candidate.score <= max(own, *scores.values(), 0.5)
    assert reached == hand_on(start, links[::-1], weight=weight)


def hyperlink(to: str, said: str) -> LinkRow:
    chunks: list[ChunkRow] = [{"id": to, "similarity": 0.5, "document_id": "d", "position": 0}]
    return LinkRow(seed="a", kind="hyperlink", name=to, mentions=0, about=1, said=[said], chunks=chunks)


def test_rare_words_around_a_link_say_more_of_what_it_leads_to_than_those_around_every_link() -> None:
    candidates = {"a": Candidate("a", 1.0)}
    asked = "options of the reflog"
    start = State(Query(asked, asked, asked), candidates=candidates)
    links = [
        hyperlink("b", "its options"),
        hyperlink("c", "see reflog"),
        hyperlink("d", "more options"),
        hyperlink("e", "the options of reflog"),
    ]
    reached = said_around(start, links, weight=1.0)
    assert reached["e"].score == 1.0
    assert reached["b"].score == reached["d"].score < reached["c"].score < 1.0
    assert reached["a"] == candidates["a"]
    assert reached == said_around(start, links[::-1], weight=1.0)
