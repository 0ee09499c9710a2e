from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgrag.documents.pdf.geometry import Box, Line, Word, line_of
from kgrag.documents.pdf.writing import LineJoiner

LINE_HEIGHT = 10.0
CHARACTER_WIDTH = 5.0


def lines(*texts: str) -> list[Line]:
    result = []
    for row, text in enumerate(texts):
        words, x = [], 0.0
        for token in text.split():
            width = CHARACTER_WIDTH * len(token)
            words.append(Word(token, Box(x, 12 * row, x + width, 12 * row + LINE_HEIGHT), "Body", False))
            x += width + 3
        result.append(line_of(words))
    return result


HYPHENATED = lines("it was configured and con-", "figured again")
"""A paragraph that shows that the document's typesetter breaks words."""


def joined(*texts: str, document: str = "", hyphenated: bool = True) -> str:
    paragraphs = [lines(text) for text in (document,) if text] + ([HYPHENATED] if hyphenated else [])
    return LineJoiner(paragraphs).join(lines(*texts))


def test_a_word_broken_by_the_typesetter_is_joined() -> None:
    assert joined("the config-", "uration of pins") == "the configuration of pins"


def test_a_compound_that_the_document_writes_keeps_its_hyphen() -> None:
    assert joined("a low-", "power mode", document="the low-power state") == "a low-power mode"


def test_a_word_that_the_document_writes_joined_is_joined() -> None:
    assert joined("a low-", "power mode", document="lowpower lowpower low power") == "a lowpower mode"


def test_two_words_of_the_document_keep_their_hyphen() -> None:
    assert joined("an open-", "drain output", document="open the drain") == "an open-drain output"


def test_a_document_that_breaks_no_words_keeps_all_its_hyphens() -> None:
    assert (
        joined("enter it by double-", "tapping the button", hyphenated=False) == "enter it by double-tapping the button"
    )


def test_a_part_number_keeps_its_hyphen_and_gets_no_space() -> None:
    assert joined("order TF-", "10103 today") == "order TF-10103 today"
    assert joined("the ABX00069-", "datasheet file") == "the ABX00069-datasheet file"
    assert joined("type LSM6DSO-", "tr") == "type LSM6DSO-tr"


def test_a_range_of_numbers_keeps_its_hyphen() -> None:
    assert joined("from 3-", "5 V") == "from 3-5 V"


def test_a_hyphen_before_a_conjunction_keeps_its_space() -> None:
    assert joined("low-", "and high-side switches") == "low- and high-side switches"


def test_signs_that_end_in_a_hyphen_are_no_broken_words() -> None:
    assert joined("TX1 +/-", "TX2 +/-") == "TX1 +/- TX2 +/-"
    assert joined("pins D+ / D-", "of the plug") != "pins D+ / Dof the plug"


def test_a_soft_hyphen_goes() -> None:
    assert joined("the config\u00ad", "uration") == "the configuration"


def test_a_url_over_two_lines_is_one() -> None:
    assert joined("https://example.com/docs/", "guides/editor") == "https://example.com/docs/guides/editor"


def test_chinese_lines_are_joined_without_a_space() -> None:
    assert joined("外部交流", "直流适配器") == "外部交流直流适配器"


TOKEN = st.text(alphabet="abcXYZ0123456789.-/°Ω", min_size=1, max_size=8)


@given(st.lists(st.lists(TOKEN, min_size=1, max_size=5).map(" ".join), min_size=1, max_size=5))
def test_joining_loses_nothing_but_hyphens_at_line_ends(texts: list[str]) -> None:
    found = joined(*texts).replace(" ", "")
    expected = "".join(texts).replace(" ", "")
    assert found.replace("-", "") == expected.replace("-", "")
    assert expected.count("-") - found.count("-") <= len(texts) - 1


@given(st.integers(0, 9999), st.sampled_from(["V", "mA", "°C", "kΩ", "hPa", "mm"]))
def test_a_number_keeps_the_unit_that_stands_on_the_next_line(number: int, unit: str) -> None:
    assert joined(f"rated at {number}", f"{unit} and more") == f"rated at {number} {unit} and more"


def test_a_part_name_cut_at_a_line_end_is_joined_where_the_document_writes_its_family_in_one() -> None:
    assert joined("the AT-", "mega48P has", document="the ATmega328P") == "the ATmega48P has"
    assert joined("the USB-", "C port", document="a USB port") == "the USB-C port"
    assert joined("the AT-", "mega48P has", document="AT-mega328P, ATmega328P") == "the AT-mega48P has"
