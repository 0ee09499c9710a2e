import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.state import Candidate, Hit, NamedEntity, Query, State
from kgrag.retrieve.steps.names import (
    MAX_QUESTION_WORDS,
    MAX_WORDS,
    goes_on,
    is_ordinary_word,
    named_without_brackets,
    prefer_named,
    word_sequences,
)
from kgrag.store.search_rows import NamedRow


def test_every_sequence_with_a_content_word_is_looked_up() -> None:
    sequences = list(word_sequences("Is the X-100 on?"))
    assert "X-100" in sequences
    assert "the X-100" in sequences
    assert "Is the" not in sequences


def test_a_possessive_does_not_hide_a_name() -> None:
    assert "Lothair II" in list(word_sequences("Lothair II's mother"))


@given(st.text(max_size=3000))
def test_the_number_of_lookups_is_bounded(question: str) -> None:
    assert len(list(word_sequences(question))) <= MAX_QUESTION_WORDS * MAX_WORDS


def test_chunks_about_each_named_thing_gain_alike_and_join_the_candidates() -> None:
    named = (
        NamedEntity("k1", "X-100", (Hit("b", 0.7, ("d", 0)),)),
        NamedEntity("k2", "X-1000", (Hit("c", 0.6, ("d", 1)), Hit("b", 0.7, ("d", 0)))),
    )
    candidates = {"a": Candidate("a", 0.9), "b": Candidate("b", 0.8)}
    state = State(Query("?", "?", "?"), named=named, candidates=candidates, score_per_cosine=0.5)
    preferred = prefer_named(state, weight=0.2)
    assert {key: round(c.score, 9) for key, c in preferred.items()} == {"a": 0.9, "b": 1.0, "c": 0.5}
    assert preferred["b"].why == ("question names X-100",)


def test_where_a_document_is_about_the_named_thing_its_name_in_a_heading_says_nothing() -> None:
    named = (NamedEntity("k", "Pumpco", (Hit("headed", 0.7, ("d", 0)),), documents=frozenset({"d"})),)
    places = {"headed": ("d", 0), "other": ("d", 5), "elsewhere": ("e", 0)}
    candidates = {key: Candidate(key, 0.5, place=place) for key, place in places.items()}
    preferred = prefer_named(State(Query("?", "?", "?"), named=named, candidates=candidates), weight=0.2)
    assert {key: round(c.score, 9) for key, c in preferred.items()} == {"headed": 0.7, "other": 0.7, "elsewhere": 0.5}


@pytest.mark.parametrize(
    ("question", "known", "named"),
    [
        ("Is Mark King American?", (), {"d": "Mark King", "e": "Mark King"}),
        ("Is Mark King (musician) American?", ("Mark King (musician)",), {}),
        ("Is Mark King American?", ("Mark King",), {}),
        ("Is Mark Kingsley American?", (), {}),
        ("Is the amber light on?", (), {}),
        ("Who recorded Amber?", (), {"f": "Amber"}),
        ("What happened in 1984?", (), {}),
        ("What does git-log show?", (), {"h": "git-log"}),
    ],
)
def test_a_question_leaves_out_the_brackets_of_a_title(
    question: str, known: tuple[str, ...], named: dict[str, str]
) -> None:
    titles = {
        "d": "Mark King (musician)",
        "e": "Mark King (cricketer)",
        "f": "Amber (song)",
        "g": "1984 (novel)",
        "h": "git-log(1)",
        "i": "Level 42",
    }
    candidates = {key: Candidate(f"chunk of {key}", 0.5, place=(key, 0), cosine=0.4) for key in titles}
    state = State(Query(question, question, question), candidates={one.key: one for one in candidates.values()})
    found = named_without_brackets(state, [NamedEntity(name, name, ()) for name in known], titles)
    assert {hit.chunk_id.removeprefix("chunk of "): one.name for one in found for hit in one.chunks} == named
    assert all(one.key == titles[hit.place[0]] for one in found for hit in one.chunks)


@pytest.mark.parametrize(
    ("name", "family", "member"),
    [
        ("Nano 33 BLE", "nano", True),
        ("TPR-40", "tpr", True),
        ("X-100 Rev 2", "x100", True),
        ("Nanotech", "nano", False),
        ("X-1000", "x100", False),
        ("X-100-2", "x100", False),
        ("Rail 3.3 V", "rail3", False),
        ("Nano", "nano", False),
    ],
)
def test_a_member_has_another_word_after_the_familys_name(name: str, family: str, member: bool) -> None:
    assert goes_on(name, family) == member


@pytest.mark.parametrize(
    ("question", "as_name", "as_word", "ordinary"),
    [
        ("How do I silence the phone?", 22, 10, True),
        ("Phone is silent", 22, 10, True),
        ("It is late. Phone is silent", 22, 10, True),
        ("How do I silence the Phone app?", 22, 10, False),
        ("How do I silence the phone?", 22, 0, False),
        ("How do I silence the phone?", 100, 1, False),
        ("How do I silence the phone?", 0, 0, False),
    ],
)
def test_a_name_that_its_chunks_write_small_is_meant_where_the_question_writes_it_as_one(
    question: str, as_name: int, as_word: int, ordinary: bool
) -> None:
    row = NamedRow(key="k", name="Phone", normal="phone", aliases=None, chunks=[], as_name=as_name, as_word=as_word)
    assert is_ordinary_word(row, question) == ordinary
