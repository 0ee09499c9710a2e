from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from kgrag.text.names import FEW_NAMES, NORMAL_FORM_VERSION, Gazetteer, normal_form, subject_of_title
from kgrag.types import content_id

SPELLINGS = [
    ("Wi-Fi", "WiFi", "wi fi", "WI_FI"),
    ("Cortex-M4", "Cortex M4", "cortex‑m4", "Cortex®-M4"),
    ("USB-C", "USB C", "USB-C®"),
    ("Rev2", "Rev 2", "rev. 2", "REV-2"),
    ("3.3V", "3.3 V", "3.3\u00a0V"),
    ("I²C", "I2C", "i2c"),
    ("100 µA", "100 μA", "100uA"),
    ("5 kΩ", "5 kΩ", "5 kohm", "5 KΩ"),
    ("25 °C", "25°C", "25 ℃"),
    ("Nano 33 BLE", "NANO-33 BLE", "nano_33_ble"),
    ("ESP32-S3", "esp32-s3", "ESP 32 S3"),
    ("St. Maurice's Abbey", "st maurice’s abbey"),
    ("512 KB", "512 kB"),
    ("+/-5 V", "±5 V"),
    ("8×8", "8x8"),
    ("Ｘ-１００", "X-100"),
]
DISTINCT = [
    ["X-100", "X-1000", "X-10-0", "X-10.0", "Y-100"],
    ["3.3 V", "33 V", "3,3 V", "-3.3 V", "±3.3 V", "+3.3 V", "~3.3 V", "<3.3 V", "3.3 A", "3.3 mV", "3.3"],
    ["1.2.3", "1.23", "12.3", "123", "1 23", "1-23", "1/23", "1:23"],
    ["Rev 2", "Rev 3", "Rev 2.1", "Rev"],
    ["0.5 mA", "5 mA", ".5 µA", "5 MA", "5 A", "5 mAh"],
    ["16 MB", "16 Mb", "16 mb", "16 kB"],
    ["100 µA", "100 A", "100 mA"],
    ["10²", "102", "10^3", "10⁻²", "10 2"],
    ["5½", "51/2", "51⁄2", "5"],
    ["C", "C++", "C#"],
    ["USB D-", "USB D+", "USB D"],
    ["5 %", "5", "5 °C", '5"'],
    ["5 M2", "5 m2"],
    ["Müller", "Muller"],
]
EQUAL_BEFORE = [
    ["- 40 °C", "-40 °C", "40 °C"],
    ["-$5", "$5", "₹500", "₽500"],
    ["∓5 V", "5 V", "5 ‰", "√2", "2"],
    ["∆V", "V", "C♯", "C♭", "Cl-", "Cl", "200 Cal", "200 cal"],
    ["-v", "-V", "V", "rm -r", "rm -R"],
    ["Ω", "ω", "Δ t", "δ t"],
]
"""What earlier normal forms did not tell apart."""


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda s: s[0])
def test_spellings_of_one_name_have_one_form(spellings: tuple[str, ...]) -> None:
    assert len({normal_form(spelling) for spelling in spellings}) == 1, [normal_form(s) for s in spellings]


def test_another_normal_form_is_another_version_so_that_stores_extract_anew() -> None:
    forms = [normal_form(name) for names in (*SPELLINGS, *DISTINCT, *EQUAL_BEFORE) for name in names]
    assert (NORMAL_FORM_VERSION, content_id(*forms)) == ("3", "fbdbeb69eeade3321a77d2f0882949c8")


@pytest.mark.parametrize("names", DISTINCT, ids=lambda n: n[0])
def test_names_that_differ_in_a_number_sign_or_unit_have_different_forms(names: list[str]) -> None:
    assert len({normal_form(name) for name in names}) == len(names), [normal_form(n) for n in names]


def test_a_decimal_point_without_a_digit_before_it_is_a_zero() -> None:
    assert normal_form(".5 mA") == normal_form("0.5 mA")


SIGNS = st.sampled_from(["", "-", "±", "+", "~", "<", "≤"])
NUMBERS = st.from_regex(r"[0-9]{1,4}(\.[0-9]{1,3}){0,2}", fullmatch=True)
UNITS = st.sampled_from(
    ["", "V", "mV", "A", "mA", "MA", "µA", "MB", "Mb", "kB", "ms", "MS", "m", "%", "°C", "Hz", "MHz", "mHz", "Ω", "kΩ"]
)
PREFIXES = st.sampled_from(["", "X", "Rev", "Nano", "Supply current", "LPS"])
SPACES = st.sampled_from([" ", "\u00a0", "  "])


@given(PREFIXES, SIGNS, NUMBERS, UNITS, SIGNS, NUMBERS, UNITS, SPACES, SPACES)
def test_quantities_never_share_a_form_unless_they_are_equal(
    prefix: str, sign: str, number: str, unit: str, other_sign: str, other_number: str, other_unit: str, a: str, b: str
) -> None:
    assume((sign, number, unit) != (other_sign, other_number, other_unit))
    first, second = f"{prefix}{a}{sign}{number}{b}{unit}", f"{prefix}{b}{other_sign}{other_number}{a}{other_unit}"
    assert normal_form(first) != normal_form(second)


@given(st.from_regex(r"[A-Z]{1,4}[0-9]{1,6}", fullmatch=True), st.from_regex(r"[A-Z]{1,4}[0-9]{1,6}", fullmatch=True))
def test_part_numbers_never_share_a_form_unless_they_are_equal(part: str, other: str) -> None:
    assume(part != other)
    assert normal_form(part) != normal_form(other)


@given(
    st.from_regex(r"[A-Za-z]{2,6}", fullmatch=True),
    st.from_regex(r"[0-9]{1,4}", fullmatch=True),
    st.sampled_from(["", " ", "-", "_", " - "]),
)
def test_what_joins_letters_and_a_number_does_not_matter(word: str, number: str, joint: str) -> None:
    assert normal_form(f"{word}{joint}{number}") == normal_form(f"{word}{number}")


@given(st.text(alphabet=st.characters(exclude_characters="-‐‑‒–—―−﹘﹣－⁻₋"), max_size=40))
@example('A"0A')
@example("Supply 5 mA and -3 V")
@example('5" x 3 m² at 10⁻² A')
def test_a_form_is_its_own_form(name: str) -> None:
    form = normal_form(name)
    assert normal_form(form) == form


NAMED = st.sampled_from(["X-100", "x100", "X", "100", "pump", "Pump 2", "3.3 V", "é"]) | st.text(
    min_size=1, max_size=10
)


@given(st.lists(NAMED, max_size=10).map(" ".join), st.lists(NAMED, max_size=5))
def test_matches_are_in_order_within_the_text_and_do_not_overlap(text: str, names: list[str]) -> None:
    matches = Gazetteer(names).find(text)
    assert all(m.written == text[m.start : m.end] and m.written for m in matches)
    assert all(a.end <= b.start for a, b in pairwise(matches))


def written(names: list[str], text: str, **options: list[str]) -> list[str]:
    matches = Gazetteer(names, **options).find(text)
    assert all(text[m.start : m.end] == m.written for m in matches)
    return [m.written for m in matches]


def test_a_name_is_found_in_any_spelling_and_returned_as_written() -> None:
    assert written(["Wi-Fi", "Cortex-M4"], "WiFi, wi-fi and a Cortex® M4.") == ["WiFi", "wi-fi", "Cortex® M4"]


def test_a_match_is_as_the_text_has_it_character_for_character() -> None:
    assert written(["8x8 array", '5" screen'], 'an 8×8 array and a 5" screen') == ["8×8 array", '5" screen']


def test_the_longest_name_wins() -> None:
    names = ["Nano 33 BLE", "Nano 33 BLE Sense Rev2", "Nano"]
    assert written(names, "the Nano 33 BLE Sense Rev2, a Nano 33 BLE and a Nano") == [
        "Nano 33 BLE Sense Rev2",
        "Nano 33 BLE",
        "Nano",
    ]


@pytest.mark.parametrize("other", ["X-1000", "X-100A", "X-100.5", "X-100-2", "X-100_a", "AX-100", "X-10 0", "XX-100"])
def test_a_part_number_is_not_found_inside_another(other: str) -> None:
    assert written(["X-100"], f"See {other} here.") == []


def test_a_part_number_is_found_beside_punctuation() -> None:
    text = "X-100, (x100); X-100/X-200, X-100-based. X-100's X 100."
    assert written(["X-100"], text) == ["X-100", "x100", "X-100", "X-100", "X-100", "X 100"]


def test_signs_and_symbols_belong_to_a_name() -> None:
    assert written(["C++", "C", "±5 V"], "C++, C# and C at ±5 V") == ["C++", "C", "±5 V"]
    assert written(["5 V"], "±5 V and -5 V but 5 V") == ["5 V"]


def test_a_name_does_not_run_over_a_line_or_a_sentence() -> None:
    assert written(["Nano 33", "Power Supply"], "- Nano\n- 33 boards. Use power. Supply it. A Nano: 33 pins") == []


def test_a_name_that_is_an_ordinary_word_needs_its_capitals() -> None:
    text = "It was changed it seems; Changed it and Changed It"
    assert written(["Changed It"], text, as_written=["Changed It"]) == ["Changed it", "Changed It"]
    assert written(
        ["When The Stars Go Blue"],
        "sang When the Stars Go Blue when the stars go blue",
        as_written=["When The Stars Go Blue"],
    ) == ["When the Stars Go Blue"]


def test_a_title_with_a_parenthesis_is_matched_to_its_end() -> None:
    assert written(["Theodred II (Bishop of Elmham)"], "Theodred II (Bishop of Elmham) was") == [
        "Theodred II (Bishop of Elmham)"
    ]


def test_no_names_find_nothing() -> None:
    assert written([], "X-100") == []
    assert written(["", "  ", "-"], "X-100 - ") == []


@pytest.mark.parametrize(
    ("name", "other"),
    [("- 40 °C", "40 °C"), ("-$5", "$5"), ("-£5", "£5"), ("loss of -$5", "loss of $5"),
     ("Cl-", "Cl"), ("200 Cal", "200 cal"), ("∓5 V", "5 V"), ("5 ‰", "5"), ("₹500", "₽500"), ("√2", "2"), ("C♯", "C♭"), ("∆V", "V")],
)  # fmt: skip
def test_signs_and_symbols_make_another_key(name: str, other: str) -> None:
    assert normal_form(name) != normal_form(other)


def test_a_sign_that_stands_apart_at_the_beginning_is_the_sign_that_stands_tight() -> None:
    assert normal_form("- 40 °C") == normal_form("-40 °C")
    assert normal_form("5 - 40 °C") != normal_form("5 -40 °C")


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("Pumpco, Inc., FORM 10-K, fiscal year ended December 31, 2022", "Pumpco"),
        ("BEST PUMP CO., INC., FORM 10-K", "Best Pump"),
        ("Pump Works Company - annual report", "Pump Works"),
        ("X-100: user guide", "X-100"),
        ("X-100 Pro user guide", "X-100 Pro user guide"),
        ("Co", "Co"),
        ("", ""),
    ],
)
def test_a_title_is_about_the_name_that_it_begins_with(title: str, subject: str) -> None:
    assert subject_of_title(title) == normal_form(subject)


@pytest.mark.parametrize(
    "text",
    ["At 5 ohm the X-100 REV 2 fails", "µ 5 Ω", "the c++ code", "no name", "I2C, I²C and 12V", "x 100", "Micro SD"],
)
@pytest.mark.parametrize(
    "few",
    [["X-100", "C++", "5 Ω", "5 ohm", "I²C", "12 V", "Rev 2"], ["X-100", "12 V"], ["microSD"], ["Micro SD", "Rev 2"]],
)
def test_few_names_are_found_as_they_are_among_many(text: str, few: list[str]) -> None:
    many = [*few, *(f"unheard{chr(ord('a') + number)}" for number in range(FEW_NAMES + 1))]
    assert Gazetteer(few).find(text) == Gazetteer(many).find(text)
