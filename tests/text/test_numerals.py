"""Numbers that are not written in digits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.numerals import in_digits, is_roman_number, roman_number


@pytest.mark.parametrize(
    ("written", "digits"),
    [
        ("twenty-one pilots", "21 pilots"),
        ("three hundred and five thousand", "305000"),
        ("one hundred one", "101"),
        ("5 million", "5000000"),
        ("1.5 billion users", "1500000000 users"),
        ("two million", "2000000"),
        ("twenty-first century", "21st century"),
        ("第十二届", "第12届"),
        ("二〇二三年", "2023年"),
        ("上海三號", "上海3號"),
    ],
)
def test_a_number_in_words_is_written_in_digits(written: str, digits: str) -> None:
    assert in_digits(written) == digits


@pytest.mark.parametrize("name", ["one two", "Million Dollar Baby", "統一", "hundreds", "twentyone", "a thousand"])
def test_words_that_are_no_one_number_stay(name: str) -> None:
    assert in_digits(name) == name


@given(st.integers(1, 3999))
def test_roman_numbers_are_read_whatever_their_size(number: int) -> None:
    written, rest = "", number
    letters = ["M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"]
    for value, letter in zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), letters, strict=True):
        while rest >= value:
            written, rest = written + letter, rest - value
    assert roman_number(written) == number


def test_abbreviations_are_no_roman_numbers() -> None:
    assert [word for word in ("CD", "DVI", "MIX", "XL", "CLI", "LED", "IIII", "I", "") if is_roman_number(word)] == []
    assert all(map(is_roman_number, ("II", "XIV", "LVI", "LXXVIII", "MCMXC")))
