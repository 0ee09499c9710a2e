"""Quotations found by their words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.quotes import find_quote, text_words


def found(text: str, quote: str) -> list[str]:
    words = text_words(text)
    return [" ".join(words[index].word for index in place.words) for place in find_quote(words, quote)]


def test_a_quotation_is_found_whole_where_words_of_it_stand_before_it_too() -> None:
    text = "The bridge is the controller for the ANNA-B112. A translator changes 3.3 V to 1.8 V for the ANNA-B112. More follows."
    assert found(text, "A translator changes 3.3 V to 1.8 V for the ANNA-B112.") == [
        "a translator changes 3 3 v to 1 8 v for the anna b112"
    ]


def test_a_table_row_is_found_in_text_without_its_bars_and_each_part_by_itself() -> None:
    text = "Controller Standby X-100 Rev 3 0.5 mA 200 days X-100 Rev 2 1.2 mA 83 days"
    assert found(text, "| X-100 Rev 2 | 1.2 mA | 83 days |") == ["x 100 rev 2 1 2 ma 83 days"]
    assert len(found(text, "X-100 Rev 3 0.5 mA … X-100 Rev 2 1.2 mA")) == 2


def test_accents_beside_their_letters_do_not_matter() -> None:
    assert found("les op´erations math´ematiques d’aoˆut, ¨uber", "opérations mathématiques") == [
        "operations mathematiques"
    ]
    assert found("Table des mati`eres", "des matières") == ["des matieres"]


def test_ligatures_and_case_do_not_matter() -> None:
    assert found("The ﬁrst OFFICE", "the first office") == ["the first office"]


def test_what_is_not_there_is_not_found() -> None:
    assert found("Something else entirely stands here.", "The supply voltage is 5 V.") == []
    assert found("", "x") == found("x", "") == []


@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), min_size=1, max_size=40), st.data())
def test_every_word_of_what_stands_in_a_text_is_found_where_the_text_has_it_once(
    said: list[str], data: st.DataObject
) -> None:
    numbered = [f"{word}{index}" for index, word in enumerate(said)]
    start = data.draw(st.integers(0, len(numbered) - 1))
    quote = numbered[start : data.draw(st.integers(start + 1, len(numbered)))]
    assert found(" ".join(numbered), " ".join(quote)) == [" ".join(quote)]
