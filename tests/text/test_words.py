"""Words and stems: one tokenizer, one stemmer, one list of function words."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgrag.text.words import (
    ASKING_WORDS,
    FUNCTION_WORDS,
    american,
    content_terms,
    folded_words,
    plain,
    plain_words,
    share_said,
    stem,
    words,
)


def test_a_decimal_number_and_a_possessive_are_one_word() -> None:
    assert words("It draws 3.3 V, or 1,260 mA; the X-100's v1.2.3 isn't old.") == [
        *("It", "draws", "3.3", "V", "or", "1,260", "mA", "the", "X", "100's", "v1.2.3", "isn't", "old"),
    ]
    assert folded_words("Arduino's Arduino") == {"arduino"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("USBメモリを使う", ["USB", "メモ", "モリ", "リを", "を使", "使う"]),
        ("使用 3.3V 电源", ["使用", "3.3V", "电源"]),
        ("RAID6에는 2개", ["RAID6", "에는", "2", "개"]),
        ("оперативной памяти", ["оперативной", "памяти"]),
        ("größe", ["größe"]),
    ],
    ids=["Japanese", "Chinese", "Korean", "Russian", "German"],
)
def test_of_text_without_spaces_each_two_neighbours_are_a_word(text: str, expected: list[str]) -> None:
    assert words(text) == expected
    assert folded_words(text) == {word.casefold() for word in expected}


@pytest.mark.parametrize(
    "forms",
    [
        ("keep", "keeps", "kept", "keeping"),
        ("switch", "switches", "switched", "switching"),
        ("measure", "measures", "measured", "measuring"),
        ("battery", "batteries"),
        ("bus", "buses"),
        ("child", "children"),
        ("menu", "menus"),
        ("index", "indices", "indexes"),
        ("colour", "colours", "colored", "color"),
        ("initialise", "initialising", "initialized"),
        ("customised", "customize"),
        ("analyse", "analyzed"),
    ],
    ids=lambda forms: forms[0],
)
def test_forms_of_one_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len(set(map(stem, forms))) == 1


@pytest.mark.parametrize(
    "word", ["promise", "precise", "exercised", "noise", "otherwise", "analysis", "basis", "hour", "four"]
)
def test_what_only_looks_british_stays(word: str) -> None:
    assert american(word) == word


@example("Arduino’S x\u0345y ẞtraße İ'S K-3.3V")
@given(st.text())
def test_a_text_whose_case_is_folded_at_once_has_the_words_of_one_that_is_folded_word_by_word(text: str) -> None:
    assert plain_words(text) == [plain(word) for word in words(text)]


def test_words_with_a_digit_are_not_stemmed() -> None:
    assert content_terms("LPS22s HTS221 3.3 of the") == {"lps22s", "hts221", "3.3"}


def test_words_that_ask_are_content_in_a_text_and_left_out_of_a_question() -> None:
    assert content_terms("Describe the list.") == {stem("describe"), "list"}
    assert content_terms("Describe the list.", without=ASKING_WORDS) == frozenset()
    assert not ASKING_WORDS & FUNCTION_WORDS


def test_the_share_of_nothing_is_nothing() -> None:
    assert share_said(frozenset(), frozenset({"a"})) == 0.0
    assert share_said(frozenset({"a", "b"}), frozenset({"a"})) == 0.5


def test_there_is_one_list_of_function_words_and_one_stemmer_in_the_package() -> None:
    package = Path(__file__).parents[2] / "kgrag"
    having = set()
    for path in sorted(package.rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        if "import Stemmer" in code or any(map(_is_list_of_function_words, ast.walk(ast.parse(code)))):
            having.add(path.relative_to(package).as_posix())
    assert having == {"text/words.py"}


def _is_list_of_function_words(node: ast.AST) -> bool:
    listed: list[str] = []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        listed = node.value.split()
    elif isinstance(node, ast.List | ast.Set | ast.Tuple):
        listed = [str(e.value) for e in node.elts if isinstance(e, ast.Constant)]
    return len(listed) >= 20 and sum(word in FUNCTION_WORDS for word in listed) > 0.8 * len(listed)


@given(st.text(alphabet="aB3.,'_- \t", max_size=30))
def test_a_text_is_divided_alike_whatever_letters_follow(text: str) -> None:
    assert words(text) == words(f"{text} ä")[:-1]
