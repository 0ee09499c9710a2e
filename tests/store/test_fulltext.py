"""Questions as full-text queries."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.store.fulltext import MAX_TERMS, escape_lucene, fulltext_query


def test_words_that_say_nothing_are_left_out() -> None:
    assert fulltext_query("What is the supply voltage of the X-100's sensor?") == "supply voltage (+X +100) sensor"


def test_words_that_say_nothing_are_kept_where_there_is_nothing_else() -> None:
    assert fulltext_query("Who is it?") == "Who is it"


def test_quantities_and_part_numbers_stay_whole() -> None:
    assert fulltext_query("3.3 V, 0.5mA, I2C/SPI, -40 °C, 5 %") == '"3.3" V "0.5mA" (+I2C +SPI) 40 C 5'


def test_a_term_is_asked_for_once_and_not_too_many() -> None:
    assert fulltext_query("sensor sensor pin") == "sensor pin"
    assert len(fulltext_query(" ".join(f"w{i}" for i in range(5000))).split()) == MAX_TERMS


def test_a_term_of_thousands_of_parts_is_asked_for_by_its_first() -> None:
    assert fulltext_query("1-" * 5_000).count("+") <= 64


@pytest.mark.parametrize(
    ("word", "beginnings"),
    [
        ("памяти", ["памят", "памя"]),
        ("ядра", []),
        ("메모리가", ["메모리", "메모"]),
        ("메모", []),
        ("memory", []),
        ("Größe", []),
        ("メモリの", []),
        ("内存容量", []),
        ("RAM메모리", []),
    ],
)
def test_words_that_the_analyzer_does_not_stem_are_found_in_other_forms(word: str, beginnings: list[str]) -> None:
    assert fulltext_query(word).split() == [word, *(f"{start}*^0.4" for start in beginnings)]


def test_lucene_syntax_is_escaped() -> None:
    assert escape_lucene('a:(b OR c)~ "d" \\ e*') == 'a\\:\\(b or c\\)\\~ \\"d\\" \\\\ e\\*'


@given(st.text(max_size=200))
def test_a_query_has_no_syntax_but_quotes_and_terms_of_which_all_parts_are_asked_for(text: str) -> None:
    query = fulltext_query(text)
    term = r'(?:"[^"\\():{}\[\]~*^?]+"|[^"\\():{}\[\]~*^?+\s]+)'
    form = r"\w{2,}\*\^0\.4"
    assert re.fullmatch(rf"(?:(?:{term}|\(\+{term}(?: \+{term})+\))(?: |$))*(?:{form}(?: |$))*", query)
    assert not re.search(r"(?:^|[ +])(?:AND|OR|NOT|TO)(?:[ )]|$)", query)
