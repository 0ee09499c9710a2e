import asyncio

from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.state import Query, Resources, State
from kgrag.retrieve.steps.proximity import Proximity, share_of_one_sentence
from kgrag.testing import HashingEmbedder
from kgrag.text.words import content_terms
from kgrag.types import Evidence

RESOURCES = Resources(None, HashingEmbedder(), "mention")  # type: ignore[arg-type]
QUESTION = "How do I clear all credentials and reset the password?"


def found(*texts: str) -> State:
    pieces = [
        Evidence(chunk_id=text, source_id="", document="d", text=text, tokens=9, score=0.9 - 0.05 * place)
        for place, text in enumerate(texts)
    ]
    return State(Query(QUESTION, QUESTION, QUESTION), evidence=tuple(pieces))


def test_words_in_one_sentence_come_before_the_same_words_all_over_the_text() -> None:
    apart = "Reset the device here. A password is asked for. Credentials are kept. Clear the screen first."
    together = "Clear credentials: clear the store and reset the password. See also the manual."
    after = asyncio.run(Proximity(weight=0.15)(found(apart, together), RESOURCES))
    assert [piece.text for piece in after.evidence] == [together, apart]
    assert after.evidence[0].why == ("a sentence with 100% of the question",)
    assert after.evidence[1].why == ()


def test_a_table_row_and_a_list_item_are_sentences() -> None:
    asked = content_terms("reset the password")
    assert share_of_one_sentence(asked, "| Menu | Use |\n| --- | --- |\n| Reset | the password |") == 1.0
    assert share_of_one_sentence(asked, "- reset\n- password") == 0.5


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=5))
def test_scores_only_grow_and_nothing_is_lost(question: str, texts: list[str]) -> None:
    state = found(*dict.fromkeys(texts))
    state = State(Query(question, question, question), evidence=state.evidence)
    after = asyncio.run(Proximity(weight=0.2)(state, RESOURCES))
    before = {piece.chunk_id: piece.score for piece in state.evidence}
    assert sorted(piece.chunk_id or "" for piece in after.evidence) == sorted(key or "" for key in before)
    assert all(before[piece.chunk_id] <= piece.score <= before[piece.chunk_id] + 0.2 + 1e-6 for piece in after.evidence)
