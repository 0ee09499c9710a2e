"""What questions that count and list are read as."""

from __future__ import annotations

import pytest

from kgrag.text.quantities import quantities
from kgrag.text.set_questions import Comparison, compare, read_set_question


@pytest.mark.parametrize(
    ("question", "noun", "aspect"),
    [
        ("How many boards have Wi-Fi?", ("boards",), ("Wi-Fi",)),
        ("How many Nano boards are there?", ("Nano", "boards"), ()),
        ("Which products have a microSD card slot?", ("products",), ("microSD", "card")),
        ("List all carriers.", ("carriers",), ()),
        ("Which carriers have a 1.8 V rail?", ("carriers",), ("1.8", "V", "rail")),
        ("How many sensors are there per family?", ("sensors",), ()),
    ],
)
def test_things_and_what_they_have_are_read(question: str, noun: tuple[str, ...], aspect: tuple[str, ...]) -> None:
    read = read_set_question(question)
    assert read is not None
    assert (read.noun, read.aspect, read.measured) == (noun, aspect, False)
    assert read.counts == question.startswith("How many")
    assert read.grouped == ("per family" in question)


@pytest.mark.parametrize(
    ("question", "aspect", "operator", "amounts"),
    [
        ("Which modules draw less than 10 mA?", ("current",), "<", ["10 mA"]),
        ("Which boards have a clock of more than 100 MHz?", ("clock",), ">", ["100 MHz"]),
        ("Which boards have more than 100 kB of flash?", ("flash",), ">", ["100 kB"]),
        ("Which controllers have a watchdog of at most 10 s?", ("watchdog",), "<=", ["10 s"]),
        (
            "Which sensors have a supply voltage between 2.5 V and 4 V?",
            ("supply", "voltage"),
            "between",
            ["2.5 V", "4 V"],
        ),
        ("Which sensors need 3 V or more?", ("supply",), ">=", ["3 V"]),
    ],
)
def test_comparisons_are_read(question: str, aspect: tuple[str, ...], operator: str, amounts: list[str]) -> None:
    read = read_set_question(question)
    assert read is not None
    assert read.comparison is not None
    ends = [read.comparison.low, *([read.comparison.high] if read.comparison.high else [])]
    assert (read.aspect, read.comparison.operator, [end.text for end in ends]) == (aspect, operator, amounts)


@pytest.mark.parametrize(
    ("question", "aspect", "select"),
    [
        ("Which controller has the largest flash?", ("flash",), "most"),
        ("Which product is the heaviest?", ("weight",), "most"),
        ("Which controller has the longest watchdog period?", ("watchdog", "period"), "most"),
        ("What is the smallest standby current of the controllers?", ("standby", "current"), "least"),
        ("Which sensor draws the least current?", ("current",), "least"),
        ("What is the RAM of each controller?", ("RAM",), "all"),
    ],
)
def test_the_most_the_least_and_each_are_read(question: str, aspect: tuple[str, ...], select: str) -> None:
    read = read_set_question(question)
    assert read is not None
    assert (read.aspect, read.select, read.measured) == (aspect, select, True)


@pytest.mark.parametrize(
    "question",
    [
        "What is the standby current of the X-100 Rev 3?",
        "Which socket of the TCB-4 fits a TPR-40?",
        "How do I reset the board?",
        "Which boards have Wi-Fi and how do I connect them?",
        "Why does my THM-7 not answer?",
        "Which board should I take if it rains?",
        "Which carriers have more than 10 sockets?",
        "What is the I2C address of each sensor?",
        "",
    ],
)
def test_other_wordings_are_not_read(question: str) -> None:
    assert read_set_question(question) is None


@pytest.mark.parametrize(
    ("comparison", "said", "is_so"),
    [
        ("< 2 mA", "1100 µA", True),
        ("< 2 mA", "0.0021 A", False),
        ("> 100 kB", "2 MB", True),
        (">= 1 A", "1000 mA", True),
        ("<= 1 A", "1001 mA", False),
        ("> 3 V", "5 mA", False),
    ],
)
def test_amounts_of_other_units_compare_by_what_they_measure(comparison: str, said: str, is_so: bool) -> None:
    operator, _, amount = comparison.partition(" ")
    (wanted,), (stated,) = quantities(amount), quantities(said)
    read = Comparison(operator, wanted)  # type: ignore[arg-type]
    assert compare(read, stated.value, stated.value, of=stated) is is_so


def test_a_range_is_between_where_all_of_it_is_and_above_where_its_end_is() -> None:
    (low,), (high,), (said,) = quantities("2.5 V"), quantities("4 V"), quantities("3.0 V to 3.6 V")
    assert said.upper is not None
    assert compare(Comparison("between", low, high), said.value, said.upper, of=said)
    assert not compare(Comparison("between", low, low), said.value, said.upper, of=said)
    assert not compare(Comparison(">", high), said.value, said.upper, of=said)
    assert not compare(Comparison("<=", low), said.value, said.upper, of=said)
    assert compare(Comparison(">", low), said.value, said.upper, of=said)
