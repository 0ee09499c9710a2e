"""Abbreviations that a text defines."""

from __future__ import annotations

import pytest

from kgrag.text.abbreviations import defined_abbreviations, spells_out


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It has a microcontroller unit (MCU) and flash.", [("microcontroller unit", "MCU")]),
        ("Inertial measurement unit (IMU), pulse-width modulation (PWM).", [
            ("Inertial measurement unit", "IMU"), ("pulse-width modulation", "PWM"),
        ]),
        ("The X-100 (see page 3) and the cable (included)", []),
        ("The supply. Unit (MCU)", []),
        ("serial clock (SCL)", [("serial clock", "SCL")]),
    ],
)  # fmt: skip
def test_an_abbreviation_in_parentheses_goes_with_the_words_that_it_is_made_of(
    text: str, found: list[tuple[str, str]]
) -> None:
    assert list(defined_abbreviations(text)) == found


def test_an_abbreviation_begins_a_word_of_its_long_form() -> None:
    assert spells_out("MCU", "a microcontroller unit") == "microcontroller unit"
    assert spells_out("MCU", "the dmicro unit") == ""
