"""The text of an answer while its JSON is being written."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgrag.answer.growing import GrowingAnswer
from kgrag.text.surrogates import without_controls


@given(st.text(), st.text(), st.booleans(), st.lists(st.integers(1, 7), min_size=1))
@example(answer="C:\\", quote="", plain=False, cuts=[1])
@example(answer="\\u12 \\ud83d", quote="", plain=True, cuts=[1])
@example(answer="\U0001f600\\", quote="", plain=True, cuts=[1])
def test_the_pieces_make_the_answer_however_the_json_is_cut(
    answer: str, quote: str, plain: bool, cuts: list[int]
) -> None:
    said = json.dumps(
        {"quotes": [{"quote": quote, "passage": 1}], "answered": True, "answer": answer}, ensure_ascii=plain
    )
    growing, shown, start = GrowingAnswer(), "", 0
    while start < len(said):
        step = cuts[start % len(cuts)]
        piece = growing.add(said[start : start + step])
        assert without_controls(answer).startswith(shown + piece)
        shown, start = shown + piece, start + step
    assert shown == without_controls(answer)


def test_what_is_no_answer_shows_nothing() -> None:
    growing = GrowingAnswer()
    assert growing.add('{"quotes": [{"quote": "\\"answer\\": \\"no\\""}], "other": "answer"') == ""
    assert growing.add(', "answer": "yes') == "yes"
    assert growing.add('"} and more "answer": "again"') == ""


@pytest.mark.parametrize("cut", [1, 2, 5, 1000])
def test_a_draft_among_thoughts_is_not_shown(cut: int) -> None:
    said = '<think>\nSo {"answer": "a first try"} or not?\n</think>\n{"answered": true, "answer": "3.3 V at  pin 4"}'
    growing = GrowingAnswer()
    pieces = [growing.add(said[start : start + cut]) for start in range(0, len(said), cut)]
    assert "".join(pieces) == "3.3 V at  pin 4"
