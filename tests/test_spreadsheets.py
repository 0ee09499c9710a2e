from __future__ import annotations

import pytest

from kgrag.common.spreadsheets import plain_cell


@pytest.mark.parametrize(
    "text",
    ["=1+1", "@SUM(A1)", "\t=1", "\r=1", "+1+cmd|' /C calc'!A0", "-2+3", "-40 °C to 85 °C", "- a list\n- of two"],
)
def test_what_a_spreadsheet_would_compute_is_a_text(text: str) -> None:
    assert plain_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "5 V", "-40", "+3.3", "-1,000", "a=1", "The pin D-"])
def test_a_text_and_a_signed_number_stay_as_they_are(text: str) -> None:
    assert plain_cell(text) == text
