from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgrag
from kgrag.text.quantities import has_dimension, numbers, quantities


@pytest.mark.parametrize(
    ("text", "value", "upper", "unit", "dimension"),
    [
        ("3.3 V", 3.3, None, "V", "voltage"),
        ("3.3V", 3.3, None, "V", "voltage"),
        ("3,3 V", 3.3, None, "V", "voltage"),
        ("-40 °C", -40, None, "°C", "temperature"),
        ("260 – 1260 hPa", 260, 1260, "hPa", "pressure"),
        ("260 to 1260 hPa", 260, 1260, "hPa", "pressure"),
        ("-40 °C to +85 °C", -40, 85, "°C", "temperature"),
        ("2.0 V-3.6 V", 2.0, 3.6, "V", "voltage"),
        ("0% to 100% RH", 0, 100, "%RH", "humidity"),
        ("1,260 m", 1260, None, "m", "length"),
        ("115\u202f200 baud", 115200, None, "baud", "frequency"),
        ("2 × 10⁶ Hz", 2e6, None, "Hz", "frequency"),
        ("5-V", 5, None, "V", "voltage"),
        ("100 uA", 100, None, "µA", "current"),
        ("512 KB", 512, None, "kB", "data"),
        ("300 kbps", 300, None, "kbps", "data rate"),
        ("5 volts", 5, None, "V", "voltage"),
        ("5 Volts", 5, None, "V", "voltage"),
        ("30 SECONDS", 30, None, "s", "time"),
        ("1.5 kilowatts", 1.5, None, "kW", "power"),
        ("47 microfarads", 47, None, "µF", "capacitance"),
        ("10-kilowatt-hour", 10, None, "kWh", "energy"),
        ("-20 to 40 degrees Celsius", -20, 40, "°C", "temperature"),
        ("90 degrees", 90, None, "°", "angle"),
        ("20 litres", 20, None, "litre", "volume"),
        ("10 kohm", 10, None, "kΩ", "resistance"),
        ("2500mAh", 2500, None, "mAh", "charge"),
        ("9.8 m/s²", 9.8, None, "m/s²", "acceleration"),
        ("14 dBm", 14, None, "dBm", "level"),
        ("2x I2C", 2, None, "x", "count"),
    ],
)
def test_a_number_with_a_unit_is_read(text: str, value: float, upper: float | None, unit: str, dimension: str) -> None:
    (quantity,) = quantities(text)
    assert (quantity.value, quantity.upper, quantity.unit, quantity.dimension) == (value, upper, unit, dimension)


@pytest.mark.parametrize("text", ["8 Tesla cards", "2 Newton fractals", "4 Henry streets", "3 bars", "7 Farad cages"])
def test_a_word_that_is_something_else_as_often_is_no_unit(text: str) -> None:
    assert quantities(text) == []


def test_a_tolerance_and_a_sign_are_kept_apart() -> None:
    tolerant, both = quantities("4.7 kΩ ±5 %, ±15 kV")
    assert (tolerant.value, tolerant.tolerance, tolerant.tolerance_unit, tolerant.sign) == (4.7, 5, "%", "")
    assert (both.value, both.tolerance, both.sign) == (15, None, "±")


def test_a_bound_is_kept() -> None:
    (quantity,) = quantities("consumes <5 µA")
    assert (quantity.text, quantity.bound) == ("<5 µA", "<")


@pytest.mark.parametrize(
    "text",
    [
        "version 1.2.3 V",
        "X-100 V",
        "LPS22HB",
        "chapter 5",
        "8x8",
        "Rev 2",
        "10^6 Hz",
        "802.11b",
        "5 verbs",
        "USB2",
        "[0-9A-Fa-f]",
    ],
)
def test_what_is_no_quantity_is_left_alone(text: str) -> None:
    assert quantities(text) == []


def test_a_second_number_without_a_unit_is_not_the_end_of_a_range() -> None:
    (quantity,) = quantities("3.3 V - 5 pins")
    assert (quantity.text, quantity.upper) == ("3.3 V", None)


SAID = st.sampled_from(["3.3 V", "5 mA", "-40 to 85 °C", "±5 %", "3 x 5 kg", "3", "to", "–", ","])


@given(st.lists(SAID | st.text(alphabet="0123456789.,-–±~ VmAµk°C%xto", max_size=6), max_size=8).map(" ".join))
def test_quantities_are_pieces_of_the_text_in_order(text: str) -> None:
    found = quantities(text)
    assert all(text[q.start : q.end] == q.text for q in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


def test_the_mark_of_a_list_item_is_no_sign() -> None:
    assert [(q.text, q.value) for q in quantities("Memory:\n- 4 MB flash\n  - 40 °C at most\n-5 V rail")] == [
        ("4 MB", 4.0),
        ("40 °C", 40.0),
        ("-5 V", -5.0),
    ]
    assert [q.value for q in quantities("from - 40 °C on")] == [-40.0]


@pytest.mark.parametrize("text", ["1e5000 V", "10^9999 V", "9" * 5000 + " V", "1.2.3 V", "1e-400 A"])
def test_what_is_no_number_that_anybody_measured_is_no_quantity(text: str) -> None:
    assert quantities(text) == []


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [("2 x 100 mm", 100.0, "mm"), ("2 × 10⁶ Hz", 2e6, "Hz"), ("2 x 10^-3 A", 2e-3, "A"), ("25 degC", 25.0, "°C"),
     ("9600 Bd", 9600.0, "baud"), ("5 MOhm", 5.0, "MΩ"), ("5 ‰", 5.0, "‰"), ("∓5 V", 5.0, "V")],
)  # fmt: skip
def test_a_number_and_its_unit_are_read_one_way(text: str, value: float, unit: str) -> None:
    (quantity,) = quantities(text)
    assert (quantity.value, quantity.unit) == (value, unit)


def test_units_are_read_although_the_installation_that_was_used_before_is_gone(tmp_path: Path) -> None:
    """What pint keeps between processes names its own files: kept for another installation it must not be read."""
    site = Path(pint.__file__).parent
    first = tmp_path / "first"
    shutil.copytree(site, first / "pint", ignore=shutil.ignore_patterns("testsuite", "__pycache__"))
    script = "from kgrag.text.units import dimension; print(dimension('hPa'))"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    paths = [str(first), str(Path(kgrag.__file__).parents[1])]
    for where in (paths, paths[1:]):
        one = {**environment, "PYTHONPATH": os.pathsep.join(where)}
        done = subprocess.run([sys.executable, "-c", script], env=one, capture_output=True, text=True)
        assert (done.stdout.strip(), done.returncode) == ("pressure", 0), done.stderr
        shutil.rmtree(first, ignore_errors=True)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("260-1260 hPa", ["260", "1260"]),
        ("from -40 to +85 °C", ["-40", "85"]),
        ("X-1000 draws 1,260.50 mA", ["1000", "1260.5"]),
        ("the BMP390 samples at 200 Hz", ["200"]),
        ("0,125 V or 0.1250 V", ["0.125", "0.125"]),
        ("version 1.2.3 of 5 million", ["1.2.3", "5000000"]),
        ("none", []),
    ],
)
def test_all_numbers_of_a_text_are_written_one_way(text: str, found: list[str]) -> None:
    assert numbers(text) == found


@given(st.text())
def test_numbers_are_read_from_any_text_and_read_again_alike(text: str) -> None:
    found = numbers(text)
    assert numbers(" ; ".join(found)) == found


@pytest.mark.parametrize("dimension", ["voltage", "current", "length", "count", "data", ""])
@given(
    st.lists(
        st.sampled_from(
            [
                "3",
                "3.3",
                " ",
                "-",
                " to ",
                "V",
                "mV",
                "A",
                "mA",
                "m",
                "x ",
                "I2C",
                "KiB",
                "±",
                "10³",
                "=",
                "Volts",
                ".",
                "x 10^",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_a_text_has_a_dimension_where_one_of_its_quantities_is_of_it(dimension: str, text: str) -> None:
    found = any(quantity.dimension == dimension for quantity in quantities(text))
    assert has_dimension(text, frozenset([dimension])) == found
