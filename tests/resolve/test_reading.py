"""What a name says: the same by rule has one form, another number has another signature."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.generated_names import different_names, same_names
from kgrag.resolve import conflict, read_name
from kgrag.resolve.read_many import read_names

SAME = [
    ("3.3V", "3.3 V", "3,3 V", "3300 mV", "3V3", "3.30 V"),
    ("USB-C", "USB C", "usb type-c", "USB Type C"),
    ("Rev2", "Rev 2", "rev. 2", "revision 2", "second revision"),
    ("Uno R3", "UNO Rev3", "uno rev. 3"),
    ("v1.2", "version 1.2", "Ver. 1.2"),
    ("Mk II", "Mk 2", "Mark II"),
    ("second edition", "2nd edition", "Edition 2"),
    ("two ESLOV connectors", "2 ESLOV connectors", "2x ESLOV connectors", "2 × ESLOV connectors"),
    ("100 µA", "100 μA", "100 uA", "0.1 mA"),
    ("10 kΩ", "10 kΩ", "10 kohm", "10000 ohms"),
    ("-40 °C to +85 °C", "−40 to 85 °C", "-40…85℃"),
    ("1,260 m", "1260 m", "1\u202f260 m", "1.26 km"),
    ("5 V ± 0.25 V", "5 ±0.25 V", "5 V +/- 250 mV"),
    ("100 x 50 mm", "100 mm × 50 mm", "10x5 cm"),
    ("1 May 2023", "May 1, 2023", "2023-05-01", "1-May-2023"),
    ("Wi-Fi", "WiFi", "Wi Fi", "WIFI"),
    ("1 h", "60 min", "3600 seconds"),
]

SEEDS = st.integers(0, 2**32)


@pytest.mark.parametrize("names", SAME, ids=lambda names: names[0])
def test_what_is_the_same_by_rule_has_one_form(names: tuple[str, ...]) -> None:
    assert len({read_name(name).form for name in names}) == 1, {name: read_name(name).form for name in names}


DIFFERENT = [
    ["3.3 V", "33 V", "3.3 A", "3.3 mV", "-3.3 V", "±3.3 V", "+3.3 V", "~3.3 V", "<3.3 V", "3.3 VAC", "3.3"],
    ["16 MB", "16 Mb", "16 mb", "16 MiB", "16 GB"],
    ["5 mA", "5 MA", "5 A", "5 mAh", "0.5 mA"],
    ["v1.2", "v1.20", "v1.2.0", "v1.3", "v1.2-rc1", "Rev 1.2", "1.2"],
    ["1.2.3", "1.23", "12.3", "123"],
    ["Rev A", "Rev B", "Rev 1", "Rev"],
    ["second edition", "third edition", "second generation", "edition"],
    ["Mk I", "Mk II", "Mk III"],
    ["D-", "D+", "D"],
    ["C", "C++", "C#"],
    ["260-1260 hPa", "260 hPa", "1260 hPa", "260-1160 hPa"],
    ["12 V, 2 A", "12 V", "2 A", "12 V, 3 A"],
    ["$5", "€5", "5"],
    ["Cortex-M0", "Cortex-M0+"],
]


@pytest.mark.parametrize("names", DIFFERENT, ids=lambda names: names[0])
def test_what_differs_in_a_number_sign_unit_or_version_conflicts(names: list[str]) -> None:
    readings = [read_name(name) for name in names]
    assert all(conflict(a, b) for i, a in enumerate(readings) for b in readings[i + 1 :]), [
        r.signature for r in readings
    ]


def test_model_numbers_with_the_same_digits_conflict_unless_they_are_spellings_of_one() -> None:
    assert conflict(read_name("LPS22HB"), read_name("LPS22HH"))
    assert conflict(read_name("X-100A"), read_name("X-100"))
    assert not conflict(read_name("ESP32-S3"), read_name("ESP32S3"))
    assert not conflict(read_name("ESP 32 S3"), read_name("ESP32-S3"))


@settings(max_examples=300)
@given(SEEDS)
def test_generated_spellings_of_one_name_have_one_form(seed: int) -> None:
    random = Random(seed)
    one, other = same_names(random)
    assert read_name(one.name).form == read_name(other.name).form


@settings(max_examples=300)
@given(SEEDS)
def test_generated_names_that_differ_in_a_fact_conflict(seed: int) -> None:
    random = Random(seed)
    one, other = different_names(random)
    assert conflict(read_name(one.name), read_name(other.name))


@given(st.text(max_size=60))
def test_every_text_can_be_read_and_says_the_same_each_time(text: str) -> None:
    reading = read_name.__wrapped__(text)
    assert reading == read_name(text)
    assert (reading.signature == "") == ("⟨" not in "".join(reading.words) or "⟨" in text)


def test_many_names_are_read_as_one_by_one_whatever_the_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.resolve.read_many.NAMES_WORTH_A_PROCESS", 20)
    names = [name for group in [*SAME, *DIFFERENT] for name in group]
    assert read_names([*names, *names], processes=3) == [read_name(name) for name in [*names, *names]]
    assert read_names([]) == []
